"""Subjects and findings of an audit, how hard an audit tries, and the testers that turn one into the other.

A subject is something that can be run on neighbouring inputs, and a claim about it. A finding is a verdict, the
loss that was found, and a witness that can be checked by hand. A tester is one way to try to prove a claim false.
Inputs and outputs are cut off in reports where they are long; a witness file has all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.display.text import clean
from jali.errors import CatalogError
from jali.mechanisms.base import LogMasses
from jali.privacy import Adjacency, Loss
from jali.privacy.rationals import Number, positive_integer, probability

if TYPE_CHECKING:
    from jali.lab.audit.encoder import Encoder
    from jali.lab.audit.events.output_event import OutputEvent


def _check_confidence(confidence: Number) -> Fraction:
    """Return a confidence, or refuse one that is none."""
    try:
        return probability(confidence, "confidence")
    except CatalogError as error:
        raise CatalogError("audit-confidence-wrong", problem=error.phrase) from None


@dataclass(frozen=True)
class Effort:
    """Limits of one audit.

    Attributes:
        samples: How many outputs may be drawn, of both inputs and for all purposes together.
        confidence: The probability with which an honest mechanism is not accused.
        seed: Where the samples of functions come from that take a generator; new ones if it is None.
    """

    samples: int = 1_000_000
    confidence: Fraction = Fraction(99, 100)
    seed: int | None = None

    def __post_init__(self) -> None:
        positive_integer(self.samples, "samples")
        _check_confidence(self.confidence)


Pair: TypeAlias = tuple[Any, Any]
# A row for each run, a column for each number that describes its output; see encoding.py.
Outputs: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[Any, int, np.random.Generator | None], Outputs]


@dataclass(frozen=True)
class Subject:
    """A randomized function under audit.

    Attributes:
        name: What a report calls it.
        claim: The loss that it claims, of any kind: what is tested is its privacy profile.
        adjacency: The adjacency in which the claim is meant.
        pairs: Neighbouring inputs, those that are likely to reveal most first.
        draw: Runs it on an input this many times, independently, and returns the outputs as numbers. The generator
            is for functions that take one; others draw their own randomness.
        source: How it can be made again: "module:function", or a registered name; for witnesses.
        log_masses: The logarithms of the exact probabilities of its outputs for an input, where they are known. An
            output is a number, or a tuple of them, as `draw` returns it; exact audits take others too.
        encoder: How its outputs became numbers, where they were none: what each number means, in words. A witness
            keeps it, as it was fitted to some outputs.
        batch: How many outputs come at a time: fewer take as long.
        distant: Inputs that are several neighbours apart, each pair with how many: by group privacy they show more
            of a loss than neighbours do, and with less statistical error. For claims of epsilon or rho alone.
        data: The pattern that the inputs are of, in its words; nothing where they were given. A witness keeps it,
            so that a replay can tell whether its inputs are neighbours.
    """

    name: str
    claim: Loss
    adjacency: Adjacency
    pairs: tuple[Pair, ...]
    draw: Draw
    source: str = ""
    log_masses: Callable[[Any], LogMasses] | None = None
    encoder: Encoder | None = None
    batch: int = 1
    distant: tuple[tuple[Pair, int], ...] = ()
    data: str = ""


def abbreviate(value: Any, most: int = 120) -> str:
    """Write a value for people, cut off where it is long; a file has all of it.

    Example:
        >>> abbreviate([1, 2, 3]), abbreviate("a" * 500, most=5)
        ('[1, 2, 3]', 'aaaa…')
    """
    try:
        text = clean(str(value))
    except ValueError:  # Python writes no integer of thousands of digits
        return f"a very long {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def abbreviate_pair(one: Any, other: Any, most: int = 60) -> tuple[str, str]:
    """Write two inputs; of long lists that differ in an entry, the first one and how the other differs.

    Example:
        >>> abbreviate_pair([1, 2], [1])
        ('[1, 2]', '[1]')
        >>> abbreviate_pair([{"age": 30}] * 9 + [{"age": 120}], [{"age": 30}] * 9)[1]
        "the same without {'age': 120}"
    """
    texts = abbreviate(one), abbreviate(other)
    if max(map(len, texts)) <= most or not (isinstance(one, list | tuple) and isinstance(other, list | tuple)):
        return texts
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if repr(a) != repr(b)), None)
    place = min(len(one), len(other)) if start is None else start
    if [*map(repr, one[place + 1 :])] == [*map(repr, other[place:])]:
        return texts[0], f"the same without {abbreviate(one[place])}"
    if [*map(repr, one[place:])] == [*map(repr, other[place + 1 :])]:
        return texts[0], f"the same and {abbreviate(other[place])}"
    if [*map(repr, one[place + 1 :])] == [*map(repr, other[place + 1 :])]:
        return texts[0], f"the same with {abbreviate(other[place])} in place of {abbreviate(one[place])}"
    return texts


class Verdict(StrEnum):
    """The outcome of an audit."""

    VIOLATION = "violation"
    NOTHING_FOUND = "nothing found"


@dataclass(frozen=True)
class Witness:
    """Neighbouring inputs, and the output, Rényi order, epsilon or event at which the loss was found.

    Attributes:
        inputs: The neighbours; the first is the one under which the event is likelier.
        at: An output, an order or an epsilon, for exact findings.
        event: The event, for sampled ones.
        hits: How often it occurred under each input, of how many runs each.
        runs: See above.
        steps: How many neighbours the inputs are apart, if they are not neighbours themselves.
    """

    inputs: tuple[Any, Any]
    at: Any = None
    event: OutputEvent | None = None
    hits: tuple[int, int] = (0, 0)
    runs: tuple[int, int] = (0, 0)
    steps: int = 1

    def __str__(self) -> str:
        where = f"at {_shorten(self.at)}" if self.event is None else f"event: {self.event}"
        apart = "" if self.steps == 1 else f"{self.steps} neighbours apart, "
        return f"inputs {self.inputs}, {apart}{where}"


@dataclass(frozen=True)
class Finding:
    """The result of auditing one claim in one way.

    Attributes:
        name: The mechanism.
        adjacency: The adjacency in which the claim is meant.
        kind: `epsilon`, `rho` or `delta`; or, for what is no loss, `distance` (from the stated law), `sensitivity`
            or `spent`.
        claimed: The claimed loss.
        found: A lower bound on the true loss.
        witness: Where it was found.
        verdict: Whether the claim is refuted; of the kind `distance`, whether the stated law is.
        tester: The stage that found it.
        confidence: The probability with which such a bound is true; 1 for exact probabilities.
        samples: How many outputs were drawn in all; 0 for exact probabilities.
        needed: About how many would prove a violation, if what the sample suggests is true; None if it suggests
            none, or if it is proved.
        tried: What was tried, in a few words.
    """

    name: str
    adjacency: str
    kind: str
    claimed: float
    found: float
    witness: Witness
    verdict: Verdict
    tester: str = "exact"
    confidence: float = 1.0
    samples: int = 0
    needed: int | None = None
    tried: str = ""

    def __str__(self) -> str:
        where = str(self.witness)
        if self.kind == "distance" and self.verdict is Verdict.VIOLATION:
            return f"{self.name}: outputs depart from the stated law by at least {self.found:g} ({where})"
        if self.verdict is Verdict.VIOLATION:
            return f"{self.name}: claims {self.kind} {self.claimed:g}, loses {self.found:g} ({where})"
        tried = f"no violation found up to {self.kind} {self.found:g} of {self.claimed:g} claimed"
        return f"{self.name}: {tried} ({where}, {self.adjacency})"


def _shorten(at: Any) -> str:
    return f"{at:g}" if isinstance(at, int | float) else str(at)


Progress: TypeAlias = Callable[[str], None]


def silent(_: str) -> None:
    """Show no progress."""


class Tester(ABC):
    """One way to try to prove a claim false.

    Attributes:
        name: What a report calls it.
    """

    name: ClassVar[str]

    @abstractmethod
    def applies(self, subject: Subject) -> bool:
        """Return whether it can say anything about a subject."""

    @abstractmethod
    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Try, within the effort, and say what was found."""
