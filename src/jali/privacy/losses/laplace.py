"""The loss of Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from jali.numerals import decimal
from jali.privacy.losses.bounded import Bounded
from jali.privacy.rationals import Number, positive
from jali.privacy.rounding import float_above, raised

if TYPE_CHECKING:
    from jali.privacy.distribution.spread import Spread


@dataclass(frozen=True, repr=False)
class LaplaceLoss(Bounded):
    """The loss of adding Laplace noise, exactly.

    Args:
        scale: The scale of the noise (b in exp(-|x|/b)), never one over it.
        sensitivity: How far neighbours are apart in L1 norm, under the adjacency in which the loss is meant.

    Guarantee:
        With E = sensitivity / scale the release is E-DP, and delta(e) = 1 - exp((e - E)/2) below E: less than
        for the worst E-DP pair. In several dimensions a move in one coordinate is the worst: a move that is
        shared between coordinates is a chain of moves, and chains of shifts of one Laplace law add up
        (docs/proofs/privacy_loss_distribution.md).

    Example:
        >>> round(LaplaceLoss(10).epsilon(0), 12), round(LaplaceLoss(1).delta(0), 6)
        (0.1, 0.393469)
    """

    scale: Fraction
    sensitivity: Fraction

    def __init__(self, scale: Number, sensitivity: Number = 1) -> None:
        object.__setattr__(self, "scale", positive(scale, "scale"))
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))

    def __repr__(self) -> str:
        return f"LaplaceLoss(scale={decimal(self.scale)}, sensitivity={decimal(self.sensitivity)})"

    @property
    def bound(self) -> Fraction:
        """The pure epsilon, exactly."""
        return self.sensitivity / self.scale

    @property
    def _largest(self) -> Fraction:
        return self.bound

    def _delta(self, epsilon: float) -> float:
        bound = float_above(self.bound)
        return raised(-math.expm1((epsilon - bound) / 2)) if epsilon < self.bound else 0.0

    def _epsilon(self, delta: float) -> float:
        bound = float_above(self.bound)
        slack = 1e-15 * (bound + 1 / (1 - delta))
        return max(0.0, bound + 2 * math.log1p(-delta) + slack) if delta else bound

    def _renyi(self, order: float) -> float:
        """Return the Rényi divergence of two shifted Laplace laws (Mironov 2017, Proposition 6)."""
        bound = float_above(self.bound)
        # ln(a/(2a-1) e^((a-1) b) + (a-1)/(2a-1) e^(-a b)) / (a-1), with e^((a-1) b) taken out.
        inside = math.log1p((order - 1) / (2 * order - 1) * math.expm1(-(2 * order - 1) * bound))
        exact = bound + inside / (order - 1)
        return min(bound, raised(order * bound**2 / 2), exact + 1e-14 * (bound + abs(inside) / (order - 1)))

    def group(self, size: int) -> LaplaceLoss:
        """Return the loss of a group: `size` times the sensitivity."""
        return LaplaceLoss(self.scale, self.sensitivity * self._sized(size))

    def spreads(self) -> tuple[Spread, ...]:
        """Return the law of the loss: atoms at both ends and a density between them."""
        from jali.privacy.distribution.spread import laplace

        return (laplace(float_above(self.bound), self.bound),)
