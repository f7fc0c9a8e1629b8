"""Distribution functions leave by the strategy of the least forecast error, at the loss that is charged."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.coverage.repeated import repeat, truths
from tests.declared import TABLES
from tests.depth import DEPTH, thinned
from tests.frames import tagged
from tests.seeded import SeededBits

import jali
from jali.catalog.tables import Catalog
from jali.errors import JaliError
from jali.explain import explain_plan
from jali.ir.ownership import most_changes
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.workloads.cell_strategies import CellStrategy, MeasuredCells, RootOfCells, TreeOfCells
from jali.mechanisms.workloads.workload import Thresholds
from jali.planner import PLANS, Plan, make_plan
from jali.planner.cdf_strategies import forecast_running_sums, list_cdf_strategies
from jali.planner.plan import check_loss
from jali.planner.query_sensitivity import CellFacts as Facts
from jali.planner.query_sensitivity import strategy_l1, strategy_squared_l2
from jali.planner.terms import read_terms
from jali.sql.reader.read_select import read_sql

CATALOG = Catalog(tuple(TABLES.values()))
SMALL = [TreeOfCells(3, (2, 2), True), TreeOfCells(3, (3,), True), RootOfCells(3, 4, 4)]
DRAWS = 2000 * DEPTH


def planned(sql: str, **terms: Any) -> Plan:
    return make_plan(read_sql(sql), CATALOG, read_terms(**terms))


def running(plan: Plan) -> MeasuredCells:
    """The only mechanism of a plan that takes a strategy."""
    ((found,),) = [part.mechanisms for part in plan.parts]
    assert isinstance(found, MeasuredCells)
    return found


# How far people can move what is measured.


def people(places: int, reach: int) -> Iterator[tuple[int, ...]]:
    """Every way in which one person's weight can lie in the cells of all groups."""
    return (v for v in itertools.product(range(reach + 1), repeat=places) if sum(v) <= reach)


def moved(strategy: CellStrategy, groups: int, change: np.ndarray) -> tuple[int, int]:
    made = np.concatenate([strategy.measure(part) for part in change.reshape(groups, -1)])
    return int(abs(made).sum()), int((made * made).sum())


@pytest.mark.parametrize("strategy", SMALL, ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_no_person_moves_the_measurements_further_than_is_said(strategy: CellStrategy, groups: int) -> None:
    """All people of weight 2 over up to 2 groups of 3 cells, one added and one in place of another."""
    reach = 2
    vectors = [np.array(v, dtype=object) for v in people(3 * groups, reach)]
    sides = {1: vectors, 2: [a - b for a in vectors for b in vectors]}
    for changes, differences in sides.items():
        found = [moved(strategy, groups, change) for change in differences]
        facts = Facts(strategy.cells, changes, groups > 1, pure=True)
        one, squared = facts.moves(strategy.column, strategy.pair)
        largest = max(f[0] for f in found), max(f[1] for f in found)
        assert largest[0] <= reach * one
        assert largest[1] <= reach**2 * squared
        if isinstance(strategy, TreeOfCells) or groups > 1 or changes == 1:
            assert largest == (reach * one, reach**2 * squared)


def test_two_replacements_move_twice_as_far() -> None:
    for strategy, several in itertools.product(SMALL, (False, True)):
        once, twice = (Facts(3, n, several, pure=True).moves(strategy.column, strategy.pair) for n in (2, 4))
        assert twice == (2 * once[0], 4 * once[1])


@pytest.mark.parametrize("table", ["visits", "stays", "people", "voters"])
@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": "1/8"}], ids=str)
@pytest.mark.parametrize("keys", ["", "GROUP BY ward"])
def test_a_plan_charges_what_the_matrix_that_runs_moves(table: str, terms: dict[str, Any], keys: str) -> None:
    plan = planned(f"SELECT CDF(age) FROM {table} {keys}", **terms)
    mechanism, aggregation = running(plan), plan.parts[0].aggregation
    columns = [mechanism.strategy.measure(unit) for unit in np.eye(mechanism.strategy.cells, dtype=np.int64)[::40]]
    weights, changes = aggregation.weights, most_changes(plan.source)
    reach = 1 if weights is None else weights.max_rows * weights.resolution
    if isinstance(mechanism.noise, Laplace):
        assert strategy_l1(mechanism.strategy, aggregation, changes) == mechanism.noise.scale * 1
        assert all(reach * abs(c).sum() <= mechanism.noise.scale for c in columns)
    else:
        squared = strategy_squared_l2(mechanism.strategy, aggregation, changes)
        assert isinstance(mechanism.noise, Gaussian)
        assert squared == 2 * mechanism.noise.variance / 8
        assert all(reach**2 * (c * c).sum() <= squared for c in columns)
    assert plan.cost.amount == Fraction(*terms.values())


def test_a_plan_with_another_strategy_or_scale_is_stopped() -> None:
    plan = planned("SELECT CDF(age) FROM visits", epsilon=1)
    mechanism = running(plan)
    deeper = replace(mechanism, strategy=TreeOfCells(121, (5, 5, 5), False))
    quieter = replace(mechanism, noise=Laplace(sensitivity=8, epsilon=1))
    for other in (deeper, quieter):
        part = replace(plan.parts[0], mechanisms=(other,))
        with pytest.raises(JaliError, match="The noise of the plan does not match its privacy loss"):
            check_loss(replace(plan, levels=(replace(plan.levels[0], parts=(part,)),)))


def test_a_strategy_for_other_cells_or_other_weights_never_runs() -> None:
    aggregation = planned("SELECT CDF(age) FROM visits", epsilon=1).parts[0].aggregation
    with pytest.raises(JaliError, match="does not cover"):
        strategy_l1(TreeOfCells(120, (8, 15), False), aggregation, 1)
    assert aggregation.weights is not None
    by_length = replace(aggregation, weights=replace(aggregation.weights, norm="l2"))
    with pytest.raises(JaliError, match="L1 sensitivity"):
        strategy_squared_l2(TreeOfCells(121, (11, 11), False), by_length, 1)


@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": "1/8"}], ids=str)
def test_a_plan_with_a_strategy_is_stored_and_read_again(terms: dict[str, Any]) -> None:
    plan = planned("SELECT ward, CDF(age) FROM visits GROUP BY ward", **terms)
    assert PLANS.decode(PLANS.encode(plan)) == plan


# The choice.


@thinned(4)
@pytest.mark.parametrize("cells", [1, 2, 5, 16, 40, 121, 1000])
@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("changes", [1, 2, 4])
def test_the_way_that_is_taken_has_the_least_forecast(cells: int, pure: bool, changes: int) -> None:
    first, *others = list_cdf_strategies(Facts(cells, changes, several=True, pure=pure))
    assert all(first.rms <= other.rms / 0.99 for other in others)
    for way in (first, *others):
        if isinstance(way.strategy, TreeOfCells):
            # Against the closed form of the library, for the levels of this tree.
            levels = way.strategy.column[0] * changes
            noise = levels**2 if pure else way.strategy.column[0] * {1: 1, 2: 2, 4: 8}[changes]
            total = way.strategy.tree.total_variance(Thresholds(cells))
            assert way.rms == pytest.approx(np.sqrt(total / cells * noise))


def test_few_cells_keep_their_noise_and_many_get_a_tree_or_a_root() -> None:
    assert list_cdf_strategies(Facts(4, 1, several=False, pure=True))[0].strategy is None
    assert isinstance(list_cdf_strategies(Facts(121, 1, several=False, pure=True))[0].strategy, TreeOfCells)
    assert isinstance(list_cdf_strategies(Facts(121, 1, several=False, pure=False))[0].strategy, RootOfCells)


def test_a_histogram_keeps_its_cells_and_shares_them_with_a_distribution_function() -> None:
    for aggregates in ("HISTOGRAM(age)", "HISTOGRAM(age), CDF(age)"):
        plan = planned(f"SELECT {aggregates} FROM visits", epsilon=1)
        ((mechanism,),) = [part.mechanisms for part in plan.parts]
        assert isinstance(mechanism, Laplace)


def test_an_explanation_shows_the_other_ways_with_their_forecasts() -> None:
    pure = explain_plan(planned("SELECT CDF(age) FROM visits", epsilon=1)).measures[0]
    assert [a.name for a in pure.alternatives] == [
        "noise on the cells",
        "Gaussian noise on the square root of summing",
    ]
    gaussian = explain_plan(planned("SELECT CDF(age) FROM visits", rho="1/8")).measures[0]
    assert [a.name for a in gaussian.alternatives] == ["noise on a tree of counts", "noise on the cells"]
    for note in (pure, gaussian):
        assert all("rms" in other.outcome and other.half_width is not None for other in note.alternatives)
        same = [a.half_width for a in note.alternatives if "not pure epsilon" not in a.outcome]
        assert note.half_width < min(width for width in same if width is not None)
    histogram = explain_plan(planned("SELECT HISTOGRAM(age) FROM visits", epsilon=1)).measures[0]
    assert "noise on a tree of counts" in [a.name for a in histogram.alternatives]


@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": "1/8"}], ids=str)
def test_several_quantiles_show_what_halving_would_have_given(terms: dict[str, Any]) -> None:
    alone = explain_plan(planned("SELECT MEDIAN(cost) FROM visits", **terms)).measures[0]
    assert len(alone.alternatives) == 1
    quartiles = explain_plan(
        planned("SELECT QUANTILE_CONT(cost, [0.25, 0.5, 0.75]) FROM visits", **terms)
    ).measures
    for note in quartiles:
        other = note.alternatives[1]
        assert other.name == "all 3 quantiles by halving"
        assert other.half_width is not None
        # Two levels of errors that add up, each at half of the loss, against a third for each quantile.
        assert 0.5 * note.half_width < other.half_width < 2 * note.half_width


@pytest.mark.parametrize(
    ("table", "terms"),
    [("people", {"epsilon": 1}), ("visits", {"epsilon": 2}), ("visits", {"rho": "1/2"})],
    ids=str,
)
def test_measured_errors_are_as_forecast(table: str, terms: dict[str, Any]) -> None:
    """Over all running sums; seeded."""
    mechanism = running(planned(f"SELECT CDF(age) FROM {table}", **terms))
    size = mechanism.strategy.measurements
    assert isinstance(mechanism.noise, Laplace | Gaussian)
    noise = mechanism.noise.sampler.sample(DRAWS * size, bits=SeededBits(3)).reshape(DRAWS, size)
    errors = np.stack([mechanism.strategy.running(row) for row in noise])
    forecast = forecast_running_sums(mechanism.law, mechanism.strategy.cells, 0.95)
    assert np.sqrt((errors**2).mean()) == pytest.approx(forecast.rms, rel=0.03)
    worst = int(mechanism.law.stddevs.argmax())
    assert np.quantile(abs(errors[:, worst]), 0.95) == pytest.approx(forecast.widest, rel=0.06)


# Answers.

GENERATOR = np.random.default_rng(2)
ROWS = pa.table(
    {
        "uid": GENERATOR.integers(0, 1000, 3000),
        "g": GENERATOR.choice(["x", "y"], 3000),
        # Long empty stretches at both ends, where noisy running sums fall.
        "age": 20 + GENERATOR.binomial(20, 0.4, 3000),
    }
)
LOSSES = [{"epsilon": 1}, {"rho": "1/8"}]


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    columns: dict[str, Any] = {"age": jali.Range(0, 60), "g": jali.Keys(["x", "y"])}
    budget = jali.Budget(epsilon=1000, delta=1e-6)
    with jali.connect() as made:
        made.protect("t", ROWS, unit="uid", max_rows=20, columns=columns, budget=budget)
        made.protect("r", tagged(ROWS, "r"), unit=None, columns=columns, budget=budget)
        yield made


@pytest.mark.parametrize("terms", LOSSES, ids=str)
def test_without_noise_running_sums_are_those_of_plain_sql(db: jali.Database, terms: dict[str, Any]) -> None:
    """Nobody has more than 20 rows, so that weights change nothing."""
    plain = duckdb.from_arrow(ROWS).aggregate("g, age, count(*)").fetchall()
    for table in ("t", "r"):
        (truth,) = truths(db, f"SELECT g, CDF(age) FROM {table} GROUP BY g", terms, keys=1)
        for group in "xy":
            expected = [sum(n for g, a, n in plain if g == group and a <= age) for age in range(61)]
            assert truth[(group,)] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("terms", LOSSES, ids=str)
def test_shown_running_sums_never_fall_and_their_intervals_hold(db: jali.Database, terms: dict[str, Any]) -> None:
    """Of 200 intervals that hold with 95 % each, a share below 80 % has a chance below 1e-8; seeded besides."""
    sql = "SELECT g, CDF(age) FROM t GROUP BY g"
    (truth,) = truths(db, sql, terms, keys=1)
    (answer,) = repeat(db, sql, terms, answers=100)
    fallen, held = False, np.zeros(61)
    for (group, shown), (_, spans) in zip(answer.rows, answer.interval(0.95), strict=True):
        values, ends = np.array(list(shown.values())), np.array(list(spans.values()))
        assert (np.diff(values) >= 0).all()
        assert ((ends[:, 0] <= values) & (values <= ends[:, 1])).all()
        fallen |= bool((np.diff(ends.mean(axis=1)) < 0).any())
        held += (ends[:, 0] <= truth[(group,)]) & (truth[(group,)] <= ends[:, 1])
    assert fallen, "no noisy sums fell, and nothing was tested"
    assert (held / 200 >= 0.8).all()
    assert held.mean() / 200 >= 0.93


def test_making_sums_rise_lowers_their_error(db: jali.Database) -> None:
    sql = "SELECT g, CDF(age) FROM t GROUP BY g"
    (truth,) = truths(db, sql, {"epsilon": 1}, keys=1)
    (answer,) = repeat(db, sql, {"epsilon": 1}, answers=50)
    shown = unpooled = 0.0
    for (group, sums), (_, spans) in zip(answer.rows, answer.interval(0.95), strict=True):
        middles = np.array(list(spans.values())).mean(axis=1)
        shown += float(((np.array(list(sums.values())) - truth[(group,)]) ** 2).sum())
        unpooled += float(((middles - truth[(group,)]) ** 2).sum())
    assert shown < unpooled
