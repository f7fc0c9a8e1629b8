"""The inverse of an error law: the least loss that keeps a promise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from jali.errors import MechanismError
from jali.privacy.rounding import rational_above

_LARGEST = 2.0**60
_SMALLEST = 2.0**-60
_CLOSE = 1 + 1e-11


def least_loss(keeps: Callable[[Fraction], bool], wish: str) -> Fraction:
    """Return the least rational of twelve digits at which a promise is kept, to one part in 10^11.

    Args:
        keeps: Whether the promise is kept at a loss; true from some loss on.
        wish: What is promised, for the refusal if no loss keeps it.
    """
    low, high = _bracket(keeps, wish)
    while high > low * _CLOSE:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if keeps(rational_above(middle)) else (middle, high)
    return rational_above(high)


def _bracket(keeps: Callable[[Fraction], bool], wish: str) -> tuple[float, float]:
    """Return two losses, a factor of 2 apart, of which the larger keeps the promise and the smaller does not."""
    high = 1.0
    while not keeps(rational_above(high)):
        high *= 2
        if high > _LARGEST:
            raise MechanismError(f"within: no loss up to 2**60 keeps {wish}.", remedy="Wish for a larger error.")
    while high > _SMALLEST and keeps(rational_above(high / 2)):
        high /= 2
    return high / 2, high
