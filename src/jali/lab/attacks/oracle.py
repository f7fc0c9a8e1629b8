"""Protocols of what can be attacked, and the capabilities by which an attack recognizes its opponent.

Every opponent holds a secret and marks guesses. An `Oracle` answers counts over subsets of people, a
`RecordOracle` counts of people by conditions, and a `GroupOracle` counts of attributes in a group. What an
opponent offers, and its optional capabilities, are runtime-checkable protocols of one member each: a check asks
nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.subsets.subset_operators import Subsets
from jali.privacy import Adjacency


@dataclass(frozen=True)
class Refusal:
    """Where a ledger refused.

    Attributes:
        after: How many questions it had answered.
        said: Its message.
        further: How many of those were asked only to meet the refusal, when the attack was over.
    """

    after: int
    said: str
    further: int = 0


@dataclass(frozen=True)
class Spent:
    """The loss that a ledger counted.

    Attributes:
        epsilon: Its epsilon.
        delta: The delta beside it.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)


class Opponent(Protocol):
    """Holds a secret of bits.

    An attack sees how many people there are and what is public about the noise. The bits themselves stay inside:
    a guess is submitted and marked.
    """

    @property
    def name(self) -> str:
        """What is attacked, in a few words."""

    @property
    def n(self) -> int:
        """How many people there are."""

    @property
    def prior(self) -> float:
        """The probability that a bit is 1, which is public."""

    @property
    def noise(self) -> Noise:
        """The law of the noise in the last answers, which is public."""

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency in which a loss is counted; None for an oracle that promises nothing."""

    def spent(self) -> Spent | None:
        """Return the loss spent; None for an oracle that counts none."""

    def refusal(self) -> Refusal | None:
        """Return where it refuses; one with a budget that has refused nothing yet is asked once more."""

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""


class Oracle(Opponent, Protocol):
    """Answers counts over a secret column of n bits, one for each person."""

    def ask(self, subsets: Subsets) -> Doubles:
        """Answer how many people of each subset have the trait: all of them, or the first ones if it refuses."""


Values: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Condition:
    """One condition on one column.

    Attributes:
        column: Its place.
        value: The value that the column has, or has not.
        equal: Whether it has it.

    Example:
        >>> str(Condition(2, 17)), str(Condition(2, 17, equal=False))
        ("c2 = '17'", "c2 <> '17'")
    """

    column: int
    value: int
    equal: bool = True

    def __str__(self) -> str:
        return f"c{self.column} {'=' if self.equal else '<>'} '{self.value}'"


Conditions: TypeAlias = tuple[Condition, ...]


class RecordOracle(Opponent, Protocol):
    """Holds a table with a row for each person: columns that an attacker may know, and last a secret trait.

    The secret is the trait of n people, the victims.
    """

    @property
    def victim_columns(self) -> Values:
        """What the attacker knows of the victims: a row for each, without the trait."""

    def ask(self, questions: Sequence[Conditions]) -> Doubles:
        """Answer how many people meet all conditions of each question: all questions, or the first ones."""


LEAST_FREQUENCY = 0.05
_GOLDEN = (5**0.5 - 1) / 2


class GroupOracle(Opponent, Protocol):
    """Has n seats. Two people of the population stood for each, and a fair coin chose who sits there.

    The secret is who sits: for each seat 0 or 1. Whoever knows both people asks which of them is a member; if the
    group is private with one member replaced, then that bit is. The other person is an outsider, drawn as the
    members are.
    """

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population, which is public."""

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat: n x 2 x attributes, which the attacker has elsewhere."""

    def ask(self) -> Doubles:
        """Answer how many members have each attribute: all of them, or the first ones if it refuses."""

    def split_scores(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders, from those of the candidates: for marks only."""


def spread_frequencies(attributes: int) -> Doubles:
    """Return the frequencies of the lab's population: evenly spread from 0.05 to 0.95, and so are the first ones.

    They are the multiples of the golden ratio modulo 1, so that an attack cut short by a refusal meets the same
    mixture, and its law is the same for every seed.
    """
    turns = np.arange(1, attributes + 1) * _GOLDEN
    return np.asarray(LEAST_FREQUENCY + (1 - 2 * LEAST_FREQUENCY) * (turns % 1), np.float64)


@runtime_checkable
class CountOracle(Protocol):
    """Answers questions: counts of people, unless it holds a group or records."""

    def ask(self, *questions: Any) -> Doubles:
        """Answer questions."""


@runtime_checkable
class GroupHolder(Protocol):
    """Publishes the means of a group."""

    def split_scores(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""


@runtime_checkable
class RecordHolder(Protocol):
    """Counts people by conditions on their records."""

    @property
    def victim_columns(self) -> Values:
        """What the attacker knows of the victims."""


@runtime_checkable
class TablePublisher(Protocol):
    """Publishes tables."""

    def publish(self) -> Any:
        """Publish all tables, or those that the budget allows."""


@runtime_checkable
class LogHolder(Protocol):
    """Has one log of answers, or several."""

    @property
    def logs(self) -> Sequence[Any]:
        """The logs."""


@runtime_checkable
class RecordedAnswers(Protocol):
    """Answers the questions that it calls `asked`, and no others."""

    @property
    def asked(self) -> Subsets:
        """The questions."""


@runtime_checkable
class UnpaidLoss(Protocol):
    """Says what its answers would have cost, where no ledger counted."""

    def unpaid(self) -> Spent | None:
        """Return the loss of the answers; None where a ledger counts."""


@runtime_checkable
class ReportsProgress(Protocol):
    """Answers one question after the other, and reports how many it has answered."""

    def watch(self, progress: Callable[[str], None]) -> None:
        """Report to `progress` from now on."""


@runtime_checkable
class _Marker(Protocol):
    """Marks guesses, as every opponent does."""

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""


# By what an opponent offers: the capability that it has.
OFFERS: dict[str, type] = {
    "counts of people": CountOracle,
    "published tables": TablePublisher,
    "the means of a group": GroupHolder,
    "counts by conditions": RecordHolder,
    "logs": LogHolder,
}


def check_offer(what: str, opponent: object, name: str) -> None:
    """Refuse an opponent that does not offer what an attack of this name attacks."""
    if not what or offers(opponent, what):
        return
    given = str(getattr(opponent, "name", opponent)) if isinstance(opponent, _Marker) else repr(opponent)
    raise CatalogError("attack-wrong-opponent", attack=name, opponents=what, given=given)


def offers(opponent: object, what: str) -> bool:
    """Return whether an opponent offers this. Who holds a group or records does not count people by subsets."""
    other = what == "counts of people" and isinstance(opponent, GroupHolder | RecordHolder)
    return isinstance(opponent, OFFERS[what]) and not other


Foe = TypeVar("Foe", bound=Opponent)


def check_distinct(opponents: Iterable[Foe]) -> Iterator[Foe]:
    """Yield opponents, and refuse one that comes again.

    Its secret would be counted twice, as if two had been guessed, and a bound on its loss would be false. Nothing
    is kept of those that were yielded, so that many fit into memory.
    """
    seen: dict[int, Callable[[], Foe | None]] = {}
    for opponent in opponents:
        known = seen.get(id(opponent))
        if known is not None and known() is opponent:
            raise CatalogError("attack-opponent-twice", opponent=opponent.name)
        seen[id(opponent)] = _refer_weakly(opponent)
        yield opponent


def _refer_weakly(opponent: Foe) -> Callable[[], Foe | None]:
    """Refer to an opponent weakly if it lets one."""
    try:
        return weakref.ref(opponent)
    except TypeError:
        return lambda: opponent
