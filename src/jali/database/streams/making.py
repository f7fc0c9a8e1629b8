"""Making a stream: what the curator says is read, a counter is chosen for it, and who pays is found out."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jali.database.streams.clock import Clock
from jali.database.streams.declaration import StreamDeclaration, Wanted
from jali.database.streams.following import Follows
from jali.database.streams.measure import Measure, Measured
from jali.database.streams.measures import measure_named
from jali.database.streams.said import UNSAID, Said, Unsaid
from jali.errors import CatalogError, MechanismError
from jali.ledger import Debit, stream_account, table_account
from jali.privacy import Adjacency, Budget, Filter
from jali.privacy.convert import simple_epsilon
from jali.privacy.rationals import positive, probability
from jali.query.catalog import Catalog
from jali.streams.choice import Choices, choose, named

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST, _WIDEST = 1 << 40, 10_000
# The state of a stream is written at every tick: so many numbers it may have, over all columns.
_NUMBERS, _FEWEST = 4096, 64
# A stream within rho alone gets a budget of its own at this delta.
_DELTA = Fraction(1, 10**6)


def declared(name: str, said: Said, catalog: Catalog) -> StreamDeclaration:
    """Read what was said of a stream, or refuse it and say why. No counter is chosen yet."""
    check_name(name, catalog)
    follows = _follows(said, catalog)
    return StreamDeclaration(
        name=name,
        unit=_unit(said, follows),
        horizon=_horizon(said),
        adjacency=_adjacency(said, follows),
        max_ticks=_whole(said.max_ticks, "max_ticks"),
        separation=_whole(said.separation, "separation"),
        max_items=_whole(said.max_items, "max_items"),
        measure=_measure(said, follows),
        clock=_clock(said, follows),
        wanted=_wanted(said, follows),
        follows=follows,
    )


def check_name(name: str, catalog: Catalog) -> None:
    """Refuse a name that is no word, or that of a table."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise CatalogError(
            f"A stream's name is letters, digits and underscores, not {name!r}.", remedy="Choose such a name."
        )
    if catalog.find(name) is not None:
        raise CatalogError(f"There is a table {name} already.", remedy="Call the stream otherwise.")


def with_counter(declaration: StreamDeclaration) -> StreamDeclaration:
    """Choose the counter by its forecast error, or take the one that was named. No data is read."""
    name, adaptive = declaration.wanted.mechanism, declaration.wanted.adaptive
    try:
        if name is not None:
            counter = named(name, adaptive=adaptive, **_terms(declaration))
        else:
            counter = considered(declaration).counter
    except MechanismError as problem:
        raise CatalogError(problem.message, remedy=problem.remedy) from None
    return declaration.made_with(counter)


def considered(declaration: StreamDeclaration) -> Choices:
    """Return the counters that a stream may have, with their forecast errors. Nothing of the data decides them."""
    memory = max(_FEWEST, _NUMBERS // declaration.measure.width)
    return choose(adaptive=declaration.wanted.adaptive, memory=memory, **_terms(declaration))


def _terms(declaration: StreamDeclaration) -> dict[str, Any]:
    return {"horizon": declaration.horizon, "person": declaration.person, **_loss(declaration.wanted)}


def paid(declaration: StreamDeclaration) -> tuple[tuple[Debit, ...], tuple[tuple[str, Budget], ...]]:
    """Return who pays the whole loss of a stream, and the accounts that are opened for it."""
    event = declaration.mechanism.loss.event
    if declaration.follows is not None:
        return tuple(Debit(table_account(table.name), event) for table in declaration.follows.followed.tables), ()
    account, budget = stream_account(declaration.name), declaration.wanted.budget
    assert budget is not None
    return (Debit(account, event),), ((account, budget),)


def key_of(text: str) -> str:
    """Return the key of a stream's receipt. No question has it."""
    return hashlib.sha256(f"stream\n{text}".encode()).hexdigest()


def _follows(said: Said, catalog: Catalog) -> Follows | None:
    if said.query is None:
        if said.key is not None or said.late is not None:
            raise CatalogError("key and late are for streams that follow a table.", remedy="Give query= too.")
        return None
    given = (said.unit is not UNSAID, said.keys, said.value, said.bins, said.every, said.adjacency, said.budget)
    if any(given) or said.measure not in (None, "count"):
        raise CatalogError(
            "The query says what is measured, and its table who the people are and what they have to spend.",
            remedy="With query= give start, horizon, epsilon or rho; max_ticks, separation and max_items.",
        )
    return Follows.read(said.query, catalog, key=said.key, late=said.late)


def _unit(said: Said, follows: Follows | None) -> str | None:
    if follows is not None:
        return follows.followed.unit
    if isinstance(said.unit, Unsaid):
        raise CatalogError(
            "Whose privacy counts is not said.",
            remedy="Write unit='patient' if items have owners, or unit=None if each item is a person.",
        )
    if said.unit is None:
        if (said.max_ticks, said.separation, said.max_items) != (1, 1, 1):
            raise CatalogError(
                "Each item is a person: it is in one tick, once.",
                remedy="Leave max_ticks, separation and max_items out, or give a unit.",
            )
        return None
    if not isinstance(said.unit, str) or not said.unit.strip():
        raise CatalogError(f"unit must be a word such as 'patient', or None, not {said.unit!r}.")
    return said.unit


def _horizon(said: Said) -> int | None:
    if isinstance(said.horizon, Unsaid):
        raise CatalogError(
            "For how many ticks the stream lives is not said.",
            remedy="Write horizon=365; or horizon=None if nobody knows, which costs accuracy.",
        )
    return None if said.horizon is None else _whole(said.horizon, "horizon")


def _adjacency(said: Said, follows: Follows | None) -> Adjacency:
    if follows is not None:
        return follows.followed.adjacency
    return Adjacency.of(Adjacency.ADD_REMOVE if said.adjacency is None else said.adjacency)


def _measure(said: Said, follows: Follows | None) -> Measure:
    if follows is not None:
        found = measure_named(follows.measure, follows.said)
    else:
        found = measure_named(said.measure or "count", Measured.read(said.keys, said.value, said.bins))
    if found.width > _WIDEST:
        raise CatalogError(
            f"A stream counts at most {_WIDEST:,} numbers side by side, not {found.width:,}.",
            remedy="Declare fewer keys or bins.",
        )
    return found


def _clock(said: Said, follows: Follows | None) -> Clock | None:
    if follows is None and said.every is None and said.start is None:
        return None
    if said.start is None:
        raise CatalogError("A clock needs a start.", remedy="Write start='2026-01-01'.")
    if follows is None and said.every is None:
        raise CatalogError("A clock needs the length of a tick.", remedy="Write every='day'.")
    clock = follows.clock(said.start) if follows is not None else Clock.declared(str(said.every), said.start)
    if isinstance(said.horizon, int):
        clock.last(said.horizon)
    return clock


def _wanted(said: Said, follows: Follows | None) -> Wanted:
    if not isinstance(said.adaptive, bool):
        raise CatalogError(f"adaptive must be True or False, not {said.adaptive!r}.")
    epsilon = None if said.epsilon is None else positive(said.epsilon, "epsilon")
    rho = None if said.rho is None else positive(said.rho, "rho")
    delta = None if said.delta is None else probability(said.delta, "delta")
    if epsilon is not None and rho is not None:
        raise CatalogError("Give epsilon or rho, not both.", remedy="Leave one out.")
    if delta is not None and epsilon is None:
        raise CatalogError("delta goes with epsilon.", remedy="Leave it out, or give epsilon.")
    wanted = Wanted(said.budget, epsilon, rho, delta, said.adaptive, said.mechanism)
    return wanted if follows is not None else replace(wanted, budget=_budget(wanted))


def _budget(wanted: Wanted) -> Budget:
    """Return the budget of a stream's own account: all of its delta is for the one event that it will have."""
    if isinstance(wanted.budget, Budget):
        return Budget(wanted.budget.epsilon, wanted.budget.delta, delta_events=0)
    if wanted.budget is not None:
        raise CatalogError("budget must be a jali.Budget.", remedy="Write jali.Budget(epsilon=1, delta=1e-6).")
    if wanted.epsilon is not None:
        return Budget(wanted.epsilon, wanted.delta or 0, delta_events=0)
    if wanted.rho is not None:
        return _budget_for(wanted.rho)
    raise CatalogError(
        "What the stream may spend is not said.", remedy="Write budget=jali.Budget(epsilon=1, delta=1e-6)."
    )


def _budget_for(rho: Fraction) -> Budget:
    """Return a budget at delta 1e-6 that affords rho: its epsilon in two digits, rounded up."""
    epsilon = simple_epsilon(float(rho), float(_DELTA))
    while True:
        epsilon *= 1.01
        budget = Budget(Fraction(f"{epsilon:.2g}"), _DELTA, delta_events=0)
        if Filter(budget).rho >= rho:
            return budget


def _loss(wanted: Wanted) -> dict[str, Any]:
    """Return the loss that a counter is to have: the one that was named, or all of the budget."""
    if wanted.rho is not None:
        return {"rho": wanted.rho}
    if wanted.epsilon is not None:
        return {"epsilon": wanted.epsilon, "delta": wanted.delta}
    if wanted.budget is None:
        raise CatalogError("What the stream costs its table is not said.", remedy="Give epsilon or rho.")
    return {"epsilon": wanted.budget.epsilon, "delta": wanted.budget.delta}


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise CatalogError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return value
