"""How a stream looks: as text, as HTML and as a picture. Everything here is read from published values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jali.display.cells import Intervals, Line, flat
from jali.display.ink import PLAIN, Ink
from jali.display.numbers import Ends, centred, show_key
from jali.display.plotted import MOST_SERIES, Series
from jali.display.stream_curve import Curve, curves_of
from jali.display.streamed import Strand, Streamed, chosen, spread_out

if TYPE_CHECKING:
    from jali.stream import StreamView, Tick

CONFIDENCE = 0.95
# How many ticks a table shows, the last ones, unless more are asked for; and in how many lines about.
LAST, LINES = 20, 30
# At how many values a small picture draws a distribution: an odd number has a middle.
_PLACES = 201


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
    return Streamed(
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
    """Return ticks as a table: its columns, its rows, and the interval of every value; keys share a row.

    Where one value is off the middle of its interval, all intervals are shown by their ends.
    """
    declared = view.declaration
    clock = () if declared.clock is None else (declared.clock.every,)
    heads, names = _named_lines(view)
    columns = ("tick", *clock, *heads, "share" if declared.measure.name == "cdf" else declared.measure.name)
    bounds = _alike(ticks, [tick.interval(confidence) for tick in ticks])
    found = [
        (tick.number, *(tick.label for _ in clock), *map(list, names), _cell(list(tick.values.values())))
        for tick in ticks
    ]
    # Numbers, labels and names are no noisy values.
    known = (None,) * (len(columns) - 1)
    return columns, found, [(*known, _cell(list(held.values()))) for held in bounds]


def _named_lines(view: StreamView) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return what names the values of a tick, one in each line: the headings, and what stands below each."""
    labels = view.declaration.measure.labels
    if labels == (None,):
        return (), []
    if view.declaration.measure.name != "cdf":
        return ("key",), [[_named(label) for label in labels]]
    ends = _ends(view)
    keys = [name if place == 0 else "" for name, held in ends.items() for place in range(len(held))]
    values = [f"≤ {show_key(_end(label))}" for held in ends.values() for label in held]
    return ("value",) if set(ends) == {""} else ("key", "value"), [values] if set(ends) == {""} else [keys, values]


def _alike(ticks: Sequence[Tick], bounds: list[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """Return intervals that are shown alike: with ± where that says it for all, else by their ends."""
    pairs = (
        (tick.values[key], span) for tick, held in zip(ticks, bounds, strict=True) for key, span in held.items()
    )
    if all(centred(value, span) for value, span in pairs):
        return bounds
    return [{key: Ends(*span) for key, span in held.items()} for held in bounds]


def _cell(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


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
    shown = ticks[-(usual(view) if last is None else last) :]
    table, legend = stream_table(view, shown, confidence, ink=ink)
    return [table, "", *(ink.faint(line) for line in (_before(shown, ticks), legend) if line)]


def _before(shown: Sequence[Tick], ticks: Sequence[Tick]) -> str:
    """Say how many ticks of the stream are before those that are shown, where some were left out."""
    before = shown[0].number - 1 if len(shown) < len(ticks) else 0
    return f"{before:,} {'tick' if before == 1 else 'ticks'} before these." if before else ""


def usual(view: StreamView) -> int:
    """Return how many ticks a table shows: fewer where each has many lines."""
    return min(LAST, max(1, LINES // len(view.declaration.measure.labels)))


def headline(view: StreamView, told: int) -> str:
    """Say in one line what a stream is, and how far it has come."""
    declared = view.declaration
    life = "" if declared.horizon is None else f" of {declared.horizon:,}"
    return f"{show_key(view.name)}: {declared.what}, {told:,}{life} ticks published"


def paid(view: StreamView) -> str:
    """Say what the whole stream cost."""
    return f"cost {view.cost}, once, for all ticks"


def stream_html(view: StreamView) -> str:
    """Write a stream for a notebook: what it is, its lines, and its last ticks as a table."""
    from jali.display.html import answer_table, section
    from jali.display.stream_svg import stream_svg
    from jali.display.text import legend

    ticks = view.ticks()
    title = headline(view, len(ticks))
    if not ticks:
        return _page(section(title, f"Nothing was published yet. · {paid(view)}"))
    shown = ticks[-usual(view) :]
    columns, found, spans = rows(view, shown)
    said = [line for line in (_before(shown, ticks), legend(*flat(found, spans), CONFIDENCE)) if line]
    table = answer_table(columns, found, spans, paid(view), said)
    return _page(section(title, stream_svg(seen(view, ticks)) + table))


def _page(body: str) -> str:
    return f'<div style="font-family:system-ui,sans-serif;font-size:13px">{body}</div>'


def seen(view: StreamView, ticks: Sequence[Tick], confidence: float = CONFIDENCE) -> Streamed:
    """Return what a small picture shows: lines over ticks; or the distribution at the last tick, over values."""
    if view.declaration.measure.name != "cdf" or not ticks:
        return streamed_of(view, ticks, confidence)
    last = ticks[-1]
    places, labels, strands = list[float](), list[Any](), list[Strand]()
    for name, labels in _ends(view).items():
        curve = Curve.of(_distribution(last, labels, confidence), _range(view))
        places, strand = curve.spread(_PLACES)
        strands.append(replace(strand, name=name))
    return Streamed(
        name=view.name,
        measure="share",
        ticks=tuple(range(1, len(places) + 1)),
        labels=tuple(_short(place) for place in places),
        strands=tuple(strands),
        confidence=confidence,
        said=f"share at most each value, {view.declaration.over(last.number)} · {_name(last)}",
        between=f"where it rises, by {100 * confidence:g} % intervals at {_some(labels)}",
    )


def _range(view: StreamView) -> tuple[float, float] | None:
    """Return the declared range of the values, if there is one."""
    found = getattr(view.declaration.measure, "range", None)
    return None if found is None else (float(found.low), float(found.high))


def _short(place: float) -> int | float:
    """Return a value as it is written below an axis."""
    return int(place) if place.is_integer() else float(f"{place:.4g}")


def _some(labels: Sequence[Any]) -> str:
    """Write the ends of cells, the first ones of many."""
    shown = [show_key(_end(label)) for label in labels]
    return ", ".join(shown if len(shown) <= 6 else [*shown[:4], "...", shown[-1]])


def stream_plot(view: StreamView, confidence: float = CONFIDENCE, *, key: Any = None, axes: Any = None) -> Any:
    """Draw a stream and return the axes (needs matplotlib).

    The line of each key with its band; a distribution over time is drawn as the curves of a few ticks.

    Args:
        view: The stream.
        confidence: Of the intervals.
        key: Only this key; a list for several.
        axes: Where to draw; on axes of their own by default.
    """
    from jali.display.pictures.distributions import draw_distributions
    from jali.display.pictures.streams import draw_stream

    names = None if key is None else [_named(one) for one in (key if isinstance(key, list) else [key])]
    curves = distributions(view, confidence)
    if not curves:
        whole = streamed(view, confidence)
        if names is not None:
            held = chosen(names, {strand.name: strand for strand in whole.strands}, view.name)
            whole = replace(whole, strands=tuple(held.values()), name=_title(view, names))
        return draw_stream(whole, axes)
    found = curves if names is None else chosen(names, curves, view.name)
    bars = f"bars are {100 * confidence:g} % intervals at the last tick"
    drawn = {name: curves_of(series, _range(view)) for name, series in found.items()}
    return draw_distributions(drawn, f"{_title(view, names or [])}, {view.declaration.over()}: {bars}", axes)


def _title(view: StreamView, names: Sequence[str]) -> str:
    """Name the stream, and the one key that was asked for."""
    return f"{view.name}, {names[0]}" if len(names) == 1 else view.name


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
        found.setdefault(_named(label[0]) if isinstance(label, tuple) else "", []).append(label)
    return found


def _distribution(tick: Tick, labels: Sequence[Any], confidence: float) -> Series:
    spans = tick.interval(confidence)
    return Series(_name(tick), tuple(Line(_end(label), tick.values[label], spans[label]) for label in labels))


def _end(label: Any) -> Any:
    """Return the end of a cell, which may stand after its key."""
    return label[1] if isinstance(label, tuple) else label


def _name(tick: Tick) -> str:
    return f"tick {tick.number:,}" if tick.label is None else tick.label


def tick_text(tick: Tick) -> str:
    """Write a tick: its values with their intervals, each key in a line of its own."""
    from jali.display.cells import show_cell

    (bounds,) = _alike([tick], [tick.interval(CONFIDENCE)])
    when = f"tick {tick.number:,}" + ("" if tick.label is None else f" ({tick.label})")
    shown = {key: show_cell(value, bounds[key]) for key, value in tick.values.items()}
    if set(shown) == {None}:
        return f"{when}: {shown[None]}, at {100 * CONFIDENCE:g} %"
    return "\n".join(
        [f"{when}, at {100 * CONFIDENCE:g} %:", *(f"  {_named(key)}: {text}" for key, text in shown.items())]
    )
