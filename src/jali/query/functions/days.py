"""The calendar on whole numbers: days and microseconds since 1970, for every year that an engine may hold.

The conversions between days and dates of the proleptic Gregorian calendar are those of H. Hinnant,
"chrono-compatible low-level date algorithms" (2013): years begin in March, so that leap days come last.
"""

from __future__ import annotations

import math
from fractions import Fraction

SECOND = 1_000_000
DAY = 86_400 * SECOND
_UNITS = {"hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
# From the largest: what lies before "day" moves whole days.
PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


def date_of(day: int) -> tuple[int, int, int]:
    """Return year, month and day of the month of a day since 1970. Year 0 is 1 BC."""
    era, of_era = divmod(day + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    number = month + 3 if month < 10 else month - 9
    return year + era * 400 + (number <= 2), number, of_year - (153 * month + 2) // 5 + 1


def day_of(year: int, month: int, day: int) -> int:
    """Return the day since 1970 of a date."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def months_of(day: int) -> int:
    """Return the number of months from January of year 0 to a day."""
    year, month, _ = date_of(day)
    return 12 * year + month - 1


def first_of(months: int) -> int:
    """Return the first day of a month, by its number since January of year 0."""
    return day_of(months // 12, months % 12 + 1, 1)


def later(day: int, months: int) -> int:
    """Return the same day some months later, or the last day of that month if it has no such day."""
    month = months_of(day) + months
    return min(first_of(month) + date_of(day)[2] - 1, first_of(month + 1) - 1)


def index(part: str, microseconds: Fraction) -> int:
    """Return how many whole years, months, ..., seconds a moment is counted as; weeks begin on Mondays."""
    day = math.floor(microseconds / DAY)
    if part in _MONTHS:
        return months_of(day) // _MONTHS[part]
    if part in _UNITS:
        return math.floor(microseconds / _UNITS[part])
    # 1970 began on a Thursday.
    return (day + 3) // 7 if part == "week" else day


def start(part: str, number: int) -> int:
    """Return the first microsecond of a year, month, ..., second by its index."""
    if part in _MONTHS:
        return first_of(number * _MONTHS[part]) * DAY
    if part in _UNITS:
        return number * _UNITS[part]
    return (7 * number - 3 if part == "week" else number) * DAY
