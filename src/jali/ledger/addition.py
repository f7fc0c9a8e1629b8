"""Addition of events: exact, until someone chose denominators that multiply without end."""

from __future__ import annotations

from fractions import Fraction

from jali.privacy import Event

_SUM_BITS = 1024
_UNIT = 1 << 1000


def total(spent: Event, event: Event) -> Event:
    """Add exactly, but round up where someone chose denominators that multiply without end.

    Without the rounding, a few hundred questions with epsilon = 1/(a large prime) make sums of a million
    digits.
    """
    both = spent + event
    return Event(None if both.epsilon is None else _short(both.epsilon), _short(both.rho), _short(both.delta))


def _short(value: Fraction) -> Fraction:
    if value.denominator.bit_length() <= _SUM_BITS:
        return value
    return Fraction(-(-value.numerator * _UNIT // value.denominator), _UNIT)
