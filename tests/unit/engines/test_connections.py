"""DuckDB holds a bounded part of the memory, whatever the machine has."""

from __future__ import annotations

import duckdb

from jali.engines.base import Resources
from jali.engines.duckdb.connections import Instance, Instances


def limit(connection: duckdb.DuckDBPyConnection) -> str:
    ((found,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    return str(found)


def test_the_limit_is_lowered_and_never_raised() -> None:
    instance = Instance()
    own = limit(instance.connection)
    instance.limit(Resources(memory=1 << 60))
    assert limit(instance.connection) == own
    instance.limit(Resources(memory=1 << 28))
    assert limit(instance.connection) == "256.0 MiB"
    instance.limit(Resources(memory=1 << 60))
    assert limit(instance.connection) == own
    instance.close()


def test_the_engine_opens_with_the_limits_of_a_question() -> None:
    wanted = Resources(memory=1 << 28, spill=1 << 29, threads=1)
    with Instances(wanted).lease() as instance:
        assert limit(instance.connection) == "256.0 MiB"
        settings = "SELECT current_setting('max_temp_directory_size'), current_setting('threads')"
        assert instance.connection.execute(settings).fetchall() == [("512.0 MiB", 1)]
