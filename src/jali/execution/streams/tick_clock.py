"""The public clock of a stream: when each tick begins and ends."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from jali.errors import CatalogError

Moment: TypeAlias = datetime.date | datetime.datetime

_STEPS = {
    "minute": datetime.timedelta(minutes=1),
    "hour": datetime.timedelta(hours=1),
    "day": datetime.timedelta(days=1),
    "week": datetime.timedelta(weeks=1),
}
EVERY = (*_STEPS, "month")


@dataclass(frozen=True)
class Clock:
    """Ticks of one length, the first of which begins at `start`. Nothing of the data moves it.

    Attributes:
        every: How long a tick is: "minute", "hour", "day", "week" or "month".
        start: When the first begins: a date, or a time for minutes and hours. A month begins on its first day.

    Example:
        >>> clock = Clock.declare("month", "2026-01-01")
        >>> clock.label(3), clock.count_ended("2026-03-15")
        ('2026-03-01', 2)
    """

    every: str
    start: Moment

    @classmethod
    def declare(cls, every: str, start: str | Moment) -> Clock:
        """Check and make a clock."""
        if every not in EVERY:
            raise CatalogError("every-unknown", choices=tuple(EVERY), given=every)
        moment = read_moment(start, "start")
        begins: Moment = moment if every in ("minute", "hour") else moment.date()
        if begins != (moment if isinstance(begins, datetime.datetime) else _to_day(moment)):
            raise CatalogError("start-not-midnight", every=every)
        if every == "month" and begins.day != 1:
            raise CatalogError("start-not-first-day")
        return cls(every, begins)

    def begins(self, tick: int) -> Moment:
        """Return when a tick, from 1, begins; a tick ends when the next one begins."""
        if self.every != "month":
            return self.start + (tick - 1) * _STEPS[self.every]
        months = self.start.year * 12 + self.start.month - 1 + tick - 1
        return datetime.date(months // 12, months % 12 + 1, 1)

    def label(self, tick: int) -> str:
        """Return when a tick begins, as text."""
        return str(self.begins(tick))

    def count_ended(self, moment: str | Moment) -> int:
        """Return how many ticks have ended at a moment."""
        until = to_datetime(read_moment(moment, "until"))
        if self.every == "month":
            gone = (until.year - self.start.year) * 12 + until.month - self.start.month
        else:
            gone = (until - to_datetime(self.start)) // _STEPS[self.every]
        return max(0, gone)

    def last(self, horizon: int) -> None:
        """Refuse a horizon that ends beyond the calendar: Python's dates end with the year 9999."""
        try:
            self.begins(horizon + 1)
        except (OverflowError, ValueError):
            raise CatalogError("horizon-beyond-calendar", horizon=horizon, every=self.every) from None


def read_moment(value: Any, name: str) -> datetime.datetime:
    """Read a date or a time, without time zone."""
    found = value
    if isinstance(value, str):
        found = _parse_moment(value, datetime.datetime.fromisoformat)
    if isinstance(found, datetime.date) and getattr(found, "tzinfo", None) is None:
        return to_datetime(found)
    raise CatalogError("moment-malformed", name=name, given=value)


def _parse_moment(text: str, read: Callable[[str], Moment]) -> Moment | None:
    try:
        return read(text)
    except ValueError:
        return None


def to_datetime(moment: Moment) -> datetime.datetime:
    """Return a moment as a time: a day is its midnight."""
    if isinstance(moment, datetime.datetime):
        return moment
    return datetime.datetime.combine(moment, datetime.time())


def _to_day(moment: datetime.datetime) -> datetime.date | None:
    return moment.date() if moment.time() == datetime.time() else None
