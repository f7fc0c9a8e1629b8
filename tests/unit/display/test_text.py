from __future__ import annotations

import math

from jali.display.numbers import show_amount, show_error, show_percent
from jali.display.text import (
    PLAIN,
    Ink,
    TextColumn,
    cell_width,
    clean,
    write_answer_table,
    write_error_column,
    write_facts,
    write_legend,
    write_table,
)


def test_numbers_stand_right_with_their_error_bars_beside_them() -> None:
    rows = [("A", 1690.33, 48.586), ("Bee", 16.05, None)]
    spans = [(None, (1579.8, 1800.9), (44.36, 52.65)), (None, (15.0, 17.1), (0.0, 120.0))]
    lines = write_answer_table(("ward", "n", "age"), rows, spans).splitlines()
    assert lines == [
        "ward        n      ±   age  interval",
        "────  ───────  ─────  ────  ────────",
        "A     1,690    111    48.6     ± 4.1",
        "Bee      16.1    1.1  NULL   0 … 120",
    ]


def test_an_interval_is_shown_by_its_ends_where_the_value_is_not_in_its_middle() -> None:
    assert show_error(10, (8.0, 12.0)) == "± 2.0"
    assert show_error(10.0999, (8.0, 12.0)) == "± 2.0"
    assert show_error(10.2, (8.0, 12.0)) == "8.0 … 12.0"
    assert show_error(0.0, (0.0, 2.24)) == "0.0 … 2.2"
    assert show_error(98.0, (0.0, 100.0)) == show_error(None, (0.0, 100.0)) == "0 … 100"
    assert show_error(0.5, (-math.inf, math.inf)) == "-∞ … ∞"
    assert show_error(math.nan, (0.0, 1.0)) == "0.00 … 1.00"
    assert show_error(5, (5.0, 5.0)) == "± 0.00"
    assert show_error(10**18 + 1, (1e18 - 4e9, 1e18 + 4e9)) == "± 4,000,000,000"
    assert show_error("A", None) == ""


def test_bars_of_one_kind_and_of_both_have_their_heading_and_their_legend() -> None:
    middle, end = (8.0, 12.0), (10.0, 12.0)
    assert write_error_column([10.0], [middle]).heading == "±"
    assert write_error_column([10.0, 10.0], [middle, end]).cells == ("± 2.0", "10.0 … 12.0")
    assert write_legend([10.0], [middle], 0.95) == "± is half the width of a 95 % interval for the bounded truth."
    assert write_legend([10.0], [end], 0.9) == "low … high is a 90 % interval for the bounded truth."
    assert {"±", "…"} <= set(write_legend([10.0, 10.0], [middle, end], 0.95))
    assert write_legend(["A"], [None], 0.95) == ""


def test_no_line_of_a_table_ends_in_blanks_with_or_without_ink() -> None:
    text = write_table([TextColumn("a", ("long cell",)), TextColumn("b", ("long cell",))], ink=Ink(colour=True))
    assert all(line == line.rstrip() for line in text.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines())


def test_an_unbounded_interval_is_shown_as_such() -> None:
    text = write_answer_table(("ratio",), [(0.5,)], [((-math.inf, math.inf),)])
    assert "∞" in text


def test_integer_keys_stand_right_and_no_rows_say_so() -> None:
    assert write_answer_table(("floor",), [(1,), (10,)], [(None,), (None,)]).splitlines()[2:] == ["    1", "   10"]
    assert write_answer_table(("n",), [], []) == "No rows."


def test_a_year_as_a_key_is_no_amount() -> None:
    shown = write_answer_table(("year", "n"), [(2025, 2025)], [(None, (2000.0, 2050.0))]).splitlines()
    assert shown[2].split() == ["2025", "2,025", "25"]


def test_wide_characters_keep_the_columns_straight() -> None:
    lines = write_table([TextColumn("病棟", ("A", "内科")), TextColumn("n", ("1", "2"), right=True)]).splitlines()
    assert {cell_width(line) for line in lines} == {7}
    assert cell_width("e\u0301") == 1


def test_text_from_elsewhere_cannot_move_the_cursor() -> None:
    assert clean("a\x1b[2J\nb\t") == "a\\x1b[2J\\nb\\t"
    assert "\x1b" not in write_answer_table(("a\x1b",), [("\x1b[31m",)], [(None,)])


def test_facts_are_wrapped_beside_their_labels() -> None:
    lines = write_facts([("Loss", "one two three four"), ("Unit", "x")], width=20).splitlines()
    assert lines == ["  Loss  one two", "        three four", "  Unit  x"]
    assert write_facts([]) == ""


def test_ink_marks_text_only_where_colour_is_wanted() -> None:
    assert PLAIN.strong("a") == PLAIN.alarm("a") == "a"
    assert Ink(colour=True).faint("a") == "\x1b[2ma\x1b[0m"
    assert Ink(colour=True).accent("") == ""


def test_amounts_have_the_digits_a_reader_needs() -> None:
    shown = [show_amount(x) for x in (0.0, 1.0, 36.97, 110545.1, 1e12, 0.0123456, 0.00001234, 1e300, math.inf)]
    assert shown == ["0", "1", "37", "110,545", "1,000,000,000,000", "0.0123", "0.00001234", "1e+300", "inf"]
    assert [show_percent(x) for x in (0, 0.034, 0.5)] == ["0 %", "3.4 %", "50 %"]
