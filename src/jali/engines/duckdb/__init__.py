"""DuckDB: the embedded engine, for Parquet, CSV, DuckDB files and in-memory frames."""

from jali.engines.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
