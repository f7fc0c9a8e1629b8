"""Conversions between losses, as far as the filter needs them. Losses round up, budgets round down.

Everything is computed in 50-digit decimal arithmetic, whose ln and exp are correctly rounded: the results are
rigorous, and the same on every machine, so that a ledger verifies wherever it is read.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

_PRECISION = 50
# Each of the few operations below errs by less than 1e-49 of the largest term.
_SLACK = Decimal("1e-45")
_GOLDEN = Decimal("0.6180339887498948482045868343656")
# ln(order - 1) is searched here; the conversion is best at order - 1 between delta and epsilon/rho.
_ORDERS = Decimal(-60), Decimal(60)
_STEPS = 64


@lru_cache(maxsize=1024)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho, rounded down, for which rho-zCDP is shown to imply (epsilon, delta)-DP.

    Guarantee:
        rho-zCDP implies (epsilon, delta)-DP with
        delta = exp((a-1)(a rho - epsilon)) / (a-1) * (1 - 1/a)^a, for every order a > 1
        (Canonne, Kamath and Steinke 2020, Corollary 13). Solved for rho at one order, this is a closed form;
        any order gives a valid rho, and the best is found by golden-section search.

    Example:
        >>> round(float(largest_rho(Fraction(1), Fraction(1, 10**6))), 6)
        0.024356
    """
    if delta <= 0:
        return Fraction(0)
    with localcontext(Context(prec=_PRECISION)):
        return max(Fraction(0), _floor(_best(_decimal(epsilon), _decimal(delta).ln())))


def _best(epsilon: Decimal, log_delta: Decimal) -> Decimal:
    """Return the largest rho over all orders, by golden-section search on ln(a-1)."""
    left, right = _ORDERS
    inner, outer = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    low, high = _rho(epsilon, log_delta, inner), _rho(epsilon, log_delta, outer)
    for _ in range(_STEPS):
        if low >= high:
            right, outer, high = outer, inner, low
            inner = right - _GOLDEN * (right - left)
            low = _rho(epsilon, log_delta, inner)
        else:
            left, inner, low = inner, outer, high
            outer = left + _GOLDEN * (right - left)
            high = _rho(epsilon, log_delta, outer)
    return max(low, high)


def _rho(epsilon: Decimal, log_delta: Decimal, position: Decimal) -> Decimal:
    """Return (epsilon + (ln delta + ln b - a ln(1-1/a)) / b) / a for b = a-1 = exp(position), rounded down."""
    b = position.exp()
    a = b + 1
    # The order is the decimal b, whose logarithm is taken anew: any order is valid, if it is used consistently.
    logs = log_delta + b.ln() - a * (b / a).ln()
    size = epsilon + (abs(log_delta) + abs(b.ln()) + abs(a * (b / a).ln())) / b
    return (epsilon + logs / b - size * _SLACK) / a


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _floor(value: Decimal) -> Fraction:
    return Fraction(Context(prec=15, rounding=ROUND_FLOOR).plus(value))
