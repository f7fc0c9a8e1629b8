"""Create a stream: read what the curator declares, choose a counter for it, and find out who pays."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jali.catalog.tables import Catalog
from jali.errors import CatalogError, MechanismError
from jali.execution.streams.follow_table import Follows
from jali.execution.streams.measure_protocol import MeasureTerms, StreamMeasure
from jali.execution.streams.stream_arguments import UNSAID, StreamArguments, Unsaid
from jali.execution.streams.stream_declaration import StreamDeclaration, StreamTerms
from jali.execution.streams.stream_measures import build_measure
from jali.execution.streams.tick_clock import Clock
from jali.ledger import Debit, stream_account, table_account
from jali.privacy import Adjacency, Budget, Filter
from jali.privacy.conversions import simple_epsilon
from jali.privacy.rationals import positive, probability
from jali.streams.choose_counter import Choices, choose, named
from jali.streams.windows import Window

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST, _WIDEST = 1 << 40, 10_000
# The state of a stream is written at every tick: so many numbers it may have, over all columns.
_NUMBERS, _FEWEST = 4096, 64
# The values of a sliding window are in the state too; and up to so many ticks the coefficients of its noises are
# known, which the intervals of means and CDFs are computed from (docs/proofs/windows.md).
_LONGEST, _KEPT = 1024, 1 << 17
# A stream within rho alone gets a budget of its own at this delta.
_DELTA = Fraction(1, 10**6)


def declare_stream(name: str, said: StreamArguments, catalog: Catalog) -> StreamDeclaration:
    """Read what was said of a stream, or refuse it and say why. No counter is chosen yet."""
    check_name(name, catalog)
    follows = _read_follows(said, catalog)
    horizon, measure = _read_horizon(said), _read_measure(said, follows)
    max_ticks, separation = _read_participation(said, horizon)
    return StreamDeclaration(
        name=name,
        unit=_read_unit(said, follows),
        horizon=horizon,
        adjacency=_read_adjacency(said, follows),
        max_ticks=max_ticks,
        separation=separation,
        max_items=_check_whole(said.max_items, "max_items"),
        measure=measure,
        clock=_read_clock(said, follows),
        wanted=_read_terms(said, follows),
        follows=follows,
        window=_read_window(said, horizon, measure.width),
    )


def check_name(name: str, catalog: Catalog) -> None:
    """Refuse a name that is no word, or that of a table."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise CatalogError("stream-name-malformed", given=name)
    if catalog.find(name) is not None:
        raise CatalogError("stream-name-of-table", table=name)


def choose_counter(declaration: StreamDeclaration) -> StreamDeclaration:
    """Choose the counter by its forecast error, or take the one that was named. No data is read."""
    name, adaptive = declaration.wanted.mechanism, declaration.wanted.adaptive
    try:
        if name is not None:
            counter = named(name, adaptive=adaptive, **_list_counter_terms(declaration))
        else:
            counter = rank_counters(declaration).counter
    except MechanismError as problem:
        raise problem.like(CatalogError) from None
    return declaration.freeze_counter(counter)


def rank_counters(declaration: StreamDeclaration) -> Choices:
    """Return the counters that a stream may have, with their forecast errors. Nothing of the data decides them."""
    memory, window = max(_FEWEST, _NUMBERS // declaration.measure.width), declaration.window
    if window is not None and window.slides:
        memory += window.ticks + 1
    return choose(adaptive=declaration.wanted.adaptive, memory=memory, **_list_counter_terms(declaration))


def _list_counter_terms(declaration: StreamDeclaration) -> dict[str, Any]:
    window = {} if declaration.window is None else declaration.window.words
    given = {"horizon": declaration.horizon, "person": declaration.person, **window}
    return {**given, **_choose_loss(declaration.wanted)}


def find_payers(declaration: StreamDeclaration) -> tuple[tuple[Debit, ...], tuple[tuple[str, Budget], ...]]:
    """Return who pays the whole loss of a stream, and the accounts that are opened for it."""
    event = declaration.mechanism.loss.event
    if declaration.follows is not None:
        return tuple(Debit(table_account(table.name), event) for table in declaration.follows.followed.tables), ()
    account, budget = stream_account(declaration.name), declaration.wanted.budget
    assert budget is not None
    return (Debit(account, event),), ((account, budget),)


def compute_receipt_key(text: str) -> str:
    """Return the key of a stream's receipt. No question has it."""
    return hashlib.sha256(f"stream\n{text}".encode()).hexdigest()


def _read_follows(said: StreamArguments, catalog: Catalog) -> Follows | None:
    if said.query is None:
        if said.key is not None or said.late is not None:
            raise CatalogError("key-without-query")
        return None
    given = (said.unit is not UNSAID, said.keys, said.value, said.bins, said.every, said.adjacency, said.budget)
    if any(given) or said.measure not in (None, "count"):
        raise CatalogError("stream-query-with-terms")
    return Follows.read(said.query, catalog, key=said.key, late=said.late)


def _read_unit(said: StreamArguments, follows: Follows | None) -> str | None:
    if follows is not None:
        return follows.followed.unit
    if isinstance(said.unit, Unsaid):
        raise CatalogError("stream-unit-missing")
    if said.unit is None:
        if (said.max_ticks, said.separation, said.max_items) != (1, 1, 1):
            raise CatalogError("stream-item-is-person")
        return None
    if not isinstance(said.unit, str) or not said.unit.strip():
        raise CatalogError("stream-unit-malformed", given=said.unit)
    return said.unit


def _read_horizon(said: StreamArguments) -> int | None:
    if isinstance(said.horizon, Unsaid):
        if said.last is not None or said.restart is not None:
            return None
        raise CatalogError("stream-horizon-missing")
    return None if said.horizon is None else _check_whole(said.horizon, "horizon")


def _read_window(said: StreamArguments, horizon: int | None, width: int) -> Window | None:
    """Read over which ticks values are; None if over all so far."""
    if said.last is not None and said.restart is not None:
        raise CatalogError("last-and-restart")
    name, given = ("last", said.last) if said.last is not None else ("restart", said.restart)
    if given is None:
        return None
    window = Window(_check_whole(given, name), name == "last")
    if horizon is not None and window.ticks > horizon:
        raise CatalogError("window-too-long", name=name, ticks=window.ticks, horizon=horizon)
    if window.slides and (window.ticks > _LONGEST or window.ticks * width > _KEPT):
        most = min(_LONGEST, _KEPT // width)
        raise CatalogError("window-too-wide", most=most, columns=width, ticks=window.ticks)
    return window


def _read_participation(said: StreamArguments, horizon: int | None) -> tuple[int, int]:
    """Read in how many ticks one person counts, and how far apart; refuse what cannot be meant."""
    ticks, apart = _check_whole(said.max_ticks, "max_ticks"), _check_whole(said.separation, "separation")
    if apart > 1 and ticks == 1:
        raise CatalogError("separation-alone", separation=apart)
    fit = ticks if horizon is None else 1 + (horizon - 1) // apart
    if ticks > fit:
        raise CatalogError(
            "max-ticks-too-many", max_ticks=ticks, spaced=apart > 1, fit=fit, horizon=horizon, separation=apart
        )
    return ticks, apart


def _read_adjacency(said: StreamArguments, follows: Follows | None) -> Adjacency:
    if follows is not None:
        return follows.followed.adjacency
    return Adjacency.of(Adjacency.ADD_REMOVE if said.adjacency is None else said.adjacency)


def _read_measure(said: StreamArguments, follows: Follows | None) -> StreamMeasure:
    if follows is not None:
        found = build_measure(follows.measure, follows.measure_terms)
    else:
        found = build_measure(said.measure or "count", MeasureTerms.read(said.keys, said.value, said.bins))
    if found.width > _WIDEST:
        raise CatalogError("stream-too-wide", most=_WIDEST, width=found.width)
    return found


def _read_clock(said: StreamArguments, follows: Follows | None) -> Clock | None:
    if follows is None and said.every is None and said.start is None:
        return None
    if said.start is None:
        raise CatalogError("clock-without-start")
    if follows is None and said.every is None:
        raise CatalogError("clock-without-every")
    clock = follows.clock(said.start) if follows is not None else Clock.declare(str(said.every), said.start)
    if isinstance(said.horizon, int):
        clock.last(said.horizon)
    return clock


def _read_terms(said: StreamArguments, follows: Follows | None) -> StreamTerms:
    if not isinstance(said.adaptive, bool):
        raise CatalogError("adaptive-malformed", given=said.adaptive)
    epsilon = None if said.epsilon is None else positive(said.epsilon, "epsilon")
    rho = None if said.rho is None else positive(said.rho, "rho")
    delta = None if said.delta is None else probability(said.delta, "delta")
    if epsilon is not None and rho is not None:
        raise CatalogError("stream-loss-twice")
    if delta is not None and epsilon is None:
        raise CatalogError("stream-delta-without-epsilon")
    wanted = StreamTerms(said.budget, epsilon, rho, delta, said.adaptive, said.mechanism)
    return wanted if follows is not None else replace(wanted, budget=_build_budget(wanted))


def _build_budget(wanted: StreamTerms) -> Budget:
    """Return the budget of a stream's own account: all of its delta is for the one event that it will have."""
    if isinstance(wanted.budget, Budget):
        return Budget(wanted.budget.epsilon, wanted.budget.delta, delta_events=0)
    if wanted.budget is not None:
        raise CatalogError("budget-type")
    if wanted.epsilon is not None:
        return Budget(wanted.epsilon, wanted.delta or 0, delta_events=0)
    if wanted.rho is not None:
        return _build_budget_for_rho(wanted.rho)
    raise CatalogError("stream-budget-missing")


def _build_budget_for_rho(rho: Fraction) -> Budget:
    """Return a budget at delta 1e-6 that affords rho: its epsilon in two digits, rounded up."""
    epsilon = simple_epsilon(float(rho), float(_DELTA))
    while True:
        epsilon *= 1.01
        budget = Budget(Fraction(f"{epsilon:.2g}"), _DELTA, delta_events=0)
        if Filter(budget).rho >= rho:
            return budget


def _choose_loss(wanted: StreamTerms) -> dict[str, Any]:
    """Return the loss that a counter is to have: the one that was named, or all of the budget."""
    if wanted.rho is not None:
        return {"rho": wanted.rho}
    if wanted.epsilon is not None:
        return {"epsilon": wanted.epsilon, "delta": wanted.delta}
    if wanted.budget is None:
        raise CatalogError("stream-loss-missing")
    return {"epsilon": wanted.budget.epsilon, "delta": wanted.budget.delta}


def _check_whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise CatalogError("term-whole", name=name, given=value)
    return value
