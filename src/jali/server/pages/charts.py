"""Charts that the server draws: bars of answers, lines of streams, and the curve of the lab.

Everything is in shares of the width, so that letters keep their size on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jali.display.html import locate
from jali.display.numbers import Interval, half_width, is_number, show_amount, show_error, show_number
from jali.display.stream_view_models import StreamOutline, StreamPlot, find_ends, list_round_numbers
from jali.display.view_models import Point

# With more values than this there is a mark for each, side by side; of even more the first are drawn.
MOST_BARS, MOST_MARKS = 24, 400


@dataclass(frozen=True)
class AxisMark:
    """A round number on an axis, and where it stands, in percent."""

    text: str
    place: float
    side: str = "middle"


@dataclass(frozen=True)
class ChartBar:
    """One value: where it begins and ends, where its error bar does, all in percent; and what it says."""

    label: str
    text: str
    start: float
    end: float
    low: float
    high: float
    across: float = 0.0

    @property
    def value(self) -> float:
        """Where the value itself stands: the end of the bar that is not zero."""
        return self.end

    @property
    def left(self) -> float:
        """Where the bar begins."""
        return min(self.start, self.end)

    @property
    def width(self) -> float:
        """How long the bar is."""
        return abs(self.end - self.start)


@dataclass(frozen=True)
class BarChart:
    """A chart of one column.

    Attributes:
        name: Of the column.
        bars: Its values.
        marks: The axis of the values.
        upright: Whether values stand side by side, since they are many.
        labels: Below the axis then: the first, the middle and the last key.
        left_out: How many values are not drawn.
    """

    name: str
    bars: tuple[ChartBar, ...]
    marks: tuple[AxisMark, ...]
    upright: bool
    labels: tuple[AxisMark, ...] = ()
    left_out: int = 0


def build_bar_chart(name: str, points: Sequence[Point]) -> BarChart:
    """Place values and their intervals between round numbers."""
    known = [point for point in points if is_number(point[1]) and math.isfinite(point[1])]
    drawn, upright = known[:MOST_MARKS], len(known) > MOST_BARS
    low, high = _find_axis_ends(drawn)
    marks = list_round_numbers(low, high, 5)
    low, high = min(low, *marks), max(high, *marks)
    bars = tuple(_build_bar(point, low, high, (i + 0.5) / len(drawn) * 100) for i, point in enumerate(drawn))
    axis = tuple(_place_mark(mark, low, high) for mark in marks)
    return BarChart(name, bars, axis, upright, _place_labels(bars) if upright else (), len(points) - len(drawn))


def _find_axis_ends(points: Sequence[Point]) -> tuple[float, float]:
    """Return the ends of the axis: zero is on it, as bars begin there."""
    numbers = [end for _, value, span in points for end in (value, *_find_span(value, span))]
    low, high = find_ends([0.0, *numbers])
    return (low, high) if high > low else (low, low + 1)


def _find_span(value: Any, span: Any) -> tuple[float, float]:
    """Return the ends of an interval; the value itself where there is none, or one of something else."""
    ends = span if span is not None and all(is_number(end) for end in span) else (value, value)
    return float(ends[0]), float(ends[1])


def _build_bar(point: Point, low: float, high: float, across: float) -> ChartBar:
    label, value, span = point
    zero, end, first, last = (
        _compute_percent(x, low, high) for x in (0.0, float(value), *_find_span(value, span))
    )
    text = f"{show_number(value, half_width(span))} {write_error_bar(value, span)}".strip()
    return ChartBar(label or "all", text, zero, end, first, last, across)


def write_error_bar(value: Any, span: Interval) -> str:
    """Write an error bar beside its value: two ends stand in brackets."""
    text = show_error(value, span)
    return text if text.startswith("±") or not text else f"({text})"


def _compute_percent(x: float, low: float, high: float) -> float:
    return 100 * locate(x, low, high)


def _place_mark(mark: float, low: float, high: float) -> AxisMark:
    place = _compute_percent(mark, low, high)
    side = "start" if place < 4 else "end" if place > 96 else "middle"
    return AxisMark(show_amount(mark), place, side)


def _place_labels(bars: Sequence[ChartBar]) -> tuple[AxisMark, ...]:
    middle = bars[len(bars) // 2]
    return (
        AxisMark(bars[0].label, 0, "start"),
        AxisMark(middle.label, middle.across),
        AxisMark(bars[-1].label, 100, "end"),
    )


# Heights of the drawing, and the shares between which it is.
_TOP, _HEIGHT, _LEAST = 24.0, 224.0, 0.4
_SHARES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Slider:
    """A slider: its ends and its place are logarithms, what it says is the number."""

    least: float
    most: float
    value: float
    text: str


@dataclass(frozen=True)
class RecoveryCurve:
    """What is drawn, and what the sliders beside it say.

    Attributes:
        people: The slider of the people,
        noise: of the noise,
        loss: and of the epsilon. Their ends are those of the drawing.
        line: The law, in thousandths.
        shares: The axis upwards, in pixels.
        marks: Round numbers across, in percent,
        places: and the two places that the law is about.
        dot: Where the measured share is, in percent and pixels; None where nothing was measured.
        span: Its interval, in pixels.
        said: All of it in a sentence.
    """

    people: Slider
    noise: Slider
    loss: Slider
    line: str
    shares: tuple[AxisMark, ...]
    marks: tuple[AxisMark, ...]
    places: tuple[AxisMark, ...]
    dot: tuple[float, float] | None
    span: tuple[float, float]
    text: str


def build_recovery_curve(
    people: int, document: dict[str, Any], noises: tuple[float, float], losses: tuple[float, float]
) -> RecoveryCurve:
    """Draw what was recovered."""
    first, last = (math.log10(end) for end in noises)

    def across(noise: float) -> float:
        return 100 * (min(max(math.log10(noise), first), last) - first) / (last - first)

    powers = range(math.ceil(first), math.floor(last) + 1)
    held = {"√n": document["sqrt_n"], "n": float(document["n"])}
    measured = document["fraction"] is not None
    ends = document["interval"] if measured else (0.5, 0.5)
    epsilon = document["epsilon"] or losses[1]
    return RecoveryCurve(
        Slider(2, 14, people, f"{document['n']:,}"),
        Slider(first, last, math.log10(document["noise"]), write_short(document["noise"])),
        Slider(math.log10(losses[0]), math.log10(losses[1]), math.log10(epsilon), write_short(epsilon)),
        " ".join(
            f"{10 * across(x):.1f},{1000 * (_compute_height(y) - _TOP) / _HEIGHT:.1f}"
            for x, y in document["curve"]
        ),
        tuple(AxisMark(f"{share:.0%}".replace("%", " %"), _compute_height(share)) for share in _SHARES),
        tuple(_place_curve_mark(write_short(10.0**power), across(10.0**power)) for power in powers),
        tuple(_place_curve_mark(f"{name} = {write_short(value)}", across(value)) for name, value in held.items()),
        (across(document["noise"]), _compute_height(document["fraction"])) if measured else None,
        (_compute_height(ends[0]), _compute_height(ends[1])),
        _describe_recovery(document),
    )


def _place_curve_mark(text: str, place: float) -> AxisMark:
    return AxisMark(text, place, "start" if place < 5 else "end" if place > 92 else "middle")


def _compute_height(share: float) -> float:
    return _TOP + (1 - max(share, _LEAST)) / (1 - _LEAST) * _HEIGHT


def _describe_recovery(document: dict[str, Any]) -> str:
    law = f"predicted {_write_percent(document['law'])}, guessing 50 %."
    if document["fraction"] is None:
        return f"The server is too busy to measure it now; {law}"
    low, high = document["interval"]
    share = f"Recovered {_write_percent(document['fraction'])} of {document['n']:,} bits"
    return f"{share} (confidence interval {_write_percent(low)} to {_write_percent(high)}); {law}"


def _write_percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def write_short(value: float) -> str:
    """Write a number with three digits.

    Example:
        >>> write_short(31.6228), write_short(1024.0), write_short(0.1)
        ('31.6', '1,024', '0.1')
    """
    return f"{round(value):,}" if value >= 1000 else f"{float(f'{value:.3g}'):g}"


# How many units wide and high the drawing is, which is stretched to its place.
_SIDE = 1000


@dataclass(frozen=True)
class PictureLine:
    """One line: its name, its colour's number, and the points of the line and of the band."""

    name: str
    colour: int
    line: str
    band: str


@dataclass(frozen=True)
class StreamPicture:
    """A stream, drawn.

    Attributes:
        heading: What it is about.
        bands: What the bands are.
        strands: The lines.
        marks: The axis of the values, from above, in percent.
        first: What the first tick is called;
        last: and the last.
        left_out: How many keys are not drawn.
    """

    heading: str
    bands: str
    strands: tuple[PictureLine, ...]
    marks: tuple[AxisMark, ...]
    first: str
    last: str
    left_out: int


def build_stream_picture(streamed: StreamPlot) -> StreamPicture | None:
    """Draw the first lines of a stream, each in its band; nothing before the first tick."""
    if not streamed.ticks:
        return None
    outline = StreamOutline.of(streamed)
    paths = (
        [outline.write_points(points, _scale_share, _scale_share) for points in path] for path in outline.paths
    )
    return StreamPicture(
        streamed.heading,
        streamed.bands,
        tuple(
            PictureLine(s.name, i, *path) for i, (s, path) in enumerate(zip(outline.strands, paths, strict=True))
        ),
        tuple(AxisMark(text, _scale_share(place) / _SIDE * 100) for text, place in outline.marks()),
        streamed.name_tick(0),
        streamed.name_tick(-1),
        outline.left_out,
    )


def _scale_share(share: float) -> float:
    return share * _SIDE
