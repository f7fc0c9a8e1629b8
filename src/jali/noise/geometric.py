"""The geometric law on 0, 1, 2, ..."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.noise.exponential import ExponentialWeights
from jali.noise.ladder import Progression


@dataclass(frozen=True)
class Geometric(ExponentialWeights):
    """The law Pr[X = k] = (1-q) q**k on k = 0, 1, 2, ..., where q = exp(-1/scale).

    Args:
        scale: A rational in (0, 2**60].

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent; no tail is cut.
    Proof:
        docs/proofs/discrete_laplace_sampler.md.

    Error:
        Pr[X >= k] = q**k.

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise import Geometric
        >>> bool((Geometric(Fraction(5, 2)).sample(100) >= 0).all())
        True
    """

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents of the blocks of 2**shift integers."""
        return (Progression(Fraction(0), (1 << shift) / self.scale),)
