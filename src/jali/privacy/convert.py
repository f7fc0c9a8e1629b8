"""Conversions between losses, as far as the filter needs them. Losses round up, budgets round down."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

# 60 digits, and ln is correctly rounded in `decimal`: errors are below 1e-55 relative, far under SLACK.
_EXACT = Context(prec=60)
_SLACK = Decimal("1e-40")


def concentrated_delta_at(rho: float, epsilon: float, alpha: float) -> float:
    """Return ln of the delta that rho-zCDP has at epsilon, by the Rényi order alpha.

    Guarantee:
        rho-zCDP implies (epsilon, delta)-DP with
        delta = exp((a-1)(a rho - epsilon)) / (a-1) * (1 - 1/a)^a, for every a > 1
        (Canonne, Kamath and Steinke 2020, Corollary 13).
    """
    return (alpha - 1) * (alpha * rho - epsilon) - math.log(alpha - 1) + alpha * math.log1p(-1 / alpha)


@lru_cache(maxsize=1024)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho (rounded down) for which rho-zCDP implies (epsilon, delta)-DP.

    Floats only search; the result is then checked with 60-digit arithmetic, and lowered until the check holds.

    Example:
        >>> round(float(largest_rho(Fraction(1), Fraction(1, 10**6))), 6)
        0.024356
    """
    if delta <= 0:
        return Fraction(0)
    goal, target = math.log(delta.numerator) - math.log(delta.denominator), float(epsilon)
    low, high = 0.0, 4 * (target + 1)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _best_alpha(middle, target)[1] <= goal else (low, middle)
    return _verified(Fraction(low), epsilon, delta)


def _best_alpha(rho: float, epsilon: float) -> tuple[float, float]:
    """Return the order that gives the least ln delta, and that ln delta, by golden-section search on ln(a-1)."""
    if rho == 0:
        return math.inf, -math.inf
    ratio = (math.sqrt(5) - 1) / 2
    left, right = math.log(1e-9), math.log(max(2.0, 4 * (epsilon / rho + 1)))

    def value(position: float) -> float:
        return concentrated_delta_at(rho, epsilon, 1 + math.exp(position))

    for _ in range(80):
        width = ratio * (right - left)
        if value(right - width) <= value(left + width):
            right = left + width
        else:
            left = right - width
    position = (left + right) / 2
    return 1 + math.exp(position), value(position)


def _verified(rho: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Lower `rho` to 15 digits and below until the conversion is proved by decimal arithmetic."""
    candidate = rho
    while candidate > 0:
        candidate = _floor(candidate, 15)
        alpha = Fraction(_best_alpha(float(candidate), float(epsilon))[0])
        if _proves(candidate, epsilon, delta, alpha):
            return candidate
        candidate *= 1 - Fraction(1, 10**13)
    return Fraction(0)


def _proves(rho: Fraction, epsilon: Fraction, delta: Fraction, alpha: Fraction) -> bool:
    """Check ln delta(rho, epsilon, alpha) <= ln delta, with every rounding error inside the slack."""
    exponent = _decimal((alpha - 1) * (alpha * rho - epsilon))
    logs = _EXACT.multiply(_decimal(alpha), _EXACT.ln(_decimal(1 - 1 / alpha)))
    left = _EXACT.subtract(_EXACT.add(exponent, logs), _EXACT.ln(_decimal(alpha - 1)))
    size = abs(exponent) + abs(logs) + 1
    return left + size * _SLACK <= _EXACT.ln(_decimal(delta))


def _decimal(value: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _floor(value: Fraction, digits: int) -> Fraction:
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
