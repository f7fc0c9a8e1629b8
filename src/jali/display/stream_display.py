"""Show a stream as text, as HTML and as a plot. Everything here is read from published values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jali.display.numbers import Ends, is_centred, show_key
from jali.display.stream_view_models import (
    DistributionCurve,
    StreamLine,
    StreamPlot,
    build_curves,
    pick_keys,
    spread_places,
)
from jali.display.text import PLAIN, Ink
from jali.display.view_models import MOST_SERIES, CellLine, Intervals, Series, flatten_cells

if TYPE_CHECKING:
    from jali.stream import StreamView, Tick

CONFIDENCE = 0.95
# How many ticks a table shows, the last ones, unless more are asked for; and in how many lines about.
LAST, LINES = 20, 30
# At how many values a small picture draws a distribution: an odd number has a middle.
_PLACES = 201


def build_stream_plot(view: StreamView, confidence: float = CONFIDENCE) -> StreamPlot:
    """Return what a picture of a stream shows: a line for each key."""
    return build_stream_plot_of(view, view.ticks(), confidence)


def build_stream_plot_of(view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE) -> StreamPlot:
    """Return what a picture of some of its ticks shows."""
    declared = view.declaration
    spans = [tick.interval(confidence) for tick in ticks]
    strands = tuple(
        StreamLine(
            _write_key(key),
            tuple(_to_double(tick.values[key]) for tick in ticks),
            tuple(_to_double(span[key][0]) for span in spans),
            tuple(_to_double(span[key][1]) for span in spans),
        )
        for key in declared.measure.labels
    )
    numbers = tuple(tick.number for tick in ticks)
    labels = () if declared.clock is None else tuple(_read_label(tick.label) for tick in ticks)
    return StreamPlot(
        view.name,
        declared.measure.name,
        numbers,
        labels,
        strands,
        declared.horizon,
        confidence,
        over=declared.over(),
        lately=declared.over(numbers[-1]) if numbers else "",
    )


def _write_key(key: Any) -> str:
    if key is None:
        return ""
    return ", ".join(map(show_key, key)) if isinstance(key, tuple) else show_key(key)


def _to_double(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _read_label(label: str | None) -> Any:
    """Return a label of the clock as a date or a time, so that it has a place on an axis."""
    try:
        found = datetime.datetime.fromisoformat(label or "")
    except ValueError:
        return label
    return found.date() if len(label or "") == len("2026-01-01") else found


def build_rows(
    view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE
) -> tuple[tuple[str, ...], list[tuple[Any, ...]], list[tuple[Intervals, ...]]]:
    """Return ticks as a table: its columns, its rows, and the interval of every value; keys share a row.

    Where one value is off the middle of its interval, all intervals are shown by their ends.
    """
    declared = view.declaration
    clock = () if declared.clock is None else (declared.clock.every,)
    heads, names = _name_lines(view)
    columns = ("tick", *clock, *heads, "share" if declared.measure.name == "cdf" else declared.measure.name)
    bounds = _unify_intervals(ticks, [tick.interval(confidence) for tick in ticks])
    found = [
        (tick.number, *(tick.label for _ in clock), *map(list, names), _build_cell(list(tick.values.values())))
        for tick in ticks
    ]
    # Numbers, labels and names are no noisy values.
    known = (None,) * (len(columns) - 1)
    return columns, found, [(*known, _build_cell(list(held.values()))) for held in bounds]


def _name_lines(view: StreamView) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return what names the values of a tick, one in each line: the headings, and what stands below each."""
    labels = view.declaration.measure.labels
    if labels == (None,):
        return (), []
    if view.declaration.measure.name != "cdf":
        return ("key",), [[_write_key(label) for label in labels]]
    ends = _list_ends(view)
    keys = [name if place == 0 else "" for name, held in ends.items() for place in range(len(held))]
    values = [f"≤ {show_key(_read_end(label))}" for held in ends.values() for label in held]
    return ("value",) if set(ends) == {""} else ("key", "value"), [values] if set(ends) == {""} else [keys, values]


def _unify_intervals(ticks: Sequence[Tick], bounds: list[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """Return intervals that are shown alike: with ± where that says it for all, else by their ends."""
    pairs = (
        (tick.values[key], span) for tick, held in zip(ticks, bounds, strict=True) for key, span in held.items()
    )
    if all(is_centred(value, span) for value, span in pairs):
        return bounds
    return [{key: Ends(*span) for key, span in held.items()} for held in bounds]


def _build_cell(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def write_stream_table(
    view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE, *, ink: Ink = PLAIN
) -> tuple[str, str]:
    """Return a table of ticks, and how to read its error bars."""
    from jali.display.text import write_answer_table, write_legend

    columns, found, spans = build_rows(view, ticks, confidence)
    return write_answer_table(columns, found, spans, ink=ink), write_legend(
        *flatten_cells(found, spans), confidence
    )


def write_stream(view: StreamView) -> str:
    """Write a stream: what it is, its last ticks, and what it cost."""
    ticks = view.ticks()
    return "\n".join([write_headline(view, len(ticks)), "", *write_last_ticks(view, ticks), write_cost(view)])


def write_last_ticks(
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
    shown = ticks[-(count_usual_ticks(view) if last is None else last) :]
    table, legend = write_stream_table(view, shown, confidence, ink=ink)
    return [table, "", *(ink.faint(line) for line in (_write_left_out(shown, ticks), legend) if line)]


def _write_left_out(shown: Sequence[Tick], ticks: Sequence[Tick]) -> str:
    """Describe how many ticks of the stream are before those that are shown, where some were left out."""
    before = shown[0].number - 1 if len(shown) < len(ticks) else 0
    return f"{before:,} {'tick' if before == 1 else 'ticks'} before these." if before else ""


def count_usual_ticks(view: StreamView) -> int:
    """Return how many ticks a table shows: fewer where each has many lines."""
    return min(LAST, max(1, LINES // len(view.declaration.measure.labels)))


def write_headline(view: StreamView, told: int) -> str:
    """Say in one line what a stream is, and how far it has come."""
    declared = view.declaration
    life = "" if declared.horizon is None else f" of {declared.horizon:,}"
    return f"{show_key(view.name)}: {declared.what}, {told:,}{life} ticks published"


def write_cost(view: StreamView) -> str:
    """Describe what the whole stream cost."""
    return f"cost {view.cost}, once, for all ticks"


def write_stream_html(view: StreamView) -> str:
    """Write a stream for a notebook: what it is, its lines, and its last ticks as a table."""
    from jali.display.html import write_answer_table, write_section
    from jali.display.svg import draw_stream_svg
    from jali.display.text import write_legend

    ticks = view.ticks()
    title = write_headline(view, len(ticks))
    if not ticks:
        return _wrap_page(write_section(title, f"Nothing was published yet. · {write_cost(view)}"))
    shown = ticks[-count_usual_ticks(view) :]
    columns, found, spans = build_rows(view, shown)
    said = [
        line
        for line in (_write_left_out(shown, ticks), write_legend(*flatten_cells(found, spans), CONFIDENCE))
        if line
    ]
    table = write_answer_table(columns, found, spans, write_cost(view), said)
    return _wrap_page(write_section(title, draw_stream_svg(build_small_plot(view, ticks)) + table))


def _wrap_page(body: str) -> str:
    return f'<div style="font-family:system-ui,sans-serif;font-size:13px">{body}</div>'


def build_small_plot(view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE) -> StreamPlot:
    """Return what a small picture shows: lines over ticks; or the distribution at the last tick, over values."""
    if view.declaration.measure.name != "cdf" or not ticks:
        return build_stream_plot_of(view, ticks, confidence)
    last = ticks[-1]
    places, labels, strands = list[float](), list[Any](), list[StreamLine]()
    for name, labels in _list_ends(view).items():
        curve = DistributionCurve.of(_build_distribution(last, labels, confidence), _find_range(view))
        places, strand = curve.spread(_PLACES)
        strands.append(replace(strand, name=name))
    return StreamPlot(
        name=view.name,
        measure="share",
        ticks=tuple(range(1, len(places) + 1)),
        labels=tuple(_shorten_place(place) for place in places),
        strands=tuple(strands),
        confidence=confidence,
        said=f"share at most each value, {view.declaration.over(last.number)} · {_name_tick(last)}",
        between=f"where it rises, by {100 * confidence:g} % intervals at {_write_some(labels)}",
    )


def _find_range(view: StreamView) -> tuple[float, float] | None:
    """Return the declared range of the values, if there is one."""
    found = getattr(view.declaration.measure, "range", None)
    return None if found is None else (float(found.low), float(found.high))


def _shorten_place(place: float) -> int | float:
    """Return a value as it is written below an axis."""
    return int(place) if place.is_integer() else float(f"{place:.4g}")


def _write_some(labels: Sequence[Any]) -> str:
    """Write the ends of cells, the first ones of many."""
    shown = [show_key(_read_end(label)) for label in labels]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:4], "...", shown[-1]])


def plot_stream(view: StreamView, confidence: float = CONFIDENCE, *, key: Any = None, axes: Any = None) -> Any:
    """Draw a stream and return the axes (needs matplotlib).

    The line of each key with its band; a distribution over time is drawn as the curves of a few ticks.

    Args:
        view: The stream.
        confidence: Of the intervals.
        key: Only this key; a list for several.
        axes: Where to draw; on axes of their own by default.
    """
    from jali.display.plots.stream_plots import draw_distributions, draw_stream

    names = None if key is None else [_write_key(one) for one in (key if isinstance(key, list) else [key])]
    curves = build_distributions(view, confidence)
    if not curves:
        whole = build_stream_plot(view, confidence)
        if names is not None:
            held = pick_keys(names, {strand.name: strand for strand in whole.strands}, view.name)
            whole = replace(whole, strands=tuple(held.values()), name=_write_title(view, names))
        return draw_stream(whole, axes)
    found = curves if names is None else pick_keys(names, curves, view.name)
    bars = f"bars are {100 * confidence:g} % intervals at the last tick"
    drawn = {name: build_curves(series, _find_range(view)) for name, series in found.items()}
    return draw_distributions(drawn, f"{_write_title(view, names or [])}, {view.declaration.over()}: {bars}", axes)


def _write_title(view: StreamView, names: Sequence[str]) -> str:
    """Name the stream, and the one key that was asked for."""
    return f"{view.name}, {names[0]}" if len(names) == 1 else view.name


def build_distributions(
    view: StreamView, confidence: float = CONFIDENCE, most: int = MOST_SERIES
) -> dict[str, list[Series]]:
    """Return the distribution functions of each key at a few ticks, the first and the last among them.

    None for other measures, and before the first tick.
    """
    if view.declaration.measure.name != "cdf" or not view.published:
        return {}
    ticks = [view.value(place + 1) for place in spread_places(view.published, most)]
    return {
        name: [_build_distribution(tick, labels, confidence) for tick in ticks]
        for name, labels in _list_ends(view).items()
    }


def _list_ends(view: StreamView) -> dict[str, list[Any]]:
    """Return the labels of each key's distribution: its ends, or pairs of the key and an end."""
    found: dict[str, list[Any]] = {}
    for label in view.declaration.measure.labels:
        found.setdefault(_write_key(label[0]) if isinstance(label, tuple) else "", []).append(label)
    return found


def _build_distribution(tick: Tick, labels: Sequence[Any], confidence: float) -> Series:
    spans = tick.interval(confidence)
    return Series(
        _name_tick(tick), tuple(CellLine(_read_end(label), tick.values[label], spans[label]) for label in labels)
    )


def _read_end(label: Any) -> Any:
    """Return the end of a cell, which may stand after its key."""
    return label[1] if isinstance(label, tuple) else label


def _name_tick(tick: Tick) -> str:
    return f"tick {tick.number:,}" if tick.label is None else tick.label


def write_tick(tick: Tick) -> str:
    """Write a tick: its values with their intervals, each key in a line of its own."""
    from jali.display.view_models import show_cell

    (bounds,) = _unify_intervals([tick], [tick.interval(CONFIDENCE)])
    when = f"tick {tick.number:,}" + ("" if tick.label is None else f" ({tick.label})")
    shown = {key: show_cell(value, bounds[key]) for key, value in tick.values.items()}
    if set(shown) == {None}:
        return f"{when}: {shown[None]}, at {100 * CONFIDENCE:g} %"
    return "\n".join(
        [f"{when}, at {100 * CONFIDENCE:g} %:", *(f"  {_write_key(key)}: {text}" for key, text in shown.items())]
    )
