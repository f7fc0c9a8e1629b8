"""Sources of tests: frames that are told apart, and engines that fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc

import jali
from jali.engines.duckdb import DuckDBEngine


@contextmanager
def failing(code: str = "engine-disk") -> Iterator[None]:
    """Let DuckDB fail on every question, after it was paid: by default for a cause outside of the data."""
    with patch.object(DuckDBEngine, "run", side_effect=jali.errors.EngineError(code)):
        yield


def normalized(frame: pa.Table) -> pa.Table:
    """Return the values as questions see them: NaN is missing. (Other values of the tests are in the domain.)"""
    columns = {
        name: pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column
        for name, column in zip(frame.column_names, frame.columns, strict=True)
    }
    return pa.table(columns)


def tagged(frame: pa.Table, name: str) -> pa.Table:
    """Add a column that no other table has: two frames with the same values are one source, with one budget."""
    return frame.append_column(f"of_{name}", pa.array([name] * frame.num_rows, pa.string()))
