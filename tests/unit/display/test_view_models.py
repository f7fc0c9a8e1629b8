"""Cells of several values: how they are taken apart, shown, and turned into frames."""

from __future__ import annotations

import datetime

import polars
import pyarrow
import pytest

from jali.display.data_frames import build_arrow_table, build_polars_frame
from jali.display.numbers import half_width, is_centred, show_error
from jali.display.text import write_answer_table, write_legend
from jali.display.view_models import ALL, CellLine, flatten_cells, show_cell, split_lines

FIRST, LAST = datetime.date(2025, 2, 1), datetime.date(2025, 4, 1)
COLUMNS = ("ward", "q", "h", "day")
ROWS = [
    ("A", [35, 50, 66], {20: 292.3, "above": 12.4}, datetime.date(2025, 3, 1)),
    (ALL, [36, 51, 67], {20: 294.3, "above": 13.4}, None),
    (None, [36], {None: 1.0}, None),
]
QUARTERS = [(25, 46), (44, 54), (60, 70)]
SPANS = [
    (None, QUARTERS, {20: (286.3, 298.3), "above": (6.4, 18.4)}, (FIRST, LAST)),
    (None, QUARTERS, {20: (288.3, 300.3), "above": (7.4, 19.4)}, (FIRST, LAST)),
    (None, QUARTERS[:1], {None: (0.0, 2.0)}, (FIRST, LAST)),
]


def test_several_values_take_a_line_each_and_totals_are_told_from_nulls() -> None:
    assert write_answer_table(COLUMNS, ROWS, SPANS).splitlines() == [
        "ward    q  interval  h      value    ±         day                 interval",
        "─────  ──  ────────  ─────  ─────  ───  ──────────  ───────────────────────",
        "A      35   25 … 46  20     292.3  6.0  2025-03-01  2025-02-01 … 2025-04-01",
        "       50   44 … 54  above   12.4  6.0",
        "       66   60 … 70",
        "(all)  36   25 … 46  20     294.3  6.0        NULL  2025-02-01 … 2025-04-01",
        "       51   44 … 54  above   13.4  6.0",
        "       67   60 … 70",
        "NULL   36   25 … 46  NULL     1.0  1.0        NULL  2025-02-01 … 2025-04-01",
    ]


def test_chosen_words_have_no_error_bars_and_an_empty_list_leaves_its_place_empty() -> None:
    shown = write_answer_table(("ward", "top"), [("A", ["x", "y"]), ("B", [])], [(None, None), (None, None)])
    assert shown.splitlines() == ["ward  top", "────  ───", "A     x", "      y", "B"]


def test_a_cell_is_taken_apart_with_its_intervals() -> None:
    assert split_lines(5, (3, 7)) == [CellLine(None, 5, (3, 7))]
    assert split_lines([1, 2], None) == [CellLine(None, 1, None), CellLine(None, 2, None)]
    assert split_lines({None: 1, "A": 2}, {None: (0, 2), "A": (1, 3)}) == [
        CellLine("NULL", 1, (0, 2)),
        CellLine("A", 2, (1, 3)),
    ]
    values, spans = flatten_cells(ROWS[:1], SPANS[:1])
    assert values == ["A", 35, 50, 66, 292.3, 12.4, datetime.date(2025, 3, 1)]
    assert spans == [None, *QUARTERS, (286.3, 298.3), (6.4, 18.4), (FIRST, LAST)]
    assert "±" in write_legend(values, spans, 0.95)


def test_ends_that_were_chosen_are_shown_themselves_and_dates_have_no_width() -> None:
    assert show_error(35, (25, 45)) == "25 … 45"
    assert show_error(35.0, (25.0, 45.0)) == "± 10"
    assert show_error(1200, (1000, 1300)) == "1,000 … 1,300"
    assert half_width((FIRST, LAST)) is None
    assert not is_centred(datetime.date(2025, 3, 2), (FIRST, LAST))
    assert show_error(None, (FIRST, LAST)) == "2025-02-01 … 2025-04-01"
    noon = datetime.datetime(2025, 2, 1, 12)  # noqa: DTZ001 - columns without time zone are read as they are
    assert show_error(noon, (noon, noon)) == "2025-02-01 12:00:00 … 2025-02-01 12:00:00"


@pytest.mark.parametrize(
    ("value", "span", "shown"),
    [
        (10, (8.0, 12.0), "10 ± 2.0"),
        (50, (44, 57), "50 (44 … 57)"),
        ("A", None, "A"),
        (None, (0.0, 100.0), "NULL (0 … 100)"),
        (ALL, None, "(all)"),
        (["x", "y"], None, "[x, y]"),
        ([], None, "[]"),
        ({"A": 1.26, None: 2.0}, {"A": (1.0, 1.5), None: (1.9, 2.1)}, "{A: 1.26, NULL: 2.00}"),
        ([1, 2, 3, 4, 5], None, "[1, 2, 3, … 5 values]"),
    ],
)
def test_one_line_says_what_a_cell_holds(value: object, span: object, shown: str) -> None:
    assert show_cell(value, span) == shown


def test_arrow_has_lists_maps_and_dates() -> None:
    table = build_arrow_table(
        {"q": [[1, 2], [3, 4]], "h": [{"A": 1.5}, {"A": 2.5}], "n": [{1: 2}, {1: 3}], "d": [FIRST, None]}
    )
    assert table.schema.types == [
        pyarrow.list_(pyarrow.int64()),
        pyarrow.map_(pyarrow.string(), pyarrow.float64()),
        pyarrow.map_(pyarrow.int64(), pyarrow.int64()),
        pyarrow.date32(),
    ]
    assert table.column("h").to_pylist() == [[("A", 1.5)], [("A", 2.5)]]
    assert table.column("d").to_pylist() == [FIRST, None]


def test_labels_of_several_kinds_become_text() -> None:
    table = build_arrow_table({"h": [{20: 1.0, "above": None}, None, {None: 2.0}]})
    assert table.column("h").to_pylist() == [[("20", 1.0), ("above", None)], None, [("NULL", 2.0)]]
    frame = build_polars_frame({"h": [{20: 1.0, "above": 2.0}], "q": [[1, 2]], "n": [3]})
    assert frame["h"].to_list() == [[{"key": "20", "value": 1.0}, {"key": "above", "value": 2.0}]]
    assert frame.schema["q"] == polars.List(polars.Int64)
