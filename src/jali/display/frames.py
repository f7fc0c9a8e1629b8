"""Columns of an answer as Arrow, polars and pandas take them: lists stay lists, mappings become maps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jali.display.numbers import show_key

if TYPE_CHECKING:
    import polars
    import pyarrow

Columns = Mapping[str, list[Any]]


def arrow_table(columns: Columns) -> pyarrow.Table:
    """Return an Arrow table; a column of mappings has a map type."""
    import pyarrow

    return pyarrow.table({name: _arrow_column(values) for name, values in columns.items()})


def polars_frame(columns: Columns) -> polars.DataFrame:
    """Return a polars frame; a mapping is a list of `key` and `value`, as polars reads Arrow's maps."""
    import polars

    return polars.DataFrame({name: _structs(values) for name, values in columns.items()}, strict=False)


def _arrow_column(values: list[Any]) -> Any:
    import pyarrow

    pairs = _pairs(values)
    if pairs is None:
        return pyarrow.array(values)
    inner = [pair for row in pairs if row is not None for pair in row]
    keys, items = (pyarrow.array([pair[i] for pair in inner]).type for i in (0, 1))
    return pyarrow.array(pairs, type=pyarrow.map_(keys, items))


def _structs(values: list[Any]) -> list[Any]:
    pairs = _pairs(values)
    if pairs is None:
        return values
    return [None if row is None else [{"key": key, "value": item} for key, item in row] for row in pairs]


def _pairs(values: list[Any]) -> list[list[tuple[Any, Any]] | None] | None:
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


def csv_text(columns: Columns) -> str:
    """Return comma-separated values with a line of names; lists and mappings are written as JSON."""
    import csv
    import io

    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return sink.getvalue()


def _csv_cell(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(
            {show_key(label): item for label, item in value.items()}, ensure_ascii=False, default=str
        )
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list) else value
