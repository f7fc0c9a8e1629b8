"""In-memory frames as DuckDB reads them: an Arrow table of our own, which nobody can change any more.

What was checked is what is read. A frame may be changed in place after it was attached, so its values are copied.
The copy has columns of known types only. A column of Python objects has no type of its own, and DuckDB would guess
one from a sample of the rows: it is read as text. A column of a type that questions cannot read (lists, durations,
times with a zone, ...) keeps its name and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.errors import CatalogError

if TYPE_CHECKING:
    import pyarrow

_OURS = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The values of a frame as they were when it was attached.

    Attributes:
        table: The values.
        digest: Equal for equal values. It is kept in the ledger alone: it depends on the rows.
    """

    table: pyarrow.Table
    digest: str

    def same(self, other: Snapshot | None) -> bool:
        """Say whether two frames have the same values. Frames without rows have none that could be the same."""
        return other is not None and self.table.num_rows > 0 and self.digest == other.digest


def snapshot(frame: Any) -> Snapshot:
    """Copy a pandas, polars or Arrow table.

    Raises:
        CatalogError: if it is none of these, if its values are not valid, or if two columns have one name.
    """
    if type(frame).__module__.split(".")[0] not in _OURS:
        raise _make_refusal(frame)
    try:
        import pyarrow
    except ImportError:
        raise CatalogError("frames-not-installed") from None
    table = _arrow(frame)
    _check_names(table.column_names)
    _validate(table)
    columns = {name: _plain(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    sink = pyarrow.BufferOutputStream()
    plain = pyarrow.table(columns).combine_chunks()
    with pyarrow.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    buffer = sink.getvalue()
    copied = pyarrow.ipc.open_stream(buffer).read_all()
    return Snapshot(copied, hashlib.sha256(buffer).hexdigest())


def _arrow(frame: Any) -> pyarrow.Table:
    import pyarrow

    kind = type(frame).__module__.split(".")[0], type(frame).__name__
    if kind == ("polars", "LazyFrame"):
        frame, kind = frame.collect(), ("polars", "DataFrame")
    if kind == ("polars", "DataFrame"):
        return pyarrow.table({name: _of_polars(frame[name]) for name in frame.columns})
    if kind == ("pandas", "DataFrame"):
        _check_names(frame.columns)
        return pyarrow.table({str(name): _of_pandas(frame[name]) for name in frame.columns})
    if kind == ("pyarrow", "Table"):
        return frame
    raise _make_refusal(frame)


def _of_polars(series: Any) -> Any:
    """Read a column of polars; one of a type that Arrow does not know cannot be read."""
    import pyarrow

    try:
        return series.to_arrow()
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return _unreadable(len(series))


def _of_pandas(series: Any) -> Any:
    """Read a column of pandas: its own type where Arrow knows it, text where it has none."""
    import pyarrow

    if hasattr(series.dtype, "pyarrow_dtype"):
        return pyarrow.chunked_array(pyarrow.array(series))
    if _is_text(series.dtype):
        return _of_objects(series)
    try:
        return pyarrow.array(series, from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
        return _unreadable(len(series))


def _is_text(dtype: Any) -> bool:
    """Say whether a column holds text, Python objects, or categories of them, whatever keeps it."""
    import pandas

    if dtype == "object":
        return True
    categories = getattr(dtype, "categories", None)
    if categories is not None and not isinstance(dtype, pandas.IntervalDtype):
        return bool(categories.dtype == object or pandas.api.types.is_string_dtype(categories.dtype))
    return bool(pandas.api.types.is_string_dtype(dtype))


def _of_objects(series: Any) -> Any:
    """Read a column of text, or of Python objects as text: fast where all of it is text, one by one where not."""
    import pyarrow

    try:
        return pyarrow.array(series, pyarrow.large_string(), from_pandas=True)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, UnicodeError):
        pairs = zip(series.tolist(), series.isna().tolist(), strict=True)
        return pyarrow.array([None if missing else _text(v) for v, missing in pairs], pyarrow.large_string())


def _text(value: Any) -> str | None:
    """Write a Python value as text; NULL where it has none, or one that is not Unicode."""
    try:
        written = value if type(value) is str else str(value)
        written.encode()
    except Exception:
        return None
    return written


def _plain(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return a column in a type that DuckDB reads as it is, or one without values where there is none."""
    import pyarrow
    from pyarrow import compute, types

    kind = column.type
    if types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_date(kind) or _is_arrow_text(kind):
        return column
    if types.is_floating(kind) or types.is_decimal(kind):
        return compute.cast(column, pyarrow.float64(), safe=False)
    if types.is_timestamp(kind) and kind.tz is None:
        return column
    return _unreadable(len(column))


def _is_arrow_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _unreadable(length: int) -> pyarrow.ChunkedArray:
    """Return a column of a type that questions cannot read, with nothing in it."""
    import pyarrow

    return pyarrow.chunked_array([pyarrow.nulls(length, pyarrow.list_(pyarrow.int8()))])


def _check_names(columns: Iterable[Any]) -> None:
    """Refuse names that differ in case only: DuckDB would rename one of them without a word."""
    names = [str(name).lower() for name in columns]
    if len(set(names)) != len(names):
        raise CatalogError("columns-differ-in-case")


def _validate(table: pyarrow.Table) -> None:
    import pyarrow

    try:
        table.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise CatalogError("arrow-invalid") from None


def _make_refusal(frame: Any) -> CatalogError:
    return CatalogError("frame-kind", kind=type(frame).__name__)
