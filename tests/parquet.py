"""Parquet files for tests, written by DuckDB."""

from __future__ import annotations

from pathlib import Path

import duckdb


def write_parquet(select: str, path: Path) -> Path:
    """Write the rows of a SELECT to a Parquet file."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return path
