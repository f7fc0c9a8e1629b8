"""The inverse of an error law: the least loss that keeps a promise, and the last at which something holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from jali.errors import MechanismError
from jali.numbers.search import bisect, bracket_around
from jali.privacy.rounding import rational_above

_LARGEST = 2.0**60
_SMALLEST = 2.0**-60
SMALLEST_LOSS = Fraction(1, 1 << 60)
_CLOSE = 1 + 1e-11


def least_loss(keeps: Callable[[Fraction], bool], wish: str) -> Fraction:
    """Return the least rational of twelve digits at which a promise is kept, to one part in 10^11.

    Args:
        keeps: Whether the promise is kept at a loss; true from some loss on.
        wish: What is promised, for the refusal if no loss keeps it.
    """
    return rational_above(_bisected(keeps, *_bracket(keeps, wish))[1])


def least_between(keeps: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> Fraction:
    """Return the same between two losses, of which the larger keeps the promise."""
    return min(high, rational_above(_bisected(keeps, float(low), float(high))[1]))


def last_loss(holds: Callable[[Fraction], bool], end: Fraction) -> Fraction:
    """Return the last loss below `end` at which a condition holds, to one part in 10^11; it holds up to there."""
    return rational_above(_bisected(lambda loss: not holds(loss), _SMALLEST, float(end))[0])


def _bisected(keeps: Callable[[Fraction], bool], low: float, high: float) -> tuple[float, float]:
    return bisect(
        lambda loss: keeps(rational_above(loss)),
        low,
        high,
        close=lambda low, high: high <= low * _CLOSE,
        middle=lambda low, high: (low * high) ** 0.5,
    )


def _bracket(keeps: Callable[[Fraction], bool], wish: str) -> tuple[float, float]:
    """Return two losses, a factor of 2 apart, of which the larger keeps the promise and the smaller does not."""
    low, high = bracket_around(lambda loss: keeps(rational_above(loss)), 1.0, least=_SMALLEST, most=_LARGEST)
    if high > _LARGEST:
        raise MechanismError("no-loss-keeps-error", wish=wish)
    return low, high
