"""Groups that are chosen: with the count of their people where that is asked for, and never for less than paid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.depth import thinned
from tests.frames import tagged
from tests.harness import noise_off

import jali
from jali.errors import JaliError
from jali.execution.intervals import GroupReader
from jali.execution.postprocess import Release, ReleasedGroups
from jali.ir.aggregates import Weights
from jali.ir.estimators import LinearCombination, RatioEstimate
from jali.mechanisms import GaussianThreshold, LaplaceThreshold, OptimalKeys
from jali.planner import PLANS, Plan
from jali.planner.partition_selection import charge_selection, select_by_probability, select_without_count
from jali.planner.plan import check_loss
from jali.privacy import Concentrated, Pure

DELTA = Fraction(1, 10**6)
BUDGET = jali.Budget(epsilon=10**6, delta="1/10")
PEOPLE, ROWS = "COUNT(DISTINCT uid)", "COUNT(*)"


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with jali.connect() as opened:
        for name, given in (
            ("visits", {"unit": "uid", "max_rows": 3}),
            ("rows", {"unit": None}),
            ("moved", {"unit": "uid", "max_rows": 3, "adjacency": "replace-one"}),
            ("others", {"unit": "uid", "max_rows": 3, "adjacency": "replace-one"}),
        ):
            opened.protect(
                name, tagged(frame(), name), columns={"cost": jali.Range(0, 100)}, budget=BUDGET, **given
            )
        yield opened


def frame() -> pa.Table:
    sizes = {"large": 400, "middle": 60, "small": 3}
    rows = [(person, code) for code, size in sizes.items() for person in range(size)]
    return pa.table({"uid": [u for u, _ in rows], "code": [c for _, c in rows], "cost": [50] * len(rows)})


def planned(db: jali.Database, asked: str, table: str = "visits", **terms: Any) -> Plan:
    given = {"delta": DELTA} | ({} if "rho" in terms else {"epsilon": 1}) | terms
    return db.explain(f"SELECT code, {asked} FROM {table} GROUP BY code", **given)


# Which way.


@pytest.mark.parametrize(("asked", "table"), [(PEOPLE, "visits"), (PEOPLE, "moved"), (ROWS, "rows")])
def test_the_count_of_people_and_the_keys_leave_by_one_noise_for_the_whole_loss(
    db: jali.Database, asked: str, table: str
) -> None:
    plan = planned(db, asked, table)
    assert isinstance(plan.selection, LaplaceThreshold)
    assert (plan.selection.epsilon, plan.selection.delta) == (Fraction(1), DELTA)
    assert plan.parts[0].mechanisms == (plan.selection,)
    plan = planned(db, asked, table, rho="1/2")
    assert isinstance(plan.selection, GaussianThreshold)
    assert (plan.selection.rho, plan.selection.delta) == (Fraction(1, 2), DELTA)
    assert plan.selection_count == 0


@pytest.mark.parametrize(
    ("asked", "table"),
    [
        (ROWS, "visits"),
        ("SUM(cost)", "visits"),
        (f"{PEOPLE} FILTER (WHERE cost > 10)", "visits"),
        (f"{ROWS} FILTER (WHERE cost > 10)", "rows"),
        ("COUNT(cost)", "rows"),
    ],
)
def test_other_measures_leave_the_keys_half_of_the_loss_and_tell_no_count(
    db: jali.Database, asked: str, table: str
) -> None:
    plan = planned(db, asked, table)
    assert isinstance(plan.selection, OptimalKeys)
    assert plan.selection.epsilon == Fraction(1, 2)
    assert plan.selection_count is None
    # For rho a count that is thrown away chooses better than coins, which grow with the number of keys.
    plan = planned(db, asked, table, rho="1/2")
    assert isinstance(plan.selection, GaussianThreshold)
    assert plan.selection_count is None
    assert plan.selection not in plan.parts[0].mechanisms


def test_groups_for_rho_are_chosen_the_way_that_shows_smaller_ones() -> None:
    for groups in (1, 4, 30):
        given = DELTA, Weights(groups, groups, 1 << 20), 1, 1
        chosen = select_without_count(Concentrated("1/8"), *given)
        # Coins at epsilon = sqrt(2 rho) = 1/2 cost as much.
        assert chosen.error(0.95) < select_by_probability(Pure("1/2"), *given).error(0.95)


def test_the_told_count_gets_the_share_of_the_keys_and_its_own(db: jali.Database) -> None:
    plan = planned(db, f"SUM(cost), {PEOPLE}", epsilon=3)
    assert isinstance(plan.selection, LaplaceThreshold)
    assert plan.selection_count == 1
    assert plan.selection.epsilon == 2  # a third, and half of the rest
    total, told = plan.parts[0].mechanisms
    assert told == plan.selection
    assert total.loss.event.epsilon == 1


def test_a_replaced_person_takes_twice_the_noise(db: jali.Database) -> None:
    one, two = (planned(db, PEOPLE, table).selection for table in ("visits", "moved"))
    assert isinstance(one, LaplaceThreshold)
    assert isinstance(two, LaplaceThreshold)
    assert two.scale == 2 * one.scale == 6


# What it costs.


@pytest.mark.parametrize("terms", [{"epsilon": 2}, {"rho": "1/8"}])
@pytest.mark.parametrize("asked", [PEOPLE, f"{PEOPLE}, SUM(cost)", f"AVG(cost), {PEOPLE}, MEDIAN(cost)", ROWS])
@pytest.mark.parametrize("table", ["visits", "moved", "rows"])
def test_all_that_leaves_costs_what_was_asked_and_the_told_count_only_once(
    db: jali.Database, asked: str, table: str, terms: dict[str, Any]
) -> None:
    plan = planned(db, asked.replace(PEOPLE, ROWS) if table == "rows" else asked, table, **terms)
    assert plan.cost.delta == DELTA
    events = plan.events
    if "epsilon" in terms:
        assert plan.cost.epsilon == 2 == sum(event.epsilon or 0 for event in events)
    else:
        assert 0 <= Fraction(1, 8) - plan.cost.rho < Fraction(1, 10**15)
        assert plan.cost.rho == sum(event.rho for event in events)


def stopped(plan: Plan) -> None:
    with pytest.raises(JaliError, match="The noise of the plan does not match its privacy loss"):
        check_loss(plan)


def with_mechanisms(plan: Plan, *mechanisms: Any, **changed: Any) -> Plan:
    part = replace(plan.parts[0], mechanisms=mechanisms)
    return replace(plan, levels=(replace(plan.levels[0], parts=(part,)),), **changed)


def test_a_plan_whose_count_leaves_by_less_noise_than_is_paid_never_runs(db: jali.Database) -> None:
    plan, alone = planned(db, PEOPLE), planned(db, ROWS)
    check_loss(plan)
    check_loss(alone)
    assert isinstance(plan.selection, LaplaceThreshold)
    louder = replace(plan.selection, epsilon=Fraction(2))
    stopped(with_mechanisms(plan, louder))
    stopped(replace(plan, selection=louder))
    stopped(with_mechanisms(plan, louder, selection=louder))
    stopped(replace(plan, selection=alone.selection))
    stopped(with_mechanisms(alone, plan.selection))
    stopped(with_mechanisms(plan, *alone.parts[0].mechanisms))


def test_a_plan_that_keeps_more_groups_than_its_noise_was_made_for_never_runs(db: jali.Database) -> None:
    for asked in (PEOPLE, ROWS):
        plan = planned(db, asked)
        weights = plan.aggregation.weights
        assert weights is not None
        wider = replace(plan.aggregation, weights=replace(weights, max_groups=weights.max_groups + 1))
        part = replace(plan.parts[0], aggregation=wider)
        stopped(replace(plan, levels=(replace(plan.levels[0], parts=(part,)),)))


@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": "1/3"}])
@pytest.mark.parametrize("asked", [PEOPLE, ROWS, f"{PEOPLE}, SUM(cost)"])
def test_a_stored_plan_is_read_back_as_it_was(db: jali.Database, asked: str, terms: dict[str, Any]) -> None:
    plan = planned(db, asked, **terms)
    again = PLANS.decode(PLANS.encode(plan))
    assert again == plan
    check_loss(again)


# Two people: replace-one on rows that can do without a table.

BOTH = "(SELECT code, uid FROM moved UNION ALL SELECT code, uid FROM others) AS b"


def recursion(epsilon: float, delta: float, most: int) -> list[float]:
    """Desfontaines et al. 2022, Theorem 1."""
    found = [0.0]
    for _ in range(most):
        last = found[-1]
        found.append(min(math.exp(epsilon) * last + delta, 1 - math.exp(-epsilon) * (1 - last - delta), 1.0))
    return found


def apart(epsilon: float, moves: list[tuple[float, float]]) -> float:
    """Return the hockey-stick divergence of independent coins."""
    total = 0.0
    for mask in range(1 << len(moves)):
        one = other = 1.0
        for place, (p, q) in enumerate(moves):
            told = mask >> place & 1
            one, other = one * (p if told else 1 - p), other * (q if told else 1 - q)
        total += max(0.0, one - math.exp(epsilon) * other)
    return total


@pytest.mark.parametrize("epsilon", [1, 8])
def test_where_two_people_move_a_count_by_two_the_coins_keep_their_delta(epsilon: int) -> None:
    """Both leave one key and join another: twice two steps. The usual share of delta would not do."""
    delta = Fraction(1, 1000)
    made = select_by_probability(Pure(epsilon), delta, Weights(1, 1, 1 << 20), 4, 1)
    assert made.loss.event.epsilon == epsilon

    def worst(whole: float) -> float:
        chance = recursion(epsilon / 4, 1 - (1 - whole) ** (1 / 4), 200)
        steps = [(chance[n], chance[n + 2]) for n in range(150)]
        # One key gains two people, another loses two: the worst pair of numbers they start from.
        return max(apart(epsilon, [(q, p), steps[k]]) for p, q in steps[:10] for k in range(150))

    assert worst(float(made.delta)) <= float(delta)
    assert worst(float(delta)) > float(delta)


def test_where_two_people_change_no_count_is_told_and_delta_is_charged_in_full(db: jali.Database) -> None:
    plan = planned(db, PEOPLE, BOTH)
    assert isinstance(plan.selection, OptimalKeys)
    assert plan.selection.delta < DELTA
    assert plan.cost.delta == DELTA
    assert {cost.delta for _, cost in plan.costs} == {DELTA}
    check_loss(plan)
    assert isinstance(planned(db, PEOPLE, BOTH, rho="1/2").selection, OptimalKeys)
    told = planned(db, PEOPLE).selection
    assert told is not None
    assert charge_selection(told, plan.aggregation, 4) is None


# What is read from it.


def test_without_noise_the_told_counts_are_those_of_the_groups_above_the_threshold(db: jali.Database) -> None:
    sql = f"SELECT code, SUM(cost), {PEOPLE} FROM visits GROUP BY code"
    for terms in ({"epsilon": 3}, {"rho": "1/2"}):
        with noise_off():
            answer = db.ask(sql, delta=DELTA, **terms)
        assert [(code, people) for code, _, people in answer.rows] == [("large", 400), ("middle", 60)]
        assert answer.group_sizes is not None
        assert 3 < answer.group_sizes.even <= 60


def test_a_minimum_of_people_raises_the_threshold_by_as_many(db: jali.Database) -> None:
    usual, tighter = (planned(db, PEOPLE, min_people=least).selection for least in (1, 31))
    assert isinstance(usual, LaplaceThreshold)
    assert isinstance(tighter, LaplaceThreshold)
    assert tighter.least_people == 31
    assert tighter.threshold == usual.threshold + 30


def test_an_answer_says_between_what_the_told_count_lies_given_that_it_is_told(db: jali.Database) -> None:
    db.refresh("visits")
    answer = db.ask(f"SELECT code, {PEOPLE}, 2 * {PEOPLE} + 1 FROM visits GROUP BY code", epsilon=1, delta=DELTA)
    chosen = answer.release.selection
    for (_, told, _), (_, one, twice) in zip(answer.rows, answer.interval(0.9), strict=True):
        low, high = chosen.interval(told, 0.9)
        assert one == (low, high)
        assert twice == (2 * low + 1, 2 * high + 1)


def reading(plan: Plan, told: list[int], totals: list[int]) -> GroupReader:
    laws = tuple(getattr(mechanism, "law", None) for mechanism in plan.parts[0].mechanisms)
    noisy = (tuple(told), tuple(totals))
    level = ReleasedGroups((0,), tuple((str(i),) for i in range(len(told))), laws, noisy)
    measures = plan.aggregation.measures
    return GroupReader(Release(plan.question, plan.keys, (), measures, (level,), plan.selection, 0), 0)


@thinned(4)
@pytest.mark.parametrize("beyond", [-4, 3, 33])
@pytest.mark.parametrize(
    ("estimate", "truth"),
    [
        (RatioEstimate(LinearCombination(((0, Fraction(2)),), Fraction(1))), lambda n, s: 2 * n + 1),
        (RatioEstimate(LinearCombination(((0, Fraction(1)), (1, Fraction(-1))))), lambda n, s: n - s),
        (
            RatioEstimate(LinearCombination(((1, Fraction(1)),)), LinearCombination(((0, Fraction(1)),))),
            lambda n, s: s / n,
        ),
        (
            RatioEstimate(
                LinearCombination(((0, Fraction(3)), (1, Fraction(1)))), LinearCombination(((0, Fraction(1)),))
            ),
            lambda n, s: 3 + s / n,
        ),
        (
            RatioEstimate(LinearCombination(((0, Fraction(1)),)), LinearCombination(((1, Fraction(1)),))),
            lambda n, s: n / s,
        ),
    ],
    ids=["scaled", "less a sum", "mean", "shifted mean", "per sum"],
)
def test_intervals_hold_given_that_the_group_is_shown(
    db: jali.Database, estimate: RatioEstimate, truth: Any, beyond: int
) -> None:
    """Of 3,000 seeded draws at 90 %, fewer than 87 % have a chance below 1e-6."""
    plan = planned(db, f"{ROWS}, SUM(cost)", "rows", epsilon=1)
    assert isinstance(plan.selection, LaplaceThreshold)
    generator, runs, total = np.random.default_rng(7), 3000, 2000

    def noise(mechanism: Any, size: int) -> Any:
        q = math.exp(-1 / float(mechanism.scale))
        return generator.geometric(1 - q, size) - generator.geometric(1 - q, size)

    people = plan.selection.threshold + beyond
    told = people + noise(plan.selection, 200 * runs)
    told = told[told >= plan.selection.threshold][:runs]
    assert len(told) == runs
    sums = total + noise(plan.parts[0].mechanisms[1], runs)
    spans = reading(plan, told.tolist(), sums.tolist()).intervals(estimate, 0.9)
    held = np.mean([low <= truth(people, total) <= high for low, high in spans])
    assert held >= 0.87
    unaware = replace(reading(plan, told.tolist(), sums.tolist()).release, told=None).readings[0]
    if beyond < 0 and estimate.numerator.constant:
        wrong = [low <= truth(people, total) <= high for low, high in unaware.intervals(estimate, 0.9)]
        assert np.mean(wrong) < 0.8


def test_a_ratio_to_a_count_that_may_be_nothing_has_the_widest_interval(db: jali.Database) -> None:
    plan = planned(db, f"{ROWS}, SUM(cost)", "rows", epsilon=1)
    below = LinearCombination(((0, Fraction(1)),), Fraction(-100))
    ((low, high),) = reading(plan, [100], [5]).intervals(
        RatioEstimate(LinearCombination(((1, Fraction(1)),)), below), 0.9
    )
    assert (low, high) == (-math.inf, math.inf)
