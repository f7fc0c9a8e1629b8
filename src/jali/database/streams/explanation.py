"""How a stream explains itself: whose privacy, which mechanism, what it cost and how large its noise is."""

from __future__ import annotations

import numpy as np

from jali.database.streams.cdf import StreamCdf
from jali.database.streams.declaration import StreamDeclaration
from jali.database.streams.making import considered
from jali.database.streams.mean import StreamMean
from jali.database.streams.measure import TickNoise
from jali.database.streams.measures import StreamSum
from jali.display.text import facts
from jali.numerals import decimal
from jali.privacy.planning.table import amount, counted
from jali.streams.choice import name_of

_CONFIDENCE = 0.95
# So many of the counters that were considered are told.
_TOLD = 6
# Without a horizon the noise is told up to this tick.
_FAR = 10_000
# Of so many items the error of a mean or a share is told.
_ITEMS = 1000


def explained(declaration: StreamDeclaration) -> str:
    """Return the explanation, one line for each fact. Nothing of the data is in it."""
    counter = declaration.mechanism
    pairs = [
        ("stream", f"{declaration.name}: {declaration.what}{_keys(declaration)}"),
        ("ticks", f"{_life(declaration)}{_clock(declaration)}"),
        *_follows(declaration),
        ("neighbours", f"{declaration.adjacency}: {_person(declaration)}"),
        ("mechanism", f"{name_of(counter)}, {'Laplace' if counter.epsilon is not None else 'Gaussian'} noise"),
        *_others(declaration),
        ("cost", f"{counter.loss.event}, once, for all ticks; {_payer(declaration)}"),
        *(("noise", f"after tick {tick:,}: {_error(declaration, tick)}") for tick in _sampled(declaration)),
    ]
    return facts(pairs, indent=0)


def _others(declaration: StreamDeclaration) -> list[tuple[str, str]]:
    """Name the counters that were considered, with the largest standard deviation that each would have."""
    if declaration.wanted.mechanism is not None:
        return []
    unit, whose = _unit(declaration)
    rows = [row for row in considered(declaration).alternatives if row.counter is not None]
    told = [f"{row.name} ({row.noise}) {amount((row.largest or 0) * unit)}" for row in rows[:_TOLD]]
    return [("considered", f"largest standard deviation of {whose}: {'; '.join(told)}")]


def _unit(declaration: StreamDeclaration) -> tuple[float, str]:
    """Return what a step of a column is, and the number that a column is about."""
    measure = declaration.measure
    if isinstance(measure, StreamSum):
        return float(measure.step), "a sum"
    if isinstance(measure, StreamMean):
        return float(measure.step), "the sum behind a mean"
    return 1.0, "the count in a cell" if isinstance(measure, StreamCdf) else "a count"


def _follows(declaration: StreamDeclaration) -> list[tuple[str, str]]:
    if declaration.follows is None or declaration.clock is None:
        return []
    query, rows = declaration.follows.told(declaration.clock)
    return [("follows", query), ("rows", rows)]


def _keys(declaration: StreamDeclaration) -> str:
    measure = declaration.measure
    ends = f", at {counted(len(measure.bins), 'end')}" if isinstance(measure, StreamCdf) else ""
    keys = getattr(measure, "keys", None)
    return f"{ends}, of {counted(len(keys), 'key')}" if keys else ends


def _life(declaration: StreamDeclaration) -> str:
    if declaration.horizon is not None:
        return f"{declaration.horizon:,}"
    return "no horizon" if declaration.window is None else "no end"


def _clock(declaration: StreamDeclaration) -> str:
    clock = declaration.clock
    if clock is None:
        return ""
    return f", each {'an' if clock.every == 'hour' else 'a'} {clock.every}, from {clock.label(1)}"


def _person(declaration: StreamDeclaration) -> str:
    if declaration.unit is None:
        return "each item is a person of its own"
    ticks, apart = declaration.max_ticks, declaration.separation
    where = "one tick" if ticks == 1 else f"{ticks:,} ticks{f', {apart:,} apart' if apart > 1 else ''}"
    each = "one item" if declaration.max_items == 1 else f"{declaration.max_items:,} items"
    return f"all items of one {declaration.unit}, who counts in {where}, with {each} in each; others are dropped"


def _payer(declaration: StreamDeclaration) -> str:
    if declaration.follows is not None:
        tables = ", ".join(table.name for table in declaration.follows.followed.tables)
        return f"paid by the table {tables}"
    budget = declaration.wanted.budget
    assert budget is not None
    return f"of its budget epsilon={decimal(budget.epsilon)}, delta={decimal(budget.delta)}"


def _sampled(declaration: StreamDeclaration) -> list[int]:
    """Return the ticks whose noise is told: of windows the first ones, and the worst if that is later."""
    counter, horizon, window = declaration.mechanism, declaration.horizon or _FAR, declaration.window
    last = horizon if window is None else window.ticks
    found = {1, (last + 1) // 2, last}
    if window is not None and last < counter.worst_tick <= horizon and counter.largest > counter.stddev(last):
        found.add(counter.worst_tick)
    return sorted(found)


def _error(declaration: StreamDeclaration, tick: int) -> str:
    noise, measure = TickNoise(declaration.mechanism, tick), declaration.measure
    if isinstance(measure, StreamMean | StreamCdf):
        return f"± {_of_many(measure, noise)}, with confidence 95 %"
    unit, whose = _unit(declaration)
    return f"± {amount(noise.error(_CONFIDENCE) * unit)} on {whose}, with confidence 95 %"


def _of_many(measure: StreamMean | StreamCdf, noise: TickNoise) -> str:
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
