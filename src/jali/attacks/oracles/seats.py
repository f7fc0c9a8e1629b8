"""The seats of a group, with the candidates for each, drawn from a population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.group import frequencies
from jali.attacks.oracles.secret import Secret


@dataclass(frozen=True, eq=False)
class Seats:
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
    def drawn(cls, n: int, attributes: int, random: np.random.Generator) -> Seats:
        """Draw the candidates and who of them sits."""
        secret = Secret.drawn(n, random)
        shares = frequencies(attributes)
        return cls(shares, (random.random((n, 2, attributes)) < shares).astype(np.int8), secret)

    @property
    def members(self) -> Bits:
        """The attributes of those who sit."""
        return self.candidates[np.arange(len(self.secret.bits)), self.secret.bits]

    def told_apart(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        seats = np.arange(len(self.secret.bits))
        return scores[seats, self.secret.bits], scores[seats, 1 - self.secret.bits]
