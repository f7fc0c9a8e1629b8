"""Functions of numbers, with the interval that each result lies in.

The engine computes in doubles, and each operation of IEEE 754 gives the double nearest to the exact result. An
interval is therefore computed exactly from the doubles nearest to its parts' ends, then rounded in the same way:
rounding never changes an order, so nothing the engine can compute falls outside
(`NumberInterval.round_to_doubles`). Logarithms, exponentials and powers come from the C library, which is trusted
to be right within 16 units in the last place: their ends are moved outwards by that much. Whole results (FLOOR and
the like) have whole ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.ir.functions.function_types import DATED, Function, Rule, Type, find_common_kind, find_number_kind

_LIBRARY = Fraction(1, 1 << 48)
_SMALLEST = 5e-324
_ONE = NumberInterval(Fraction(-1), Fraction(1))
_MOST_BUCKETS = 1_000_000


def _arithmetic(bounds: Callable[[NumberInterval, NumberInterval], NumberInterval]) -> Rule:
    def rule(types: Sequence[Type]) -> Type:
        a, b = (t.bounds.round_to_doubles() for t in types)
        return Type(find_number_kind(types), bounds(a, b).round_to_doubles())

    return rule


def _plus_or_minus(bounds: Callable[[NumberInterval, NumberInterval], NumberInterval]) -> Rule:
    """Numbers, or a date moved by whole days."""
    plain = _arithmetic(bounds)

    def rule(types: Sequence[Type]) -> Type:
        if types[0].kind is Kind.DATE and types[1].kind in (Kind.INTEGER, None):
            return Type(Kind.DATE, bounds(types[0].bounds, types[1].bounds))
        return plain(types)

    return rule


def _minus(types: Sequence[Type]) -> Type:
    if [t.kind for t in types] == [Kind.DATE, Kind.DATE]:
        return Type(Kind.INTEGER, types[0].bounds - types[1].bounds)
    return _plus_or_minus(lambda a, b: a - b)(types)


def _divide(types: Sequence[Type]) -> Type:
    return Type(Kind.REAL, _arithmetic(lambda a, b: a / b)(types).bounds)


def _divide_whole(types: Sequence[Type]) -> Type:
    """Cut the quotient toward zero. A whole divisor other than 0 never makes a number larger."""
    if find_number_kind(types) is Kind.REAL:
        raise ValueError("takes whole numbers (write FLOOR(a / b) for others)")
    a, b = (t.bounds.round_to_doubles() for t in types)
    cut, size = (a / b).round_to_doubles().map_ends(_trunc), abs(a)
    return Type(Kind.INTEGER, (-size).union(size) if cut == ANYTHING else cut)


def _remainder(types: Sequence[Type]) -> Type:
    """The remainder has the sign of a, is no larger than a, and smaller than b."""
    kind = find_number_kind(types)
    a, b = (t.bounds.round_to_doubles() for t in types)
    size = abs(b).high
    if size is not None and kind is Kind.INTEGER:
        size = max(size - 1, Fraction(0))
    zero, limit = NumberInterval(Fraction(0), Fraction(0)), NumberInterval(None if size is None else -size, size)
    inside = a.union(zero)
    return Type(kind, NumberInterval(inside.greatest(limit).low, inside.least(limit).high))


def _extreme(step: Callable[[NumberInterval, NumberInterval], NumberInterval]) -> Rule:
    """LEAST and GREATEST leave NULLs out: any argument that can be NULL can be missing from the comparison."""

    def rule(types: Sequence[Type]) -> Type:
        kind = find_common_kind(types) if any(t.kind in DATED for t in types) else find_number_kind(types)
        sure = [_bound_computed(t) for t in types if not t.nullable]
        unsure = [_bound_computed(t) for t in types if t.nullable and t.kind is not None]
        if not sure:
            return Type(kind, reduce(NumberInterval.union, unsure, unsure[0]) if unsure else ANYTHING)
        core = reduce(step, sure)
        # Each further argument is compared with the core or missing: both must lie in the interval.
        return Type(kind, reduce(NumberInterval.union, (step(core, b) for b in unsure), core), nullable=False)

    return rule


def _bound_computed(given: Type) -> NumberInterval:
    return given.bounds if given.kind in DATED else given.bounds.round_to_doubles()


def _trunc(value: Fraction) -> Fraction:
    return Fraction(math.trunc(value))


def round_half_away(value: Fraction) -> Fraction:
    """Round to a whole number, halves away from zero, as SQL does."""
    size = Fraction(math.floor(abs(value) + Fraction(1, 2)))
    return size if value >= 0 else -size


def _whole(step: Callable[[Fraction], int | Fraction]) -> Rule:
    def rule(types: Sequence[Type]) -> Type:
        find_number_kind(types)
        return Type(Kind.INTEGER, types[0].bounds.round_to_doubles().map_ends(lambda end: Fraction(step(end))))

    return rule


def _round(types: Sequence[Type]) -> Type:
    digits = types[1].bounds.constant if len(types) > 1 else None
    if digits is None:
        return _whole(round_half_away)(types)
    find_number_kind(types)
    if digits >= 0:
        return Type(Kind.REAL, (types[0].bounds.round_to_doubles() + _ONE).round_to_doubles())
    step = 10 ** int(-digits)
    # The engine divides, rounds and multiplies: each step may be off by a rounding, which never changes an order.
    tens = (
        types[0]
        .bounds.round_to_doubles()
        .map_ends(lambda end: round_half_away(Fraction(float(end / step))) * step)
    )
    return Type(Kind.INTEGER, tens.round_to_doubles())


def _monotone(step: Callable[[float], float], least: float = -math.inf, slack: Fraction = _LIBRARY) -> Rule:
    """A function of the C library that never falls, on the numbers from `least` on (elsewhere it gives NULL)."""

    def end(value: Fraction | None, missing: float) -> Fraction | None:
        try:
            made = step(max(missing if value is None else float(value), least))
        except OverflowError:
            return None
        return Fraction(made) if math.isfinite(made) else None

    def rule(types: Sequence[Type]) -> Type:
        find_number_kind(types)
        given = types[0].bounds.round_to_doubles()
        made = NumberInterval(end(given.low, -math.inf), end(given.high, math.inf))
        return Type(Kind.REAL, made.widen(slack))

    return rule


def _power(types: Sequence[Type]) -> Type:
    find_number_kind(types)
    return Type(Kind.REAL, _powers(*(t.bounds.round_to_doubles() for t in types)).widen(_LIBRARY))


def _powers(base: NumberInterval, exponent: NumberInterval) -> NumberInterval:
    """A power of a number above 0 rises or falls in each argument, so it is largest and smallest at corners."""
    whole = exponent.constant is not None and exponent.constant.denominator == 1 and exponent.constant >= 0
    low, high = base.low, base.high
    if low is None or high is None or exponent.low is None or exponent.high is None:
        return ANYTHING
    if not (whole or low > 0 or (low == 0 and exponent.low >= 0)):
        return ANYTHING
    bases = [low, high, *([Fraction(0)] if low < 0 < high else [])]
    try:
        corners = [Fraction(math.pow(b, e)) for b in bases for e in (exponent.low, exponent.high)]
    except OverflowError:
        return ANYTHING
    return NumberInterval(min(corners), max(corners))


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _constants(types: Sequence[Type]) -> list[Fraction]:
    ends = [t.bounds.round_to_doubles().constant for t in types if t.numeric]
    return [end for end in ends if end is not None]


def _clamp(types: Sequence[Type]) -> Type:
    find_number_kind(types)
    ends = _constants(types[1:])
    if len(ends) != 2 or ends[0] > ends[1]:
        raise ValueError("takes two constants low <= high")
    whole = types[0].kind is Kind.INTEGER and all(end.denominator == 1 for end in ends)
    return Type(Kind.INTEGER if whole else Kind.REAL, NumberInterval(ends[0], ends[1]))


def find_bucket(value: float, low: float, high: float, count: int) -> int:
    """Return the number of the bucket, 1 to count, of equal width from low to high; 0 below and count+1 above."""
    if value < low:
        return 0
    if value >= high:
        return count + 1
    return min(math.floor((value - low) * count / (high - low)), count - 1) + 1


def _bucket(types: Sequence[Type]) -> Type:
    find_number_kind(types)
    constants = _constants(types[1:])
    if len(constants) != 3 or not constants[0] < constants[1] or not 1 <= constants[2] <= _MOST_BUCKETS:
        raise ValueError(f"takes constants low < high and a number of buckets from 1 to {_MOST_BUCKETS:,}")
    low, high, count = float(constants[0]), float(constants[1]), int(constants[2])
    given = types[0].bounds.round_to_doubles()
    # The engine takes the same steps in the same doubles, and none of them changes an order.
    first = 0 if given.low is None else find_bucket(float(given.low), low, high, count)
    last = count + 1 if given.high is None else find_bucket(float(given.high), low, high, count)
    return Type(Kind.INTEGER, NumberInterval(Fraction(first), Fraction(last)))


def _question(types: Sequence[Type]) -> Type:
    find_number_kind(types)
    return Type(Kind.BOOLEAN)


# IEEE 754 rounds square roots like sums.
_root = _monotone(math.sqrt, 0.0, Fraction(0))
_POSITIVE = "NULL also if a is not above 0"

ARITHMETIC = (
    Function("+", "a + b", 2, 2, _plus_or_minus(lambda a, b: a + b), after=True),
    Function("-", "a - b", 2, 2, _minus, after=True),
    Function("*", "a * b", 2, 2, _arithmetic(lambda a, b: a * b), after=True),
    Function("/", "a / b", 2, 2, _divide, after=True, nulls="NULL also if b is 0"),
    Function("//", "a // b", 2, 2, _divide_whole, after=True, nulls="NULL also if b is 0"),
    Function("%", "a % b", 2, 2, _remainder, after=True, nulls="NULL also if b is 0"),
    Function("negate", "-a", 1, 1, lambda t: Type(find_number_kind(t), -t[0].bounds), after=True),
    Function("abs", "ABS(a)", 1, 1, lambda t: Type(find_number_kind(t), abs(t[0].bounds)), after=True),
    Function("sign", "SIGN(a)", 1, 1, _whole(_sign), after=True),
    Function("floor", "FLOOR(a)", 1, 1, _whole(math.floor), after=True),
    Function("ceil", "CEIL(a)", 1, 1, _whole(math.ceil), after=True),
    Function("round", "ROUND(a[, digits])", 1, 2, _round, after=True),
    Function("trunc", "TRUNC(a)", 1, 1, _whole(math.trunc), after=True),
    Function("sqrt", "SQRT(a)", 1, 1, _root, True, "NULL also if a is below 0"),
    Function("exp", "EXP(a)", 1, 1, _monotone(math.exp), after=True),
    Function("ln", "LN(a)", 1, 1, _monotone(math.log, _SMALLEST), True, _POSITIVE),
    Function("log10", "LOG10(a)", 1, 1, _monotone(math.log10, _SMALLEST), True, _POSITIVE),
    Function("log2", "LOG2(a)", 1, 1, _monotone(math.log2, _SMALLEST), True, _POSITIVE),
    Function("power", "POWER(a, b)", 2, 2, _power, after=True),
    Function("least", "LEAST(a, ...)", 1, None, _extreme(NumberInterval.least), True, "NULLs are left out"),
    Function(
        "greatest", "GREATEST(a, ...)", 1, None, _extreme(NumberInterval.greatest), True, "NULLs are left out"
    ),
    Function("clamp", "CLAMP(a, low, high)", 3, 3, _clamp, True, "NULL if a is NULL or NaN"),
    Function("width_bucket", "WIDTH_BUCKET(a, low, high, n)", 4, 4, _bucket, True, "NULL if a is NULL or NaN"),
    Function("isnan", "ISNAN(a)", 1, 1, _question, after=False),
    Function("isinf", "ISINF(a)", 1, 1, _question, after=False),
    Function("isfinite", "ISFINITE(a)", 1, 1, _question, after=False),
)
