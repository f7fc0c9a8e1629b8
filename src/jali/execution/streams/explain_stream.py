"""Explain a stream: the privacy unit, the mechanism, what it cost and how large its noise is."""

from __future__ import annotations

import numpy as np

from jali.display.text import write_facts
from jali.execution.streams.create_stream import rank_counters
from jali.execution.streams.measure_protocol import TickNoise
from jali.execution.streams.stream_declaration import StreamDeclaration
from jali.execution.streams.stream_measures import StreamCdf, StreamMean, StreamSum
from jali.numbers.exact import decimal
from jali.privacy.planning.plan_table import amount, write_count
from jali.streams.choose_counter import name_of

_CONFIDENCE = 0.95
# So many of the counters that were considered are told.
_TOLD = 6
# Without a horizon the noise is told up to this tick.
_FAR = 10_000
# Of so many items the error of a mean or a share is told.
_ITEMS = 1000


def explain_stream(declaration: StreamDeclaration) -> str:
    """Return the explanation, one line for each fact. Nothing of the data is in it."""
    counter = declaration.mechanism
    pairs = [
        ("stream", f"{declaration.name}: {declaration.what}{_describe_keys(declaration)}"),
        ("ticks", f"{_describe_horizon(declaration)}{_describe_clock(declaration)}"),
        *_describe_source(declaration),
        ("neighbours", f"{declaration.adjacency}: {_describe_person(declaration)}"),
        ("mechanism", f"{name_of(counter)}, {'Laplace' if counter.epsilon is not None else 'Gaussian'} noise"),
        *_describe_alternatives(declaration),
        ("cost", f"{counter.loss.event}, once, for all ticks; {_describe_payer(declaration)}"),
        *(
            ("noise", f"after tick {tick:,}: {_describe_error(declaration, tick)}")
            for tick in _choose_ticks(declaration)
        ),
    ]
    return write_facts(pairs, indent=0)


def _describe_alternatives(declaration: StreamDeclaration) -> list[tuple[str, str]]:
    """Name the counters that were considered, with the largest standard deviation that each would have."""
    if declaration.wanted.mechanism is not None:
        return []
    unit, whose = _find_unit(declaration)
    rows = [row for row in rank_counters(declaration).alternatives if row.counter is not None]
    told = [f"{row.name} ({row.noise}) {amount((row.largest or 0) * unit)}" for row in rows[:_TOLD]]
    return [("considered", f"largest standard deviation of {whose}: {'; '.join(told)}")]


def _find_unit(declaration: StreamDeclaration) -> tuple[float, str]:
    """Return what a step of a column is, and the number that a column is about."""
    measure = declaration.measure
    if isinstance(measure, StreamSum):
        return float(measure.step), "a sum"
    if isinstance(measure, StreamMean):
        return float(measure.step), "the sum behind a mean"
    return 1.0, "the count in a cell" if isinstance(measure, StreamCdf) else "a count"


def _describe_source(declaration: StreamDeclaration) -> list[tuple[str, str]]:
    if declaration.follows is None or declaration.clock is None:
        return []
    query, rows = declaration.follows.describe(declaration.clock)
    return [("follows", query), ("rows", rows)]


def _describe_keys(declaration: StreamDeclaration) -> str:
    measure = declaration.measure
    ends = f", at {write_count(len(measure.bins), 'end')}" if isinstance(measure, StreamCdf) else ""
    keys = getattr(measure, "keys", None)
    return f"{ends}, of {write_count(len(keys), 'key')}" if keys else ends


def _describe_horizon(declaration: StreamDeclaration) -> str:
    if declaration.horizon is not None:
        return f"{declaration.horizon:,}"
    return "no horizon" if declaration.window is None else "no end"


def _describe_clock(declaration: StreamDeclaration) -> str:
    clock = declaration.clock
    if clock is None:
        return ""
    return f", each {'an' if clock.every == 'hour' else 'a'} {clock.every}, from {clock.label(1)}"


def _describe_person(declaration: StreamDeclaration) -> str:
    if declaration.unit is None:
        return "each item is a person of its own"
    ticks, apart = declaration.max_ticks, declaration.separation
    where = "one tick" if ticks == 1 else f"{ticks:,} ticks{f', {apart:,} apart' if apart > 1 else ''}"
    each = "one item" if declaration.max_items == 1 else f"{declaration.max_items:,} items"
    return f"all items of one {declaration.unit}, who counts in {where}, with {each} in each; others are dropped"


def _describe_payer(declaration: StreamDeclaration) -> str:
    if declaration.follows is not None:
        tables = ", ".join(table.name for table in declaration.follows.followed.tables)
        return f"paid by the table {tables}"
    budget = declaration.wanted.budget
    assert budget is not None
    return f"of its budget epsilon={decimal(budget.epsilon)}, delta={decimal(budget.delta)}"


def _choose_ticks(declaration: StreamDeclaration) -> list[int]:
    """Return the ticks whose noise is told: of windows the first ones, and the worst if that is later."""
    counter, horizon, window = declaration.mechanism, declaration.horizon or _FAR, declaration.window
    last = horizon if window is None else window.ticks
    found = {1, (last + 1) // 2, last}
    if window is not None and last < counter.worst_tick <= horizon and counter.largest > counter.stddev(last):
        found.add(counter.worst_tick)
    return sorted(found)


def _describe_error(declaration: StreamDeclaration, tick: int) -> str:
    noise, measure = TickNoise(declaration.mechanism, tick), declaration.measure
    if isinstance(measure, StreamMean | StreamCdf):
        return f"± {_forecast_half_width(measure, noise)}, with confidence 95 %"
    unit, whose = _find_unit(declaration)
    return f"± {amount(noise.error(_CONFIDENCE) * unit)} on {whose}, with confidence 95 %"


def _forecast_half_width(measure: StreamMean | StreamCdf, noise: TickNoise) -> str:
    """Return half of the width of the interval that noise leaves of a mean, or at most of a share, of many items.

    It depends on the items: these lie in the middle of the range, or as many in each cell.
    """
    if isinstance(measure, StreamMean):
        columns = np.tile([0.0, _ITEMS * float(measure.largest)], measure.width // 2)
        whose = f"a mean of {_ITEMS:,} items"
    else:
        columns, whose = np.full(measure.width, _ITEMS / measure.cells), f"a share of {_ITEMS:,} items"
    spans = measure.intervals(columns, noise, _CONFIDENCE).values()
    return f"{amount(max(high - low for low, high in spans) / 2)} on {whose}"
