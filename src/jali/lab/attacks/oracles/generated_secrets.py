"""Draw secrets and mark guesses: bits, a table of victims and their companions, and the seats of a group.

In the table everybody who is attacked is alone with what is known of them, and nobody else is missed. A group has
two candidates for each seat, drawn from one population. Oracles share how they hold such a secret, and whether
they ask a ledger or none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.attack_base import MOST_PEOPLE
from jali.lab.attacks.oracle import Refusal, Spent, Values, spread_frequencies
from jali.privacy import Adjacency
from jali.privacy.rationals import positive_integer

if TYPE_CHECKING:
    from jali.lab.attacks.attack_base import Progress
    from jali.lab.attacks.noise_models import Noise
    from jali.lab.attacks.oracles.protected_table import ProtectedTable


@dataclass(frozen=True, eq=False)
class Secret:
    """Generated bits, one for each person.

    Attributes:
        bits: The bits.
        prior: The probability of a 1, by which they were drawn.
    """

    bits: Bits
    prior: float = 0.5

    @classmethod
    def draw(cls, n: int, random: np.random.Generator, prior: float = 0.5) -> Secret:
        """Draw n bits."""
        people = positive_integer(n, "n")
        if people > MOST_PEOPLE:
            raise CatalogError("attack-memory-exceeded", most=MOST_PEOPLE, people=people, name="n")
        if not 0 < prior < 1:
            raise CatalogError("attack-prior-out-of-range", prior=prior)
        return cls((random.random(people) < prior).astype(np.int8), prior)

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return int(np.count_nonzero(guess == self.bits))


# The count of a question is some half of them, so that rules against small counts would not be met.
_COMPANIONS = 24


@dataclass(frozen=True, eq=False)
class VictimTable:
    """Victims, and for each of them and each column people who share all of the victim's columns but that one.

    It is the best case for the attacker: a victim is alone with their columns, no count is small without them, and
    no two victims meet in a question.

    Attributes:
        rows: The columns and last the trait; the victims come first.
        secret: The trait of the victims.
    """

    rows: Values
    secret: Secret

    @classmethod
    def draw(cls, n: int, columns: int, random: np.random.Generator) -> VictimTable:
        """Draw the traits of n victims and of their companions."""
        if columns < 1:
            raise CatalogError("attack-table-too-narrow", columns=columns)
        secret = Secret.draw(n, random)
        victims = np.repeat(np.arange(n)[:, None], columns, axis=1)
        companions = np.repeat(victims, columns * _COMPANIONS, axis=0)
        # The column in which a companion is somebody else: a value that no victim has.
        companions[np.arange(len(companions)), np.arange(len(companions)) % columns] = n
        traits = np.concatenate([secret.bits, random.integers(0, 2, len(companions))])
        return cls(np.column_stack([np.concatenate([victims, companions]), traits]), secret)

    @property
    def victim_columns(self) -> Values:
        """The columns of the victims."""
        return self.rows[: len(self.secret.bits), :-1]


@dataclass(frozen=True, eq=False)
class GroupSeats:
    """Two people for each seat, and who of them sits there.

    Attributes:
        frequencies: How frequent each attribute is in the population.
        candidates: Their attributes: n x 2 x attributes.
        secret: Which of the two sits in each seat.
    """

    frequencies: Doubles
    candidates: Bits
    secret: Secret

    @classmethod
    def draw(cls, n: int, attributes: int, random: np.random.Generator) -> GroupSeats:
        """Draw the candidates and who of them sits."""
        secret = Secret.draw(n, random)
        shares = spread_frequencies(attributes)
        return cls(shares, (random.random((n, 2, attributes)) < shares).astype(np.int8), secret)

    @property
    def members(self) -> Bits:
        """The attributes of those who sit."""
        return self.candidates[np.arange(len(self.secret.bits)), self.secret.bits]

    def split_scores(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        seats = np.arange(len(self.secret.bits))
        return scores[seats, self.secret.bits], scores[seats, 1 - self.secret.bits]


class SecretOracle:
    """Holds a secret of one bit for each person, and marks guesses of it."""

    if TYPE_CHECKING:

        @property
        def secret(self) -> Secret:
            """The bits."""

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.secret.bits)

    @property
    def prior(self) -> float:
        """The probability that a bit is 1."""
        return self.secret.prior

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self.secret.mark(guess)


class VictimOracle(SecretOracle):
    """Asks about a table of victims and their companions."""

    if TYPE_CHECKING:

        @property
        def crowd(self) -> VictimTable:
            """The table."""

    @property
    def secret(self) -> Secret:
        """The trait of the victims."""
        return self.crowd.secret

    @property
    def victim_columns(self) -> Values:
        """What the attacker knows of the victims."""
        return self.crowd.victim_columns


class SeatedOracle(SecretOracle):
    """Asks about the attributes of a group whose seats have two candidates each."""

    if TYPE_CHECKING:

        @property
        def seats(self) -> GroupSeats:
            """The candidates and who of them sits."""

    @property
    def secret(self) -> Secret:
        """Which of the two candidates sits in each seat."""
        return self.seats.secret

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population."""
        return self.seats.frequencies

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat."""
        return self.seats.candidates

    def split_scores(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        return self.seats.split_scores(scores)


class UnprotectedOracle:
    """Promises nothing, counts no loss and never refuses."""

    @property
    def adjacency(self) -> Adjacency | None:
        """None: no loss is counted."""
        return None

    def spent(self) -> Spent | None:
        """Return None: no loss is counted."""
        return None

    def refusal(self) -> Refusal | None:
        """Return None: every question is answered."""
        return None


class ProtectedOracle:
    """Asks a table that Jali protects, with its ledger or without."""

    if TYPE_CHECKING:

        @property
        def table(self) -> ProtectedTable:
            """The table under Jali's protection."""

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self.table.promise)

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency in which the loss is counted."""
        return self.table.promise.adjacency

    @property
    def noise(self) -> Noise:
        """The law of the noise in the first number of an answer."""
        return self.table.noise(next(iter(self.list_further_questions())))

    def spent(self) -> Spent | None:
        """Return the loss that the ledger counts."""
        return self.table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self.table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Report to `progress` how many questions are answered."""
        self.table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where the ledger refused; if it has not, ask further questions to find out."""
        return self.table.refusal(self.list_further_questions())

    def list_further_questions(self) -> Iterable[str]:
        """Return questions that are asked to meet the refusal when the attack is over."""
        from jali.lab.attacks.oracles.protected_table import write_count

        return [write_count("TRUE")]
