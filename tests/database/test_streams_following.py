"""Streams that follow a table: against plain SQL, with rows that come late, change and vanish."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tests.database.followed import BY_WARD, COUNT, EPSILON, follow, protect, shown, visits

import jali
from jali.errors import BudgetExceeded, CatalogError, EngineError, QueryError
from jali.execution.streams.follow_table import TableFollower


@pytest.fixture
def db() -> Iterator[jali.Database]:
    with jali.connect() as found:
        yield found


def _many(count: int) -> pyarrow.Table:
    generator = np.random.default_rng(5)
    people, days = generator.integers(0, 40, count), generator.uniform(-3, 12, count)
    wards, amounts = generator.choice(["A", "B", "C"], count), generator.choice([-5.0, 3.0, 7.25, 500.0], count)
    return visits(*zip([f"p{i}" for i in people], days.tolist(), wards.tolist(), amounts.tolist(), strict=True))


def _plainly(frame: pyarrow.Table, aggregate: str, ward: str, days: int) -> float:
    """Compute an aggregate over the first days in plain DuckDB."""
    where = f"ward = '{ward}' AND seen >= DATE '2026-01-01' AND seen < DATE '2026-01-01' + {days}"
    with duckdb.connect() as connection:
        connection.register("visits", frame)
        ((found,),) = connection.execute(f"SELECT {aggregate} FROM visits WHERE {where}").fetchall()
    return float(found)


@pytest.mark.parametrize(
    ("aggregate", "plain"),
    [
        ("COUNT(*)", "count(*)"),
        ("COUNT(*) FILTER (WHERE amount > 5)", "count(*) FILTER (WHERE amount > 5)"),
        ("SUM(amount)", "sum(greatest(least(amount, 100), 0))"),
        ("AVG(amount)", "avg(greatest(least(amount, 100), 0))"),
    ],
)
def test_where_no_bound_binds_a_stream_publishes_what_plain_sql_counts(
    db: jali.Database, aggregate: str, plain: str
) -> None:
    frame = _many(400)
    protect(db, frame)
    query = f"SELECT date_trunc('day', seen) AS day, ward, {aggregate} FROM visits GROUP BY day, ward"
    stream = follow(db, query, max_ticks=30, max_items=1000)
    stream.publish(until="2026-01-11")
    assert len(stream) == 10
    for tick in (1, 4, 10):
        expected = {ward: _plainly(frame, plain, ward, tick) for ward in ("A", "B")}
        assert stream.value(tick).values == pytest.approx(expected, abs=1e-3)


def test_a_cdf_follows_the_shares_of_plain_sql(db: jali.Database) -> None:
    frame = _many(400)
    protect(db, frame)
    query = (
        "SELECT date_trunc('day', seen) AS day, CDF(amount, [0, 5, 400]) FROM visits WHERE ward = 'A' GROUP BY 1"
    )
    stream = follow(db, query, max_ticks=30, max_items=1000)
    shares = stream.publish(10).values
    assert shares == pytest.approx(
        {end: _plainly(frame, f"avg((amount <= {end})::INT)", "A", 10) for end in (0, 5, 400)}
    )


@pytest.mark.parametrize(
    ("part", "start", "expected"),
    [
        ("hour", "2026-01-01 00:00", [1, 2, 2, 2, 3]),
        ("day", "2026-01-01", [3, 3, 4, 4, 5]),
        ("week", "2025-12-29", [5, 7, 7, 7, 8]),
        ("month", "2026-01-01", [6, 7, 7, 7, 7]),
    ],
)
def test_ticks_are_those_of_date_trunc(db: jali.Database, part: str, start: str, expected: list[int]) -> None:
    days = [-2.5, 0.01, 0.05, 0.17, 2.5, 4.5, 10.99, 31.5]
    protect(db, visits(*[(f"p{i}", day) for i, day in enumerate(days)]))
    stream = follow(db, f"SELECT date_trunc('{part}', seen), COUNT(*) FROM visits GROUP BY 1", start=start)
    stream.publish(5)
    assert shown(stream) == expected


def test_rows_that_come_late_enter_the_open_tick_and_published_ticks_stay(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5)))
    stream = follow(db)
    stream.publish(1)
    db.tables.attach("visits", visits(("a", 0.5), ("late", 0.2), ("b", 1.5)))
    stream.publish(2)
    assert shown(stream) == [1, 3]
    db.tables.attach("visits", visits(("b", 1.5), ("a", 0.5), ("late", 0.2), ("later", 0.9)))
    stream.publish(4)
    assert shown(stream) == [1, 3, 4, 4]


def test_rows_that_vanish_take_nothing_back_and_come_again_for_nothing(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5), ("b", 0.5)))
    stream = follow(db)
    stream.publish()
    for frame in (visits(), visits(("b", 0.5)), visits(("a", 0.5), ("b", 0.5))):
        db.tables.attach("visits", frame)
        stream.publish()
    assert shown(stream) == [2, 2, 2, 2]


def test_a_row_that_changes_is_a_new_item_of_the_same_person_within_the_bounds(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5, "A")))
    stream = follow(db, BY_WARD, max_ticks=2)
    stream.publish()
    for ward in ("B", "A", "B"):
        db.tables.attach("visits", visits(("a", 0.5, ward)))
        stream.publish()
    assert [tick.values for tick in stream.ticks()] == [{"A": 1, "B": 0}] + [{"A": 1, "B": 1}] * 3


def test_rows_before_the_start_after_the_tick_or_of_nobody_are_left_out(db: jali.Database) -> None:
    protect(db, visits(("a", -0.01), ("b", 1.0), (None, 0.5), ("c", None), ("d", 0.99), ("e", 0.5, "Z")))
    stream = follow(db, BY_WARD)
    assert stream.publish(1).values == {"A": 1, "B": 0}
    assert stream.publish(2).values == {"A": 2, "B": 0}


def test_how_far_back_late_rows_are_looked_for_can_be_said(db: jali.Database) -> None:
    protect(db, visits())
    stream = follow(db, late=1)
    stream.publish(3)
    db.tables.attach("visits", visits(("too late", 1.5), ("late", 2.5), ("now", 3.5)))
    assert stream.publish(4).values == {None: 2}


def test_one_person_counts_no_more_often_than_was_declared(db: jali.Database) -> None:
    protect(db, visits(*[("a", day / 4) for day in range(40)], *[("b", 0.1)] * 5))
    stream = follow(db, max_ticks=3, separation=2, max_items=2)
    stream.publish(10)
    assert shown(stream) == [4, 4, 6, 6, 8, 8, 8, 8, 8, 8]


def test_of_too_many_rows_those_that_stay_are_not_chosen_by_their_values(db: jali.Database) -> None:
    """Were the least values kept, or the largest, the mean would be 0 or 100. False alarm: below 1e-9."""
    protect(db, visits(*[(f"p{i}", 0.5, "A", v) for i in range(400) for v in (0.0, 100.0)]))
    stream = follow(db, "SELECT date_trunc('day', seen), AVG(amount) FROM visits GROUP BY 1")
    assert 30 < stream.publish().values[None] < 70


def test_publishing_a_tick_again_reads_nothing_and_returns_what_was_published(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5)))
    stream = follow(db)
    first = stream.publish(1)
    db.tables.attach("visits", visits(("a", 0.5), ("b", 0.5)))
    assert stream.publish(1) == first
    assert len(stream) == 1


def test_a_prepared_copy_is_not_read_because_it_has_the_rows_of_earlier(tmp_path: Path) -> None:
    file = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(("a", 0.5)), file)
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, str(file))
        db.prepare("visits")
        stream = follow(db)
        stream.publish()
        pyarrow.parquet.write_table(visits(("a", 0.5), ("b", 1.5)), file)
        stream.publish()
    with jali.connect(tmp_path / "clinic.jali") as db:
        reopened = db.stream("followed")
        reopened.publish()
        assert shown(reopened) == [1, 2, 2]
        assert db.verify().problems == ()


def test_the_table_pays_once_before_a_row_is_read(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5)), budget=jali.Budget(epsilon=3))
    stream = follow(db, epsilon=2)
    assert db.remaining("visits").epsilon == 1
    stream.publish(5)
    assert db.remaining("visits").epsilon == 1
    with pytest.raises(BudgetExceeded):
        db.stream("more", query=COUNT, start="2026-01-01", horizon=9, epsilon=2, mechanism="every-item")
    assert db.streams.list() == ("followed",)


def test_where_another_table_knows_the_owner_both_pay_and_items_are_those_of_the_owner(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5), ("b", 0.5), ("a", 0.6)))
    stays = pyarrow.table(
        {
            "of": [0, 1, 2, 2, 7],
            "day": pyarrow.array([moment.date() for moment in visits(*[("x", 0.5)] * 5)["seen"].to_pylist()]),
        }
    )
    db.protect(
        "stays",
        stays,
        unit=jali.Via("visits", on="of = visit", unit="person"),
        max_rows=3,
        budget=jali.Budget(epsilon=9 * EPSILON),
    )
    stream = follow(db, "SELECT day, COUNT(*) FROM stays GROUP BY day", max_items=2)
    assert stream.publish().values == {None: 3}  # a has three, of which two count; nobody's is left out
    assert {account.name for account in db.ledger.accounts() if account.spent.epsilon} == {
        "table visits",
        "table stays",
    }


def test_where_each_row_is_a_person_a_key_tells_rows_apart(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5), ("a", 0.6)), unit=None, max_rows=None)
    stream = follow(db, key="visit")
    stream.publish()
    # The first two rows again, one of them at another time, and a third.
    db.tables.attach("visits", visits(("a", 0.5), ("a", 1.6), ("a", 0.7)))
    stream.publish()
    assert shown(stream) == [2, 3]


def test_a_key_that_is_not_unique_is_refused_and_nothing_is_charged(db: jali.Database) -> None:
    protect(db, visits(("a", 0.5), ("a", 0.6)), unit=None, max_rows=None)
    with pytest.raises(CatalogError, match="not unique"):
        follow(db, key="person")
    assert db.remaining("visits").epsilon == 9 * EPSILON


def test_a_table_that_cannot_be_read_stops_publishing_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(("a", 0.5)), file)
    with jali.connect() as db:
        protect(db, str(file))
        stream = follow(db)
        file.rename(tmp_path / "away")
        with pytest.raises(EngineError, match="file of table visits is missing") as refused:
            stream.publish()
        assert "0.5" not in str(refused.value)
        assert refused.value.remedy == "Restore the file."
        assert len(stream) == 0
        (tmp_path / "away").rename(file)
        assert stream.publish().values == {None: 1}


def test_a_frame_that_is_not_attached_stops_publishing_as_it_stops_asking(tmp_path: Path) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, visits(("a", 0.5)))
        follow(db)
    with jali.connect(tmp_path / "clinic.jali") as db:
        stream = db.stream("followed")
        with pytest.raises(EngineError, match="frame of table visits is not attached"):
            stream.publish()
        db.tables.attach("visits", visits(("a", 0.5)))
        assert stream.publish().values == {None: 1}


@pytest.mark.parametrize("rows", [[], [("a", 0.5), ("b", 1)]])
def test_a_column_that_is_renamed_is_named_whatever_the_rows_are(
    tmp_path: Path, rows: list[tuple[Any, ...]]
) -> None:
    file, whole = tmp_path / "visits.parquet", visits(*rows)
    pyarrow.parquet.write_table(whole, file)
    with jali.connect() as db:
        protect(db, str(file))
        stream = follow(db)
        pyarrow.parquet.write_table(whole.rename_columns(["person", "at", "ward", "amount", "visit"]), file)
        with pytest.raises(EngineError) as refused:
            stream.publish()
        assert refused.value.message == (
            "The source of table visits no longer has a column seen. Nothing was published."
        )
        assert "Restore the column under its old name, and publish again" in str(refused.value.remedy)
        assert len(stream) == 0
        # A column that the question does not read may go.
        pyarrow.parquet.write_table(whole.drop_columns(["amount"]), file)
        assert stream.publish().number == 1


def test_items_cannot_be_appended_to_a_stream_that_follows_a_table(db: jali.Database) -> None:
    protect(db, visits())
    with pytest.raises(QueryError, match="reads a table"):
        follow(db).append([jali.streams.Item("e", owner="p")])


_OWNERS = ["", "nan", "a|b", "\\udc80", "\u0000", None]
_MOMENTS = ["infinity", "-infinity", "290000-01-01", "0044-03-15 (BC)", "2026-01-01 12:00:00", None]
_VALUES = [float("nan"), math.inf, -math.inf, -0.0, 1e308, None]


def test_whatever_a_row_holds_it_keeps_no_other_row_out(tmp_path: Path) -> None:
    """All combinations of strange owners, moments and values: each row counts or is left out, and none fails."""
    file = tmp_path / "strange.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE strange (owner VARCHAR, seen TIMESTAMP, x DOUBLE)")
        rows = [list(row) for row in itertools.product(_OWNERS, _MOMENTS, _VALUES)]
        connection.executemany("INSERT INTO strange VALUES (?, TRY_CAST(? AS TIMESTAMP), ?)", rows)
    with jali.connect() as db:
        db.protect(
            "strange",
            str(file),
            unit="owner",
            max_rows=9,
            columns={"x": jali.Range(-1, 1)},
            budget=jali.Budget(epsilon=9 * EPSILON),
        )
        terms: dict[str, Any] = {"start": "2026-01-01", "horizon": 3, "mechanism": "every-item", "max_items": 99}
        count = db.stream(
            "counted",
            query="SELECT date_trunc('day', seen), COUNT(*) FROM strange GROUP BY 1",
            epsilon=EPSILON,
            **terms,
        )
        # An empty text names nobody.
        assert count.publish().values == {None: 4 * 6}
        total = db.stream(
            "summed",
            query="SELECT date_trunc('day', seen), SUM(x) FROM strange GROUP BY 1",
            epsilon=EPSILON,
            **terms,
        )
        assert total.publish().values[None] == pytest.approx(4 * (1 - 1 + 0 + 1), abs=1e-3)


def test_a_stream_says_what_it_follows_and_which_rows_count_when(db: jali.Database) -> None:
    protect(db, visits())
    said = follow(db, late=2).explain()
    said = " ".join(said.split())
    assert COUNT in said
    assert "since 2026-01-01" in said
    assert "up to 2 ticks back" in said
    assert "paid by the table visits" in said


@pytest.mark.parametrize("horizon", [2, 3])
def test_a_tick_that_another_process_closed_meanwhile_is_returned_as_it_was_published(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch, horizon: int
) -> None:
    """The other one is faster when the rows are read already, also to the last tick of all."""
    protect(db, visits(("p1", 0), ("p2", 1), ("p3", 1)))
    stream = follow(db, horizon=horizon)
    read = TableFollower.items

    def slow(following: TableFollower, *given: Any) -> Any:
        found = read(following, *given)
        monkeypatch.undo()
        stream.publish(2)
        return found

    monkeypatch.setattr(TableFollower, "items", slow)
    assert stream.publish(2) == stream.value(2)
    assert shown(stream) == [1, 3]
