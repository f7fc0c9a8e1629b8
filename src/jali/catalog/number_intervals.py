"""Intervals of numbers whose ends may be open to infinity, and arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class NumberInterval:
    """All numbers from `low` to `high`; None means no bound on that side.

    Example:
        >>> NumberInterval(Fraction(0), Fraction(2)) * NumberInterval(Fraction(-1), Fraction(3))
        NumberInterval(low=Fraction(-2, 1), high=Fraction(6, 1))
    """

    low: Fraction | None = None
    high: Fraction | None = None

    def __neg__(self) -> NumberInterval:
        return NumberInterval(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def __add__(self, other: NumberInterval) -> NumberInterval:
        return NumberInterval(_sum(self.low, other.low), _sum(self.high, other.high))

    def __sub__(self, other: NumberInterval) -> NumberInterval:
        return self + -other

    def __mul__(self, other: NumberInterval) -> NumberInterval:
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return NumberInterval()
        return _hull(a * b for a in (self.low, self.high) for b in (other.low, other.high))

    def __truediv__(self, other: NumberInterval) -> NumberInterval:
        if other.low is None or other.high is None or other.low <= 0 <= other.high:
            return NumberInterval()
        return self * NumberInterval(1 / other.high, 1 / other.low)

    def __abs__(self) -> NumberInterval:
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return -self
        top = None if self.low is None or self.high is None else max(-self.low, self.high)
        return NumberInterval(Fraction(0), top)

    def round_to_doubles(self) -> NumberInterval:
        """Return the interval of the doubles nearest to its numbers; an end beyond all doubles is open.

        Rounding to the nearest double never changes an order, so the double of a number from `low` to `high` lies
        from the double of `low` to the double of `high`.
        """
        return self.map_ends(_nearest)

    def map_ends(self, step: Callable[[Fraction], Fraction | None]) -> NumberInterval:
        """Return the interval of a function that never falls, by its values at the ends."""
        return NumberInterval(
            None if self.low is None else step(self.low), None if self.high is None else step(self.high)
        )

    def widen(self, share: Fraction) -> NumberInterval:
        """Move each end outwards by a share of its size."""
        low = None if self.low is None else self.low - abs(self.low) * share
        high = None if self.high is None else self.high + abs(self.high) * share
        return NumberInterval(low, high)

    @property
    def constant(self) -> Fraction | None:
        """The only number of the interval, if there is just one."""
        return self.low if self.low == self.high else None

    def union(self, other: NumberInterval) -> NumberInterval:
        """Return the least interval that holds both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return NumberInterval(low, high)

    def least(self, other: NumberInterval) -> NumberInterval:
        """Return the interval of the smaller of two numbers."""
        return NumberInterval(self.union(other).low, _tighter(min, self.high, other.high))

    def greatest(self, other: NumberInterval) -> NumberInterval:
        """Return the interval of the larger of two numbers."""
        return NumberInterval(_tighter(max, self.low, other.low), self.union(other).high)


ANYTHING = NumberInterval()


def _nearest(value: Fraction) -> Fraction | None:
    try:
        return Fraction(float(value))
    except OverflowError:
        return None


def _sum(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _tighter(
    choose: Callable[[Fraction, Fraction], Fraction], a: Fraction | None, b: Fraction | None
) -> Fraction | None:
    if a is None or b is None:
        return b if a is None else a
    return choose(a, b)


def _hull(values: Iterable[Fraction]) -> NumberInterval:
    numbers = list(values)
    return NumberInterval(min(numbers), max(numbers))
