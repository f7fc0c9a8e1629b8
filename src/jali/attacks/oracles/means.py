"""A publisher without a budget: the counts of every attribute in a group, with noise of a chosen law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.errors import ERRORS
from jali.attacks.oracles.seats import Seats
from jali.attacks.oracles.simulator import Simulator
from jali.attacks.subsets.listed import Listed
from jali.errors import CatalogError
from jali.privacy import Adjacency


@dataclass(frozen=True, eq=False)
class Means:
    """Publishes n times the mean of every attribute over the members, with independent noise."""

    seats: Seats
    noise: Noise
    random: np.random.Generator

    @classmethod
    def of(cls, *, n: int, attributes: int, noise: Noise, seed: int | None = None) -> Means:
        """Draw a group to be asked about."""
        if noise.stddev is None:
            raise CatalogError("tracing-noise-wrong", noise=noise.kind)
        random = np.random.default_rng(seed)
        return cls(Seats.drawn(n, attributes, random), noise, random)

    @cached_property
    def _noisy(self) -> Simulator:
        """What draws the errors; sticky ones are the same for the same question."""
        return Simulator(self.seats.secret, self.noise, self.random)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"means of counts with noise {self.noise}" if self.noise.size else "exact means"

    @property
    def n(self) -> int:
        """How many members there are."""
        return len(self.candidates)

    @property
    def prior(self) -> float:
        """The probability that the second candidate sits."""
        return self.seats.secret.prior

    @property
    def adjacency(self) -> Adjacency | None:
        """It promises nothing."""
        return None

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population."""
        return self.seats.frequencies

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat."""
        return self.seats.candidates

    def ask(self) -> Doubles:
        """Answer how many members have each attribute."""
        having = Listed.of(self.seats.members.T)
        counts = np.asarray(having.matvec(np.ones(self.n)), np.float64)
        return counts + ERRORS[self.noise.kind](self._noisy, having, counts)

    def spent(self) -> Spent | None:
        """Nothing is counted."""
        return None

    def refusal(self) -> Refusal | None:
        """It never refuses."""
        return None

    def mark(self, guess: Bits) -> int:
        """Return for how many seats a guess is right."""
        return self.seats.secret.mark(guess)

    def told_apart(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        return self.seats.told_apart(scores)
