"""Parquet files for tests, written by DuckDB."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb


@cache
def _writer() -> duckdb.DuckDBPyConnection:
    # To open DuckDB takes longer than to write a small file.
    return duckdb.connect(config={"threads": 1})


def write_parquet(select: str, path: Path) -> Path:
    """Write the rows of a SELECT to a Parquet file."""
    _writer().execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path
