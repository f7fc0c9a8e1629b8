"""The discrete Laplace law on the integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.noise.exponential import ExponentialWeights
from jali.noise.ladder import Progression


@dataclass(frozen=True)
class DiscreteLaplace(ExponentialWeights):
    """The law Pr[X = x] = (1-q)/(1+q) q**|x| on the integers, where q = exp(-1/scale).

    Args:
        scale: A rational in (0, 2**60].

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent; no tail is cut. Added to an
        integer of sensitivity d, a sample makes a (d/scale)-DP release.
    Proof:
        docs/proofs/discrete_laplace_sampler.md.

    Error:
        Pr[|X| > t] = 2 q**(t+1) / (1+q) for integer t >= 0; the variance is 2q/(1-q)**2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise import DiscreteLaplace
        >>> DiscreteLaplace(Fraction(10)).sample(3).dtype
        dtype('int64')
    """

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents of the blocks: |x| starts at k 2**shift on the right, 1 later on the left."""
        step = (1 << shift) / self.scale
        return Progression(Fraction(0), step), Progression(1 / self.scale, step)
