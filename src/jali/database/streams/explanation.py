"""How a stream explains itself: whose privacy, which mechanism, what it cost and how large its noise is."""

from __future__ import annotations

from jali.database.streams.declaration import StreamDeclaration
from jali.database.streams.making import considered
from jali.database.streams.measure import TickNoise
from jali.numerals import decimal
from jali.streams.choice import name_of

_CONFIDENCE = 0.95
# So many of the counters that were considered are told.
_TOLD = 6


def explained(declaration: StreamDeclaration) -> str:
    """Return the explanation, one line for each fact. Nothing of the data is in it."""
    counter = declaration.mechanism
    lines = [
        f"stream      {declaration.name}: {declaration.measure.name} so far{_keys(declaration)}",
        f"ticks       {_life(declaration)}{_clock(declaration)}",
        *_follows(declaration),
        f"neighbours  {declaration.adjacency}: {_person(declaration)}",
        f"mechanism   {name_of(counter)}, {'Laplace' if counter.epsilon is not None else 'Gaussian'} noise",
        *_others(declaration),
        f"cost        {counter.loss.event}, once, for all ticks; {_payer(declaration)}",
        *(f"noise       after tick {tick:,}: ± {_error(declaration, tick)}" for tick in _sampled(declaration)),
    ]
    return "\n".join(lines)


def _others(declaration: StreamDeclaration) -> list[str]:
    """Name the counters that were considered, with the largest standard deviation that each would have."""
    if declaration.wanted.mechanism is not None:
        return []
    rows = considered(declaration).alternatives
    told = [f"{row.name} ({row.noise}) {row.largest:,.4g}" for row in rows if row.largest is not None]
    return [f"considered  largest standard deviation: {'; '.join(told[:_TOLD])}"]


def _follows(declaration: StreamDeclaration) -> list[str]:
    if declaration.follows is None or declaration.clock is None:
        return []
    query, rows = declaration.follows.told(declaration.clock)
    return [f"follows     {query}", f"rows        {rows}"]


def _keys(declaration: StreamDeclaration) -> str:
    labels = declaration.measure.labels
    return "" if labels == (None,) else f", of {len(labels)} keys"


def _life(declaration: StreamDeclaration) -> str:
    return "no horizon" if declaration.horizon is None else f"{declaration.horizon:,}"


def _clock(declaration: StreamDeclaration) -> str:
    clock = declaration.clock
    if clock is None:
        return ""
    return f", each {'an' if clock.every == 'hour' else 'a'} {clock.every}, from {clock.label(1)}"


def _person(declaration: StreamDeclaration) -> str:
    if declaration.unit is None:
        return "each item is a person of its own"
    ticks, apart = declaration.max_ticks, declaration.separation
    where = "one tick" if ticks == 1 else f"{ticks} ticks{f', {apart} apart' if apart > 1 else ''}"
    each = "one item" if declaration.max_items == 1 else f"{declaration.max_items} items"
    return f"all items of one {declaration.unit}, who counts in {where}, with {each} in each; others are dropped"


def _payer(declaration: StreamDeclaration) -> str:
    if declaration.follows is not None:
        tables = ", ".join(table.name for table in declaration.follows.followed.tables)
        return f"paid by the table {tables}"
    budget = declaration.wanted.budget
    assert budget is not None
    return f"of its budget epsilon={decimal(budget.epsilon)}, delta={decimal(budget.delta)}"


def _sampled(declaration: StreamDeclaration) -> list[int]:
    """Return the ticks whose noise is told; of means and CDFs it depends on how many items there are."""
    if declaration.measure.name not in ("count", "sum"):
        return []
    last = declaration.horizon or 10_000
    return sorted({1, (last + 1) // 2, last})


def _error(declaration: StreamDeclaration, tick: int) -> str:
    error = TickNoise(declaration.mechanism, tick).error(_CONFIDENCE)
    unit = float(getattr(declaration.measure, "step", 1))
    return f"{error * unit:.4g} on a {declaration.measure.name}, with confidence 95 %"
