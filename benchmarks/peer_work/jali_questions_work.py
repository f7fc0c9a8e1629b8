"""Jali's side of the question benchmark: SQL through `jali.connect()` on the Parquet file."""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from typing import Any

from benchmarks.peer_work.questioned import PERSON, ROW, Numbers, Release, measure
from benchmarks.questions.table import CITIES, DELTA, EPSILON, HIGH, LOW, MAX_ROWS, PEOPLE, SHORT

import jali

QUESTIONS = {
    "count": "SELECT city, COUNT(*) FROM rides GROUP BY city",
    "sum": "SELECT city, SUM(fare) FROM rides GROUP BY city",
    "avg": "SELECT city, AVG(fare) FROM rides GROUP BY city",
    "median": "SELECT city, MEDIAN(fare) FROM rides GROUP BY city",
    "people": "SELECT city, COUNT(DISTINCT user_id) FROM rides GROUP BY city",
    "short": f"SELECT city, COUNT(*) FROM rides WHERE km < {SHORT} GROUP BY city",
}
ZONES = {
    ROW: "SELECT zone, COUNT(*) FROM rides GROUP BY zone",
    PERSON: "SELECT zone, COUNT(DISTINCT user_id) FROM rides GROUP BY zone",
}


def prepare(source: str, level: str, name: str, relation: str | None = None) -> Release:
    """Return what asks a question once; each time with a little less loss, or the same answer would come again."""
    db = _database(source, level, relation)
    sql = ZONES[level] if name == "zones" else QUESTIONS[name]
    given: dict[str, Any] = {"delta": Fraction(str(DELTA))} if name == "zones" else {}
    losses = (Fraction(str(EPSILON)) * Fraction(1000 - i, 1000) for i in count())

    def release() -> Numbers:
        return dict(db.ask(sql, epsilon=next(losses), **given).rows)

    return release


# A public guess, as the bounds are that OpenDP is given: 4 rides a person.
ROWS = 4 * PEOPLE


def _database(source: str, level: str, relation: str | None) -> jali.Database:
    db = jali.connect()
    db.protect(
        "rides",
        source,
        unit="user_id" if level == PERSON else None,
        max_rows=MAX_ROWS if level == PERSON else None,
        columns={"fare": jali.Range(LOW, HIGH), "city": jali.Keys(list(range(CITIES)))},
        budget=jali.Budget(epsilon=10**6, delta=Fraction(1, 2)),
        rows=ROWS,
        relation=relation,
    )
    return db


if __name__ == "__main__":
    measure(prepare)
