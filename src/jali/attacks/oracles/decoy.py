"""The instance on which the exponential adversary fares as badly as its theorem allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jali.attacks.arrays import Doubles, Members
from jali.attacks.noises import Noise
from jali.attacks.oracles.secret import Secret
from jali.attacks.oracles.simulator import Simulator
from jali.attacks.subsets.listed import listed
from jali.attacks.subsets.subsets import Subsets


@dataclass(frozen=True, eq=False)
class Decoy(Simulator):
    """Answers as if each of some people, the decoys, had half of the trait.

    Among d = 2 floor(2E) decoys, which are 4E where 2E is whole, half have the trait. A count is wrong by half the
    difference of those with and those without it among its decoys: at most d/4 <= E. All C(d, d/2) ways to give
    half of the decoys the trait have the same answers, nothing else is consistent with them, and the opposite
    of the secret on the decoys is wrong in d bits.

    The secret is the last of these ways by the order of the people, so that an attack that takes the first of what
    it cannot tell apart is wrong in all d.

    Attributes:
        decoys: Who they are.
    """

    decoys: Members

    @classmethod
    def of(cls, *, n: int, noise: Noise, prior: float = 0.5, seed: int | None = None) -> Decoy:
        """Draw a secret and its decoys; at most all people, if their number is even."""
        random = np.random.default_rng(seed)
        secret = Secret.drawn(n, random, prior)
        count = min(2 * math.floor(2 * noise.size), n - n % 2)
        chosen = np.sort(random.permutation(n)[:count])
        secret.bits[chosen] = np.arange(count) >= count // 2
        return cls(secret, noise, random, np.isin(np.arange(n), chosen))

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"an oracle with {np.count_nonzero(self.decoys)} decoys and errors up to {self.noise.size:g}"

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions."""
        subsets = listed(questions, self.n)
        return np.asarray(subsets.matvec(np.where(self.decoys, 0.5, self.secret.bits)), np.float64)
