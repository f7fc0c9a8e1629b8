"""What a Parquet file notes about its blocks must not let one person's values decide about others' rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.depth import thinned
from tests.exact.test_plain_sql import ENGINE

import jali
from jali.ledger import SqliteLedger

OTHERS = [float("nan")] * 100 + [1.0] * 3
QUESTIONS = (
    "SELECT COUNT(*) FROM t WHERE x > 4",
    "SELECT COUNT(*) FROM t WHERE NOT x <= 4",
    "SELECT COUNT(x) FROM t",
    "SELECT SUM(x) FROM t",
    "SELECT MEDIAN(x) FROM t",
)
# What one more person may hold; the least and largest values of the block become known, or unknown, by it.
MORE = (5.0, -5.0, None, float("inf"), float("-inf"), float("nan"))


def write(path: Path, values: list[float | None], writer: str) -> None:
    if writer == "polars":
        pl.DataFrame({"uid": range(len(values)), "x": values}).write_parquet(path)
    else:
        pq.write_table(pa.table({"uid": range(len(values)), "x": pa.array(values, pa.float64())}), path)


def units(path: Path, sql: str) -> int:
    """Return the whole weight that the engine finds, in people; values are at most 10 each."""
    with SqliteLedger(None) as ledger:
        db = jali.Database(ledger, ENGINE)
        ranges = {"x": jali.Range(0, 10)}
        db.protect("t", path, unit="uid", max_rows=1, columns=ranges, budget=jali.Budget(epsilon=10))
        plan = db.explain(sql, epsilon=1)
        (part,) = plan.parts
        worth = part.aggregation.unit(part.aggregation.measures[0])
        return round(float(sum(row[-1] for row in ENGINE.run(part.sql, plan.read)) * worth))


@thinned(3)
@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
@pytest.mark.parametrize("sql", QUESTIONS)
def test_one_value_does_not_bring_in_the_nan_of_others(tmp_path: Path, sql: str, writer: str) -> None:
    write(tmp_path / "without.parquet", list(OTHERS), writer)
    before = units(tmp_path / "without.parquet", sql)
    for place, more in enumerate(MORE):
        path = tmp_path / f"with{place}.parquet"
        write(path, [*OTHERS, more], writer)
        assert abs(units(path, sql) - before) <= (10 if "SUM" in sql else 1), more


@pytest.mark.parametrize("writer", ["pyarrow", "polars"])
def test_nan_is_missing_whoever_wrote_the_file(tmp_path: Path, writer: str) -> None:
    write(tmp_path / "t.parquet", list(OTHERS), writer)
    assert units(tmp_path / "t.parquet", "SELECT COUNT(x) FROM t") == 3
    assert units(tmp_path / "t.parquet", "SELECT SUM(x) FROM t") == 3


# Few different values come as codes of a dictionary, many as they are: the same clamp serves both.
ODD = ((12.5, 10), (-3.0, 0), (-0.0, 0), (float("inf"), 10), (float("-inf"), 0), (float("nan"), 0), (None, 0))


@thinned(3)
@pytest.mark.parametrize("repeats", [1, 3000])
@pytest.mark.parametrize(("value", "clamped"), ODD)
def test_every_kind_of_double_is_clamped_to_its_place(
    tmp_path: Path, value: float | None, clamped: int, repeats: int
) -> None:
    write(tmp_path / "t.parquet", [value, 2.0, 3.0] * repeats, "pyarrow")
    assert units(tmp_path / "t.parquet", "SELECT SUM(x) FROM t") == (clamped + 5) * repeats
    write(tmp_path / "t.parquet", [value, *(i / 7 for i in range(7 * repeats))], "pyarrow")
    rest = sum(min(i / 7, 10) for i in range(7 * repeats))
    assert units(tmp_path / "t.parquet", "SELECT SUM(x) FROM t") == round(clamped + rest)
