"""Rényi curves, which bound the divergence at each of several orders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from jali.errors import CatalogError
from jali.numbers.rounding import float_above
from jali.privacy.conversions import renyi_delta, renyi_epsilon
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.group_privacy import ProfileGroup
from jali.privacy.rationals import Number, above_one, nonnegative


@dataclass(frozen=True)
class Renyi(Loss):
    """Rényi differential privacy: a divergence for each of finitely many orders.

    Attributes:
        points: Pairs (order, divergence), by order.

    Guarantee:
        D_a(M(x) || M(x')) <= divergence for all neighbours and each order a > 1 that is listed
        (Mironov 2017). The divergence grows with the order, so between two orders the next larger one bounds.

    Example:
        >>> curve = Renyi({order: order * 0.5 for order in range(2, 64)})
        >>> round(curve.epsilon(1e-6), 3)
        5.222
    """

    _cheap: ClassVar[bool] = False

    points: tuple[tuple[float, float], ...]

    def __init__(self, divergences: Mapping[Number, Number]) -> None:
        if not isinstance(divergences, Mapping):
            raise CatalogError("renyi-not-a-mapping")
        points = sorted(_point(order, divergence) for order, divergence in divergences.items())
        if not points:
            raise CatalogError("renyi-empty")
        object.__setattr__(self, "points", tuple(points))

    @property
    def orders(self) -> tuple[float, ...]:
        """The orders that are listed."""
        return tuple(order for order, _ in self.points)

    @property
    def event(self) -> Event:
        """Refused: finitely many orders do not bound rho at all orders, which the filter adds up."""
        raise CatalogError("renyi-not-charged")

    def _renyi(self, order: float) -> float:
        """Return the divergence of the next listed order at or above this one; infinite beyond the last."""
        return min((divergence for a, divergence in self.points if a >= order), default=math.inf)

    def _delta(self, epsilon: float) -> float:
        return renyi_delta(self._renyi, epsilon, self.orders)

    def _epsilon(self, delta: float) -> float:
        return math.inf if delta <= 0 else renyi_epsilon(self._renyi, delta, self.orders)

    def group(self, size: int) -> Loss:
        """Return the loss of a group, by the (epsilon, delta) form at every epsilon."""
        return ProfileGroup(self, self._check_size(size)) if self._check_size(size) > 1 else self


def _point(order: Number, divergence: Number) -> tuple[float, float]:
    return above_one(order, "order"), float_above(nonnegative(divergence, "divergence"))
