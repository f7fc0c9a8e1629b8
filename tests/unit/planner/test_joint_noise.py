"""Measures that leave together: how far a person moves them, what they cost, how much less noise they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from tests.frames import tagged
from tests.seeded import SeededBits

import jali
from jali.catalog.columns import Kind
from jali.catalog.tables import Source, Table
from jali.errors import JaliError
from jali.ir.aggregates import (
    Aggregation,
    CountPeople,
    CountRows,
    CountValues,
    KeySet,
    Measure,
    SumValues,
    Weights,
)
from jali.ir.estimators import RatioEstimate
from jali.ir.expressions import Column
from jali.ir.ownership import changes
from jali.ir.relations import Scan
from jali.mechanisms import Gaussian, Laplace, LInfinity
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.planner import PLANS, RULES, Draft, Plan
from jali.planner.joint_noise import choose_multipliers, find_block
from jali.planner.plan import check_loss, compute_release_loss
from jali.planner.query_sensitivity import QuerySensitivity
from jali.planner.rules.split_loss import split_loss
from jali.planner.terms import read_terms
from jali.privacy import Adjacency, Budget
from jali.sql.reader.read_select import read_sql

# Every sum of a person's rows.

Row = tuple[int, int, int]  # the group, and two values
Vector = dict[int, tuple[int, ...]]
PEOPLE = Table("people", Source("frame", ""), None, 1, Adjacency.ADD_REMOVE, (), Budget(1))
X = SumValues(Column("x"), Kind.INTEGER, Fraction(-1), Fraction(2), Fraction(0), Fraction(1))
Y = SumValues(Column("y"), Kind.INTEGER, Fraction(0), Fraction(3), Fraction(0), Fraction(1))
BLOCK: tuple[Measure, ...] = (CountRows(), X, Y)
RESOLUTION, MAX_ROWS = 6, 2


def aggregation(groups: int, selecting: bool = False) -> Aggregation:
    values = None if selecting else tuple("AB"[:groups])
    keys = () if groups == 1 and not selecting else (KeySet(Column("ward"), Kind.TEXT, values),)
    weights = Weights(MAX_ROWS, MAX_ROWS, RESOLUTION)
    return Aggregation(Scan(PEOPLE), keys, BLOCK, weights, selecting=selecting, one_of_several=False)


def vectors(groups: int) -> list[Vector]:
    """What one person can add: any rows at the ends of the ranges, up to one more than count in full."""
    rows = list(product(range(groups), (X.least, X.most), (Y.least, Y.most)))
    found: dict[str, Vector] = {}
    for size in range(MAX_ROWS + 2):
        for mine in combinations_with_replacement(rows, size):
            weight = min(RESOLUTION, RESOLUTION * MAX_ROWS // max(size, 1))
            vector = {g: _total(weight, [row for row in mine if row[0] == g]) for g in range(groups)}
            found[str(vector)] = vector
    return list(found.values())


def _total(weight: int, rows: list[Row]) -> tuple[int, ...]:
    return weight * len(rows), weight * sum(x for _, x, _ in rows), weight * sum(y for _, _, y in rows)


def moved(one: Vector, other: Vector, times: tuple[int, ...]) -> int:
    pairs = (zip(one[g], other[g], times, strict=True) for g in one)
    return sum(max(factor * abs(a - b) for a, b, factor in triples) for triples in pairs)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("times", [(1, 1, 1), (3, 2, 1), (6, 3, 2), (1, 7, 1)])
def test_no_person_moves_what_leaves_together_further_than_the_reach(groups: int, times: tuple[int, ...]) -> None:
    """All that one person can add, alone and in place of another: the reach is met, and never passed."""
    asked, every = aggregation(groups), vectors(groups)
    nothing: Vector = dict.fromkeys(range(groups), (0, 0, 0))
    by_place = dict(enumerate(times))
    alone = max(moved(vector, nothing, times) for vector in every)
    assert alone == QuerySensitivity(asked, 1, times=by_place).joint
    replaced = max(moved(one, other, times) for one in every for other in every)
    assert replaced == QuerySensitivity(asked, 2, times=by_place).joint
    assert QuerySensitivity(asked, 4, times=by_place).joint == 2 * replaced
    if groups == 2:
        assert QuerySensitivity(aggregation(2, selecting=True), 2, times=by_place).joint == replaced


@pytest.mark.parametrize(
    ("reaches", "most"),
    [((4, 1), 1), ((3, 2), 2), ((120, 100, 7), 1024), ((1 << 30, 3), 1), ((1, 1), 1), ((999, 1000), 1024)],
)
def test_multipliers_make_reaches_equal_and_are_no_larger_than_that_needs(
    reaches: tuple[int, ...], most: int
) -> None:
    times = choose_multipliers([Fraction(reach) for reach in reaches], Fraction(1))
    whole = max(t * r for t, r in zip(times, reaches, strict=True))
    assert all(t * r >= Fraction(999, 1000) * whole for t, r in zip(times, reaches, strict=True))
    assert whole <= most * max(reaches)


def test_multipliers_stay_where_noise_can_be_drawn() -> None:
    """Reaches that are large are not made larger; a little is lost, and nothing raises."""
    large, epsilon = (1 << 50) + 1, Fraction(1, 16)
    times = choose_multipliers([Fraction(large), Fraction(2 * large // 3)], epsilon)
    scale = times[0] * large / epsilon
    assert scale <= 1 << 56
    assert LInfinity(sensitivity=scale * epsilon, epsilon=epsilon, dimension=2).noise(3, 2).shape == (3, 2)


# Plans.

WARDS = ["A", "B", "C"]


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    rows = {"uid": [1, 1, 2], "ward": ["A", "B", "A"], "cost": [1.0, None, 3.0], "age": [30, 40, 50]}
    rows["code"] = ["x", "y", "z"]
    columns = {"ward": jali.Keys(WARDS), "cost": jali.Range(0, 100), "age": jali.Range(0, 120)}
    with jali.connect() as opened:
        given: dict[str, Any] = {"columns": columns, "budget": jali.Budget(epsilon=10**6, delta=1e-3)}
        opened.protect("visits", pa.table(rows), unit="uid", max_rows=4, **given)
        opened.protect(
            "moved", tagged(pa.table(rows), "moved"), unit="uid", max_rows=4, adjacency="replace-one", **given
        )
        opened.protect("rows", tagged(pa.table(rows), "rows"), unit=None, **given)
        yield opened


def planned(db: jali.Database, sql: str, **loss: Any) -> Plan:
    return db.explain(sql, **(loss or {"epsilon": 1}))


def kinds(plan: Plan) -> list[str]:
    return [type(mechanism).__name__ for mechanism in plan.parts[0].mechanisms]


def blocked(plan: Plan) -> list[str]:
    """What leaves together, by kind."""
    return [type(plan.aggregation.measures[place]).__name__ for place in find_block(plan.parts[0])]


def test_measures_of_rows_leave_together_over_groups_and_all_of_them_in_one(db: jali.Database) -> None:
    grouped = planned(db, "SELECT ward, COUNT(*), AVG(cost), COUNT(DISTINCT uid) FROM visits GROUP BY ward")
    assert blocked(grouped) == ["CountRows", "SumValues", "CountRows"]
    assert kinds(grouped).count("Laplace") == 1
    alone = planned(db, "SELECT COUNT(*), COUNT(DISTINCT uid), COUNT(DISTINCT age) FROM visits")
    assert blocked(alone) == ["CountRows", "CountPeople", "CountValues"]
    assert {type(m) for m in alone.aggregation.measures} == {CountRows, CountPeople, CountValues}


def test_one_measure_and_all_at_rho_have_noise_of_their_own(db: jali.Database) -> None:
    assert kinds(planned(db, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")) == ["Laplace"]
    assert kinds(planned(db, "SELECT COUNT(*), AVG(cost) FROM visits", rho=1)) == ["Gaussian"] * 3


def test_a_count_that_is_told_with_its_group_is_in_no_block(db: jali.Database) -> None:
    sql = "SELECT code, COUNT(DISTINCT uid), AVG(cost), COUNT(*) FROM visits GROUP BY code"
    plan = planned(db, sql, epsilon=1, delta="1/1000000")
    assert plan.selection_count is not None
    assert plan.selection_count not in find_block(plan.parts[0])
    assert len(find_block(plan.parts[0])) == 3


def test_a_block_is_paid_for_once_and_by_each_table_for_what_it_moves(db: jali.Database) -> None:
    sql = """SELECT COUNT(*), SUM(v.cost), AVG(m.age) FROM visits v LEFT JOIN moved m ON v.uid = m.uid"""
    plan = planned(db, sql)
    part = plan.parts[0]
    block = find_block(part)
    assert len(plan.events) == 1 + len(part.mechanisms) - len(block)
    times = {place: coordinate.times for place, coordinate in block.items()}
    joint = next(iter(block.values())).joint
    for table in plan.tables:
        moves = changes(plan.source, table)
        charged = [compute_release_loss(part, place, moves).epsilon for place in block]
        assert charged[0] == QuerySensitivity(part.aggregation, moves, times=times).joint / joint.scale
        assert charged[1:] == [0] * (len(block) - 1)
    costs = dict(plan.costs)
    assert costs["visits"].amount < costs["moved"].amount == 1


def _halved(mechanism: JointNoiseCoordinate) -> JointNoiseCoordinate:
    joint = mechanism.joint
    smaller = LInfinity(sensitivity=joint.sensitivity / 2, epsilon=joint.epsilon, dimension=joint.dimension)
    return replace(mechanism, joint=smaller)


FORGED: dict[str, Any] = {
    "swapped places": lambda m: (replace(m[0], place=1), replace(m[1], place=0)),
    "one place twice": lambda m: (m[0], replace(m[1], place=0)),
    "a larger multiple": lambda m: (m[0], replace(m[1], times=2 * m[1].times)),
    "no multiple": lambda m: (m[0], replace(m[1], times=0)),
    "less noise": lambda m: tuple(map(_halved, m)),
    "less noise for one": lambda m: (m[0], _halved(m[1])),
    "half of it": lambda m: (m[0], Laplace(sensitivity=1, epsilon=1)),
    "without the first": lambda m: (Gaussian(sensitivity=1, rho=1), m[1]),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_block_is_stopped(db: jali.Database, forge: Any) -> None:
    plan = planned(db, "SELECT ward, AVG(cost) FROM visits GROUP BY ward")
    part = replace(plan.parts[0], mechanisms=forge(plan.parts[0].mechanisms))
    with pytest.raises(JaliError, match="The noise of the plan does not match its privacy loss"):
        check_loss(replace(plan, levels=(replace(plan.levels[0], parts=(part,)),)))


def test_people_over_groups_in_a_block_are_stopped(db: jali.Database) -> None:
    """What one person moves of people and of rows is not in one group together: their moves add up."""
    plan = planned(db, "SELECT ward, AVG(cost) FROM visits GROUP BY ward")
    total, _ = plan.aggregation.measures
    for other in (CountPeople(), CountValues(Column("age"), Kind.INTEGER)):
        part = replace(plan.parts[0], aggregation=replace(plan.aggregation, measures=(total, other)))
        with pytest.raises(JaliError, match="The noise of the plan does not match its privacy loss"):
            check_loss(replace(plan, levels=(replace(plan.levels[0], parts=(part,)),)))


@pytest.mark.parametrize("sql", ["SELECT AVG(cost), COUNT(*) FROM visits", "SELECT SUM(age), COUNT(*) FROM rows"])
def test_a_plan_is_stored_and_read_as_it_was(db: jali.Database, sql: str) -> None:
    plan = planned(db, sql)
    assert find_block(plan.parts[0])
    restored = PLANS.decode(PLANS.encode(plan))
    assert restored == plan
    check_loss(restored)


# Sums that share.


@pytest.mark.parametrize(
    ("asked", "sums", "counts"),
    [
        ("SUM(cost)", 1, 0),
        ("SUM(cost), AVG(cost)", 1, 1),
        ("SUM(cost), AVG(cost), COUNT(cost)", 1, 1),
        ("SUM(cost), COUNT(*)", 1, 1),
        ("SUM(cost), SUM(age)", 2, 1),
    ],
)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 1}], ids=str)
def test_sums_share_what_other_aggregates_are_made_of(
    db: jali.Database, asked: str, sums: int, counts: int, loss: dict[str, Any]
) -> None:
    """Over several groups, where a count moves as far as a centred sum."""
    measures = planned(db, f"SELECT ward, {asked} FROM visits GROUP BY ward", **loss).aggregation.measures
    assert [type(m) for m in measures].count(SumValues) == sums
    assert [type(m) for m in measures].count(CountRows) == counts


def variance(plan: Plan, place: int) -> float:
    """The variance of an output that is a linear form: noises of one group are uncorrelated."""
    estimate = plan.estimates[place][1]
    assert isinstance(estimate, RatioEstimate)
    laws = [cast("Laplace | JointNoiseCoordinate", part.mechanisms[i]).law for part, i in plan.levels[0].releases]
    return sum((float(c) * laws[i].stddev) ** 2 for i, c in estimate.numerator.terms)


def test_a_sum_beside_a_count_has_the_noise_of_a_lone_sum(db: jali.Database) -> None:
    """Laplace noise of four rows of 100 at epsilon 1 has 2 * 400^2; the count beside it has 4 * 4^2, not 8."""
    lone = planned(db, "SELECT ward, SUM(cost) FROM visits GROUP BY ward")
    both = planned(db, "SELECT ward, SUM(cost), COUNT(*) FROM visits GROUP BY ward")
    assert variance(lone, 0) == pytest.approx(2 * 400**2, rel=1e-4)
    assert variance(both, 0) == pytest.approx(2 * 400**2, rel=1e-3)
    assert variance(both, 1) == pytest.approx(4 * 4**2, rel=1e-3)


def test_a_count_of_one_replaced_person_matters_less_to_a_mean(db: jali.Database) -> None:
    """In one group it moves by 4 while the centred sum moves by twice 4 * 50: a quarter of a third."""
    for sql, expected in (
        ("SELECT AVG(cost) FROM visits", 1 / 3),
        ("SELECT AVG(cost) FROM moved", 1 / 12),
        ("SELECT ward, AVG(cost) FROM moved GROUP BY ward", 1 / 3),
    ):
        draft = Draft(read_sql(sql), db.tables.catalog, read_terms(epsilon=1))
        for rule in RULES[: RULES.index(split_loss) + 1]:
            draft = rule(draft)
        assert draft.importance == pytest.approx((1, expected), rel=1e-6)


# Whole numbers.


def test_counts_and_sums_of_whole_numbers_by_row_are_whole_with_joint_noise(db: jali.Database) -> None:
    """They are rounded, and so are the ends of their intervals, outwards: a whole number between stays between."""
    sql = "SELECT ward, COUNT(*), SUM(age), AVG(age), SUM(cost) FROM rows GROUP BY ward"
    answer = db.ask(sql, epsilon=5)
    assert len(find_block(db.explain(sql, epsilon=5).parts[0])) > 2
    for row, spans in zip(answer.rows, answer.interval(), strict=True):
        for place in (1, 2):
            assert isinstance(row[place], int)
            assert (
                spans[place][1] - row[place] == row[place] - spans[place][0] == int(spans[place][1]) - row[place]
            )
        assert isinstance(row[4], float)
    by_person = db.ask("SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward", epsilon=5)
    assert not all(isinstance(row[1], int) for row in by_person.rows)


# The law.


def test_the_loss_by_enumeration_is_that_charged(db: jali.Database) -> None:
    """Every table of two rows or fewer and each with a row more, by the masses of all outputs of a lattice."""
    plan = planned(db, "SELECT COUNT(*), SUM(age) FROM rows WHERE age < 2", epsilon=2)
    whole = SumValues(Column("age"), Kind.INTEGER, Fraction(0), Fraction(2), Fraction(0), Fraction(1))
    measures = (CountRows(), whole)
    asked = replace(plan.aggregation, measures=measures)
    times = {0: 2, 1: 1}
    reach = QuerySensitivity(asked, 1, times=times).joint
    joint = LInfinity(sensitivity=reach, epsilon=2, dimension=2)
    tables = [rows for size in range(3) for rows in combinations_with_replacement((None, 0, 1, 2), size)]
    worst = max(
        _distance(joint, _exact(rows, times), _exact((*rows, one), times))
        for rows in tables
        for one in (None, 0, 1, 2)
    )
    assert worst == pytest.approx(2, rel=1e-9)


def _exact(rows: tuple[int | None, ...], times: dict[int, int]) -> tuple[int, int]:
    return times[0] * len(rows), times[1] * sum(row or 0 for row in rows)


def _distance(joint: LInfinity, one: tuple[int, int], other: tuple[int, int]) -> float:
    before, after = joint.log_masses(one), joint.log_masses(other)
    common = before.keys() & after.keys()
    assert len(common) > 100
    return max(abs(before[key] - after[key]) for key in common)


def test_multiples_and_noise_are_released_by_group(db: jali.Database) -> None:
    """What leaves is the exact number times its multiple, plus the noise of its group and place."""
    sql = "SELECT ward, AVG(cost) FROM visits GROUP BY ward"
    plan = planned(db, sql)
    given = np.arange(6).reshape(3, 2) * 10**9 + 7

    def noise(self: LInfinity, rows: int, columns: int, **_: Any) -> np.ndarray:
        assert (rows, columns) == (3, 2)
        return given

    with patch.object(LInfinity, "noise", noise):
        released = db.ask(sql, epsilon=1).release.noisy
    exact = db._engine.run(plan.sql, plan.read)
    for place, values in enumerate(released):
        times = plan.levels[0].times(place)
        assert values == tuple(row[place] * times + int(given[g, place]) for g, row in enumerate(exact))


def test_a_mean_errs_a_quarter_less_than_with_the_loss_split(db: jali.Database) -> None:
    """A mean a root of 1/3 of the way to an end of its range, where its count matters a third: 40,000 draws."""
    plan = planned(db, "SELECT ward, AVG(cost) FROM visits GROUP BY ward")
    total, count = plan.parts[0].mechanisms
    assert isinstance(total, JointNoiseCoordinate)
    assert isinstance(count, JointNoiseCoordinate)
    noise = total.joint.noise(40_000, 2, bits=SeededBits(7)).astype(float)
    worth = [float(plan.levels[0].worth(place)) for place in (0, 1)]
    away = 50 / 3**0.5
    error = noise[:, 0] * worth[0] - away * noise[:, 1] * worth[1]
    # The split that is best for Laplace noise: shares of the cube roots of 1 and 1/3, sensitivities 4 * 50 and 4.
    share = 1 / (1 + 3 ** (-1 / 3))
    before = 2 * (4 * 50 / share) ** 2 + 2 * (away * 4 / (1 - share)) ** 2
    assert np.sqrt(np.mean(error**2) / before) < 0.75
    assert np.mean(error**2) == pytest.approx(4 * (4 * 50) ** 2 * (1 + 1 / 3), rel=0.03)


def test_the_noises_of_a_group_have_one_radius_and_those_of_two_groups_none_in_common(db: jali.Database) -> None:
    plan = planned(db, "SELECT ward, AVG(cost) FROM visits GROUP BY ward")
    (coordinate, _) = plan.parts[0].mechanisms
    assert isinstance(coordinate, JointNoiseCoordinate)
    sizes = np.log(np.abs(coordinate.joint.noise(20_000, 2, bits=SeededBits(3)).astype(float)) + 1)
    within = np.corrcoef(sizes[:, 0], sizes[:, 1])[0, 1]
    between = np.corrcoef(sizes[:-1, 0], sizes[1:, 1])[0, 1]
    assert within > 0.1
    assert abs(between) < 0.04
