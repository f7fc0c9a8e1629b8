"""A wrong plan would be noticed: each of these plans or queries is broken in one place, and the property fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.depth import DEPTH, thinned
from tests.fuzz.property import check_plan
from tests.fuzz.world import ADJACENCIES, House, house

from jali.engines.sql import relation_emitter
from jali.ir import ownership
from jali.ir.aggregates import Weights
from jali.planner import Plan, query_sensitivity
from jali.planner import query_sensitivity as reaching

LEFT = "SELECT p.sex, COUNT(*), SUM(v.cost) FROM visits v LEFT JOIN people p ON v.uid = p.pid GROUP BY p.sex"
UNION = "SELECT t, COUNT(*) FROM (SELECT uid, ward t FROM visits UNION ALL SELECT pid, sex FROM people) GROUP BY t"
WITHOUT = "SELECT ward, COUNT(*) FROM visits v WHERE v.uid NOT IN (SELECT pid FROM people) GROUP BY ward"
JOIN = "SELECT p.sex, COUNT(*), SUM(p.income) FROM visits v JOIN people p ON v.uid = p.pid GROUP BY p.sex"
PLAIN = "SELECT ward, COUNT(*), SUM(cost), AVG(age) FROM visits GROUP BY ward"
UNKNOWN = "SELECT code, COUNT(*) FROM visits GROUP BY code"
VALUES = "SELECT COUNT(DISTINCT code), COUNT(DISTINCT ward) FROM visits"
ROWS = "SELECT r.g, w.w, COUNT(*) FROM readings r CROSS JOIN wards w GROUP BY r.g, w.w"
MEDIAN = "SELECT ward, MEDIAN(cost), MODE(age) FROM visits GROUP BY ward"
REACHED = "SELECT i.drug, COUNT(*), SUM(i.dose) FROM items i GROUP BY i.drug"
CHOSEN: dict[str, Any] = {"delta": "1/1000", "min_people": 2}


@pytest.fixture(scope="module")
def home() -> Iterator[House]:
    with house(ADJACENCIES[0]) as built:
        yield built


def holds(home: House, sql: str, **terms: Any) -> None:
    """Check the property of one question on several worlds."""
    check_all(home, home.db.explain(sql, epsilon=1, **terms), range(2 * DEPTH))


def check_all(home: House, plan: Plan, seeds: range = range(20, 60)) -> None:
    for seed in seeds:
        check_plan(home, plan, seed, 6)


@thinned(2)
@pytest.mark.parametrize("sql", [LEFT, UNION, WITHOUT, JOIN, PLAIN, VALUES, MEDIAN, REACHED])
def test_the_property_holds_of_the_plans_that_are_sabotaged_below(home: House, sql: str) -> None:
    holds(home, sql)


@pytest.mark.parametrize("sql", [UNKNOWN, ROWS])
def test_the_property_holds_where_groups_are_chosen(home: House, sql: str) -> None:
    holds(home, sql, **CHOSEN)


@thinned(2)
@pytest.mark.parametrize("sql", [LEFT, UNION, WITHOUT, PLAIN])
def test_charging_one_change_where_there_are_more_is_noticed(
    home: House, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    plan = home.db.explain(sql, epsilon=1)
    monkeypatch.setattr(ownership, "changes", lambda relation, table: 1)
    if sql == PLAIN:
        # One change is right here: what is wrong is half of it.
        honest = query_sensitivity.l1_sensitivity
        monkeypatch.setattr(query_sensitivity, "l1_sensitivity", lambda *given: honest(*given) / 2)
    with pytest.raises(AssertionError):
        check_all(home, plan)


def test_a_table_that_is_wrongly_called_needed_is_noticed(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ownership.own
    plan = home.db.explain(LEFT, epsilon=1)
    wrong = replace(honest(plan.source), needed=frozenset({"visits", "people"}))
    monkeypatch.setattr(ownership, "own", lambda relation: wrong if relation == plan.source else honest(relation))
    with pytest.raises(AssertionError):
        check_all(home, plan)


@dataclass(frozen=True)
class Broken:
    """A part of a query's text (a regular expression) that makes it private, and what stands there afterwards."""

    sql: str
    before: str
    after: str
    terms: dict[str, Any]


BROKEN = {
    "no weights": Broken(PLAIN, r"least\(1048576, 3145728 // count\(\*\)\)", "1048576", {}),
    "no owner equality": Broken(JOIN, r'l\.owner = r\.owner AND \(?"v\.uid" = "p\.pid"\)?', "TRUE", {}),
    "no clamp": Broken("SELECT SUM(age) FROM visits", "BETWEEN 0 AND 11", "BETWEEN 0 AND 32767", {}),
    "all values kept": Broken(VALUES, "place <= 3", "place <= 99", {"max_rows": 3}),
    "all groups kept": Broken(UNKNOWN, "place <= 1", "place <= 99", {**CHOSEN, "max_groups": 1}),
    "owners by place": Broken(ROWS, r"md5\('' \|\|", "md5(CAST(owner AS VARCHAR) ||", CHOSEN),
    "no weights along an axis": Broken(MEDIAN, r"least\(1048576, 3145728 // count\(\*\)\)", "1048576", {}),
    "everybody's rows reached": Broken(REACHED, r"here\.\S+ = reached\.there", "TRUE", {}),
}


@thinned(2)
@pytest.mark.parametrize("name", BROKEN)
def test_a_query_without_its_bound_is_noticed(home: House, name: str) -> None:
    broken = BROKEN[name]
    plan = home.db.explain(broken.sql, epsilon=1, **broken.terms)
    assert re.search(broken.before, plan.sql)
    with pytest.raises(AssertionError):
        check_all(home, rewritten(plan, lambda text: re.sub(broken.before, broken.after, text)))


def rewritten(plan: Plan, change: Callable[[str], str]) -> Plan:
    """Return a plan with other texts for the engine."""
    levels = (
        replace(level, parts=tuple(replace(part, sql=change(part.sql)) for part in level.parts))
        for level in plan.levels
    )
    return replace(plan, levels=tuple(levels))


@pytest.mark.parametrize("name", ["rank_sensitivity", "cell_sensitivity"])
def test_half_the_reach_of_a_choice_is_noticed(home: House, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    plan = home.db.explain(MEDIAN, epsilon=1)
    honest = getattr(reaching, name)
    monkeypatch.setattr(reaching, name, lambda *given: honest(*given) / 2)
    with pytest.raises(AssertionError):
        check_all(home, plan)


def test_a_row_that_lost_its_owner_is_noticed(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a full join, with the owner of one side only."""
    plan = home.db.explain("SELECT COUNT(*) FROM visits v FULL JOIN people p ON v.uid = p.pid", epsilon=1)
    honest = relation_emitter.select
    monkeypatch.setattr(
        "tests.fuzz.movement.select",
        lambda *given: honest(*given).replace("coalesce(l.owner, r.owner)", "l.owner"),
    )
    with pytest.raises(AssertionError, match="without owner"):
        check_all(home, plan)


def test_the_bounds_are_met(home: House) -> None:
    """Bounds that nobody comes near would let every plan pass: half the sensitivity of a count is too little."""
    plan = home.db.explain("SELECT COUNT(*) FROM visits", epsilon=1)
    weights = plan.aggregation.weights
    assert weights is not None
    tight = replace(weights, max_rows=weights.max_rows - 1)
    with pytest.raises(AssertionError):
        check_all(home, _with_weights(plan, tight))


def _with_weights(plan: Plan, weights: Weights) -> Plan:
    """Declare other weights than the query has."""
    levels = (
        replace(
            level,
            parts=tuple(replace(p, aggregation=replace(p.aggregation, weights=weights)) for p in level.parts),
        )
        for level in plan.levels
    )
    return replace(plan, levels=tuple(levels))
