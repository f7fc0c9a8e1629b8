"""Everything an answer can be asked for, on every kind of output: nothing fails once it was paid for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pytest
from tests.depth import DEPTH, thinned, whole
from tests.outputs.kinds import AGGREGATES, COLUMNS, GROUPINGS, After, after, rows
from tests.outputs.readers import read

import jali
from jali.answer import Answer
from jali.ir.expressions import Aggregate, Call, walk
from jali.ir.functions import FUNCTIONS, aggregate_functions
from jali.sql.reader.read_select import read_value

# Noise that hides everything, and noise that hides nothing: counts below zero, and intervals of no width.
LOSSES: tuple[dict[str, Any], ...] = ({"epsilon": "1/1000000"}, {"epsilon": 1000}, {"rho": "1/1000000"})
# Unknown keys of some hundred people are shown at a large loss.
PEOPLE = 400


@pytest.fixture(scope="module")
def home() -> Iterator[jali.Database]:
    with jali.connect() as db:
        budget = jali.Budget(epsilon=10**12, delta="1/2")
        db.protect("v", rows(PEOPLE), unit="uid", max_rows=4, columns=COLUMNS, budget=budget)
        yield db


def outcome(home: jali.Database, sql: str, terms: dict[str, Any]) -> Answer | None:
    """Ask; a question that is refused is refused with a remedy, and before it is charged."""
    before = len(home.receipts())
    try:
        return home.ask(sql, **{"delta": "1/1000000000"} | terms)
    except jali.errors.QueryError as refusal:
        remedy = refusal.remedy
    assert remedy, sql
    assert len(home.receipts()) == before
    return None


def failures(home: jali.Database, sql: str, terms: dict[str, Any]) -> dict[str, str]:
    """Ask, and return everything that the answer could not be asked for."""
    try:
        answer = outcome(home, sql, terms)
    except Exception as problem:
        return {"asking": f"{type(problem).__name__}: {problem}"}
    return {} if answer is None else read(answer)


@whole
@thinned(12)
@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("name", AGGREGATES)
def test_an_aggregate_can_be_read_in_every_way(home: jali.Database, name: str, grouping: str) -> None:
    sql = GROUPINGS[grouping].format(f"{AGGREGATES[name]} AS a")
    turn = (list(AGGREGATES).index(name) + list(GROUPINGS).index(grouping)) % len(LOSSES)
    for terms in LOSSES if DEPTH > 1 else LOSSES[turn : turn + 1]:
        assert failures(home, sql, terms) == {}, (sql, terms)


def test_every_aggregate_is_an_output() -> None:
    written = (node for text in AGGREGATES.values() for node in walk(read_value(text)))
    assert {node.function for node in written if isinstance(node, Aggregate)} == set(
        aggregate_functions.AGGREGATES
    )


def test_every_function_after_the_noise_is_an_output() -> None:
    first = [some[0] for some in after()]
    assert {one.function for one in first} == {name for name, function in FUNCTIONS.items() if function.after}
    for one in first:
        called = {node.function for node in walk(read_value(one.sql)) if isinstance(node, Call)}
        assert one.function in called, one


def together(found: Sequence[After]) -> Iterator[tuple[After, ...]]:
    """Put expressions into one question that have the same keys."""
    for _, some in groupby(sorted(found, key=lambda one: one.keys), key=lambda one: one.keys):
        alike = tuple(some)
        yield from (alike[start : start + 20] for start in range(0, len(alike), 20))


def asked(some: Sequence[After]) -> str:
    """Write the question of some expressions."""
    keys = list(some[0].keys)
    shown = ", ".join([*keys, "COUNT(*)", *(f"{one.sql} AS o{i}" for i, one in enumerate(some))])
    return f"SELECT {shown} FROM v" + (f" GROUP BY {', '.join(keys)}" if keys else "")


def test_every_function_of_noisy_values_can_be_read_in_every_way(home: jali.Database) -> None:
    """What is refused for its kinds is left out first: it is refused with a remedy, for nothing."""
    kinds = list(after())[:: 6 if DEPTH == 1 else 1]
    accepted = [some for some in kinds if _is_accepted(home, some[0])]
    each = 1 if DEPTH == 1 else 12
    found = [one for some in accepted for one in some[:: -(-len(some) // each)]]
    for turn, some in enumerate(together(found)):
        terms = LOSSES[turn % len(LOSSES)]
        if failures(home, asked(some), terms):
            alone = {one.sql: failures(home, asked([one]), terms) for one in some}
            assert {sql: failed for sql, failed in alone.items() if failed} == {}
    assert len(found) > (30 if DEPTH == 1 else 1000)


def _is_accepted(home: jali.Database, one: After) -> bool:
    try:
        home.explain(asked([one]), epsilon=1)
    except jali.errors.QueryError as refusal:
        remedy = refusal.remedy
    else:
        return True
    assert remedy, one
    return False
