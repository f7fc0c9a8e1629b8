"""A group that Jali protects: the counts of its attributes come through a ledger, or without one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.attack import Progress
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.held import Held
from jali.attacks.oracles.people import People
from jali.attacks.oracles.phrases import count_of
from jali.attacks.oracles.promise import Promise
from jali.attacks.oracles.seats import Seats
from jali.attacks.setting import Setting
from jali.privacy import Adjacency


@dataclass(frozen=True, eq=False)
class ProtectedMeans:
    """Asks Jali how many members have each attribute.

    A person is a row, their attributes a text of letters A and T: a thousand columns would cost seconds to plan.
    """

    seats: Seats
    table: Held

    @classmethod
    def of(cls, setting: Setting, attributes: int) -> ProtectedMeans:
        """Draw a group, and protect its members."""
        seats = Seats.drawn(setting.n, attributes, np.random.default_rng(setting.seed))
        letters = np.where(seats.members == 1, "T", "A")
        people = People({"genes": ["".join(row) for row in letters]})
        return cls(seats, Held(people, Promise.under(setting), questions=attributes))

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self.table.promise)

    @property
    def n(self) -> int:
        """How many members there are."""
        return len(self.candidates)

    @property
    def prior(self) -> float:
        """The probability that the second candidate sits."""
        return self.seats.secret.prior

    @property
    def noise(self) -> Noise:
        """The law of a count's noise."""
        return self.table.noise(count_of("TRUE"))

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the table."""
        return self.table.promise.adjacency

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population."""
        return self.seats.frequencies

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat."""
        return self.seats.candidates

    def ask(self) -> Doubles:
        """Answer how many members have each attribute, until it refuses."""
        places = range(1, len(self.frequencies) + 1)
        return self.table.counts(count_of(f"SUBSTRING(genes, {place}, 1) = 'T'") for place in places)

    def spent(self) -> Spent | None:
        """Return what the ledger counts."""
        return self.table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self.table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Tell somebody how many questions are answered."""
        self.table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where it refuses."""
        return self.table.refusal([count_of("TRUE")])

    def mark(self, guess: Bits) -> int:
        """Return for how many seats a guess is right."""
        return self.seats.secret.mark(guess)

    def told_apart(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        return self.seats.told_apart(scores)
