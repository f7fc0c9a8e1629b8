"""How a stream looks: as text, as HTML and as a picture. Everything here is read from published values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jali.display.cells import Intervals, Line, flat
from jali.display.ink import PLAIN, Ink
from jali.display.numbers import show_key
from jali.display.plotted import MOST_SERIES, Series
from jali.display.streamed import Strand, Streamed, spread_out

if TYPE_CHECKING:
    from jali.stream import StreamView, Tick

CONFIDENCE = 0.95
# How many ticks a table shows, the last ones, unless more are asked for; and in how many lines about.
LAST, LINES = 20, 30


def streamed(view: StreamView, confidence: float = CONFIDENCE) -> Streamed:
    """Return what a picture of a stream shows: a line for each key."""
    return streamed_of(view, view.ticks(), confidence)


def streamed_of(view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE) -> Streamed:
    """Return what a picture of some of its ticks shows."""
    declared = view.declaration
    spans = [tick.interval(confidence) for tick in ticks]
    strands = tuple(
        Strand(
            _named(key),
            tuple(_double(tick.values[key]) for tick in ticks),
            tuple(_double(span[key][0]) for span in spans),
            tuple(_double(span[key][1]) for span in spans),
        )
        for key in declared.measure.labels
    )
    numbers = tuple(tick.number for tick in ticks)
    labels = () if declared.clock is None else tuple(_when(tick.label) for tick in ticks)
    return Streamed(view.name, declared.measure.name, numbers, labels, strands, declared.horizon, confidence)


def _named(key: Any) -> str:
    if key is None:
        return ""
    return ", ".join(map(show_key, key)) if isinstance(key, tuple) else show_key(key)


def _double(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _when(label: str | None) -> Any:
    """Return a label of the clock as a date or a time, so that it has a place on an axis."""
    try:
        found = datetime.datetime.fromisoformat(label or "")
    except ValueError:
        return label
    return found.date() if len(label or "") == len("2026-01-01") else found


def rows(
    view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[tuple[Intervals, ...]]]:
    """Return ticks as a table: its columns, its rows, and the interval of every value; keys share a cell."""
    declared = view.declaration
    clock = () if declared.clock is None else (declared.clock.every,)
    columns = ("tick", *clock, declared.measure.name)
    found, spans = [], []
    for tick in ticks:
        bounds = tick.interval(confidence)
        first = (tick.number, *(tick.label for _ in clock))
        found.append((*first, _cell(tick.values)))
        spans.append((*(None for _ in first), _cell(bounds)))
    return columns, found, spans


def _cell(values: dict[Any, Any]) -> Any:
    return values[None] if set(values) == {None} else {_named(key): value for key, value in values.items()}


def stream_table(
    view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE, *, ink: Ink = PLAIN
) -> tuple[str, str]:
    """Return a table of ticks, and how to read its error bars."""
    from jali.display.text import answer_table, legend

    columns, found, spans = rows(view, ticks, confidence)
    return answer_table(columns, found, spans, ink=ink), legend(*flat(found, spans), confidence)


def stream_text(view: StreamView) -> str:
    """Write a stream: what it is, its last ticks, and what it cost."""
    ticks = view.ticks()
    return "\n".join([headline(view, len(ticks)), "", *last_ticks(view, ticks), paid(view)])


def last_ticks(
    view: StreamView,
    ticks: Sequence[Tick],
    last: int | None = None,
    confidence: float = CONFIDENCE,
    *,
    ink: Ink = PLAIN,
) -> list[str]:
    """Write the last ticks as a table with its legend, and say how many are before them."""
    if not ticks:
        return ["Nothing was published yet."]
    count = usual(view) if last is None else last
    table, legend = stream_table(view, ticks[-count:], confidence, ink=ink)
    before = len(ticks) - count
    more = [f"{before:,} {'tick' if before == 1 else 'ticks'} before these."] if before > 0 else []
    return [table, "", *(ink.faint(line) for line in (*more, legend) if line)]


def usual(view: StreamView) -> int:
    """Return how many ticks a table shows: fewer where each has many lines."""
    return min(LAST, max(1, LINES // len(view.declaration.measure.labels)))


def headline(view: StreamView, told: int) -> str:
    """Say in one line what a stream is, and how far it has come."""
    declared = view.declaration
    life = "" if declared.horizon is None else f" of {declared.horizon:,}"
    return f"{show_key(view.name)}: {declared.measure.name} so far, {told:,}{life} ticks published"


def paid(view: StreamView) -> str:
    """Say what the whole stream cost."""
    return f"cost {view.cost}, once, for all ticks"


def stream_html(view: StreamView) -> str:
    """Write a stream for a notebook: its lines, and its last ticks as a table."""
    from jali.display.html import answer_table
    from jali.display.stream_svg import stream_svg

    ticks = view.ticks()
    about = f"{headline(view, len(ticks))} · {paid(view)}"
    return stream_svg(seen(view, ticks)) + answer_table(*rows(view, ticks[-usual(view) :]), about)


def seen(view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE) -> Streamed:
    """Return what a small picture shows: lines over ticks; or the distribution at the last tick, over values."""
    if view.declaration.measure.name != "cdf" or not ticks:
        return streamed_of(view, ticks, confidence)
    last = ticks[-1]
    curves = [(name, _distribution(last, labels, confidence)) for name, labels in _ends(view).items()]
    strands = tuple(
        Strand(name, *(tuple(map(_double, part)) for part in _parts(series))) for name, series in curves
    )
    ends = tuple(line.label for line in curves[0][1].lines)
    said = f"share at most, {_name(last)}"
    return Streamed(view.name, "share", tuple(range(1, len(ends) + 1)), ends, strands, None, confidence, said)


def _parts(series: Series) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the values of a curve, and the lower and the upper ends of their intervals."""
    spans = [line.interval or (math.nan, math.nan) for line in series.lines]
    return [line.value for line in series.lines], [low for low, _ in spans], [high for _, high in spans]


def stream_plot(view: StreamView, confidence: float = CONFIDENCE) -> Any:
    """Draw a stream and return the axes (needs matplotlib).

    The line of each key with its band; a distribution over time is drawn as the curves of a few ticks.
    """
    from jali.display.pictures.distributions import draw_distributions
    from jali.display.pictures.streams import draw_stream

    curves = distributions(view, confidence)
    if not curves:
        return draw_stream(streamed(view, confidence))
    band = f"the band is the {100 * confidence:g} % interval at the last tick"
    return draw_distributions(curves, f"{view.name}: {band}")


def distributions(
    view: StreamView, confidence: float = CONFIDENCE, most: int = MOST_SERIES
) -> dict[str, list[Series]]:
    """Return the distribution functions of each key at a few ticks, the first and the last among them.

    None for other measures, and before the first tick.
    """
    if view.declaration.measure.name != "cdf" or not view.published:
        return {}
    ticks = [view.value(place + 1) for place in spread_out(view.published, most)]
    return {
        name: [_distribution(tick, labels, confidence) for tick in ticks] for name, labels in _ends(view).items()
    }


def _ends(view: StreamView) -> dict[str, list[Any]]:
    """Return the labels of each key's distribution: its ends, or pairs of the key and an end."""
    found: dict[str, list[Any]] = {}
    for label in view.declaration.measure.labels:
        found.setdefault(show_key(label[0]) if isinstance(label, tuple) else "", []).append(label)
    return found


def _distribution(tick: Tick, labels: Sequence[Any], confidence: float) -> Series:
    spans = tick.interval(confidence)
    ends = [label[1] if isinstance(label, tuple) else label for label in labels]
    pairs = zip(ends, labels, strict=True)
    return Series(_name(tick), tuple(Line(end, tick.values[label], spans[label]) for end, label in pairs))


def _name(tick: Tick) -> str:
    return f"tick {tick.number:,}" if tick.label is None else tick.label
