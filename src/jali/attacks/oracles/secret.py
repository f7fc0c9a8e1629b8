"""A secret of generated bits, and the marking of guesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Bits
from jali.errors import CatalogError


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
    def drawn(cls, n: int, random: np.random.Generator, prior: float = 0.5) -> Secret:
        """Draw n bits."""
        if n < 1:
            raise CatalogError(f"n must be at least 1, not {n}.")
        if not 0 < prior < 1:
            raise CatalogError(f"prior must be between 0 and 1, not {prior:g}.")
        return cls((random.random(n) < prior).astype(np.int8), prior)

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return int(np.count_nonzero(guess == self.bits))
