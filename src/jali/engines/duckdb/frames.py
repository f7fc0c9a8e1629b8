"""In-memory frames as DuckDB may read them: their types are fixed, whatever their values are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jali.errors import CatalogError


def readable(frame: Any) -> Any:
    """Return a frame whose column types DuckDB cannot infer from values, and whose values it can read.

    A pandas column of Python objects has no type of its own, and DuckDB would guess one from a sample of the
    rows: such columns are read as text. An Arrow table is validated: DuckDB fails on text that is not UTF-8.
    """
    kind = type(frame).__module__.split(".")[0], type(frame).__name__
    if kind == ("polars", "LazyFrame"):
        return readable(frame.collect())
    if kind == ("polars", "DataFrame"):
        return _distinct(frame, frame.columns)
    if kind == ("pandas", "DataFrame"):
        loose = [name for name in frame.columns if frame[name].dtype == object]
        return _distinct(frame.astype(dict.fromkeys(loose, "string")) if loose else frame, frame.columns)
    if kind == ("pyarrow", "Table"):
        return _distinct(_validated(frame), frame.column_names)
    raise CatalogError(
        f"A {type(frame).__name__} cannot be protected.",
        remedy="Give a path to Parquet, CSV or a DuckDB file, or a pandas, polars or Arrow table.",
    )


def _distinct(frame: Any, columns: Iterable[Any]) -> Any:
    """Refuse names that differ in case only: DuckDB would rename one of them without a word."""
    names = [str(name).lower() for name in columns]
    if len(set(names)) != len(names):
        raise CatalogError("Two columns differ in upper and lower case only.", remedy="Rename one of them.")
    return frame


def _validated(table: Any) -> Any:
    import pyarrow

    try:
        table.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise CatalogError(
            "The Arrow table is not valid.", remedy="See what its validate(full=True) says."
        ) from None
    return table
