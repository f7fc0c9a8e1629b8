from __future__ import annotations

import datetime
import math
from html.parser import HTMLParser

from jali.display.html import write_answer_table, write_card, write_details, write_facts, write_section

# How an opening cell is written, and how many lines it covers.
COVERED = ((" style", 1), (' rowspan="2"', 2), (' rowspan="3"', 3))
NASTY = '<img src=x onerror=alert(1)> & "quoted"'


class Reader(HTMLParser):
    """Collects tags and text, and checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_an_answer_is_a_table_with_a_bar_for_each_interval() -> None:
    rows = [("A", 1690.3, 48.6), ("B", 1675.0, None)]
    spans = [(None, (1579.0, 1800.0), (44.0, 52.0)), (None, (1564.0, 1785.0), (0.0, 120.0))]
    reader = read(write_answer_table(("ward", "n", "age"), rows, spans, "cost epsilon 0.1"))
    assert reader.seen.count("tr") == 3
    assert reader.seen.count("svg") == 3
    assert "± 110" in reader.text
    assert "0 … 120" in reader.text
    assert "cost epsilon 0.1" in reader.text


def test_every_text_is_escaped() -> None:
    page = write_answer_table((NASTY,), [(NASTY,)], [(None,)], NASTY)
    page += write_facts([(NASTY, NASTY)]) + write_section(NASTY, "", remark=NASTY) + write_details(NASTY, NASTY)
    reader = read(write_card(page))
    assert "img" not in reader.seen
    assert reader.text.count(NASTY) == 9


def test_bars_survive_empty_unbounded_and_single_point_scales() -> None:
    for value, span in (
        (1.0, (-math.inf, math.inf)),
        (5.0, (5.0, 5.0)),
        (math.nan, (0.0, 1.0)),
        (0.0, (0.0, 0.0)),
    ):
        page = write_answer_table(("x",), [(value,)], [(span,)], "")
        read(page)
        assert 'x1="nan"' not in page
    assert read(write_answer_table(("x",), [], [], "")).seen.count("tr") == 1


def test_a_cell_of_several_values_is_a_stack_beside_cells_that_reach_over_it() -> None:
    rows = [("A", {20: 1.0, "above": 2.0}, [1, 2, 3]), ("B", {}, ["x"])]
    spans = [(None, {20: (0.0, 2.0), "above": (1.0, 3.0)}, None), (None, {}, None)]
    page = write_answer_table(("ward", "h", "top"), rows, spans, "cost", ["a remark & more"])
    reader = read(page)
    assert reader.seen.count("tr") == 1 + 3 + 1
    assert reader.seen.count("th") == 1 + 3 + 1
    # ward reaches over three lines, and so do the last of two bins: its label, its number and its bar over two.
    assert (page.count('rowspan="3"'), page.count('rowspan="2"')) == (1, 3)
    assert reader.text.index("a remark & more") < reader.text.index("cost")
    assert all(word in reader.text for word in ("above", "value", "x"))
    widths = [sum(page.count(f"<td{reach}") * rows for reach, rows in COVERED)]
    assert widths == [5 * (3 + 1)]


def test_dates_have_bars_too() -> None:
    first, last = datetime.date(2025, 1, 1), datetime.date(2025, 3, 1)
    middle = datetime.date(2025, 2, 1)
    page = write_answer_table(("day",), [(middle,), (None,)], [((first, last),), ((first, last),)], "")
    assert read(page).seen.count("svg") == 1
    assert "2025-01-01 … 2025-03-01" in page
    at = datetime.datetime(2025, 2, 1, 12)  # noqa: DTZ001 - columns without time zone are read as they are
    assert (
        read(write_answer_table(("at",), [(at,)], [((at, at + datetime.timedelta(hours=1)),)], "")).seen.count(
            "svg"
        )
        == 1
    )
