"""A system without a budget: counts with noise of a chosen law, as many as one likes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.errors import ERRORS
from jali.attacks.oracles.secret import Secret
from jali.attacks.subsets.listed import listed
from jali.attacks.subsets.subsets import Subsets
from jali.privacy import Adjacency


@dataclass(frozen=True, eq=False)
class Simulator:
    """Adds noise of a law to exact counts of generated bits."""

    secret: Secret
    noise: Noise
    random: np.random.Generator

    @classmethod
    def of(cls, *, n: int, noise: Noise, prior: float = 0.5, seed: int | None = None) -> Simulator:
        """Draw a secret to be asked about."""
        random = np.random.default_rng(seed)
        return cls(Secret.drawn(n, random, prior), noise, random)

    @cached_property
    def salt(self) -> bytes:
        """What sticky noise depends on besides questions and people, drawn when it is first needed."""
        return self.random.bytes(32)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"a simulator with noise {self.noise}"

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.secret.bits)

    @property
    def prior(self) -> float:
        """The probability that a bit is 1."""
        return self.secret.prior

    @property
    def adjacency(self) -> Adjacency | None:
        """A simulator promises nothing."""
        return None

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions."""
        subsets = listed(questions, self.n)
        counts = subsets.matvec(self.secret.bits.astype(np.float64))
        return np.asarray(counts, np.float64) + ERRORS[self.noise.kind](self, subsets, counts)

    def spent(self) -> Spent | None:
        """Nothing is counted."""
        return None

    def refusal(self) -> Refusal | None:
        """It never refuses."""
        return None

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self.secret.mark(guess)
