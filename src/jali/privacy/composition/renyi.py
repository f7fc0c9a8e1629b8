"""Rényi composition: divergences add order by order, and the best order is converted."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from jali.privacy.composition.parts import Parts, event_of, kind
from jali.privacy.composition.theorem import Theorem
from jali.privacy.convert import ORDERS, renyi_delta, renyi_epsilon
from jali.privacy.loss import Loss
from jali.privacy.losses.pure import response_renyi
from jali.privacy.losses.renyi import Renyi
from jali.privacy.rounding import float_above, float_below, raised


def divergence(loss: Loss, order: float) -> float:
    """Return the Rényi divergence of a loss, or of its main part where the rest has probability delta."""
    event = event_of(loss)
    if event is None or event.delta == 0:
        return loss._renyi(order)
    bound = raised(float_above(event.rho) * order)
    return bound if event.epsilon is None else min(bound, response_renyi(float_above(event.epsilon), order))


@lru_cache(maxsize=64)
def _curve(parts: Parts) -> Callable[[float], float]:
    """Return the sum of all divergences as a function of the order; it remembers what it has computed."""

    @lru_cache(maxsize=4096)
    def curve(order: float) -> float:
        return raised(math.fsum(count * divergence(loss, order) for loss, count in parts))

    return curve


def _orders(parts: Parts) -> tuple[float, ...]:
    """Return the orders to look at: the usual ones, and those at which a curve is known."""
    listed = (order for loss, _ in parts if isinstance(loss, Renyi) for order in loss.orders)
    return tuple(sorted({*ORDERS, *listed}))


def _obstacle(parts: Parts) -> str | None:
    orders = _orders(parts)
    unbounded = (loss for loss, _ in parts if all(math.isinf(divergence(loss, order)) for order in orders))
    return next((f"{kind(loss)} has no bounded Rényi divergence" for loss in unbounded), None)


def _failure(parts: Parts) -> Fraction:
    owned = ((event_of(loss), count) for loss, count in parts)
    return sum((count * event.delta for event, count in owned if event is not None), Fraction(0))


def _epsilon(parts: Parts, delta: Fraction) -> float:
    rest = float_below(delta - _failure(parts))
    return renyi_epsilon(_curve(parts), rest, _orders(parts)) if rest > 0 else math.inf


def _delta(parts: Parts, epsilon: Fraction) -> float:
    failure = _failure(parts)
    delta = renyi_delta(_curve(parts), float_below(epsilon), _orders(parts))
    return min(1.0, raised(delta + float_above(failure)) if failure else delta)


RENYI = Theorem(
    name="Rényi divergences with the tight conversion",
    citation="Mironov 2017, Proposition 1; Canonne, Kamath and Steinke 2020, Proposition 12; concurrent: Lyu 2022",
    # A filter may add up divergences at all orders (Feldman and Zrnic 2021); the ledger's adds up events only.
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_obstacle,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)
