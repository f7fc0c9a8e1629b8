"""Plans of batches: one loss for all, what leaves together, common cells, and numbers that fit them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import nnls
from tests.depth import deep

import jali
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.planner.batch import BatchPlan
from jali.planner.batch.batch_terms import choose_cheaper, compose_releases, whole_cost
from jali.planner.batch.common_cells import CellPlaces
from jali.planner.batch.consistent_answers import (
    ReleaseBlock,
    distance,
    find_clusters,
    fit_cells,
    round_to_lattice,
)
from jali.privacy import THEOREMS, DiscreteLaplaceLoss, Filter, Pure, compose, largest_rho

COUNTS = [f"SELECT COUNT(*) FROM t WHERE age > {age}" for age in range(5, 100, 12)]
WARDS = "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward"
ROWS = {"uid": [1, 1, 2], "ward": ["A", "B", "A"], "age": [30, 40, 50], "cost": [1.0, 2.0, 3.0]}


def database(unit: str | None = "uid", budget: jali.Budget | None = None, **options: Any) -> jali.Database:
    db = jali.connect()
    columns: dict[str, jali.Range | jali.Keys] = {
        "ward": jali.Keys(["A", "B", "C"]),
        "age": jali.Range(0, 120),
        "cost": jali.Range(0, 10),
    }
    budget = budget or jali.Budget(epsilon=100, delta=1e-5)
    arguments = {"unit": unit, "max_rows": 4 if unit else None, "columns": columns, "budget": budget} | options
    db.protect("t", pa.table(ROWS), **arguments)
    return db


def planned(db: jali.Database, questions: Sequence[str | tuple[str, dict[str, Any]]], **total: Any) -> BatchPlan:
    batch = db.batch(**total)
    for one in questions:
        sql, given = (one, {}) if isinstance(one, str) else one
        batch.ask(sql, **given)
    return batch.explain()


@pytest.mark.parametrize("unit", ["uid", None])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_losses_of_all_releases_sum_to_the_total_exactly(unit: str | None, adjacency: str) -> None:
    db = database(unit, adjacency=adjacency)
    questions = [*COUNTS, WARDS, "SELECT AVG(cost) FROM t", "SELECT CDF(age, [20, 40, 60]) FROM t"]
    assert planned(db, questions, epsilon="7/10").cost.epsilon == Fraction(7, 10)
    assert planned(db, questions, rho="1/10").cost.rho == Fraction(1, 10)


def test_a_question_of_more_weight_gets_more_of_the_loss_by_the_cube_root() -> None:
    even, odd = (
        planned(
            database(),
            [WARDS, ("SELECT age > 60 AS old, COUNT(*) FROM t GROUP BY old", {"weight": weight})],
            epsilon=1,
        )
        for weight in (1, 8)
    )
    shares = [[float(p.cost.epsilon or 0) for p in plan.plans] for plan in (even, odd)]
    assert shares[0] == pytest.approx([1 / 2, 1 / 2], abs=1e-3)
    assert shares[1] == pytest.approx([1 / 3, 2 / 3], abs=1e-3)


def test_what_two_questions_both_ask_is_released_once() -> None:
    plan = planned(database(), [WARDS, WARDS, "select ward w, count(*) from T group by W"], epsilon=1)
    assert len(plan.plans) == 1
    assert len(plan.plans[0].parts[0].mechanisms) == 1
    apart = planned(database(), [(WARDS, {"epsilon": "1/10"})] * 3)
    assert apart.cost.epsilon == Fraction(1, 10)


def test_counts_without_groups_leave_by_one_noise_that_is_smaller_than_separate_ones() -> None:
    plan = planned(database(), COUNTS, epsilon=1)
    (part,) = plan.plans[0].parts
    size = len(COUNTS)
    assert all(isinstance(m, JointNoiseCoordinate) and m.joint.dimension == size for m in part.mechanisms)
    law: Any = part.mechanisms[0]
    scale = 4 << 20
    assert (law.law.stddev / scale) ** 2 == pytest.approx((size + 1) * (size + 2) / 3, rel=1e-3)
    assert (law.law.stddev / scale) ** 2 < 2 * size**2


def test_a_refusal_names_the_question_and_nothing_is_planned() -> None:
    db = jali.connect()
    db.protect("t", pa.table({"code": ["x"]}), unit=None, budget=jali.Budget(epsilon=1))
    with pytest.raises(jali.errors.Unsupported, match="Question 2 of the batch: The keys of code"):
        planned(db, ["SELECT COUNT(*) FROM t", "SELECT code, COUNT(*) FROM t GROUP BY code"], epsilon=1)
    with pytest.raises(jali.errors.QueryError, match=r"Question 1 of the batch: .* cannot have its own"):
        planned(database(), [(WARDS, {"epsilon": 1})], epsilon=1)
    with pytest.raises(jali.errors.QueryError, match=r"Question 1 of the batch: The privacy loss is missing"):
        planned(database(), [WARDS])
    with pytest.raises(jali.errors.QueryError, match="takes 1 to"):
        planned(database(), [], epsilon=1)


def test_twenty_counting_questions_cost_at_most_what_every_theorem_allows_for_the_same_noise() -> None:
    """The sums, advanced and optimal composition, zCDP and the privacy-loss distribution, on Laplace noise."""
    sql = [f"SELECT age > {age} AS old, COUNT(*) FROM t GROUP BY old" for age in range(20)]
    budget = jali.Budget(epsilon=5, delta=2e-5)
    plan = planned(database(None, budget), [(one, {"epsilon": "1/4"}) for one in sql], delta=1e-6)
    noise = [m for p in plan.plans for m in p.parts[0].mechanisms]
    assert len(noise) == 20
    assert all(isinstance(m, Laplace) and m.scale == 4 for m in noise)
    table = compose((DiscreteLaplaceLoss(4), 20)).table(1e-6)
    bounds = [row.epsilon for row in table.rows if isinstance(row, jali.privacy.Bound)]
    assert len(bounds) >= 5
    assert len(table.rows) == len(THEOREMS)
    cost = plan.cost
    assert cost.epsilon is not None
    assert float(cost.epsilon) <= min(bounds) * (1 + 1e-9)
    assert cost.epsilon < 5
    assert cost.delta == Fraction(1, 10**6)
    assert cost.rho == cost.epsilon**2 / 2


def test_a_budget_that_adds_up_by_rho_is_charged_the_parts() -> None:
    """100 questions of 1/20 take 5 of epsilon, and less than a tenth of the rho of a large budget."""
    budget = jali.Budget(epsilon=6, delta=1e-5)
    sql = [f"SELECT age > {age} AS old, COUNT(*) FROM t GROUP BY old" for age in range(100)]
    plan = planned(database(None, budget), [(one, {"epsilon": "1/20"}) for one in sql], delta=1e-6)
    parts = dict(plan.parts)["t"]
    assert parts.rho == Fraction(100, 800)
    whole = compose_releases(plan.plans, plan.tables[0]).epsilon(1e-6)
    assert parts.rho / Filter(budget).rho < Fraction(whole) / 6
    assert plan.cost == parts


def test_a_coarser_laplace_law_loses_at_least_as_much_as_the_fine_one() -> None:
    """The law of 2^14 steps is followed by that of 2^10: 3 of them, at every epsilon."""
    fine, coarse = (compose((DiscreteLaplaceLoss(Fraction(1 << bits), 1 << bits), 3)) for bits in (14, 10))
    for epsilon in (0.1, 0.5, 1.0, 2.0, 2.9):
        assert fine.delta_bounds(epsilon)[0] <= coarse.delta(epsilon) * (1 + 1e-9)


@deep
def test_with_a_delta_the_noise_of_the_least_forecast_error_is_taken() -> None:
    """Gaussian noise for very many grouped counts, Laplace noise for one; both within the total."""
    many = [f"SELECT age > {age} AS old, COUNT(*) FROM t GROUP BY old" for age in range(60)]
    plan = planned(database(None), many, epsilon=1, delta=1e-6)
    assert all(isinstance(m, Gaussian) for p in plan.plans for m in p.parts[0].mechanisms)
    assert dict(plan.parts)["t"].rho <= largest_rho(1, 1e-6)
    assert [error for _, error in plan.ways] == sorted(error for _, error in plan.ways)
    tight = jali.Budget(epsilon=1, delta="11/1000000", delta_events="1/100000")
    assert planned(database(None, tight), many, epsilon=1, delta="1/1000000").cost.epsilon in (None, 1)
    assert whole_cost(plan.plans, plan.tables[0], Fraction(1, 10**6), Fraction(1)).epsilon == 1
    one = planned(database(None), [WARDS], epsilon=1, delta=1e-6)
    assert all(isinstance(m, Laplace) for p in one.plans for m in p.parts[0].mechanisms)
    assert one.cost == Pure(1).event


def test_explain_says_which_questions_agree_what_leaves_together_and_what_it_costs() -> None:
    text = str(planned(database(), [*COUNTS[:2], WARDS, "SELECT MEDIAN(age) FROM t"], epsilon=1))
    assert "A batch of 4 questions" in text
    assert "WHERE age > 5" in text
    assert "Made consistent: [1], [2], [3]" in text.replace(", [4]", "")
    assert "weighted once for all questions" in text
    assert "t is charged once: epsilon 1." in text


def test_questions_whose_cells_would_be_too_many_agree_in_smaller_clusters() -> None:
    keys = [f"SELECT {column} * 1000 // 7 AS k, COUNT(*) FROM t GROUP BY k" for column in ("age", "age + 1")]
    plan = planned(database(), ["SELECT COUNT(*) FROM t", *keys], epsilon=1)
    sizes = [cluster.partition.cells for cluster in find_clusters(plan)]
    assert all(size <= 20_000 for size in sizes)
    assert len(sizes) == 2


# Common cells.


def test_a_hundred_questions_on_two_columns_have_one_set_of_cells_and_each_its_place() -> None:
    """Against a grid that is filled here: cells that differ for some question are as many as these."""
    limits = [(10 * i, 10 * (37 * i % 100)) for i in range(100)]
    with database(None) as db:
        questions = [f"SELECT COUNT(*) FROM t WHERE age > {a} AND cost > {b}" for a, b in limits]
        (cluster,) = find_clusters(planned(db, questions, epsilon=1))
    look = CellPlaces(cluster.partition)
    (ages, costs) = (
        np.array([next(iter(one.values())) for one in choices], np.object_)
        for choices in cluster.partition.dimensions
    )
    assert (len(ages), len(costs)) == (102, 103)
    for member, (a, b) in zip(cluster.members, limits, strict=True):
        old = np.array([age is not None and age > a for age in ages])
        dear = np.array([cost is not None and cost > b for cost in costs])
        expected = np.where(np.logical_and.outer(old, dear), 0, -1)
        assert (look.of(member.counted).reshape(102, 103) == expected).all()


def test_a_condition_that_all_share_does_not_keep_questions_on_three_columns_apart() -> None:
    """100 questions look at 102 classes of three columns in all, and agree in clusters of fewer."""
    sql = "SELECT COUNT(*) FROM t WHERE age > {} AND cost > {} AND uid > {}"
    questions = [sql.format(i, 37 * i % 100, 7 * i % 100) for i in range(100)]
    columns: dict[str, Any] = {"uid": jali.Range(0, 100), "age": jali.Range(0, 120), "cost": jali.Range(0, 10)}
    found = find_clusters(planned(database(None, columns=columns), questions, epsilon=1))
    assert all(cluster.partition.cells <= 20_000 for cluster in found)
    assert sum(len(cluster.members) for cluster in found) > 95
    assert len(found) < 8


def test_rows_that_fail_the_condition_of_a_distribution_function_are_not_taken_for_rows_without_a_key() -> None:
    """Rows without a key are taken to be none until it is clear that they exist; these are asked for besides."""
    questions = ["SELECT CDF(age, [20, 40]) FROM t WHERE cost > 3", "SELECT COUNT(*) FROM t WHERE cost <= 3"]
    (cluster,) = find_clusters(planned(database(None), questions, epsilon=1))
    look = CellPlaces(cluster.partition)
    by_size = sorted(cluster.members, key=lambda member: member.counted.size)
    cheap, running = (look.of(member.counted) for member in by_size)
    assert (running[cheap == 0] == -1).all()
    assert (cheap == 0).any()
    assert set(running) >= {-1, 0, 1}


def test_whole_numbers_that_doubles_skip_are_not_compared_with_fractions_in_cells() -> None:
    """DuckDB compares a whole number with a fraction as doubles: 2^53 + 1 is then 2^53."""
    for limit, apart in ((f"{2**53}.5", True), ("1000.5", False)):
        questions = [f"SELECT COUNT(*) FROM t WHERE age > {limit}", "SELECT COUNT(*) FROM t WHERE age > 7"]
        (cluster,) = find_clusters(planned(database(None), questions, epsilon=1))
        names = {type(next(iter(choices[0]))).__name__ for choices in cluster.partition.dimensions}
        assert names == ({"Column", "Call"} if apart else {"Column"})


@pytest.mark.parametrize("limited", [True, False])
def test_delta_is_spent_for_a_clear_gain_only(limited: bool) -> None:
    budget, delta = jali.Budget(epsilon=4, delta=1e-3), Fraction(1, 10**5)
    parts = Pure(2).event
    for saved, taken in ((Fraction(1, 1000), False), (Fraction(1, 10), True)):
        whole = replace(Pure(2 - saved).event, delta=delta)
        assert choose_cheaper(parts, whole, budget, Fraction(2) if limited else None) == (
            whole if taken else parts
        )
    # Parts that sum to more than was asked for are charged as a whole, however little that saves.
    beyond = replace(Pure(Fraction(1999, 1000)).event, delta=delta)
    assert choose_cheaper(parts, beyond, budget, Fraction(1999, 1000)) == beyond


@pytest.mark.parametrize("seed", range(6))
def test_least_squares_find_what_scipy_finds(seed: int) -> None:
    """Against Lawson and Hanson's active sets, on random partitions and a strategy matrix."""
    random = np.random.default_rng(seed)
    cells = 12
    blocks, rows, values = [], [], []
    for size, matrix in ((1, None), (3, None), (4, None), (3, np.array([[1.0, 1, 1], [0, 1, 2], [3, 0, 1]]))):
        places = random.integers(-1, size, cells)
        sums = np.array([[float(place == g) for place in places] for g in range(size)])
        measured = sums if matrix is None else matrix @ sums
        variance = float(random.uniform(0.5, 5))
        noisy = measured @ random.integers(0, 6, cells) + random.normal(0, 3, len(measured))
        blocks.append(ReleaseBlock(places, noisy, variance, matrix, size))
        rows.append(measured / math.sqrt(variance))
        values.append(noisy / math.sqrt(variance))
    _, best = nnls(np.vstack(rows), np.concatenate(values))
    found = fit_cells(blocks, np.ones(cells, dtype=bool), positive=True)
    assert (found >= 0).all()
    assert distance(blocks, found) == pytest.approx(best**2, rel=1e-5, abs=1e-5)


def test_numbers_on_the_lattice_add_up_without_rounding() -> None:
    random = np.random.default_rng(3)
    for scale in (1e-3, 1.0, 1e9, 1e14):
        cells = random.uniform(0, scale, 1000)
        whole, bits = round_to_lattice(cells)
        doubles = np.ldexp(whole, -bits)
        assert math.fsum(doubles) == float(np.sum(doubles)) == float(np.sum(doubles[::-1]))
        assert abs(doubles - cells).max() <= 2.0**-bits
