"""Ends of ranges as people write them: dates and times are read, numbers are left as they are written."""

from __future__ import annotations

import datetime
import re

from jali.errors import CatalogError

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(_DATE.pattern + r"[T ][0-9:.]+")


def read_end(text: str) -> str | datetime.date:
    """Read a date or a time; a number is left as it is written.

    Example:
        >>> read_end("2025-01-31"), read_end("0.5")
        (datetime.date(2025, 1, 31), '0.5')
    """
    for pattern, read in ((_DATE, datetime.date.fromisoformat), (_TIME, datetime.datetime.fromisoformat)):
        if pattern.fullmatch(text):
            try:
                return read(text)
            except ValueError:
                raise CatalogError("date-written-malformed", given=text) from None
    return text
