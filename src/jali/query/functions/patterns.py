"""Regular expressions of the question: constants that the engine's library (RE2, linear time) can compile."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def is_pattern(written: str) -> bool:
    """Say whether RE2 compiles a pattern. An empty DuckDB is asked, so that no data and no budget is touched."""
    import duckdb

    with duckdb.connect() as connection:
        try:
            connection.execute("SELECT regexp_matches('', $1)", [written]).fetchall()
        except duckdb.Error:
            return False
    return True
