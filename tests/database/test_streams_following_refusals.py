"""What a stream can follow: questions that are read, and those that are refused before anything is charged."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyarrow
import pytest
from tests.frames import tagged

import jali
from jali.errors import CatalogError, JaliError, QueryError, Unsupported
from jali.execution.streams.follow_table import Follows

_WHEN = [datetime.datetime(2026, 1, 1, 10), datetime.datetime(2026, 1, 2, 11)]  # noqa: DTZ001


def _protected(db: jali.Database, name: str, **terms: Any) -> None:
    frame = pyarrow.table(
        {
            "person": ["a", "b"],
            "visit": [1, 2],
            "seen": _WHEN,
            "day": [at.date() for at in _WHEN],
            "ward": ["A", "B"],
            "age": [3.0, 4.0],
            "note": ["x", "y"],
        }
    )
    columns = {"ward": jali.Keys(["A", "B", "C"]), "age": jali.Range(0, 120)}
    db.protect(name, tagged(frame, name), **{"columns": columns, "budget": jali.Budget(epsilon=1), **terms})


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with jali.connect() as found:
        _protected(found, "visits", unit="person", max_rows=3)
        _protected(found, "rows", unit=None)
        _protected(found, "hidden", unit="person", max_rows=3, min_people=5)
        _protected(found, "stays", unit=jali.Via("visits", on="visit = visit", unit="person"), max_rows=3)
        yield found


def _read(db: jali.Database, query: str, **terms: Any) -> Follows:
    return Follows.read(query, db.tables.catalog, **terms)


def test_a_question_is_read_as_what_each_row_adds(db: jali.Database) -> None:
    found = _read(
        db, "SELECT date_trunc('week', seen) AS w, ward, AVG(age) FROM visits WHERE age > 5 GROUP BY ALL"
    )
    assert (found.measure, found.followed.every) == ("mean", "week")
    assert found.labels == ["A", "B", "C"]
    assert (found.measure_terms.range, found.measure_terms.keys) == (jali.Range(0, 120), ("A", "B", "C"))
    assert [table.name for table in found.followed.tables] == ["visits"]


@pytest.mark.parametrize(
    ("query", "measure", "every"),
    [
        ("SELECT date_trunc('day', seen) AS d, COUNT(*) FROM visits GROUP BY d", "count", "day"),
        ("SELECT day, COUNT(age) FROM visits GROUP BY day", "count", "day"),
        ("SELECT CAST(seen AS DATE), SUM(age) FILTER (WHERE ward = 'A') FROM visits GROUP BY 1", "sum", "day"),
        ("SELECT COUNT(*) FROM visits GROUP BY date_trunc('month', day)", "count", "month"),
        ("SELECT date_trunc('hour', seen), CDF(age, [10, 20]) FROM visits GROUP BY 1", "cdf", "hour"),
    ],
)
def test_time_is_a_date_or_what_date_trunc_makes_of_a_moment(
    db: jali.Database, query: str, measure: str, every: str
) -> None:
    found = _read(db, query)
    assert (found.measure, found.followed.every) == (measure, every)


def test_where_leaves_out_keys_and_several_keys_are_combined(db: jali.Database) -> None:
    query = "SELECT day, ward, age > 60, COUNT(*) FROM visits WHERE ward <> 'C' GROUP BY ALL"
    labels = _read(db, query).labels
    assert labels == [(ward, old) for ward in ("A", "B") for old in (True, False, None)]


def test_the_ends_of_a_cdf_are_those_of_the_question(db: jali.Database) -> None:
    found = _read(db, "SELECT day, CDF(age, [10, 20.5]) FROM visits GROUP BY day")
    assert found.measure_terms.bins == (Fraction(10), Fraction("20.5"))
    assert found.followed.low < 10
    assert found.followed.high > 20.5


def test_where_another_table_knows_the_owner_both_are_read_and_pay(db: jali.Database) -> None:
    found = _read(db, "SELECT day, COUNT(*) FROM stays GROUP BY day")
    assert [table.name for table in found.followed.tables] == ["stays", "visits"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT COUNT(*) FROM visits", "exactly one time key"),
        (
            "SELECT date_trunc('day', seen), date_trunc('week', seen), COUNT(*) FROM visits GROUP BY 1, 2",
            "this one has several",
        ),
        ("SELECT date_trunc('year', seen), COUNT(*) FROM visits GROUP BY 1", "not a year"),
        ("SELECT seen, COUNT(*) FROM visits GROUP BY 1", "is a timestamp, not a tick"),
        ("SELECT day, note, COUNT(*) FROM visits GROUP BY 1, 2", "not declared"),
        ("SELECT day, person, COUNT(*) FROM visits GROUP BY 1, 2", "would publish one row per person"),
        ("SELECT day, COUNT(*), SUM(age) FROM visits GROUP BY 1", "one aggregate"),
        ("SELECT day, 2 * COUNT(*) FROM visits GROUP BY 1", "one aggregate"),
        ("SELECT day, COUNT(DISTINCT age) FROM visits GROUP BY 1", "do not support COUNT"),
        ("SELECT day, MEDIAN(age) FROM visits GROUP BY 1", "do not support MEDIAN"),
        ("SELECT day, SUM(age / 0) FROM visits GROUP BY 1", "unbounded"),
        ("SELECT day, CDF(age) FROM visits GROUP BY 1", "A CDF over time needs a numeric column and bin edges"),
        ("SELECT day, COUNT(*) FROM visits GROUP BY 1 ORDER BY 2", "ORDER BY"),
        ("SELECT day, COUNT(*) FROM visits GROUP BY 1 HAVING COUNT(*) > 3", "HAVING"),
        ("SELECT day, COUNT(*) FROM visits GROUP BY 1 LIMIT 3", "LIMIT"),
        ("SELECT day, ward, COUNT(*) FROM visits GROUP BY ROLLUP (day, ward)", "ROLLUP"),
        ("SELECT v.day, COUNT(*) FROM visits v JOIN visits w USING (person) GROUP BY 1", "one protected table"),
        ("SELECT day, COUNT(*) FROM (SELECT * FROM visits) GROUP BY 1", "one protected table"),
        (
            "SELECT day, COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.person = v.person)"
            " GROUP BY 1",
            "one protected table",
        ),
        ("SELECT day, COUNT(*) FROM hidden GROUP BY 1", "fewer than 5 people"),
        ("SELECT day, COUNT(*) FROM nowhere GROUP BY 1", "no protected table"),
    ],
)
def test_other_questions_are_refused_with_the_place_and_a_remedy(db: jali.Database, query: str, said: str) -> None:
    with pytest.raises((QueryError, Unsupported), match=said) as refused:
        _read(db, query)
    assert refused.value.position is not None
    assert refused.value.remedy


def test_rows_that_are_people_need_a_column_that_tells_them_apart(db: jali.Database) -> None:
    query = "SELECT day, COUNT(*) FROM rows GROUP BY day"
    with pytest.raises(
        CatalogError, match="is a person, but no column identifies a row from tick to tick"
    ) as refused:
        _read(db, query)
    assert 'key="' in (refused.value.remedy or "")
    with pytest.raises(CatalogError, match="no text or integer column nothing"):
        _read(db, query, key="nothing")
    with pytest.raises(CatalogError, match="no text or integer column age"):
        _read(db, query, key="age")
    assert _read(db, query, key="VISIT").followed.key == "visit"
    with pytest.raises(CatalogError, match="The privacy unit of visits is person"):
        _read(db, "SELECT day, COUNT(*) FROM visits GROUP BY day", key="visit")


@pytest.mark.parametrize("late", [-1, True, 1.5, "3"])
def test_how_far_to_look_back_is_a_number_of_ticks(db: jali.Database, late: Any) -> None:
    with pytest.raises(CatalogError, match="late"):
        _read(db, "SELECT day, COUNT(*) FROM visits GROUP BY day", late=late)


@pytest.mark.parametrize(
    ("part", "start", "fine"),
    [
        ("week", "2026-01-05", True),
        ("week", "2026-01-01", False),
        ("hour", "2026-01-01 10:00", True),
        ("hour", "2026-01-01 10:30", False),
        ("month", "2026-01-01", True),
        ("month", "2026-01-02", False),
        ("day", "2026-01-02", True),
        ("day", "2026-01-02 10:00", False),
    ],
)
def test_the_clock_starts_where_a_tick_of_the_question_begins(
    db: jali.Database, part: str, start: str, fine: bool
) -> None:
    found = _read(db, f"SELECT date_trunc('{part}', seen), COUNT(*) FROM visits GROUP BY 1")
    if fine:
        assert str(found.clock(start).begins(1)).startswith(start)
    else:
        with pytest.raises(JaliError):
            found.clock(start)


def test_a_question_to_follow_is_a_text(db: jali.Database) -> None:
    with pytest.raises(QueryError, match="must be SQL text"):
        _read(db, 7)  # type: ignore[arg-type]
