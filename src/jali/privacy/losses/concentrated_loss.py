"""The loss of zero-concentrated differential privacy (zCDP)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jali.numbers.exact import decimal_above
from jali.numbers.rounding import float_above
from jali.privacy.conversions import renyi_delta, renyi_epsilon
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, positive


@dataclass(frozen=True, repr=False)
class Concentrated(Loss):
    """Zero-concentrated differential privacy (zCDP).

    Attributes:
        bound: Rho, exactly.

    Guarantee:
        The Rényi divergence of order a between neighbours is at most rho*a for every a > 1
        (Bun and Steinke 2016, Definition 1.1). Converted to (epsilon, delta) by Canonne, Kamath and
        Steinke 2020, Corollary 13.

    Example:
        >>> str(Concentrated("1/8").event)
        'rho 0.125'
        >>> round(Concentrated(0.5).epsilon(1e-6), 5)
        5.22153
    """

    _cheap: ClassVar[bool] = False

    bound: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "bound", positive(rho, "rho"))

    def __repr__(self) -> str:
        return f"Concentrated({decimal_above(self.bound)})"

    @property
    def event(self) -> Event:
        """No pure loss, rho in zCDP."""
        return Event(None, self.bound)

    def _renyi(self, order: float) -> float:
        """Return rho times the order."""
        return float_above(self.bound) * order

    def _delta(self, epsilon: float) -> float:
        return renyi_delta(self._renyi, epsilon)

    def _epsilon(self, delta: float) -> float:
        return math.inf if delta <= 0 else renyi_epsilon(self._renyi, delta)

    def group(self, size: int) -> Concentrated:
        """Return the loss of a group: the square of `size` times rho (Bun and Steinke 2016, Proposition 1.9)."""
        return Concentrated(self._check_size(size) ** 2 * self.bound)
