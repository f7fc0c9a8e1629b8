"""No question makes more rows of one person's than its static bound, whatever this person stores."""

from __future__ import annotations

import pyarrow as pa
import pytest

import jali
from jali.catalog.tables import Table
from jali.ir.relations import Capped, Pair, Relation, parts
from jali.planner.fanout import compute_fanout
from jali.planner.rules.bound_joins import PERSON_ROWS, bound_relation

BUDGET = jali.Budget(epsilon=10**6, delta="1/2")
HOARDER = 3000


def open_house(rows_of_bob: int = HOARDER) -> jali.Database:
    """A house in which Bob, 7, has far more rows than others, and than are declared for him."""
    db = jali.connect()
    visits = [(uid, f"{i % 3}") for uid in range(3) for i in range(2)] + [(7, str(i)) for i in range(rows_of_bob)]
    uids, notes = zip(*visits, strict=True)
    db.protect("visits", pa.table({"uid": uids, "note": notes}), unit="uid", max_rows=3, budget=BUDGET)
    orders = [(uid, uid * 10 + i) for uid in range(3) for i in range(2)] + [(7, i) for i in range(rows_of_bob)]
    uids, items = zip(*orders, strict=True)
    db.protect("orders", pa.table({"uid": uids, "item": items}), unit="uid", max_rows=4, budget=BUDGET)
    db.protect("people", pa.table({"uid": [0, 1, 2, 7]}), unit="uid", max_rows=1, budget=BUDGET)
    db.publish("prices", pa.table({"item": list(range(50)) * 2, "price": [1.0] * 100}))
    return db


def relations(relation: Relation) -> list[Relation]:
    return [relation, *(found for part in parts(relation) for found in relations(part))]


ANSWERED = [
    "SELECT COUNT(*) FROM visits a JOIN visits b USING (uid)",
    "SELECT COUNT(*) FROM visits a JOIN orders b USING (uid) JOIN people p USING (uid)",
    "SELECT COUNT(*) FROM visits a JOIN visits b USING (uid) JOIN visits c USING (uid)",
    "SELECT COUNT(*) FROM visits a LEFT JOIN orders b ON a.uid = b.uid AND a.note < CAST(b.item AS TEXT)",
    "SELECT COUNT(*) FROM visits a FULL JOIN orders b ON a.uid = b.uid",
    "SELECT COUNT(*) FROM visits a, orders b, prices c WHERE a.uid = b.uid AND b.item = c.item",
    "SELECT COUNT(*) FROM visits a JOIN prices c ON c.price > 0",
    "SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM orders b WHERE b.uid = a.uid AND b.item > 5)",
    "SELECT COUNT(*) FROM visits a WHERE NOT EXISTS"
    " (SELECT 1 FROM visits b WHERE b.uid = a.uid AND b.note <> a.note)",
    "SELECT COUNT(*) FROM (SELECT uid FROM visits UNION ALL SELECT uid FROM orders) u JOIN visits v USING (uid)",
    "SELECT SUM(n) FROM (SELECT uid, COUNT(*) AS n FROM visits a JOIN orders b USING (uid) GROUP BY uid)",
]


@pytest.mark.parametrize("sql", ANSWERED)
def test_every_intermediate_result_of_a_person_stays_within_its_bound(sql: str) -> None:
    """Each relation of the plan is computed by itself, and the rows of each person in it are counted."""
    with open_house() as db:
        plan = db.explain(sql, epsilon=1)
        for relation in relations(plan.source):
            bound = compute_fanout(relation)
            assert bound.constant <= PERSON_ROWS
            counted = rows_of_each(db, plan, relation)
            stored = 2 * HOARDER
            assert all(rows <= bound.slope * stored + bound.constant for rows in counted.values()), (
                relation,
                bound,
                counted,
            )


def rows_of_each(db: jali.Database, plan: jali.Plan, relation: Relation) -> dict[int, int]:
    """Count the rows that a relation has of each person."""
    from jali.engines.duckdb.dialect import DUCKDB
    from jali.engines.sql.relation_emitter import select
    from jali.ir.ownership import own

    if own(relation).public:
        return {}
    names = frozenset(field.name for field in relation.fields if field.kind.value != "other")
    found = db._engine.run(
        f"SELECT owner, COUNT(*) FROM ({select(DUCKDB, relation, names)}) GROUP BY owner", plan.read
    )
    return {int(owner): int(rows) for owner, rows in found}


@pytest.mark.parametrize("sql", ANSWERED[:5])
def test_joins_of_the_hoarder_are_answered_in_bounded_work(sql: str) -> None:
    """3,000 rows joined to 3,000 three ways would be 27 thousand million."""
    with open_house() as db:
        db.ask(sql, epsilon=1)


@pytest.mark.parametrize("joins", [13, 20])
def test_joins_beyond_the_limit_are_refused_while_planning_whatever_is_stored(joins: int) -> None:
    tables = " ".join(f"JOIN visits v{i} USING (uid)" for i in range(joins))
    told = []
    for bob in (0, 1, HOARDER):
        with open_house(bob) as db, pytest.raises(jali.errors.Unsupported) as refused:
            db.ask(f"SELECT COUNT(*) FROM visits {tables}", epsilon="0.0001")
        told.append(str(refused.value))
        assert refused.value.remedy
    assert len(set(told)) == 1


def test_which_rows_are_kept_depends_on_their_person_alone() -> None:
    with open_house() as db:
        plan = db.explain("SELECT COUNT(*) FROM visits a JOIN visits b USING (uid)", epsilon=1)
        capped = [relation for relation in relations(plan.source) if isinstance(relation, Capped)]
        assert capped
        before = rows_of_each(db, plan, capped[0])
    with open_house(0) as db:
        after = rows_of_each(db, plan, capped[0])
    assert {uid: n for uid, n in before.items() if uid != 7} == after
    assert before[7] == capped[0].rows


def test_a_cap_drops_nothing_of_a_person_within_the_declared_bound() -> None:
    """`max_rows` is 3: caps are several times as many."""
    with open_house() as db:
        for sql in ANSWERED:
            plan = db.explain(sql, epsilon=1)
            for relation in relations(plan.source):
                if isinstance(relation, Capped):
                    assert relation.rows >= 2 * 3


def test_equalities_of_where_stand_in_the_joins() -> None:
    """TPC-H's comma joins computed the product of their tables first."""
    with open_house() as db:
        plan = db.explain(
            "SELECT COUNT(*) FROM visits a, orders b, people p WHERE a.uid = b.uid AND b.uid = p.uid", epsilon=1
        )
        pairs = [relation for relation in relations(plan.source) if isinstance(relation, Pair)]
        assert all(pair.condition is not None for pair in pairs)


def test_tables_of_one_row_each_need_no_cap() -> None:
    with open_house() as db:
        plan = db.explain("SELECT COUNT(*) FROM people a JOIN people b USING (uid)", epsilon=1)
        tables = [table for table in plan.tables if isinstance(table, Table)]
        assert [table.name for table in tables] == ["people"]
        again = bound_relation(plan.source, plan.question.position)
        assert compute_fanout(again).constant <= PERSON_ROWS
