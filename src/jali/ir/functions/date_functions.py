"""Functions of dates and timestamps, with intervals of days and microseconds since 1970.

All but the cyclic parts (month, hour, ...) never fall as time goes on, so an interval is known by its ends. The
calendar works on whole numbers, for every year that an engine may hold. The conversions between days and dates
of the proleptic Gregorian calendar are those of H. Hinnant, "chrono-compatible low-level date algorithms"
(2013): years begin in March, so that leap days come last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import NumberInterval
from jali.ir.functions.function_types import Function, Rule, Type, check_dated, find_number_kind

SECOND = 1_000_000
DAY = 86_400 * SECOND
_UNITS = {"hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
# From the largest: what lies before "day" moves whole days.
PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def date_from_day(day: int) -> tuple[int, int, int]:
    """Return year, month and day of the month of a day since 1970. Year 0 is 1 BC."""
    era, of_era = divmod(day + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    number = month + 3 if month < 10 else month - 9
    return year + era * 400 + (number <= 2), number, of_year - (153 * month + 2) // 5 + 1


def day_from_date(year: int, month: int, day: int) -> int:
    """Return the day since 1970 of a date."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def months_from_day(day: int) -> int:
    """Return the number of months from January of year 0 to a day."""
    year, month, _ = date_from_day(day)
    return 12 * year + month - 1


def first_day_of_month(months: int) -> int:
    """Return the first day of a month, by its number since January of year 0."""
    return day_from_date(months // 12, months % 12 + 1, 1)


def add_months(day: int, months: int) -> int:
    """Return the same day some months later, or the last day of that month if it has no such day."""
    month = months_from_day(day) + months
    return min(first_day_of_month(month) + date_from_day(day)[2] - 1, first_day_of_month(month + 1) - 1)


def count_date_parts(part: str, microseconds: Fraction) -> int:
    """Return how many whole years, months, ..., seconds a moment is counted as; weeks begin on Mondays."""
    day = math.floor(microseconds / DAY)
    if part in _MONTHS:
        return months_from_day(day) // _MONTHS[part]
    if part in _UNITS:
        return math.floor(microseconds / _UNITS[part])
    # 1970 began on a Thursday.
    return (day + 3) // 7 if part == "week" else day


def find_part_start(part: str, number: int) -> int:
    """Return the first microsecond of a year, month, ..., second by its index."""
    if part in _MONTHS:
        return first_day_of_month(number * _MONTHS[part]) * DAY
    if part in _UNITS:
        return number * _UNITS[part]
    return (7 * number - 3 if part == "week" else number) * DAY


_WITHIN_DAY = PARTS[PARTS.index("day") + 1 :]


def moments(given: Type) -> NumberInterval:
    """Return the interval of a date or a timestamp in microseconds: a date is the midnight it begins with."""
    return given.bounds.map_ends(lambda end: end * DAY) if given.kind is Kind.DATE else given.bounds


def _days(given: Type) -> NumberInterval:
    return moments(given).map_ends(lambda end: Fraction(end // DAY))


def _as_days(bounds: NumberInterval) -> NumberInterval:
    return bounds.map_ends(lambda end: Fraction(end // DAY))


def _year(types: Sequence[Type]) -> Type:
    check_dated(types)
    return Type(Kind.INTEGER, _days(types[0]).map_ends(lambda day: Fraction(date_from_day(int(day))[0])))


def _cyclic(low: int, high: int, unit: str, whole: str | None = None) -> Rule:
    """A part that runs from `low` to `high` within each `whole`: inside one of them it never falls."""

    def rule(types: Sequence[Type]) -> Type:
        check_dated(types)
        ends, given = NumberInterval(Fraction(low), Fraction(high)), moments(types[0])
        if whole is None or given.low is None or given.high is None:
            return Type(Kind.INTEGER, ends)
        of = count_date_parts(whole, given.low)
        if of != count_date_parts(whole, given.high):
            return Type(Kind.INTEGER, ends)
        first = count_date_parts(unit, Fraction(find_part_start(whole, of))) - low
        return Type(Kind.INTEGER, given.map_ends(lambda end: Fraction(count_date_parts(unit, end) - first)))

    return rule


def _truncate(part: str) -> Rule:
    def rule(types: Sequence[Type]) -> Type:
        check_dated(types)
        made = moments(types[0]).map_ends(lambda end: Fraction(find_part_start(part, count_date_parts(part, end))))
        if types[0].kind is Kind.DATE and part not in _WITHIN_DAY:
            return Type(Kind.DATE, _as_days(made))
        return Type(Kind.TIMESTAMP, made)

    return rule


def _boundaries(part: str, types: Sequence[Type]) -> NumberInterval:
    """Count the beginnings of a part between two moments. Engines begin weeks on different days: one to spare."""
    check_dated(types)
    a, b = (moments(t).map_ends(lambda end: Fraction(count_date_parts(part, end))) for t in types)
    spare = (
        NumberInterval(Fraction(-1), Fraction(1)) if part == "week" else NumberInterval(Fraction(0), Fraction(0))
    )
    return b - a + spare


def _difference(part: str) -> Rule:
    return lambda types: Type(Kind.INTEGER, _boundaries(part, types))


def _whole_parts(part: str) -> Rule:
    """Of n beginnings between two moments, n - 1 or n whole parts have passed."""

    def rule(types: Sequence[Type]) -> Type:
        crossed = _boundaries(part, types)
        low = crossed.low if crossed.low is None or crossed.low <= 0 else crossed.low - 1
        high = crossed.high if crossed.high is None or crossed.high >= 0 else crossed.high + 1
        return Type(Kind.INTEGER, NumberInterval(low, high))

    return rule


def _shift(types: Sequence[Type]) -> int:
    check_dated(types[:1])
    find_number_kind(types[1:])
    amount = types[1].bounds.constant
    if amount is None or amount.denominator != 1:
        raise ValueError("takes a constant whole number")
    return int(amount)


def _add_months(types: Sequence[Type]) -> Type:
    """Days at the end of a month come together, and times of day may change their order: ends are whole days."""
    months = _shift(types)
    moved = _days(types[0]).map_ends(lambda day: Fraction(add_months(int(day), months)))
    if types[0].kind is not Kind.TIMESTAMP:
        return Type(Kind.DATE, moved)
    last = NumberInterval(Fraction(0), Fraction(DAY - 1))
    return Type(Kind.TIMESTAMP, moved.map_ends(lambda day: day * DAY) + last)


def _add_days(types: Sequence[Type]) -> Type:
    unit = DAY if types[0].kind is Kind.TIMESTAMP else 1
    amount = _shift(types) * unit
    kind = Kind.TIMESTAMP if types[0].kind is Kind.TIMESTAMP else Kind.DATE
    return Type(kind, types[0].bounds.map_ends(lambda end: end + amount))


def _add_seconds(types: Sequence[Type]) -> Type:
    amount = _shift(types) * SECOND
    return Type(Kind.TIMESTAMP, moments(types[0]).map_ends(lambda end: end + amount))


def _last_day(types: Sequence[Type]) -> Type:
    check_dated(types)
    return Type(
        Kind.DATE,
        _days(types[0]).map_ends(lambda day: Fraction(first_day_of_month(months_from_day(int(day)) + 1) - 1)),
    )


def _name(types: Sequence[Type]) -> Type:
    check_dated(types)
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
