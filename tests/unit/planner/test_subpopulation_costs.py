"""Parts as the planner sees them: named, priced, explained, and stored with the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import jali
from jali.errors import JaliError
from jali.ir.relations import Keep, Scan
from jali.planner import PLANS, Plan
from jali.planner.plan import check_loss
from jali.planner.subpopulation_costs import count_charged_subpopulations, name_scheme
from jali.planner.subpopulations import SubpopulationRequest
from jali.privacy import Budget

VISITS = pa.table(
    {"id": [1, 1, 2, 3], "ward": ["A", "B", "A", None], "age": [20, 30, 40, 50], "paid": [True, None] * 2}
)
COUNT = "SELECT COUNT(*) FROM visits"


def opened(adjacency: str = "add-remove", unit: str | None = "id", **options: Any) -> jali.Database:
    db = jali.connect()
    columns = {"ward": jali.Keys(["A", "B", None]), "age": jali.Range(0, 99)}
    rows = None if unit is None else 2
    given: dict[str, Any] = {"max_rows": rows, "columns": columns, "adjacency": adjacency} | options
    db.protect("visits", VISITS, unit=unit, budget=Budget(5, "1e-6"), **given)
    return db


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with opened() as made:
        yield made


def planned(db: jali.Database, sql: str = COUNT, part: Any = None, **terms: Any) -> Plan:
    return db.explain(sql, **({"epsilon": 1} | terms), part={"ward": "A"} if part is None else part)


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("ward", ["A", "B", None]),
        ("FLOOR(age / 50)", [0, 1]),
        ("age >= 50", [True, False, None]),
        ("CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", ["child", "adult"]),
        ("visits.WARD", ["A", "B", None]),
    ],
)
def test_the_parts_are_those_that_declarations_allow(db: jali.Database, by: str, keys: list[Any]) -> None:
    assert list(db.tables.partition_keys("VISITS", by)) == keys


@pytest.mark.parametrize(("part", "key"), [({"ward": "b"}, None), ({"age >= 50": 1}, None), ({"age": "7"}, 7)])
def test_a_key_is_found_exactly_or_by_its_text(db: jali.Database, part: Any, key: Any) -> None:
    if key is None:
        with pytest.raises(jali.errors.QueryError, match="has no subpopulation"):
            planned(db, part=part)
    else:
        found = planned(db, part=part).part
        assert found is not None
        assert found.key == key


def test_null_is_a_part_where_it_is_declared(db: jali.Database) -> None:
    plan = planned(db, part={"ward": None})
    (row,) = db._engine.run(plan.parts[0].sql, plan.read)
    assert row[0] == 1 << 20


def test_a_key_that_is_grouped_by_has_one_value_in_its_part(db: jali.Database) -> None:
    plan = planned(db, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")
    assert [key.values for key in plan.keys] == [("A",)]


def test_a_plan_on_a_part_is_stored_with_it_and_has_a_key_of_its_own(db: jali.Database) -> None:
    texts = {PLANS.encode(planned(db, part={"ward": key})) for key in ("A", "B", None)}
    assert len(texts) == 3
    assert PLANS.encode(db.explain(COUNT, epsilon=1)) not in texts
    plan = planned(db)
    assert PLANS.decode(PLANS.encode(plan)) == plan


def test_a_plan_that_claims_a_part_and_reads_more_never_runs(db: jali.Database) -> None:
    whole, part = db.explain(COUNT, epsilon=1), planned(db).part
    check_loss(whole)
    with pytest.raises(JaliError, match="The noise of the plan does not match its privacy loss"):
        check_loss(replace(whole, part=part))


def test_only_the_filter_and_not_the_choice_of_persons_is_no_part(db: jali.Database) -> None:
    part = planned(db).part
    assert part is not None
    scan = Scan(db.tables.find("visits"), "visits.")
    limited = part.limit_rows(scan)
    assert part.holds(limited)
    assert isinstance(limited, Keep)
    assert not part.holds(Keep(scan, limited.condition))
    assert not replace(part, place=1).holds(limited)


@pytest.mark.parametrize(
    ("adjacency", "sql", "terms", "apart"),
    [
        # With weights a count by group moves by 2 k where one person is replaced, by k where one comes or goes.
        ("replace-one", "SELECT age, COUNT(*) FROM visits GROUP BY age", {"epsilon": 1}, Fraction(1, 2)),
        # A single count lies in [0, k]: to replace a person moves it as far as to add one.
        ("replace-one", COUNT, {"epsilon": 1}, Fraction(1)),
        # Of a centred sum, replacing moves twice as far as adding.
        ("replace-one", "SELECT SUM(age - 49.5) FROM visits", {"epsilon": 1}, Fraction(1, 2)),
        ("add-remove", COUNT, {"epsilon": 1}, None),
    ],
)
def test_what_comes_or_goes_is_priced_by_the_same_noise(
    adjacency: str, sql: str, terms: dict[str, Any], apart: Fraction | None
) -> None:
    with opened(adjacency) as db:
        plan = planned(db, sql, **terms)
        found = count_charged_subpopulations(plan, plan.table)
        assert found is not None
        assert found[0] == (1 if apart is None else 2)
        assert (found[1] is None) == (apart is None)
        assert apart is None or (found[1] is not None and found[1].epsilon == apart)


def test_replaced_people_cost_the_dearest_pair() -> None:
    with opened("replace-one") as db:
        for ward in ("A", "B", None):
            db.ask("SELECT age, COUNT(*) FROM visits GROUP BY age", epsilon=1, part={"ward": ward})
        assert db.ledger.accounts()[0].spent.epsilon == 1
        for ward in ("A", "B", None):
            db.ask(COUNT, epsilon=1, part={"ward": ward})
        assert db.ledger.accounts()[0].spent.epsilon == 3
        assert db.verify().problems == ()


def test_the_scheme_names_everything_that_decides_who_belongs_where(db: jali.Database) -> None:
    plan, table = planned(db), db.tables.find("visits")
    member = plan.part
    assert member is not None

    def name(**changed: Any) -> str:
        versions = changed.pop("versions", 1)
        other = replace(table, **changed)
        return name_scheme(member, other, other, lambda _: versions)

    same = [name(), name(max_rows=1), name(rows=9), name(budget=Budget(1))]
    others = [
        name(versions=2),
        name(unit="age"),
        name(adjacency=jali.Adjacency.REPLACE_ONE),
        name(source=replace(table.source, location="elsewhere")),
        name(copy=table.source),
        name(fields=tuple(replace(field, type="VARCHAR") for field in table.fields)),
        name_scheme(replace(member, values=("A", "B")), table, table, lambda _: 1),
        name_scheme(planned(db, part={"age": 3}).part or member, table, table, lambda _: 1),
    ]
    assert len(set(same)) == 1
    assert len({*same, *others}) == 1 + len(others)
    assert name() == name_scheme(replace(member, place=1), table, table, lambda _: 1)


def test_explain_says_who_belongs_to_the_part_and_what_it_costs_now() -> None:
    with opened() as db:
        first = " ".join(str(planned(db)).split())
        assert "A of visits by ward: one of 3 subpopulations, known before the data is read" in first
        assert "each id belongs to at most one subpopulation" in first
        assert "its total now grows by epsilon 1" in first
        db.ask(COUNT, epsilon=1, part={"ward": "A"})
        assert "its total now grows by nothing" in " ".join(str(planned(db, part={"ward": "B"})).split())
        assert "grows by epsilon 0.5" in " ".join(str(planned(db, epsilon="1.5", part={"ward": "B"})).split())
        assert planned(db).charged[0][1].epsilon == 1
        assert len(db.receipts()) == 1


def test_explain_says_that_rows_are_in_their_own_part() -> None:
    with opened(unit=None) as db:
        text = " ".join(str(planned(db)).split())
        assert "each row is in at most one subpopulation" in text
        assert "grows by epsilon 1" in text


def test_a_partition_in_python_is_a_collection_of_questions() -> None:
    with opened() as db:
        db.grant("ana", "visits", Budget(2))
        parts = db.session("ana").table("visits").partition("ward")
        assert (list(parts), len(parts), "A" in parts, "Z" in parts) == (["A", "B", None], 3, True, False)
        assert repr(parts) == "Partition(visits by ward: 3 parts)"
        for ward in parts:
            parts[ward].where("age > 20").agg(n=jali.count()).ask(epsilon="0.5")
        assert parts.remaining("A").epsilon == Fraction("1.5")
        assert db.session("ana").remaining("visits").epsilon == Fraction("1.5")
        parts["A"].agg(n=jali.count()).ask(epsilon="0.5")
        assert parts.remaining("A").epsilon == 1
        assert parts.remaining("B").epsilon == Fraction("1.5")
        assert db.session("ana").remaining("visits").epsilon == 1
        with pytest.raises(jali.errors.QueryError, match="has no subpopulation 'Z'"):
            parts["Z"]
        assert db.receipts()[0].question == "SELECT COUNT(*) AS n FROM visits WHERE age > 20 [A of visits by ward]"


def test_the_same_question_on_the_same_part_is_answered_once() -> None:
    with opened() as db:
        one = db.ask(COUNT, epsilon=1, part={"ward": "A"})
        again = db.ask(COUNT, epsilon=1, part=SubpopulationRequest("ward", "A", "visits"))
        other = db.ask(COUNT, epsilon=1, part={"ward": "B"})
        assert (one.cached, again.cached, other.cached) == (False, True, False)
        assert one.rows == again.rows


def test_only_a_whole_table_is_divided(db: jali.Database) -> None:
    for begun in (
        db.session("ana").table("visits").where("age > 3"),
        db.session("ana").table("visits").group_by("ward"),
        db.session("ana").table("visits").partition("ward")["A"],
    ):
        with pytest.raises(
            jali.errors.QueryError, match="A table must be partitioned before it is joined, filtered or grouped"
        ):
            begun.partition("ward")


def test_a_part_of_a_table_that_is_not_read_is_refused() -> None:
    with opened() as two:
        other = pa.table({"key": [1], "x": [1]})
        two.protect("others", other, unit="key", max_rows=1, columns={"x": jali.Range(0, 3)}, budget=Budget(1))
        with pytest.raises(jali.errors.QueryError, match="a subpopulation of others, which it does not read"):
            planned(two, part=SubpopulationRequest("x", 1, "others"))
