"""Composition of zCDP losses and of Rényi divergences."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from jali.numbers.rounding import float_above, float_below, round_up
from jali.privacy.composition.compound import Parts, event_of, kind, lacks_event, total
from jali.privacy.composition.theorem import Theorem
from jali.privacy.conversions import ORDERS, renyi_delta, renyi_epsilon, simple_epsilon
from jali.privacy.loss import Loss
from jali.privacy.losses.pure_loss import response_renyi
from jali.privacy.losses.renyi_loss import Renyi


def _epsilon(parts: Parts, delta: Fraction) -> float:
    spent = total(parts)
    rho, rest = float_above(spent.rho), float_below(delta - spent.delta)
    return renyi_epsilon(lambda order: rho * order, rest) if rest > 0 else math.inf


def _delta(parts: Parts, epsilon: Fraction) -> float:
    spent = total(parts)
    rho = float_above(spent.rho)
    return _with(spent.delta, renyi_delta(lambda order: rho * order, float_below(epsilon)))


def _simple_epsilon(parts: Parts, delta: Fraction) -> float:
    spent = total(parts)
    rest = float_below(delta - spent.delta)
    return simple_epsilon(float_above(spent.rho), rest) if rest > 0 else math.inf


def _simple_delta(parts: Parts, epsilon: Fraction) -> float:
    """Return exp(-(epsilon - rho)^2 / (4 rho)) and the events' deltas."""
    spent = total(parts)
    rho, reach = float_above(spent.rho), float_below(epsilon - spent.rho)
    if reach <= 0 or rho == 0:
        return 1.0
    exponent = -(reach**2) / (4 * rho) * (1 - 1e-14)
    return _with(spent.delta, round_up(max(math.exp(exponent), 5e-324)))


def _with(failure: Fraction, delta: float) -> float:
    return min(1.0, round_up(delta + float_above(failure)) if failure else delta)


CONCENTRATED_SIMPLE = Theorem(
    name="zCDP with the simple conversion",
    citation="Bun and Steinke 2016, Lemma 1.7 and Proposition 1.3; with adaptive parameters: Whitehouse, Ramdas, "
    "Rogers and Wu 2023; concurrent: Lyu 2022",
    adaptive_parameters=True,
    concurrent=True,
    obstacle=lacks_event,
    solve_epsilon=_simple_epsilon,
    solve_delta=_simple_delta,
)

CONCENTRATED = Theorem(
    name="zCDP with the tight conversion",
    citation="Bun and Steinke 2016, Lemma 1.7; Canonne, Kamath and Steinke 2020, Corollary 13; with adaptive "
    "parameters: Feldman and Zrnic 2021; concurrent: Lyu 2022",
    adaptive_parameters=True,
    concurrent=True,
    obstacle=lacks_event,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)


def divergence(loss: Loss, order: float) -> float:
    """Return the Rényi divergence of a loss, or of its main part where the rest has probability delta."""
    event = event_of(loss)
    if event is None or event.delta == 0:
        return loss._renyi(order)
    bound = round_up(float_above(event.rho) * order)
    return bound if event.epsilon is None else min(bound, response_renyi(float_above(event.epsilon), order))


@lru_cache(maxsize=64)
def _curve(parts: Parts) -> Callable[[float], float]:
    """Return the sum of all divergences as a function of the order; it remembers what it has computed."""

    @lru_cache(maxsize=4096)
    def curve(order: float) -> float:
        return round_up(math.fsum(count * divergence(loss, order) for loss, count in parts))

    return curve


def _orders(parts: Parts) -> tuple[float, ...]:
    """Return the orders to look at: the usual ones, and those at which a curve is known."""
    listed = (order for loss, _ in parts if isinstance(loss, Renyi) for order in loss.orders)
    return tuple(sorted({*ORDERS, *listed}))


def _renyi_obstacle(parts: Parts) -> str | None:
    orders = _orders(parts)
    unbounded = (loss for loss, _ in parts if all(math.isinf(divergence(loss, order)) for order in orders))
    return next((f"{kind(loss)} has no bounded Rényi divergence" for loss in unbounded), None)


def _failure(parts: Parts) -> Fraction:
    owned = ((event_of(loss), count) for loss, count in parts)
    return sum((count * event.delta for event, count in owned if event is not None), Fraction(0))


def _renyi_epsilon(parts: Parts, delta: Fraction) -> float:
    rest = float_below(delta - _failure(parts))
    return renyi_epsilon(_curve(parts), rest, _orders(parts)) if rest > 0 else math.inf


def _renyi_delta(parts: Parts, epsilon: Fraction) -> float:
    return _with(_failure(parts), renyi_delta(_curve(parts), float_below(epsilon), _orders(parts)))


RENYI = Theorem(
    name="Rényi divergences with the tight conversion",
    citation="Mironov 2017, Proposition 1; Canonne, Kamath and Steinke 2020, Proposition 12; concurrent: Lyu 2022",
    # A filter may add up divergences at all orders (Feldman and Zrnic 2021); the ledger's adds up events only.
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_renyi_obstacle,
    solve_epsilon=_renyi_epsilon,
    solve_delta=_renyi_delta,
)
