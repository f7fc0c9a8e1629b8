"""What a review tried against the planner's joint noise, weights by length and strategies for cells.

The loss of two neighbouring tables is computed here from the exact integers and the noise that would be drawn, all
releases of a question together, and compared with what the question is charged: no sensitivity is asked for.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import mpmath  # type: ignore[import-untyped]
import numpy as np
import pyarrow as pa
import pytest
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

import jali
from jali.ir.ownership import changes, most_changes
from jali.mechanisms import Gaussian, Laplace, LInfinity
from jali.mechanisms.additive.cube_laws import CoordinateLaw
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.intervals.linear_forms import bound_linear_quantile
from jali.mechanisms.workloads.cell_strategies import MeasuredCells, TreeOfCells
from jali.planner import Plan
from jali.planner.measured_query import MeasuredQuery
from jali.planner.plan import check_loss, compute_loss
from jali.privacy import Event
from jali.sampling.cube_radius import CubeRadius
from jali.sampling.log_concave import _candidates, _peak

Row: TypeAlias = tuple[int, str | None, float | None, int | None]
BUDGET = jali.Budget(epsilon=10**6, delta="1/2")
NAN, INF = math.nan, math.inf
KEYS = ["A", "B", "C", None, "undeclared"]
REALS = [None, NAN, INF, -INF, -0.0, 0.0, 1e308, -1e308, 3.0, -3.0, 10.0, 0.1, 5e-324]
WHOLE = [None, 0, -(2**63), 2**63 - 1, 5, -7, 100, 2**31, -(2**31) - 1]
MANY = ", ".join(str(i) for i in range(40))
QUESTIONS = [
    "SUM(x) AS a, COUNT(*) AS b FROM t",
    "SUM(x) AS a, SUM(n) AS b, COUNT(*) AS c, COUNT(x) AS d FROM t",
    "AVG(x) AS a, SUM(n) AS b FROM t",
    "SUM(x) FILTER (WHERE n > 0) AS a, COUNT(*) FILTER (WHERE x > 1) AS b, COUNT(*) AS c FROM t",
    "VARIANCE(x) AS a, SUM(x) AS b FROM t",
    "SUM(n) AS a, COUNT(n) AS b, COUNT(DISTINCT uid) AS c FROM t",
    f"CDF(n, [{MANY}]) AS a, COUNT(*) AS b FROM t",
    "CDF(x, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) AS a FROM t",
    "HISTOGRAM(x, [0, 5]) AS a, SUM(x) AS b FROM t",
    "COVAR_POP(x, n) AS a, SUM(x + n) AS b FROM t",
    "SUM(s) AS a, COUNT(*) AS b"
    " FROM (SELECT uid, g, SUM(LEAST(GREATEST(x, 0), 10)) AS s FROM t GROUP BY uid, g) AS q",
    "SUM(CASE WHEN p.pid IS NULL THEN x ELSE -x END) AS a, COUNT(p.pid) AS b FROM t LEFT JOIN p ON t.uid = p.pid",
]


def _person(rng: random.Random, uid: int) -> list[Row]:
    """Anything that one person may have: many equal rows, rows in all groups, hostile values."""
    count, alike = rng.choice([0, 1, 1, 2, 3, 5, 9, 30]), rng.random() < 0.5
    same: Row = (uid, rng.choice(KEYS), rng.choice(REALS), rng.choice(WHOLE))
    return [
        (uid, rng.choice(KEYS), same[2] if alike else rng.choice(REALS), same[3] if alike else rng.choice(WHOLE))
        if rng.random() < 0.5
        else same
        for _ in range(count)
    ]


def _database(rows: list[Row], adjacency: str, bounds: dict[str, Any]) -> jali.Database:
    types = {"uid": pa.int64(), "g": pa.string(), "x": pa.float64(), "n": pa.int64()}
    table = pa.table({name: pa.array([r[i] for r in rows], t) for i, (name, t) in enumerate(types.items())})
    columns: dict[str, Any] = {
        "g": jali.Keys(["A", "B", "C"]),
        "x": jali.Range(*bounds["x"]),
        "n": jali.Range(*bounds["n"]),
    }
    db = jali.connect()
    db.protect(
        "t", table, unit="uid", max_rows=bounds["rows"], columns=columns, budget=BUDGET, adjacency=adjacency
    )
    people = pa.table({"pid": pa.array([1, 3, 99], pa.int64())})
    db.protect("p", people, unit="pid", max_rows=1, budget=BUDGET, adjacency=adjacency)
    return db


def _asked(db: jali.Database, question: str, kind: str, loss: int) -> Plan:
    return db.explain(question, epsilon=loss) if kind == "epsilon" else db.explain(question, rho=loss)


def _exact(db: jali.Database, plan: Plan) -> list[list[tuple[Any, ...]]]:
    return [db._engine.run(part.sql, plan.read) for part in plan.parts]


def _lost(plan: Plan, one: list[list[tuple[Any, ...]]], other: list[list[tuple[Any, ...]]]) -> Event:
    """The loss between two tables, of the noise that the plan would draw."""
    epsilon, rho = Fraction(0), Fraction(0)
    for part, before, after in zip(plan.parts, one, other, strict=True):
        for scale, moved in _moves(part, before, after):
            if isinstance(scale, Gaussian):
                rho += Fraction(sum(m * m for m in moved)) / (2 * scale.variance)
            else:
                epsilon += sum(map(abs, moved)) / scale
    return Event(epsilon, rho)


def _moves(part: MeasuredQuery, one: list[Any], other: list[Any]) -> list[tuple[Fraction | Gaussian, list[int]]]:
    if part.draws:
        return [_cells_moved(part, mechanism, one, other) for mechanism in part.mechanisms]
    assert len(one) == len(other) == part.aggregation.groups
    moved = [[int(a) - int(b) for a, b in zip(r, s, strict=True)] for r, s in zip(one, other, strict=True)]
    block = [(i, m) for i, m in enumerate(part.mechanisms) if isinstance(m, JointNoiseCoordinate)]
    found: list[tuple[Fraction | Gaussian, list[int]]] = []
    if block:
        largest = [max(m.times * abs(row[i]) for i, m in block) for row in moved]
        found.append((block[0][1].joint.scale, largest))
    for i, mechanism in enumerate(part.mechanisms):
        if isinstance(mechanism, Laplace | Gaussian):
            found.append((_scale(mechanism), [row[i] for row in moved]))
    return found


def _cells_moved(
    part: MeasuredQuery, mechanism: Any, one: list[Any], other: list[Any]
) -> tuple[Fraction | Gaussian, list[int]]:
    assert part.aggregation.along is not None
    moved = np.zeros((part.aggregation.groups, part.aggregation.along.cells), dtype=object)
    for rows, sign in ((one, 1), (other, -1)):
        for group, cell, weight in rows:
            moved[int(group), int(cell)] += sign * int(weight)
    if isinstance(mechanism, MeasuredCells):
        return _scale(mechanism.noise), [int(m) for row in moved for m in mechanism.strategy.measure(row)]
    return _scale(mechanism), moved.ravel().tolist()


def _scale(mechanism: Any) -> Fraction | Gaussian:
    return mechanism.scale if isinstance(mechanism, Laplace) else mechanism


@thinned(2)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("loss", ["epsilon", "rho"])
def test_no_neighbours_lose_more_than_a_question_is_charged(adjacency: str, loss: str) -> None:
    rng, largest = random.Random(f"{adjacency} {loss}"), Fraction(0)
    for question in QUESTIONS * DEPTH:
        bounds = {
            "rows": rng.choice([1, 2, 3, 8]),
            "x": rng.choice([(0, 10), (-3, 4), (5, 10), (-10, -2), (-1e6, 1e6)]),
            "n": rng.choice([(0, 100), (-7, 5), (-(2**31), 2**31), (90, 100)]),
        }
        others = [row for uid in range(1, 4) for row in _person(rng, uid)] + [(7, "A", 1.0, 1)]
        taken = _person(rng, 98) if adjacency == "replace-one" else []
        worlds = [_database(others + more, adjacency, bounds) for more in (_person(rng, 99), taken)]
        for asked in (f"SELECT {question}", f"SELECT g, {question} GROUP BY g"):
            plans = [_asked(db, asked, loss, 2) for db in worlds]
            assert plans[0].sql == plans[1].sql
            lost = _lost(plans[0], *(_exact(db, plan) for db, plan in zip(worlds, plans, strict=True)))
            charged = dict(plans[0].costs)["t"]
            assert lost.epsilon is not None
            if loss == "epsilon":
                assert charged.epsilon is not None
                assert lost.epsilon <= charged.epsilon, (asked, bounds)
                largest = max(largest, lost.epsilon / charged.epsilon)
            else:
                assert lost.epsilon == 0
                assert lost.rho <= charged.rho, (asked, bounds)
                largest = max(largest, lost.rho / charged.rho)
        assert str(plans[0]) == str(plans[1])
    # Neighbours that are nearly as far apart as they may be were among them: the comparison can fail.
    assert largest > Fraction(1, 4)


EXTREMES = {
    "TINYINT": ["-128", "127"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"],
    "HUGEINT": ["-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"],
    "UBIGINT": ["0", "18446744073709551615"],
    "UHUGEINT": ["0", "340282366920938463463374607431768211455"],
    "FLOAT": ["nan", "inf", "-inf", "-0.0", "3e38"],
    "DOUBLE": ["nan", "inf", "-inf", "-0.0", "1e308", "-1e308", "5e-324"],
    "DECIMAL(38,2)": ["999999999999999999999999999999999999.99", "-999999999999999999999999999999999999.99"],
}


@thinned(4)
@pytest.mark.parametrize("type_", EXTREMES)
def test_no_value_of_any_type_stops_the_engine(type_: str, tmp_path: Path) -> None:
    file = tmp_path / "values.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute(f"CREATE TABLE t (uid INTEGER, g VARCHAR, x {type_})")
        for value in [*EXTREMES[type_], None]:
            made.execute(f"INSERT INTO t VALUES (1, 'A', CAST(CAST(? AS VARCHAR) AS {type_}))", [value])
    asked = "SUM(x) AS a, AVG(x) AS b, COUNT(*) AS c FROM t", "CDF(x, [-1, 0, 1]) AS a, MEDIAN(x) AS b FROM t"
    for ends in [(-5, 5), (-(2**31) - 1, 2**31), (2**31 - 2, 2**31 - 1), (-(2**63), 2**63 - 1)]:
        db = jali.connect()
        columns: dict[str, Any] = {"g": jali.Keys(["A", "B"]), "x": jali.Range(*ends)}
        db.protect("t", str(file), relation="t", unit="uid", max_rows=2, columns=columns, budget=BUDGET)
        for question, loss in product(asked, ["epsilon", "rho"]):
            try:
                plan = _asked(db, f"SELECT g, {question} GROUP BY g", loss, 10)
            except jali.errors.QueryError:
                continue  # before any row is read
            assert all(_exact(db, plan))


def test_weights_by_length_keep_their_bound_at_the_largest_max_rows() -> None:
    """One person with 40, 30 and 20 rows, and 100 that are in no group, which do not count."""
    for most in (1, 2, 3, 5, 2**30):
        rows: list[Row] = [
            (9, key, 1.0, 1) for key, count in zip("ABC", (40, 30, 20), strict=True) for _ in range(count)
        ]
        rows += [(9, "undeclared", 1.0, 1)] * 100
        db = _database(rows, "add-remove", {"rows": most, "x": (0, 1), "n": (0, 1)})
        plan = db.explain("SELECT g, COUNT(*) AS c FROM t GROUP BY g", rho=1)
        assert plan.aggregation.weights is not None
        assert plan.aggregation.weights.norm == "l2"
        squared = sum(int(count) ** 2 for (count,) in _exact(db, plan)[0])
        bound = (most << 20) ** 2
        # As much as fits is kept: one more for each row would be too much, unless every row counts fully.
        assert squared <= bound
        weight = math.isqrt(squared // 2900)
        assert weight == 1 << 20 or (weight + 2) ** 2 * 2900 > bound


def test_cube_noise_has_its_law_point_by_point() -> None:
    """Pearson's statistic of 40,000 seeded draws in two dimensions, over all points expected above 20 times."""
    mechanism = LInfinity(sensitivity=3, epsilon=2, dimension=2)
    drawn = mechanism.noise(40_000, 2, bits=SeededBits(71)).tolist()
    reach = range(-60, 61)
    weights = {(a, b): math.exp(-max(abs(a), abs(b)) / 1.5) for a in reach for b in reach}
    total, seen = sum(weights.values()), dict.fromkeys(weights, 0)
    for a, b in drawn:
        seen[a, b] += 1
    expected = {z: 40_000 * w / total for z, w in weights.items()}
    often = [z for z, mean in expected.items() if mean > 20]
    statistic = sum((seen[z] - expected[z]) ** 2 / expected[z] for z in often)
    # Six standard deviations of a chi-squared variable with so many degrees.
    assert len(often) > 80
    assert abs(statistic - len(often)) < 6 * math.sqrt(2 * len(often))


@pytest.mark.parametrize("dimension", [1, 2, 7, 200])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 3), Fraction(2**56), Fraction(2**60)])
def test_ratios_in_double_err_by_no_more_than_their_lemma_says(dimension: int, scale: Fraction) -> None:
    law = CubeRadius(dimension, 1 / scale)
    peak = _peak(law)
    places, _ = _candidates(peak, 20, SeededBits(dimension))
    places = np.array([0, peak.mode, peak.mode + 20 * peak.right, *places[places >= 0].tolist()], dtype=object)
    ratios, margin = law.ratio_doubles(places, peak.mode)
    assert margin == dimension * 2.0**-44
    with mpmath.workprec(400):
        for place, ratio in zip(places.tolist(), ratios.tolist(), strict=True):
            if math.isnan(ratio):
                continue
            fall = mpmath.exp(-mpmath.mpf(law.rate.numerator) / law.rate.denominator * (place - peak.mode))
            true = (mpmath.mpf(2 * place + 1) / (2 * peak.mode + 1)) ** dimension * fall
            assert abs(ratio / true - 1) <= dimension * mpmath.mpf(2) ** -45


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_intervals_of_forms_in_coarse_cube_noise_cover_by_enumeration(scale: Fraction) -> None:
    """Where noise is a few integers wide, its continuous limit is not enough."""
    moved = max(Fraction(1), scale)
    reach = int(45 * moved)
    axis = np.arange(-reach, reach + 1)
    first, second = (grid.ravel() for grid in np.meshgrid(axis, axis))
    masses = np.exp(-np.maximum(np.abs(first), np.abs(second)) / float(scale))
    masses /= masses.sum()
    cube = LInfinity(sensitivity=moved, epsilon=moved / scale, dimension=2).cube
    laws = [CoordinateLaw(cube, 0), CoordinateLaw(cube, 1)]
    for factors in ([1.0, 1.0], [1.0, -0.5], [3.0, 1e-6], [0.3, 0.7]):
        for confidence in (0.5, 0.9, 0.99):
            width = bound_linear_quantile(factors, laws, confidence)
            inside = np.abs(factors[0] * first + factors[1] * second) <= width
            assert masses[inside].sum() >= confidence - 1e-9


def _plan(question: str, **loss: Any) -> Plan:
    rows: list[Row] = [(1, "A", 1.0, 1), (1, "B", 2.0, 1), (2, "A", 9.0, 1)]
    db = _database(rows, "add-remove", {"rows": 2, "x": (0, 10), "n": (0, 1)})
    return db.explain(f"SELECT {question}", **loss)


def _forged(plan: Plan, part: MeasuredQuery) -> Plan:
    """A plan with another last part, whose costs are those that its own rules find."""
    level = plan.levels[0]
    plan = replace(plan, levels=(replace(level, parts=(*level.parts[:-1], part)),))
    costs = tuple((table.name, compute_loss(plan, changes(plan.source, table))) for table in plan.tables)
    return replace(plan, cost=compute_loss(plan, most_changes(plan.source)), costs=costs)


def test_a_multiplier_that_is_not_whole_is_refused() -> None:
    """Halves of counts and whole noise: what is released tells whether the count is even."""
    plan = _plan("g, SUM(x) AS a, COUNT(*) AS b, COUNT(x) AS c FROM t GROUP BY g", epsilon=1)
    part = plan.levels[0].parts[-1]
    half: Any = Fraction(3, 2)
    halves = tuple(replace(m, times=half) for m in part.mechanisms if isinstance(m, JointNoiseCoordinate))
    assert len(halves) == len(part.mechanisms)
    with pytest.raises(jali.JaliError):
        check_loss(_forged(plan, replace(part, mechanisms=halves)))


def test_a_tree_is_charged_for_the_levels_that_it_measures() -> None:
    plan = _plan(f"CDF(x, [{', '.join(str(i / 8) for i in range(1, 80))}]) AS a FROM t", epsilon=1)
    part = plan.levels[0].parts[-1]
    mechanism = part.mechanisms[0]
    assert isinstance(mechanism, MeasuredCells)
    assert isinstance(mechanism.strategy, TreeOfCells)
    below: Any = -1
    forged = replace(mechanism, strategy=replace(mechanism.strategy, root=below))
    levels = forged.strategy.measure(np.eye(1, forged.strategy.cells, dtype=object)[0]).sum()
    with pytest.raises(jali.JaliError):
        check_loss(_forged(plan, replace(part, mechanisms=(forged,))))
    assert forged.strategy.column[0] == levels


def test_a_plan_can_be_shown_at_the_largest_max_rows() -> None:
    db = _database([(1, "A", 1.0, 1)], "add-remove", {"rows": 2**30, "x": (0, 10), "n": (0, 100)})
    assert str(db.explain(f"SELECT CDF(n, [{MANY}]) AS a FROM t", epsilon=2))


def test_a_range_whose_square_is_no_double_is_refused_in_words() -> None:
    db = _database([(1, "A", 1.0, 1)], "add-remove", {"rows": 1, "x": (-1e300, 1e300), "n": (0, 1)})
    with pytest.raises(jali.JaliError):
        db.explain("SELECT VARIANCE(x) AS a FROM t", epsilon=1)
