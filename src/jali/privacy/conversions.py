"""Convert losses to others: losses round up, budgets round down.

What the filter needs is computed in 50-digit decimal arithmetic, whose ln and exp are correctly rounded: the
results are rigorous, and the same on every machine, so that a ledger verifies wherever it is read. What people
read is computed in doubles and rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from jali.numbers.rounding import to_decimal
from jali.numbers.search import golden_section
from jali.privacy.rationals import Number, nonnegative, probability

_PRECISION = 50
# Each of the few operations below errs by less than 1e-49 of the largest term.
_SLACK = Decimal("1e-45")
# ln(order - 1) is searched here; the conversion is best at order - 1 between delta and epsilon/rho.
_ORDERS = Decimal(-60), Decimal(60)
_STEPS = 65
# Where a Rényi curve is looked at first: dense near 1 and at small integers, then by a constant factor.
ORDERS: tuple[float, ...] = (
    *(1 + 10 ** (i / 10) for i in range(-30, 4)),
    *(float(order) for order in range(3, 64)),
    *(float(round(64 * 1.1**i)) for i in range(70)),
    *(5e4 * 2.0**i for i in range(40)),
)


def largest_rho(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest rho, rounded down, for which rho-zCDP is shown to imply (epsilon, delta)-DP.

    Guarantee:
        rho-zCDP implies (epsilon, delta)-DP with
        delta = exp((a-1)(a rho - epsilon)) / (a-1) * (1 - 1/a)^a, for every order a > 1
        (Canonne, Kamath and Steinke 2020, Corollary 13). Solved for rho at one order, this is a closed form;
        any order gives a valid rho, and the best is found by golden-section search.

    Example:
        >>> round(float(largest_rho(1, 1e-6)), 6)
        0.024356
    """
    return _largest_rho(nonnegative(epsilon, "epsilon"), probability(delta, "delta"))


@lru_cache(maxsize=1024)
def _largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    if delta <= 0:
        return Fraction(0)
    with localcontext(Context(prec=_PRECISION)):
        return max(Fraction(0), _floor(_best(to_decimal(epsilon), to_decimal(delta).ln())))


def _best(epsilon: Decimal, log_delta: Decimal) -> Decimal:
    """Return the largest rho over all orders, by golden-section search on ln(a-1)."""
    found = golden_section(lambda position: -_rho(epsilon, log_delta, position), *_ORDERS, steps=_STEPS)
    return Decimal(-found.value)


def _rho(epsilon: Decimal, log_delta: Decimal, position: Decimal) -> Decimal:
    """Return (epsilon + (ln delta + ln b - a ln(1-1/a)) / b) / a for b = a-1 = exp(position), rounded down."""
    b = position.exp()
    a = b + 1
    # The order is the decimal b, whose logarithm is taken again: any order is valid, if it is used consistently.
    logs = log_delta + b.ln() - a * (b / a).ln()
    size = epsilon + (abs(log_delta) + abs(b.ln()) + abs(a * (b / a).ln())) / b
    return (epsilon + logs / b - size * _SLACK) / a


def _floor(value: Decimal) -> Fraction:
    return Fraction(Context(prec=15, rounding=ROUND_FLOOR).plus(value))


def renyi_epsilon(curve: Callable[[float], float], delta: float, orders: Sequence[float] = ORDERS) -> float:
    """Return the least epsilon at delta over the orders of a Rényi curve, rounded up.

    Guarantee:
        A release with Rényi divergence at most r(a) of order a > 1 is (epsilon, delta)-DP for
        epsilon = r(a) + (ln(1/delta) - ln(a-1) + a ln(1 - 1/a)) / (a-1)
        (Canonne, Kamath and Steinke 2020, Proposition 12). Every order is valid; the best is searched.
    """
    return max(0.0, _least_over_orders(lambda order: _epsilon_at(order, curve(order), math.log(delta)), orders))


def renyi_delta(curve: Callable[[float], float], epsilon: float, orders: Sequence[float] = ORDERS) -> float:
    """Return the least delta at epsilon over the orders of a Rényi curve, rounded up: the inverse."""
    logarithm = _least_over_orders(lambda order: _log_delta_at(order, curve(order), epsilon), orders)
    return 1.0 if logarithm >= 0 else max(math.exp(logarithm), 5e-324)


def simple_epsilon(rho: float, delta: float) -> float:
    """Return rho + 2 sqrt(rho ln(1/delta)), rounded up (Bun and Steinke 2016, Proposition 1.3)."""
    return (rho + 2 * math.sqrt(rho * -math.log(delta))) * (1 + 1e-14)


def _epsilon_at(order: float, divergence: float, log_delta: float) -> float:
    logs = -log_delta - math.log(order - 1) + order * math.log1p(-1 / order)
    return divergence + logs / (order - 1) + 1e-15 * (divergence + (abs(log_delta) + 8) * order / (order - 1))


def _log_delta_at(order: float, divergence: float, epsilon: float) -> float:
    logs = -math.log(order - 1) + order * math.log1p(-1 / order)
    slack = 1e-15 * ((order - 1) * (divergence + epsilon) + abs(logs) + 1)
    return (order - 1) * (divergence - epsilon) + logs + slack


def _least_over_orders(function: Callable[[float], float], orders: Sequence[float]) -> float:
    """Return the least value seen over the given orders and around the best of them."""
    values = [function(order) for order in orders]
    best = min(range(len(values)), key=values.__getitem__)
    left, right = orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)]
    return min(values[best], float(golden_section(function, left, right, steps=60, fresh=True).value))
