"""A secret of generated bits, and the marking of guesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Bits
from jali.attacks.attack import MOST_PEOPLE
from jali.errors import CatalogError
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
    def drawn(cls, n: int, random: np.random.Generator, prior: float = 0.5) -> Secret:
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
