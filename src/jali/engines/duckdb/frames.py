"""In-memory frames as DuckDB may read them: their types are fixed, whatever their values are."""

from __future__ import annotations

from typing import Any

from jali.errors import CatalogError


def readable(frame: Any) -> Any:
    """Return a frame whose column types DuckDB cannot infer from values.

    A pandas column of Python objects has no type of its own, and DuckDB would guess one from a sample of the
    rows: such columns are read as text.
    """
    module = type(frame).__module__.split(".")[0]
    if module == "pandas":
        loose = [name for name in frame.columns if frame[name].dtype == object]
        return frame.astype(dict.fromkeys(loose, "string")) if loose else frame
    if module in ("polars", "pyarrow"):
        return frame.collect() if hasattr(frame, "collect") else frame
    raise CatalogError(
        f"A {type(frame).__name__} cannot be protected.",
        remedy="Give a path to Parquet, CSV or a DuckDB file, or a pandas, polars or Arrow table.",
    )
