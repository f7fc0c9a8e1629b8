"""DuckDB holds a bounded part of the memory, whatever the machine has."""

from __future__ import annotations

import duckdb
import pytest

from jali.engines.duckdb import DuckDBEngine, engine


def limit(connection: duckdb.DuckDBPyConnection) -> str:
    ((found,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    return str(found)


@pytest.mark.parametrize(("own", "left"), [("64 GiB", "3.0 GiB"), ("2 TiB", "3.0 GiB"), ("700 MiB", "700.0 MiB")])
def test_the_limit_is_lowered_and_never_raised(own: str, left: str) -> None:
    with duckdb.connect(config={"memory_limit": own}) as connection:
        engine._bound_memory(connection)
        assert limit(connection) == left


def test_the_engine_opens_with_the_limit() -> None:
    opened = DuckDBEngine()
    number, unit = limit(opened._cursor([])).split()
    opened.close()
    assert unit in ("MiB", "GiB")
    assert unit == "MiB" or float(number) <= 3
