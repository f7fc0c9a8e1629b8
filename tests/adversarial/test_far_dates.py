"""The least or the largest date of a file must not decide whether a question is answered."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import jali
from jali.ir.functions.date_functions import PARTS

# The ends of DuckDB's calendar, which Parquet notes as the least and largest values of a block.
ENDS = ("5877642-06-25 (BC)", "5881580-07-10", "-infinity", "infinity")
ASKED = [
    *(f"{part}(d)" for part in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "ISODOW", "DAYOFYEAR")),
    *(f"LENGTH({part}(d))" for part in ("MONTHNAME", "DAYNAME")),
    *(f"YEAR(DATE_TRUNC('{part}', d))" for part in PARTS),
    *(f"DATE_DIFF('{part}', d, DATE '2024-01-01')" for part in PARTS),
    *(f"DATE_SUB('{part}', DATE '2024-01-01', d)" for part in PARTS),
    "YEAR(LAST_DAY(d))",
    "d - DATE '2024-01-01'",
    "YEAR(d + INTERVAL 1 MONTH)",
    "YEAR(d - 400)",
]


@pytest.mark.parametrize("end", ENDS)
def test_a_far_date_fails_no_question(end: str, tmp_path: Path) -> None:
    path = tmp_path / "days.parquet"
    with duckdb.connect() as connection:
        rows = f"SELECT * FROM (VALUES (DATE '2024-01-31'), (DATE '{end}')) AS t(d)"
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    with jali.connect() as db:
        db.protect("days", path, unit=None, budget=jali.Budget(10**6))
        for asked in ASKED:
            assert len(db.ask(f"SELECT SUM(CLAMP({asked}, 0, 9)), COUNT({asked}) FROM days", epsilon=1).rows) == 1
