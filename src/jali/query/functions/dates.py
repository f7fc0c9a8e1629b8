"""Functions of dates and timestamps, with intervals of days and microseconds since 1970.

All but the cyclic parts (month, hour, ...) never fall as time goes on, so that an interval is known by its ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from jali.query.bounds import Bounds
from jali.query.catalog import Kind
from jali.query.functions.days import DAY, PARTS, SECOND, date_of, first_of, index, later, months_of, start
from jali.query.functions.function import Function, Rule, Type
from jali.query.functions.kinds import dated, numbers

_WITHIN_DAY = PARTS[PARTS.index("day") + 1 :]


def moments(given: Type) -> Bounds:
    """Return the interval of a date or a timestamp in microseconds: a date is the midnight it begins with."""
    return given.bounds.mapped(lambda end: end * DAY) if given.kind is Kind.DATE else given.bounds


def _days(given: Type) -> Bounds:
    return moments(given).mapped(lambda end: Fraction(end // DAY))


def _as_days(bounds: Bounds) -> Bounds:
    return bounds.mapped(lambda end: Fraction(end // DAY))


def _year(types: Sequence[Type]) -> Type:
    dated(types)
    return Type(Kind.INTEGER, _days(types[0]).mapped(lambda day: Fraction(date_of(int(day))[0])))


def _cyclic(low: int, high: int, unit: str, whole: str | None = None) -> Rule:
    """A part that runs from `low` to `high` within each `whole`: inside one of them it never falls."""

    def rule(types: Sequence[Type]) -> Type:
        dated(types)
        ends, given = Bounds(Fraction(low), Fraction(high)), moments(types[0])
        if whole is None or given.low is None or given.high is None:
            return Type(Kind.INTEGER, ends)
        of = index(whole, given.low)
        if of != index(whole, given.high):
            return Type(Kind.INTEGER, ends)
        first = index(unit, Fraction(start(whole, of))) - low
        return Type(Kind.INTEGER, given.mapped(lambda end: Fraction(index(unit, end) - first)))

    return rule


def _truncate(part: str) -> Rule:
    def rule(types: Sequence[Type]) -> Type:
        dated(types)
        made = moments(types[0]).mapped(lambda end: Fraction(start(part, index(part, end))))
        if types[0].kind is Kind.DATE and part not in _WITHIN_DAY:
            return Type(Kind.DATE, _as_days(made))
        return Type(Kind.TIMESTAMP, made)

    return rule


def _boundaries(part: str, types: Sequence[Type]) -> Bounds:
    """Count the beginnings of a part between two moments. Engines begin weeks on different days: one to spare."""
    dated(types)
    a, b = (moments(t).mapped(lambda end: Fraction(index(part, end))) for t in types)
    spare = Bounds(Fraction(-1), Fraction(1)) if part == "week" else Bounds(Fraction(0), Fraction(0))
    return b - a + spare


def _difference(part: str) -> Rule:
    return lambda types: Type(Kind.INTEGER, _boundaries(part, types))


def _whole_parts(part: str) -> Rule:
    """Of n beginnings between two moments, n - 1 or n whole parts have passed."""

    def rule(types: Sequence[Type]) -> Type:
        crossed = _boundaries(part, types)
        low = crossed.low if crossed.low is None or crossed.low <= 0 else crossed.low - 1
        high = crossed.high if crossed.high is None or crossed.high >= 0 else crossed.high + 1
        return Type(Kind.INTEGER, Bounds(low, high))

    return rule


def _shift(types: Sequence[Type]) -> int:
    dated(types[:1])
    numbers(types[1:])
    amount = types[1].bounds.constant
    if amount is None or amount.denominator != 1:
        raise ValueError("takes a constant whole number")
    return int(amount)


def _add_months(types: Sequence[Type]) -> Type:
    """Days at the end of a month come together, and times of day may change their order: ends are whole days."""
    months = _shift(types)
    moved = _days(types[0]).mapped(lambda day: Fraction(later(int(day), months)))
    if types[0].kind is not Kind.TIMESTAMP:
        return Type(Kind.DATE, moved)
    last = Bounds(Fraction(0), Fraction(DAY - 1))
    return Type(Kind.TIMESTAMP, moved.mapped(lambda day: day * DAY) + last)


def _add_days(types: Sequence[Type]) -> Type:
    unit = DAY if types[0].kind is Kind.TIMESTAMP else 1
    amount = _shift(types) * unit
    kind = Kind.TIMESTAMP if types[0].kind is Kind.TIMESTAMP else Kind.DATE
    return Type(kind, types[0].bounds.mapped(lambda end: end + amount))


def _add_seconds(types: Sequence[Type]) -> Type:
    amount = _shift(types) * SECOND
    return Type(Kind.TIMESTAMP, moments(types[0]).mapped(lambda end: end + amount))


def _last_day(types: Sequence[Type]) -> Type:
    dated(types)
    return Type(Kind.DATE, _days(types[0]).mapped(lambda day: Fraction(first_of(months_of(int(day)) + 1) - 1)))


def _name(types: Sequence[Type]) -> Type:
    dated(types)
    return Type(Kind.TEXT)


def _each_part(name: str, shape: str, arguments: int, rule: Callable[[str], Rule]) -> tuple[Function, ...]:
    return tuple(
        Function(f"{name} {part}", shape.format(part), arguments, arguments, rule(part), after=False)
        for part in PARTS
    )


DATES = (
    Function("year", "YEAR(d)", 1, 1, _year, after=True),
    Function("quarter", "QUARTER(d)", 1, 1, _cyclic(1, 4, "quarter", "year"), after=True),
    Function("month", "MONTH(d)", 1, 1, _cyclic(1, 12, "month", "year"), after=True),
    Function("week", "WEEK(d)", 1, 1, _cyclic(1, 53, "week"), after=True),
    Function("day", "DAY(d)", 1, 1, _cyclic(1, 31, "day", "month"), after=True),
    Function("dayofweek", "DAYOFWEEK(d)", 1, 1, _cyclic(0, 6, "day"), after=True),
    Function("isodow", "ISODOW(d)", 1, 1, _cyclic(1, 7, "day", "week"), after=True),
    Function("dayofyear", "DAYOFYEAR(d)", 1, 1, _cyclic(1, 366, "day", "year"), after=True),
    Function("hour", "HOUR(d)", 1, 1, _cyclic(0, 23, "hour", "day"), after=True),
    Function("minute", "MINUTE(d)", 1, 1, _cyclic(0, 59, "minute", "hour"), after=True),
    Function("second", "SECOND(d)", 1, 1, _cyclic(0, 59, "second", "minute"), after=True),
    Function("monthname", "MONTHNAME(d)", 1, 1, _name, after=False),
    Function("dayname", "DAYNAME(d)", 1, 1, _name, after=False),
    Function("last_day", "LAST_DAY(d)", 1, 1, _last_day, after=False),
    *_each_part("trunc", "DATE_TRUNC('{}', d)", 1, _truncate),
    *_each_part("diff", "DATE_DIFF('{}', d, e)", 2, _difference),
    *_each_part("sub", "DATE_SUB('{}', d, e)", 2, _whole_parts),
    Function("add months", "d + INTERVAL n MONTH", 2, 2, _add_months, after=False),
    Function("add days", "d + INTERVAL n DAY", 2, 2, _add_days, after=False),
    Function("add seconds", "d + INTERVAL n SECOND", 2, 2, _add_seconds, after=False),
)
