"""Turn the columns of an answer into data frames: Arrow, polars, pandas, Parquet and CSV.

Lists stay lists, mappings become maps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jali.display.numbers import show_key

if TYPE_CHECKING:
    import polars
    import pyarrow

Columns = Mapping[str, list[Any]]


def build_arrow_table(columns: Columns) -> pyarrow.Table:
    """Return an Arrow table; a column of mappings has a map type."""
    pyarrow = import_package("pyarrow")
    return pyarrow.table({name: _build_arrow_column(_unify_numbers(values)) for name, values in columns.items()})


def build_polars_frame(columns: Columns) -> polars.DataFrame:
    """Return a polars frame; a mapping is a list of `key` and `value`, as polars reads Arrow's maps."""
    columned = {name: _build_structs(_unify_numbers(values)) for name, values in columns.items()}
    frame: polars.DataFrame = import_package("polars").DataFrame(columned, strict=False)
    return frame


def _unify_numbers(values: list[Any]) -> list[Any]:
    """Write the whole numbers of a column as doubles, where others are: no type holds all of both."""
    if not any(isinstance(value, float) for value in values):
        return values
    return [float(value) if isinstance(value, int) and not isinstance(value, bool) else value for value in values]


def _build_arrow_column(values: list[Any]) -> Any:
    import pyarrow

    pairs = _build_pairs(values)
    if pairs is None:
        return pyarrow.array(values)
    inner = [pair for row in pairs if row is not None for pair in row]
    keys, items = (pyarrow.array([pair[i] for pair in inner]).type for i in (0, 1))
    return pyarrow.array(pairs, type=pyarrow.map_(keys, items))


def _build_structs(values: list[Any]) -> list[Any]:
    pairs = _build_pairs(values)
    if pairs is None:
        return values
    return [None if row is None else [{"key": key, "value": item} for key, item in row] for row in pairs]


def _build_pairs(values: list[Any]) -> list[list[tuple[Any, Any]] | None] | None:
    """Return mappings as lists of pairs, with labels of one type; None for a column of other values.

    Labels of several types, such as numbers and the word "above", or with a NULL among them, become text.
    """
    if not any(isinstance(value, dict) for value in values):
        return None
    labels = {label for value in values if value is not None for label in value}
    alike = None not in labels and len({type(label) for label in labels}) <= 1
    return [
        None if value is None else [(k if alike else show_key(k), item) for k, item in value.items()]
        for value in values
    ]


def write_parquet(columns: Columns) -> bytes:
    """Return a Parquet file, written by DuckDB; a column of mappings has a map type, whole numbers are long."""
    import tempfile
    from pathlib import Path

    import duckdb

    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    given = ", ".join(f"unnest(${place}) AS {name}" for place, name in enumerate(names, 1))
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE answer AS SELECT {given}", [_build_structs(_unify_numbers(v)) for v in columns.values()]
        )
        maps = [_build_pairs(values) is not None for values in columns.values()]
        kinds = [kind for _, kind, *_ in connection.execute("DESCRIBE answer").fetchall()]
        kept = ", ".join(_declare_parquet_column(*one) for one in zip(names, kinds, maps, strict=True))
        sink = Path(folder, "answer.parquet")
        quoted = str(sink).replace("'", "''")
        connection.execute(f"COPY (SELECT {kept} FROM answer) TO '{quoted}' (FORMAT parquet)")
        return sink.read_bytes()


def _declare_parquet_column(name: str, kind: str, is_map: bool) -> str:
    if is_map:
        return f"map_from_entries({name}) AS {name}"
    return f"{name}::BIGINT AS {name}" if kind == "INTEGER" else name


def import_package(package: str) -> Any:
    """Return a package that frames need, or say how it is installed."""
    from importlib import import_module

    from jali.errors import CatalogError

    try:
        return import_module(package)
    except ImportError:
        raise CatalogError("package-missing", package=package) from None


def write_csv(columns: Columns) -> str:
    """Return comma-separated values with a line of names; lists and mappings are written as JSON."""
    import csv
    import io

    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_write_csv_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return sink.getvalue()


def _write_csv_cell(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(
            {show_key(label): item for label, item in value.items()}, ensure_ascii=False, default=str
        )
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list) else value
