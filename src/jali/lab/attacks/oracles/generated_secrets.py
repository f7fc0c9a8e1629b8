"""Draw secrets and mark guesses: bits, a table of victims and their companions, and the seats of a group.

In the table everybody who is attacked is alone with what is known of them, and nobody else is missed. A group has
two candidates for each seat, drawn from one population.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.attack_base import MOST_PEOPLE
from jali.lab.attacks.oracle import Values, spread_frequencies
from jali.privacy.rationals import positive_integer


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
