"""An aggregation in DuckDB's SQL."""

from __future__ import annotations

from jali.engines import sql
from jali.engines.duckdb.dialect import DUCKDB
from jali.query.aggregation import Aggregation


def emit(aggregation: Aggregation) -> str:
    """Write the query whose rows are the exact integers of each group."""
    return sql.emit(aggregation, DUCKDB)
