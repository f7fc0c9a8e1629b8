"""Bounds per group: each person's sum in each group is clamped, and one person counts in so many groups."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.harness import in_measures, noise_off

import jali
from jali.database import Database
from jali.ir.aggregates import SumValues
from jali.ir.ownership import changes, most_changes
from jali.ir.relations import PerOwner
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity

# Person 1 has four rows in A and one in B, person 2 has one row in A, person 3 has rows in A, B and C (and in Z,
# which nobody declared), person 4 has no number at all.
ROWS: list[tuple[Any, ...]] = [
    (1, "A", 40.0, 30),
    (1, "A", 50.0, 40),
    (1, "A", 60.0, 50),
    (1, "A", None, 60),
    (1, "B", 5.0, 30),
    (2, "A", 7.0, 70),
    (3, "A", -20.0, 20),
    (3, "B", 300.0, 20),
    (3, "C", 9.0, 20),
    (3, "Z", 1.0, 20),
    (4, "C", math.nan, 80),
    (None, "A", 99.0, 1),
]
BOUND = "contribution_bounds_per_group"
COLUMNS = {"ward": jali.Keys(["A", "B", "C"]), "age": jali.Range(0, 120)}


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    types = (pa.int64(), pa.string(), pa.float64(), pa.int64())
    names = ("uid", "ward", "cost", "age")
    columns = {n: pa.array([row[i] for row in rows], t) for i, (n, t) in enumerate(zip(names, types, strict=True))}
    return pa.table(columns)


def database(rows: list[tuple[Any, ...]], **options: Any) -> Database:
    db = jali.connect()
    arguments: dict[str, Any] = {"unit": "uid", "max_rows": 3, "columns": COLUMNS} | options
    db.protect("visits", table(rows), budget=jali.Budget(epsilon=10**6, delta=1e-3), **arguments)
    return db


def exact(sql: str, rows: list[tuple[Any, ...]] | None = None, **terms: Any) -> list[tuple[Any, ...]]:
    with database(ROWS if rows is None else rows) as db, noise_off():
        return list(db.ask(sql, **({"epsilon": 1} | terms)).rows)


def near(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> None:
    assert [row[0] for row in found] == [row[0] for row in wanted]
    for got, right in zip(found, wanted, strict=True):
        assert got[1:] == pytest.approx(right[1:], abs=1e-4)


def test_a_persons_sum_in_a_group_is_clamped_and_not_the_rows() -> None:
    # A: 150 -> 100, 7, -20 -> 0; B: 5, 300 -> 100; C: 9, and nothing of person 4.
    found = exact(f"SELECT ward, SUM(cost, {BOUND} => (0, 100)) FROM visits GROUP BY ward")
    near(found, [("A", 107), ("B", 105), ("C", 9)])


def test_a_persons_rows_in_a_group_are_counted_up_to_the_bound() -> None:
    found = exact(
        f"SELECT ward, COUNT(*, {BOUND} => (0, 2)), COUNT(cost, {BOUND} => (0, 9)) FROM visits GROUP BY ward"
    )
    near(found, [("A", 4, 5), ("B", 2, 2), ("C", 2, 1)])


def test_a_lower_bound_lifts_what_is_below_it() -> None:
    found = exact(f"SELECT ward, COUNT(*, {BOUND} => (2, 3)) FROM visits GROUP BY ward")
    near(found, [("A", 3 + 2 + 2), ("B", 4), ("C", 4)])


def test_people_are_averaged_and_not_rows() -> None:
    # A: person 1 has the mean 45, then 70 and 20; clamped to 60.
    found = exact(f"SELECT ward, AVG(age, {BOUND} => (0, 60)) FROM visits GROUP BY ward")
    near(found, [("A", (45 + 60 + 20) / 3), ("B", 25), ("C", 40)])


def test_people_can_be_counted_beside_bounded_sums() -> None:
    sql = f"SELECT ward, COUNT(DISTINCT uid), SUM(age, {BOUND} => (0, 1000)) FROM visits GROUP BY ward"
    near(exact(sql), [("A", 3, 180 + 70 + 20), ("B", 2, 50), ("C", 2, 100)])


def test_a_filter_counts_the_people_and_rows_that_pass_it() -> None:
    sql = f"""SELECT ward, COUNT(DISTINCT uid) FILTER (WHERE age > 25), SUM(age, {BOUND} => (0, 100))
        FILTER (WHERE age < 45) FROM visits WHERE cost IS NOT NULL GROUP BY ward"""
    # The cost of a person of C is NaN, which counts as missing.
    near(exact(sql), [("A", 2, 70 + 20), ("B", 1, 50), ("C", 0, 20)])


def test_a_person_in_more_groups_counts_less_in_each_of_them() -> None:
    sql = f"SELECT ward, COUNT(*, {BOUND} => (0, 1)) FROM visits GROUP BY ward"
    # Person 1 is in two groups, person 3 in three declared ones.
    near(exact(sql, max_groups=1), [("A", 1 / 2 + 1 + 1 / 3), ("B", 1 / 2 + 1 / 3), ("C", 1 / 3 + 1)])


def test_without_groups_one_person_has_one_sum_and_the_bound_alone_is_the_sensitivity() -> None:
    with database(ROWS) as db, noise_off():
        sql = f"SELECT SUM(cost, {BOUND} => (-10, 200)) FROM visits"
        assert db.ask(sql, epsilon=1, max_groups=3).rows[0] == pytest.approx((155 + 7 + 200,), abs=1e-4)
        assert in_units(db, sql, max_groups=3) == pytest.approx(200)


def in_units(db: Database, sql: str, **terms: Any) -> float:
    """Return the L1 sensitivity of the first measure of a question, in units of its value."""
    aggregation = db.explain(sql, epsilon=1, **terms).aggregation
    measure = aggregation.measures[0]
    assert isinstance(measure, SumValues)
    return float(l1_sensitivity(aggregation, measure, 1) * aggregation.unit(measure))


@pytest.mark.parametrize(("groups", "wanted"), [(None, 300), (1, 100), (2, 200), (50, 300)])
def test_the_sensitivity_is_groups_times_the_bound(groups: int | None, wanted: float) -> None:
    # Declared rows are 3, and so are the declared wards: a person cannot be in more than three groups.
    with database(ROWS) as db:
        sql = f"SELECT ward, SUM(cost, {BOUND} => (-30, 100)) FROM visits GROUP BY ward"
        assert in_units(db, sql, max_groups=groups) == pytest.approx(wanted)


def test_gaussian_noise_is_calibrated_to_the_root_of_the_groups() -> None:
    with database(ROWS) as db:
        sql = f"SELECT ward, SUM(cost, {BOUND} => (-30, 100)) FROM visits GROUP BY ward"
        plan = db.explain(sql, rho=1)
        (measure,) = plan.aggregation.measures
        squared = squared_l2_sensitivity(plan.aggregation, measure, 1)
        assert float(squared * plan.aggregation.unit(measure) ** 2) == pytest.approx(3 * 100**2)


def test_the_clause_says_the_same_as_the_arguments() -> None:
    clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=1, privacy_unit_column=uid)"
    select = f"ward, SUM(cost, {BOUND} => (0, 100)) AS total FROM visits GROUP BY ward"
    with database(ROWS) as db:
        assert db.explain(f"SELECT {clause} {select}") == db.explain(f"SELECT {select}", epsilon=1, max_groups=1)


def test_groups_that_nobody_declared_are_chosen_by_their_people() -> None:
    rows = [(i, f"w{i % 2}", 10.0, 5) for i in range(200)] + [(i, "w0", 30.0, 5) for i in range(0, 100, 2)]
    with database(rows, columns={}) as db, noise_off():
        sql = f"SELECT ward, SUM(cost, {BOUND} => (0, 25)) AS s FROM visits GROUP BY ward"
        found = db.ask(sql, epsilon=1, delta=1e-6, max_groups=2).rows
    near(list(found), [("w0", 50 * 25 + 50 * 10), ("w1", 1000)])


def test_a_declared_range_clamps_rows_before_they_are_summed() -> None:
    columns = {"ward": jali.Keys(["A"]), "cost": jali.Range(0, 50)}
    with database([(1, "A", 70.0, 1), (1, "A", -70.0, 1)], columns=columns) as db, noise_off():
        sql = f"SELECT ward, SUM(cost, {BOUND} => (0, 100)) FROM visits GROUP BY ward"
        near(list(db.ask(sql, epsilon=1).rows), [("A", 50)])


def test_far_rows_count_up_to_sixty_five_thousand_times_the_bound() -> None:
    rows: list[tuple[Any, ...]] = [(1, "A", 1e9, 1), (1, "A", -1e9, 1), (1, "A", 3.0, 1), (2, "A", math.inf, 1)]
    found = exact(f"SELECT ward, SUM(cost, {BOUND} => (0, 10)) FROM visits GROUP BY ward", rows)
    near(found, [("A", 3 + 10), ("B", 0), ("C", 0)])


def test_a_table_whose_column_is_called_owner_keeps_its_own_owner() -> None:
    data = pa.table({"uid": [1, 1, 2], "owner": [7, 8, 7], "x": [5, 5, 5]})
    with jali.connect() as db, noise_off():
        db.protect(
            "t",
            data,
            unit="uid",
            max_rows=2,
            budget=jali.Budget(epsilon=9),
            columns={"owner": jali.Keys([7, 8]), "x": jali.Range(0, 9)},
        )
        found = db.ask(f"SELECT owner, SUM(x, {BOUND} => (0, 9)) FROM t GROUP BY owner", epsilon=1).rows
    near(list(found), [(7, 10), (8, 5)])


@pytest.mark.parametrize("count", ["COUNT(*)", f"COUNT(*, {BOUND} => (0, 1))"])
@pytest.mark.parametrize("key", ["x + 0", "CASE WHEN x > 0 THEN 9007199254740992 ELSE 9007199254740993 END"])
def test_a_row_is_in_one_group_also_where_doubles_cannot_tell_the_keys_apart(count: str, key: str) -> None:
    data = pa.table({"uid": [1], "x": pa.array([2**53], pa.int64())})
    with jali.connect() as db, noise_off():
        keys = {"x": jali.Range(2**53, 2**53 + 6)}
        db.protect("t", data, unit="uid", max_rows=1, columns=keys, budget=jali.Budget(epsilon=9))
        with pytest.raises(jali.errors.Unsupported):
            db.ask(f"SELECT {key}, {count} FROM t GROUP BY 1", epsilon=1)
        assert sum(row[1] for row in db.ask(f"SELECT x, {count} FROM t GROUP BY x", epsilon=1).rows) == 1


def test_bounds_per_row_clamp_each_row() -> None:
    found = exact(
        "SELECT ward, SUM(cost, contribution_bounds_per_row => (0, 45)) FROM visits GROUP BY ward", max_rows=9
    )
    near(found, [("A", 40 + 45 + 45 + 7 + 0), ("B", 5 + 45), ("C", 9)])


@pytest.mark.parametrize(
    ("sql", "terms", "word"),
    [
        (f"SELECT SUM(cost, {BOUND} => (0, 9)), MAX(age) FROM visits", {}, "separate question"),
        (f"SELECT SUM(cost, {BOUND} => (0, 9)), COUNT(*) FROM visits", {}, "Add the bounds: COUNT"),
        (f"SELECT SUM(cost, {BOUND} => (0, 9)), COUNT(DISTINCT age) FROM visits", {}, "COUNT(DISTINCT unit)"),
        (
            f"SELECT ward, SUM(cost, {BOUND} => (0, 9)) FROM visits GROUP BY ROLLUP (ward)",
            {},
            "each grouping set in a separate question",
        ),
        (f"SELECT SUM(cost, {BOUND} => (0, 9)) FROM visits", {"max_rows": 2}, "max_groups"),
        (f"SELECT uid, SUM(cost, {BOUND} => (0, 9)) FROM visits GROUP BY uid", {}, "subquery"),
        (f"SELECT SUM(cost, {BOUND} => (0, 1e400)) FROM visits", {}, "smaller bounds"),
    ],
)
def test_what_cannot_be_bounded_per_group_is_refused_with_a_remedy(
    sql: str, terms: dict[str, Any], word: str
) -> None:
    with database(ROWS) as db:
        with pytest.raises(jali.errors.QueryError) as refused:
            db.ask(sql, epsilon=1, **terms)
        assert refused.value.position is not None
        assert word in str(refused.value)
        assert db.receipts() == ()


def clause(options: str, select: str = "COUNT(*) FROM visits") -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {select}"


@pytest.mark.parametrize(
    "sql",
    [
        clause("privacy_unit_column=uid"),
        clause("privacy_unit_column=UID"),
        clause("privacy_unit_column=visits.uid"),
        clause("privacy_unit_column=v.uid", "COUNT(*) FROM visits AS v"),
        clause("privacy_unit_column=person", "COUNT(*) FROM (SELECT uid AS person FROM visits) AS p"),
        clause("privacy_unit_column=p.person", "COUNT(*) FROM (SELECT uid AS person FROM visits) AS p"),
        clause("privacy_unit_column=v.uid", f"COUNT(*, {BOUND} => (0, 1)) FROM visits AS v"),
        clause("group_selection_strategy=PUBLIC_GROUPS", "ward, COUNT(*) FROM visits GROUP BY ward"),
        clause("group_selection_strategy=LAPLACE_THRESHOLD", "ward, COUNT(*) FROM visits GROUP BY ward"),
        clause("epsilon=1"),
        clause("delta=1e-6"),
    ],
)
def test_a_clause_that_agrees_with_the_catalog_is_accepted(sql: str) -> None:
    with database(ROWS) as db:
        assert db.explain(sql, epsilon="1").cost.epsilon == 1


@pytest.mark.parametrize(
    ("sql", "terms", "word"),
    [
        (clause("privacy_unit_column=ward"), {"epsilon": 1}, "visits.uid"),
        (clause("privacy_unit_column=other.uid"), {"epsilon": 1}, "visits.uid"),
        (clause("privacy_unit_column=age", "COUNT(*) FROM (SELECT uid, age FROM visits)"), {"epsilon": 1}, "unit"),
        (clause("epsilon=2"), {"epsilon": 1}, "different values of epsilon"),
        (clause("epsilon=2"), {"rho": 1}, "rho"),
        (clause("max_groups_contributed=2"), {"epsilon": 1, "max_groups": 3}, "max_groups"),
        (
            clause(
                "group_selection_strategy=PUBLIC_GROUPS, delta=1e-6", "age + age, COUNT(*) FROM plain GROUP BY 1"
            ),
            {"epsilon": 1},
            "group_selection_strategy is PUBLIC_GROUPS, but not all group keys are declared",
        ),
        (
            clause(
                "group_selection_strategy=PUBLIC_GROUPS, delta=1e-6, min_privacy_units_per_group=5",
                "ward, COUNT(*) FROM visits GROUP BY ward",
            ),
            {"epsilon": 1},
            "group_selection_strategy is PUBLIC_GROUPS, but the table hides small groups",
        ),
        (clause("privacy_unit_column=none", "COUNT(*) FROM plain"), {"epsilon": 1}, "each row is a person"),
    ],
)
def test_a_clause_that_says_otherwise_is_refused(sql: str, terms: dict[str, Any], word: str) -> None:
    with database(ROWS) as db:
        db.protect("plain", pa.table({"age": [1, 2]}), unit=None, budget=jali.Budget(epsilon=9, delta=1e-6))
        with pytest.raises(jali.errors.QueryError) as refused:
            db.explain(sql, **terms)
        assert word in str(refused.value)


values = st.one_of(st.none(), st.sampled_from([0.0, 1.0, -1.0, 7.5, 1e308, -1e308, math.inf, -math.inf, math.nan]))
visit = st.tuples(st.sampled_from("ABCZ"), values, st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)))
bounds = st.sampled_from([(0, 10), (-3, 2), (1, 4), (-5, -2), (0, 0), ("0.1", "0.3")])


@settings(max_examples=30 * DEPTH, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    others=st.lists(visit, max_size=5),
    mine=st.lists(visit, max_size=8),
    ends=bounds,
    groups=st.integers(1, 4),
    function=st.sampled_from(["SUM(cost", "SUM(age", "COUNT(*", "COUNT(cost", "AVG(cost"]),
    keyed=st.booleans(),
    replacing=st.booleans(),
)
def test_one_person_moves_the_exact_integers_by_no_more_than_declared(
    others: list[Any],
    mine: list[Any],
    ends: tuple[Any, Any],
    groups: int,
    function: str,
    keyed: bool,
    replacing: bool,
) -> None:
    by = " GROUP BY ward" if keyed else ""
    sql = f"SELECT {'ward, ' if keyed else ''}{function}, {BOUND} => ({ends[0]}, {ends[1]})) FROM visits{by}"
    rest = [(i % 2, *row) for i, row in enumerate(others)]
    columns = {"ward": jali.Keys(["A", "B", "C"])}
    adjacency = "replace-one" if replacing else "add-remove"
    if replacing:
        rest += [(9, ward, None if cost is None else -cost, age) for ward, cost, age in mine]
    with database(rest, columns=columns, adjacency=adjacency) as db, noise_off():
        plan = db.explain(sql, epsilon=1, max_groups=groups)
        before = in_measures(plan, db.ask(sql, epsilon=1, max_groups=groups).release.noisy)
        db.tables.attach("visits", table([row for row in rest if row[0] != 9] + [(9, *row) for row in mine]))
        db.refresh("visits")
        after = in_measures(plan, db.ask(sql, epsilon=1, max_groups=groups).release.noisy)
    assert isinstance(plan.source, PerOwner)
    moves = most_changes(plan.source)
    for measure, a, b in zip(plan.aggregation.measures, before, after, strict=True):
        moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
        assert sum(moved) <= l1_sensitivity(plan.aggregation, measure, moves)
        assert sum(m * m for m in moved) <= squared_l2_sensitivity(plan.aggregation, measure, moves)


@pytest.mark.parametrize("gone", ["visits", "people"])
def test_a_person_who_leaves_one_table_of_a_join_moves_no_more_than_that_table_pays_for(gone: str) -> None:
    people = pa.table({"pid": [1, 2, 3], "sex": ["m", "f", "m"]})
    sql = f"""SELECT COALESCE(ward, 'C') AS w, COUNT(*, {BOUND} => (1, 4)) AS n
        FROM people LEFT JOIN visits ON pid = uid GROUP BY COALESCE(ward, 'C')"""
    with database(ROWS) as db, noise_off():
        keys = {"sex": jali.Keys(["m", "f"])}
        db.protect("people", people, unit="pid", max_rows=1, columns=keys, budget=jali.Budget(epsilon=9))
        plan, before = db.explain(sql, epsilon=1), db.ask(sql, epsilon=1).release.noisy[0]
        without = [row for row in ROWS if row[0] != 3]
        db.tables.attach(gone, table(without) if gone == "visits" else people.slice(0, 2))
        db.refresh(gone)
        after = db.ask(sql, epsilon=1).release.noisy[0]
    moves = changes(plan.source, next(t for t in plan.tables if t.name == gone))
    assert moves == (2 if gone == "visits" else 1)
    moved = sum(abs(a - b) for a, b in zip(before, after, strict=True))
    assert 0 < moved <= l1_sensitivity(plan.aggregation, plan.aggregation.measures[0], moves)


@settings(max_examples=15 * DEPTH, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(st.tuples(st.integers(1, 4), visit), max_size=12), ends=bounds, groups=st.integers(1, 4))
def test_answers_equal_the_definition(rows: list[Any], ends: tuple[Any, Any], groups: int) -> None:
    data = [(uid, ward, cost, 1) for uid, (ward, cost, _) in rows if cost is None or abs(cost) < 100]
    found = exact(
        f"SELECT ward, SUM(cost, {BOUND} => ({ends[0]}, {ends[1]})) FROM visits GROUP BY ward",
        data,
        max_groups=groups,
    )
    sums: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for uid, ward, cost, _ in data:
        if ward != "Z":
            sums[uid][ward] += [] if cost is None else [cost]
    low, high = (Fraction(str(end)) for end in ends)
    wanted = dict.fromkeys("ABC", 0.0)
    for person in sums.values():
        weight = Fraction(math.floor(2**20 * min(Fraction(1), Fraction(min(groups, 3), len(person)))), 2**20)
        for ward, own in person.items():
            wanted[ward] += float(weight * min(max(Fraction(sum(own)), low), high)) if own else 0.0
    near(found, list(wanted.items()))
