"""Batches, prepared copies and partitions, attacked: what holds, and what was found not to hold."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.adversarial.hospital import TABLES, hospital, neighbours, vectors
from tests.adversarial.test_parts import crowd
from tests.depth import DEPTH, thinned
from tests.fuzz.property import check_costs, check_plan
from tests.fuzz.questions import Questions
from tests.fuzz.world import ADJACENCIES, house
from tests.harness import noise_off

import jali
from jali.catalog.tables import Source
from jali.engines.copy_storage import CopyDirectory
from jali.ir.ownership import changes
from jali.ledger import SqliteLedger
from jali.planner.batch.batch_terms import whole_cost
from jali.planner.plan import compute_release_loss
from jali.planner.subpopulations import SubpopulationRequest

WARDS = {"ward": jali.Keys(["A", "B"])}
EPSILON, BUDGET = 5, jali.Budget(epsilon=10)


# Batches.


def batch_of(seed: int) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]:
    """Questions on one relation with conditions, groups and bounds of their own."""
    writer = Questions(Random(seed))
    source = writer.relations.source(writer.pen.pick((0, 0, 1, 1)))
    found = []
    for _ in range(3):
        where = writer.relations.where(source, 1)
        keys = writer._keys(source) if writer.pen.chance(60) else []
        outputs = [f"{key.sql} AS g{i}" for i, key in enumerate(keys)] + [f"{writer._aggregate(source)} AS a"]
        sql = f"SELECT {', '.join(outputs)} FROM {source.sql}{where}{writer._group_by(keys)}"
        common = f"WITH {', '.join(writer.relations.common)} " if writer.relations.common else ""
        bounds = {n: v for n, v in writer._terms(keys).items() if n not in ("epsilon", "rho", "analyst")}
        found.append((common + sql, bounds))
    return found, writer.pen.pick(({"epsilon": 1}, {"rho": "1/2"}, {"epsilon": 1, "delta": 1e-6}))


def accepted(db: jali.Database, sql: str, bounds: dict[str, Any], total: dict[str, Any]) -> bool:
    batch = db.batch(**total)
    batch.ask(sql, **bounds)
    try:
        batch.explain()
    except jali.errors.QueryError:
        return False
    return True


def test_no_neighbour_moves_a_release_of_a_random_batch_further_than_it_is_charged_for() -> None:
    """Joins, subqueries, several tables, both adjacencies: conditions that moved into measures stay bounded."""
    triples = together = 0
    with house(ADJACENCIES[0]) as one, house(ADJACENCIES[1]) as other:
        for seed in range(4 * DEPTH):
            asked, total = batch_of(seed)
            home = (one, other)[seed % 2]
            batch = home.db.batch(**total)
            mine = [(sql, bounds) for sql, bounds in asked if accepted(home.db, sql, bounds, total)]
            for sql, bounds in mine:
                batch.ask(sql, **bounds)
            for plan in batch.explain().plans if len(mine) > 1 else ():
                check_costs(plan)
                triples += check_plan(home, plan, seed, 3)
            together += len(mine) > 1
    assert together >= 2 * DEPTH
    assert triples >= 15 * DEPTH


def losses(scale: float, moved: int) -> list[tuple[float, float]]:
    """Probabilities and losses of discrete Laplace noise at 0 against `moved`: none if nothing moves."""
    q = math.exp(-1 / scale)
    inner = [(1 - q) / (1 + q) * q**n for n in range(1, moved)]
    masses = [1 / (1 + q), *inner, q**moved / (1 + q)] if moved else [1.0]
    return [(mass, (moved - 2 * n) / scale) for n, mass in enumerate(masses)]


def delta_of(parts: list[list[tuple[float, float]]], epsilon: float) -> float:
    """The hockey-stick divergence of independent releases, term by term."""
    found = 0.0
    for outcome in product(*parts):
        loss = sum(each for _, each in outcome)
        found += math.prod(mass for mass, _ in outcome) * max(0.0, -math.expm1(epsilon - loss))
    return found


@pytest.mark.parametrize("moved", [(1, 1), (1, 3), (2, 2), (1, 1, 2), (1, 2, 3)])
def test_laplace_noise_on_many_groups_loses_no_more_than_on_one_that_moves_by_all(moved: tuple[int, ...]) -> None:
    """The distribution that batches compose is that of one number; what leaves are vectors of the same L1 norm."""
    for total in (0.3, 1.0, 3.0):
        scale = sum(moved) / total
        one, many = [losses(scale, sum(moved))], [losses(scale, each) for each in moved]
        for epsilon in np.linspace(-total, total, 41):
            assert delta_of(many, epsilon) <= delta_of(one, epsilon) + 1e-12


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_one_event_of_a_batch_holds_for_its_releases_one_by_one(adjacency: str) -> None:
    """Every release is taken as randomized response, the worst of its epsilon, and all outcomes are summed."""
    with hospital(adjacency=adjacency) as db:
        batch = db.batch()
        for keys in ("ward", "ward, home", "home", "sex", "sex, home"):
            tables = "visits" if keys == "ward" else "visits JOIN patients ON uid = pid"
            batch.ask(f"SELECT {keys}, COUNT(*) FROM {tables} GROUP BY {keys}", epsilon="1/5")
        plan, delta = batch.explain(), Fraction(1, 10**3)
        for table in plan.tables:
            mine = [one for one in plan.plans if table in one.tables]
            paying = [
                compute_release_loss(part, i, changes(one.source, table)).epsilon
                for one in mine
                for part in one.parts
                for i in range(len(part.mechanisms))
            ]
            chances = [(1 / (1 + math.exp(-e)), float(e)) for e in paying if e]
            parts = [[(p, e), (1 - p, -e)] for p, e in chances]
            event = whole_cost(plan.plans, table, delta)
            assert event.epsilon is not None
            assert event.delta == delta
            # Laplace noise loses less than randomized response: between a third of the sum and the worst.
            worst = next(e / 1000 for e in range(2001) if delta_of(parts, e / 1000) <= delta)
            assert sum(e for _, e in chances) / 3 < event.epsilon <= worst + 1e-3


def test_a_second_analyst_pays_for_a_batch_by_grant_and_new_data_is_no_hit() -> None:
    table = pa.table({"uid": [1, 1, 2], "ward": ["A", "B", "A"]})
    questions = ["SELECT COUNT(*) FROM v", "SELECT ward, COUNT(*) FROM v GROUP BY ward"]
    with jali.connect() as db:
        db.protect("v", table, unit="uid", max_rows=2, columns=WARDS, budget=BUDGET, memory="common")
        for analyst, most in (("ana", 2), ("ben", 2), ("cyd", "1/2")):
            db.grant(analyst, "v", jali.Budget(epsilon=most))

        def asked(analyst: str) -> Any:
            with db.session(analyst).batch(epsilon=1) as batch:
                for sql in questions:
                    batch.ask(sql)
            return batch.result

        first, second = asked("ana"), asked("ben")
        assert second.cached
        assert [one.rows for one in first] == [one.rows for one in second]
        spent = {account.name: account.spent.epsilon for account in db.ledger.accounts()}
        with pytest.raises(jali.BudgetExceeded):
            asked("cyd")
        assert {account.name: account.spent.epsilon for account in db.ledger.accounts()} == spent
        assert sorted(e for e in spent.values() if e is not None) == [0, 1, 1, 1]
        db.refresh("v")
        assert not asked("ana").cached
        assert db.tables.find("v").name == "v"
        assert max(account.spent.epsilon or 0 for account in db.ledger.accounts()) == 2


@pytest.mark.parametrize(
    "conditions",
    [
        ("NOT paid",),
        ("paid", "NOT paid"),
        tuple(f"kind NOT IN (SELECT kind FROM known) AND n > {n}" for n in (9, 99)),
    ],
    ids=["not", "both", "not in"],
)
def test_a_truth_value_that_is_a_condition_by_itself_is_counted_on_both_sides(conditions: tuple[str, ...]) -> None:
    """True and false fall into one cell, whose representative is true: what counts the others shows 0."""
    size = 300
    kinds = ["x" if i % 2 else "y" for i in range(size)]
    table = pa.table({"paid": [i % 3 == 0 for i in range(size)], "kind": kinds, "n": range(size)})
    questions = [f"SELECT COUNT(*) FROM t WHERE {one}" for one in conditions] + ["SELECT COUNT(*) FROM t"]
    with jali.connect() as db, noise_off():
        db.protect("t", table, unit=None, budget=jali.Budget(epsilon=10**7))
        db.publish("known", pa.table({"kind": ["x"]}))
        alone = [db.ask(sql, epsilon=1000).rows[0][0] for sql in questions]
        with db.batch(epsilon=10**5) as batch:
            for sql in questions:
                batch.ask(sql)
    assert [answer.rows[0][0] for answer in batch.answers] == pytest.approx(alone, abs=0.1)


def test_no_delta_is_spent_to_save_a_trifle_of_epsilon() -> None:
    """Two releases of 2 in all: 1/10,000 of epsilon is saved for a fifth of the delta, and rho grows."""
    budgets = {name: jali.Budget(epsilon=3, delta="1/1000") for name in ("visits", "patients")}
    with hospital(budgets=budgets) as db:
        batch = db.batch(epsilon=2, delta="1/10000")
        for age in range(10, 100, 5):
            batch.ask(f"SELECT ward, COUNT(*) FROM visits WHERE age > {age} GROUP BY ward")
        batch.ask("SELECT sex, COUNT(*) FROM visits JOIN patients ON uid = pid GROUP BY sex")
        plan = batch.explain()
    cost, parts = dict(plan.costs)["visits"], dict(plan.parts)["visits"]
    assert cost.epsilon is not None
    assert parts.epsilon is not None
    assert cost.delta == 0 or cost.epsilon < parts.epsilon * Fraction(99, 100)


# Prepared copies and sources.


def write_wards(path: Path, ward: str) -> None:
    pq.write_table(pa.table({"uid": [1, 1, 2, 2], "ward": [ward] * 4}), path)


def ask_part(db: jali.Database, ward: str) -> Any:
    return db.ask("SELECT COUNT(*) FROM v", epsilon=EPSILON, part={"ward": ward}).rows[0][0]


@pytest.mark.parametrize("step", ["refresh", "declare"])
def test_a_refresh_of_a_copy_that_is_cut_off_does_not_let_new_data_share_the_old_parts(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody was in part A and is in part B now: where both were seen, both are paid."""
    path = tmp_path / "v.parquet"
    write_wards(path, "A")
    with jali.connect(tmp_path / "x.jali") as db, noise_off():
        db.protect("v", path, unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)
        db.prepare("v")
        assert ask_part(db, "A") == 4
        write_wards(path, "B")

        def dies(*_: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(SqliteLedger, step, dies)
            with pytest.raises(KeyboardInterrupt):
                db.refresh("v")
        if step == "refresh":
            with pytest.raises(jali.errors.EngineError, match="closed"):
                ask_part(db, "B")
            assert db.ledger.accounts()[0].spent.epsilon == EPSILON
        db.refresh("v")
        assert ask_part(db, "B") == 4
        assert db.ledger.accounts()[0].spent.epsilon == 2 * EPSILON


class Watched:
    """Looks, from another process's place, at what each scheme reads: after every step that changes it."""

    def __init__(self, other: jali.Database) -> None:
        self.other = other
        self.seen = defaultdict[str, set[str]](set)

    def look(self) -> None:
        plan = self.other.explain("SELECT COUNT(*) FROM v", epsilon=EPSILON, part={"ward": "A"})
        found = self.other._engine.run(plan.sql, plan.read)
        self.seen[self.other._asking.parts.find_subpopulations(plan)["v"].scheme].add(str(found))

    def cut(self, run: Callable[[], object], most: int) -> bool:
        """Run, and die after so many steps; say whether there were so many."""
        left = iter(range(most - 1))

        def watched(step: Callable[..., Any]) -> Callable[..., Any]:
            def stepped(*given: Any) -> Any:
                found = step(*given)
                self.look()
                if next(left, None) is None:
                    raise KeyboardInterrupt
                return found

            return stepped

        with pytest.MonkeyPatch.context() as patched:
            for owner, name in ((SqliteLedger, "refresh"), (SqliteLedger, "declare"), (CopyDirectory, "put")):
                patched.setattr(owner, name, watched(getattr(owner, name)))
            try:
                run()
            except KeyboardInterrupt:
                return True
        return False


@thinned(3)
@pytest.mark.parametrize(("how", "steps"), [("refresh", 9), ("drop_prepared", 4), ("kinds", 4)])
def test_each_scheme_reads_one_data_wherever_a_copy_is_cut_off_and_whoever_asks_meanwhile(
    how: str, steps: int, tmp_path: Path
) -> None:
    """The file changes before each of three calls, of which the first is cut off."""
    for most in range(1, steps + 2):
        path = tmp_path / f"{most}.csv"
        with jali.connect(tmp_path / f"{most}.jali") as db, jali.connect(tmp_path / f"{most}.jali") as other:

            def protect(kind: str) -> None:
                columns: dict[str, Any] = {**WARDS, "n": kind}
                db.protect("v", path, unit="uid", max_rows=2, columns=columns, budget=BUDGET)  # noqa: B023

            def again(how: str = how) -> None:
                protect("integer") if how == "kinds" else getattr(db if how == "refresh" else db.tables, how)("v")

            path.write_text("uid,ward,n\n1,A,1\n1,A,1\n")
            protect("text")
            db.prepare("v")
            watched = Watched(other)
            watched.look()
            path.write_text("uid,ward,n\n1,B,1\n1,B,1\n")
            assert watched.cut(again, most) is (most <= steps)
            watched.look()
            for ward, then in (("A", db.prepare), ("B", db.tables.drop_prepared)):
                path.write_text(f"uid,ward,n\n1,{ward},1\n1,{ward},1\n")
                watched.cut(partial(then, "v"), 100)
                watched.look()
            assert max(map(len, watched.seen.values())) == 1
            assert len(set().union(*watched.seen.values())) == 2


def test_a_question_on_the_source_is_not_redeemed_once_a_copy_is_read(tmp_path: Path) -> None:
    """The source may change beneath a copy without a word: what was paid for on it must not be read then."""
    path = tmp_path / "v.parquet"
    write_wards(path, "A")
    with jali.connect(tmp_path / "x.jali") as db:
        db.protect("v", path, unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)
        plan = db.explain("SELECT COUNT(*) FROM v", epsilon=EPSILON, part={"ward": "A"})
        order = db._asking.build_request("q", plan, None)
        receipt = db._asking.reserve(order)
        db._tables.store(replace(db.tables.find("v"), copy=Source("duckdb", str(path), "rows")))
        with pytest.raises(jali.errors.LedgerError, match="refreshed after"):
            db.redeem(receipt)


@pytest.mark.parametrize("how", ["protect", "attach"])
def test_another_frame_in_place_of_the_first_is_new_data_for_parts(how: str) -> None:
    frames = [pa.table({"uid": [1, 1, 2, 2], "ward": [ward] * 4}) for ward in ("A", "B")]
    with jali.connect() as db:
        db.protect("v", frames[0], unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)
        ask_part(db, "A")
        if how == "attach":
            db.tables.attach("v", frames[1])
        else:
            db.protect("v", frames[1], unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)
        ask_part(db, "B")
        assert db.ledger.accounts()[0].spent.epsilon == 2 * EPSILON


def test_a_view_is_refused_also_where_another_schema_has_a_table_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE SCHEMA s")
        made.execute("CREATE TABLE s.v (uid INTEGER, ward VARCHAR)")
        made.execute("CREATE TABLE rest (uid INTEGER, ward VARCHAR)")
        made.execute("CREATE VIEW v AS SELECT * FROM rest WHERE random() < 0.5")
    with jali.connect() as db, pytest.raises(jali.errors.CatalogError):
        db.protect("v", path, unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)


def test_a_frame_that_is_being_replaced_is_read_by_nobody_until_the_ledger_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = [pa.table({"uid": [1, 1, 2, 2], "ward": [ward] * 4}) for ward in ("A", "B")]
    with jali.connect() as db, noise_off():
        db.protect("v", frames[0], unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)
        assert ask_part(db, "A") == 4
        version, refresh = db._ledger.declaration("v"), SqliteLedger.refresh
        assert version is not None

        def asks(ledger: SqliteLedger, name: str) -> None:
            with pytest.raises(jali.errors.EngineError, match="closed"):
                ask_part(db, "B")
            refresh(ledger, name)
            raise KeyboardInterrupt

        monkeypatch.setattr(SqliteLedger, "refresh", asks)
        with pytest.raises(KeyboardInterrupt):
            db.tables.attach("v", frames[1])
        monkeypatch.undo()
        db.tables.attach("v", frames[1])
        again = db._ledger.declaration("v")
        assert again is not None
        assert again.data_version == version.data_version + 2
        db.tables.attach("v", frames[1])
        assert db._ledger.declaration("v") == again
        assert ask_part(db, "B") == 4


def test_a_table_that_became_a_view_or_lost_a_column_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    path, made = tmp_path / "t.duckdb", "CREATE TABLE v AS SELECT 1 AS uid, 'A' AS ward"

    def write(sql: str) -> None:
        other = tmp_path / "other.duckdb"
        with duckdb.connect(str(other)) as written:
            written.execute(sql)
        other.replace(path)

    write(made)
    with jali.connect() as db, noise_off():
        db.protect("v", path, unit="uid", max_rows=2, columns=WARDS, budget=BUDGET)
        for changed in (
            "CREATE VIEW v AS SELECT 1 AS uid, 'A' AS ward",
            "CREATE TABLE v AS SELECT 1 AS uid",
            "CREATE TABLE v AS SELECT 1 AS uid, 2 AS ward",
        ):
            write(changed)
            with pytest.raises(jali.errors.EngineError, match="has no table with the declared columns"):
                ask_part(db, "A")
        assert db.receipts() == ()
        write(made)
        db.refresh("v")
        assert ask_part(db, "A") == 1


# Partitions.

EXPRESSIONS = [
    "CASE WHEN age > 30 THEN 'x' END",
    "floor(age / 40)",
    "age > 30 AND ward = 'A'",
    "WIDTH_BUCKET(age, 0, 120, 3)",
    "round(cost / 50)",
    "uid % 2",
]


@thinned(4)
@pytest.mark.parametrize("by", EXPRESSIONS)
def test_whoever_leaves_moves_one_part_whatever_tells_the_parts(by: str) -> None:
    """NULL is a part here, doubles are, NaN and infinities are among the values, keys are negative or missing."""
    tables = {**TABLES, "visits": TABLES["visits"] + crowd(6, seed=3)}
    with hospital() as db:
        keys = db._asking.parts.keys("visits", by)
        sql = "SELECT COUNT(*), COUNT(DISTINCT uid) FROM visits"
        plans = {key: db.explain(sql, epsilon=1, part=SubpopulationRequest(by, key, "visits")) for key in keys}
        before = {key: vectors(db, plan, tables) for key, plan in plans.items()}
        moved_ever = set()
        for other in neighbours(tables, "visits"):
            moved = [key for key, plan in plans.items() if vectors(db, plan, other) != before[key]]
            assert len(moved) <= 1
            moved_ever.update(moved)
    assert len(moved_ever) > 1
