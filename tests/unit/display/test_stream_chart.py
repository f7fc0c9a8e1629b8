"""A stream in letters: where the dots and the shading are, by plain geometry."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest

from jali.display.stream_chart import SHADE, ChartAxis, draw_chart, draw_frame
from jali.display.stream_view_models import StreamLine, StreamPlot, list_round_numbers, spread_places
from jali.display.text import Ink, cell_width
from jali.errors import QueryError

DOTS = re.compile("[\u2801-\u28ff]")


def strand(*values: float, error: float = 1.0, name: str = "") -> StreamLine:
    low, high = (tuple(value + side * error for value in values) for side in (-1, 1))
    return StreamLine(name, values, low, high)


def streamed(*strands: StreamLine, labels: tuple[str, ...] = (), horizon: int | None = 365) -> StreamPlot:
    count = len(strands[0].values)
    return StreamPlot("visits", "count", tuple(range(1, count + 1)), labels, strands, horizon)


def drawn(one: StreamLine, *, width: int = 60, height: int = 14) -> list[str]:
    return draw_chart(streamed(one), one, width=width, height=height)


def dots(rows: list[str]) -> set[tuple[int, int]]:
    """Return the dots of a chart: column from the left, row from the top."""
    bits = {0: (0, 0), 1: (0, 1), 2: (0, 2), 3: (1, 0), 4: (1, 1), 5: (1, 2), 6: (0, 3), 7: (1, 3)}
    return {
        (2 * column + bits[bit][0], 4 * line + bits[bit][1])
        for line, row in enumerate(rows)
        for column, letter in enumerate(row)
        if DOTS.fullmatch(letter)
        for bit in range(8)
        if (ord(letter) - 0x2800) >> bit & 1
    }


def test_a_constant_is_one_level_line_over_the_whole_width() -> None:
    rows = [row.partition("│")[2] or row.partition("┤")[2] for row in drawn(strand(5, 5, 5, error=0))[:-2]]
    found = dots(rows)
    assert len({row for _, row in found}) == 1
    assert sorted(column for column, _ in found) == list(range(max(column for column, _ in found) + 1))


def test_each_of_a_few_ticks_has_its_value_until_the_next_one() -> None:
    lines = drawn(strand(0, 10, 30, error=0), width=40, height=12)
    rows = [row[row.index("│" if "│" in row else "┤") + 1 :] for row in lines[:-2]]
    room = lines[-2].count("─")
    found, lowest = dots(rows), 4 * len(rows) - 1
    for column in range(2 * room):
        tick = column * 3 // (2 * room)
        height = round((30 - (0, 10, 30)[tick]) / 30 * lowest)
        assert (column, height) in found


def test_with_more_ticks_than_dots_a_column_reaches_over_all_of_its_values() -> None:
    values = [0.0] * 5000
    values[2500] = 100.0
    lines = drawn(strand(*values, error=0))
    rows = [row[row.index("│" if "│" in row else "┤") + 1 :] for row in lines[:-2]]
    found = dots(rows)
    spike = {column for column, row in found if row == 0}
    assert len(spike) == 1
    assert {row for column, row in found if column in spike} == set(range(4 * len(rows)))


def test_the_band_is_shaded_as_far_as_the_intervals_reach() -> None:
    lines = drawn(StreamLine("", (0.0, 0.0), (-10.0, -1.0), (10.0, 1.0)), width=44, height=14)
    rows = [row[row.index("│" if "│" in row else "┤") + 1 :] for row in lines[:-2]]
    half = lines[-2].count("─") // 2
    assert all(row[5] == SHADE or DOTS.fullmatch(row[5]) for row in rows)
    assert sum(len(row) > half + 5 and row[half + 5] == SHADE for row in rows) <= 2


def test_no_line_is_wider_than_it_may_be_and_all_are_there() -> None:
    for width in (20, 41, 80, 133):
        for count in (1, 2, 7, 500):
            lines = drawn(strand(*(float(i * i) for i in range(count))), width=width, height=15)
            assert len(lines) == 15
            assert max(map(cell_width, lines)) <= width


def test_values_that_say_nothing_and_unbounded_intervals_are_left_out() -> None:
    one = StreamLine("", (math.nan, 3.0, 4.0), (-math.inf, 2.0, 3.0), (math.inf, 4.0, 5.0))
    assert one.ends == (2.0, 5.0)
    rows = drawn(one)
    assert any(DOTS.search(row) for row in rows)
    nothing = StreamLine("", (math.nan,), (math.nan,), (math.nan,))
    assert not any(DOTS.search(row) or SHADE in row for row in drawn(nothing))


def test_the_ends_of_the_axis_are_named_as_the_clock_has_them() -> None:
    days = tuple(f"2026-01-{day:02d}" for day in range(1, 8))
    one = strand(*range(7))
    below = draw_chart(streamed(one, labels=days), one, width=70, height=10)[-1]
    assert below.split() == [days[0], days[3], days[-1]]
    assert draw_chart(streamed(one, labels=days), one, width=30, height=10)[-1].split() == [days[0], days[-1]]


def test_numbers_beside_the_axis_stand_where_they_belong() -> None:
    axis = ChartAxis.over(0, 100, 21)
    for line, text in axis.numbers().items():
        assert axis.dot(float(text)) // 4 == line
    assert {"0", "100"} <= set(axis.numbers().values())


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 104), (0.001, 0.0017), (-5e6, 12), (7, 7.0001)])
@pytest.mark.parametrize("most", [2, 4, 9])
def test_round_numbers_are_few_evenly_spaced_and_inside(low: float, high: float, most: int) -> None:
    found = list_round_numbers(low, high, most)
    assert 1 <= len(found) <= most or high - low < 1e-3
    assert all(low - 1e-9 <= number <= high + 1e-9 for number in found)
    gaps = {f"{b - a:.2e}" for a, b in pairwise(found)}
    assert len(gaps) <= 1
    assert all(gap[0] in "125" for gap in gaps)


def test_places_are_spread_evenly_with_both_ends() -> None:
    for count in range(1, 40):
        for most in range(1, 12):
            found = spread_places(count, most)
            assert found == sorted(set(found))
            assert len(found) == min(count, most)
            assert found[-1] == count - 1


# Frames.


def test_a_frame_fits_its_screen_and_counts_the_keys_that_find_no_room() -> None:
    many = streamed(*(strand(1, 2, 3, name=f"ward {i}") for i in range(20)))
    for height in (12, 24, 50):
        lines = draw_frame(many, width=80, height=height)
        assert len(lines) <= height
        assert max(map(cell_width, lines)) <= 80
    shown = sum(line.startswith("ward ") for line in lines)
    assert f"{20 - shown} further keys" in lines[-1]


def test_a_frame_says_what_the_stream_is_and_what_it_shows_now() -> None:
    lines = draw_frame(streamed(strand(1, 2, 1234.5, error=20)), width=80, height=20)
    assert lines[0] == "visits · count so far · tick 3 of 365"
    assert lines[1] == "1,234 ± 20" or lines[1] == "1,235 ± 20"
    assert "\x1b" not in "".join(lines)
    assert "\x1b" in "".join(draw_frame(streamed(strand(1)), width=80, height=20, ink=Ink(colour=True)))


def test_a_stream_without_ticks_says_so() -> None:
    assert draw_frame(streamed(strand()), width=80, height=20)[-1] == "Nothing was published yet."


def test_one_key_can_be_chosen_and_an_unknown_one_is_refused() -> None:
    two = streamed(strand(1, name="A"), strand(2, name="B"))
    assert [line for line in draw_frame(two, ["B"], width=80, height=20) if line.startswith("A")] == []
    with pytest.raises(QueryError, match="no key C"):
        draw_frame(two, ["C"], width=80, height=20)


def test_names_cannot_move_the_cursor() -> None:
    evil = StreamPlot("a\x1b[2J", "count", (1,), (), (strand(1, name="\x1b[2J"),))
    assert "\x1b" not in "".join(draw_frame(evil, width=80, height=20))
