"""Differences of times, for engines whose calendar runs from the year 1 to 9999 and has no infinite days.

All of them are made of whole numbers: the microseconds since the year 1, which are never negative, and began on a
Monday. Engines disagree on weeks, on the ends of months and on what a difference counts; whole numbers do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jali.query.functions.days import DAY, SECOND

MONTHS = {"year": 12, "quarter": 3, "month": 1}
UNITS = {"week": 7 * DAY, "day": DAY, "hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}


@dataclass(frozen=True)
class Calendar:
    """How an engine writes what differences are made of, each of a time that is written.

    Attributes:
        micros: Whole microseconds since the year 1.
        quotient: A whole number divided by a constant, cut toward 0.
        year: The year.
        month: The month, from 1.
        day: The day of the month.
        month_length: How many days the month has.
    """

    micros: Callable[[str], str]
    quotient: Callable[[str, int], str]
    year: Callable[[str], str]
    month: Callable[[str], str]
    day: Callable[[str], str]
    month_length: Callable[[str], str]

    def crossed(self, part: str, a: str, b: str) -> str:
        """Write how many beginnings of a part lie between two times; weeks are counted by sevens of days."""
        if part == "week":
            return self.quotient(f"({self._index('day', b)} - {self._index('day', a)})", 7)
        return f"({self._index(part, b)} - {self._index(part, a)})"

    def passed(self, part: str, a: str, b: str) -> str:
        """Write how many whole parts have passed between two times."""
        if part in UNITS:
            return self.quotient(f"({self.micros(b)} - {self.micros(a)})", UNITS[part])
        months = f"(CASE WHEN {a} <= {b} THEN {self._months_up(a, b)} ELSE -{self._months_up(b, a)} END)"
        return self.quotient(months, MONTHS[part])

    def _index(self, part: str, t: str) -> str:
        if part in MONTHS:
            months = self._months(t)
            return months if part == "month" else self.quotient(months, MONTHS[part])
        return self.quotient(self.micros(t), UNITS[part])

    def _months(self, t: str) -> str:
        return f"({self.year(t)} * 12 + {self.month(t)} - 1)"

    def _months_up(self, a: str, b: str) -> str:
        """A month has passed when the day and time of day are reached, or the last day of a shorter month."""
        reached = f"{self.day(b)} * {DAY} + MOD({self.micros(b)}, {DAY})"
        begun = f"LEAST({self.day(a)}, {self.month_length(b)}) * {DAY} + MOD({self.micros(a)}, {DAY})"
        return f"({self._months(b)} - {self._months(a)} - CASE WHEN {reached} < {begun} THEN 1 ELSE 0 END)"
