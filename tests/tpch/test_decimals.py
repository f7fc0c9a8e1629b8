"""Arithmetic of decimal constants is exact, as in SQL: 0.06 + 0.01 is 0.07, and the sum of the doubles is less."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from tests.harness import noise_off

import jali

ITEMS = pa.table({"discount": pa.array([n / 100 for n in range(11)] * 3)})
DECIMALS = "select count(*) from (select discount::decimal(15, 2) as discount from items)"


@pytest.mark.parametrize(
    "condition",
    [
        "discount between 0.06 - 0.01 and 0.06 + 0.01",
        "discount <= 0.1 * 0.7",
        "discount = 0.3 - 0.2 - 0.05",
        "discount < 0.01 * 3 + 0.03",
        "discount >= -(0.1 - 0.13) + 0.04",
    ],
)
def test_decimal_constants_are_added_as_decimals(condition: str) -> None:
    connection = duckdb.connect()
    connection.register("items", ITEMS)
    exact = connection.execute(f"{DECIMALS} where {condition}").fetchall()
    db = jali.connect()
    db.protect("items", ITEMS, unit=None, budget=jali.Budget(epsilon=1, delta=1e-6))
    with noise_off():
        assert list(db.ask(f"select count(*) from items where {condition}", epsilon=1).rows) == exact
