"""A table of visits to follow, and streams whose noise is 0.

Losses are so large that all noise is 0 but with a probability below 1e-9 for a whole test: what is published is
then what was counted.
"""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow

import jali
from jali.stream import Stream

EPSILON = 10**12
COUNT = "SELECT date_trunc('day', seen) AS day, COUNT(*) FROM visits GROUP BY day"
BY_WARD = "SELECT date_trunc('day', seen) AS day, ward, COUNT(*) FROM visits GROUP BY day, ward"
_DEFAULT: tuple[Any, ...] = ("A", 1.0)


def visits(*rows: tuple[Any, ...]) -> pyarrow.Table:
    """Make a table of person, day (0 is the first), ward and amount; the last two may be left out."""
    whole = [(*row, *_DEFAULT[len(row) - 2 :]) for row in rows]
    people, days, wards, amounts = zip(*whole, strict=True) if whole else ((), (), (), ())
    return pyarrow.table(
        {
            "person": pyarrow.array(people, pyarrow.string()),
            "seen": pyarrow.array([None if d is None else moment(d) for d in days], pyarrow.timestamp("us")),
            "ward": pyarrow.array(wards, pyarrow.string()),
            "amount": pyarrow.array(amounts, pyarrow.float64()),
            "visit": pyarrow.array(range(len(whole)), pyarrow.int64()),
        }
    )


def moment(day: float) -> datetime.datetime:
    """Return a moment so many days after the first tick begins."""
    return datetime.datetime(2026, 1, 1) + datetime.timedelta(days=day)  # noqa: DTZ001


def protect(db: jali.Database, source: Any, **terms: Any) -> None:
    """Protect the visits of people."""
    usual: dict[str, Any] = {
        "unit": "person",
        "max_rows": 9,
        "columns": {"ward": jali.Keys(["A", "B"]), "amount": jali.Range(0, 100)},
        "budget": jali.Budget(epsilon=9 * EPSILON),
    }
    db.protect("visits", source, **usual | terms)


def follow(db: jali.Database, query: str = COUNT, **terms: Any) -> Stream:
    """Make a stream that follows the visits, day by day."""
    usual: dict[str, Any] = {"start": "2026-01-01", "horizon": 30, "epsilon": EPSILON, "mechanism": "every-item"}
    return db.stream("followed", query=query, **usual | terms)


def shown(stream: Stream) -> list[float]:
    """Return what was published under the first key."""
    return [next(iter(tick.values.values())) for tick in stream.ticks()]
