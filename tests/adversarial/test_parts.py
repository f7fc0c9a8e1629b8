"""Questions on parts: whoever comes, goes or is replaced touches the exact numbers of one part, or of two."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.adversarial.hospital import (
    BUDGET,
    SCHEMAS,
    TABLES,
    Rows,
    check_harmless,
    frame,
    hospital,
    neighbours,
    refusal,
    vectors,
    without,
)
from tests.depth import thinned

import jali
from jali.planner import Plan
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.subpopulation_costs import count_charged_subpopulations
from jali.planner.subpopulations import SubpopulationRequest

WARDS = ("A", "B", "C")


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with hospital() as opened:
        yield opened


def crowd(people: int, seed: int = 5) -> Rows:
    """Visits of people who have been in several wards, some of them in wards that nobody declared."""
    chance = random.Random(seed)
    wards = ["A", "B", "C", "C", "Z", None]
    return [
        (10 + person, chance.choice(wards), chance.uniform(-9, 200), chance.randint(-5, 200), f"d{person}{row}")
        for person in range(people)
        for row in range(chance.randint(1, 6))
    ]


QUESTIONS = {
    "a count": "SELECT COUNT(*) FROM visits",
    "sums and people": "SELECT COUNT(DISTINCT uid), SUM(cost), AVG(age) FROM visits WHERE cost > 5",
    "groups": "SELECT ward, COUNT(*), SUM(age) FROM visits GROUP BY ward",
    "quantiles and a mode": "SELECT MEDIAN(cost), MODE(ward) FROM visits",
    "different values": "SELECT COUNT(DISTINCT code) FROM visits",
    "a self-join": "SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.uid = b.uid WHERE a.age <> b.age",
    "a subquery of the same table": (
        "SELECT COUNT(*) FROM visits WHERE uid IN (SELECT uid FROM visits WHERE ward = 'A')"
    ),
    "one row per person": "SELECT AVG(n) FROM (SELECT uid, COUNT(*) AS n FROM visits GROUP BY uid)",
    "a public table": "SELECT floor, COUNT(*) FROM visits JOIN wards ON ward = w GROUP BY floor",
    "another protected table": "SELECT sex, COUNT(*) FROM visits JOIN patients ON uid = pid GROUP BY sex",
    "a left join": "SELECT COUNT(*), COUNT(sex) FROM visits LEFT JOIN patients ON uid = pid",
    "people without a match": (
        "SELECT COUNT(*) FROM visits WHERE NOT EXISTS (SELECT 1 FROM patients WHERE pid = uid AND sex = 'f')"
    ),
}


def part(key: str) -> SubpopulationRequest:
    """Name a part with its table, whatever stands first in FROM."""
    return SubpopulationRequest("ward", key, "visits")


def plans(db: jali.Database, sql: str, **terms: Any) -> dict[str, Plan]:
    return {key: db.explain(sql, **({"epsilon": 1} | terms), part=part(key)) for key in WARDS}


@thinned(4)
@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_who_leaves_a_table_moves_one_part_only(db: jali.Database, sql: str) -> None:
    tables = {**TABLES, "visits": TABLES["visits"] + crowd(6)}
    found = plans(db, sql)
    before = {key: vectors(db, plan, tables) for key, plan in found.items()}
    moved_ever = set()
    for table in found["A"].tables:
        assert count_charged_subpopulations(found["A"], table) == (1, None)
        for other in neighbours(tables, table.name):
            moved = [key for key, plan in found.items() if vectors(db, plan, other) != before[key]]
            assert len(moved) <= 1, (table.name, moved)
            moved_ever.update(moved)
    assert moved_ever


@thinned(4)
@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_within_a_part_nobody_moves_more_than_is_paid_for(db: jali.Database, sql: str) -> None:
    tables = {**TABLES, "visits": TABLES["visits"][:9] + crowd(2)}
    for key in WARDS[:2]:
        check_harmless(db, sql, tables, part=part(key))


def test_every_person_is_in_one_part_and_only_rows_with_other_keys_are_in_none(db: jali.Database) -> None:
    tables = {**TABLES, "visits": crowd(200)}
    found = plans(db, "SELECT COUNT(DISTINCT uid) FROM visits")
    counts = [sum(vectors(db, plan, tables)[0].values()) for plan in found.values()]
    people = {row[0] for row in tables["visits"] if row[1] in WARDS}
    unit = found["A"].aggregation.unit(found["A"].aggregation.measures[0])
    assert sum(counts) * unit == len(people)
    assert all(count * unit > len(people) / 6 for count in counts)


def test_a_filter_does_not_change_who_is_in_which_part(db: jali.Database) -> None:
    """A person of part A without rows that pass there is not counted in part B."""
    tables = {**TABLES, "visits": crowd(200)}
    in_a = plans(db, "SELECT COUNT(DISTINCT uid) FROM visits")["A"]
    filtered = plans(db, "SELECT COUNT(DISTINCT uid) FROM visits WHERE ward <> 'A'")
    unit = in_a.aggregation.unit(in_a.aggregation.measures[0])
    all_people = len({row[0] for row in tables["visits"] if row[1] in WARDS})
    in_others = sum(sum(vectors(db, filtered[key], tables)[0].values()) for key in WARDS)
    assert (sum(vectors(db, in_a, tables)[0].values()) + in_others) * unit == all_people


@thinned(4)
@pytest.mark.parametrize(
    "sql", [QUESTIONS[name] for name in ("a count", "sums and people", "groups", "a self-join")]
)
def test_who_is_replaced_leaves_one_part_and_enters_one(sql: str) -> None:
    """In two different parts the numbers move as far as one person's coming or going may move them."""
    tables = {**TABLES, "visits": crowd(5)}
    twos = 0
    with hospital(adjacency="replace-one") as db:
        found = plans(db, sql)
        assert count_charged_subpopulations(found["A"], found["A"].table) is not None
        before = {key: vectors(db, plan, tables) for key, plan in found.items()}
        for person in range(10, 15):
            for newcomer in (100, 101):
                ward, cost = "ABCA"[newcomer - 100], 10.0 * newcomer
                more = [(newcomer, ward, cost, age, "c") for age in (9, 99, 999, -9)]
                rows = without(tables, "visits", person)["visits"] + more
                after = {key: vectors(db, plan, {**tables, "visits": rows}) for key, plan in found.items()}
                moved = [key for key in WARDS if after[key] != before[key]]
                assert len(moved) <= 2
                twos += len(moved) == 2
                for key in moved:
                    check_moved(found[key], before[key], after[key], 3 - len(moved))
    assert twos >= 2


def check_moved(plan: Plan, before: Any, after: Any, count: int) -> None:
    measures = [(p.aggregation, m) for p in plan.parts for m in p.aggregation.measures]
    for one, two, (aggregation, measure) in zip(before, after, measures, strict=True):
        moved = [abs(one[key] - two[key]) for key in one | two]
        assert sum(moved) <= l1_sensitivity(aggregation, measure, count)
        assert sum(m * m for m in moved) <= squared_l2_sensitivity(aggregation, measure, count)


def test_rows_that_are_people_are_in_the_part_of_their_own_key(db: jali.Database) -> None:
    found = {key: db.explain("SELECT COUNT(*) FROM staff", epsilon=1, part={"ward": key}) for key in ("A", "B")}
    assert {key: sum(vectors(db, plan, TABLES)[0].values()) for key, plan in found.items()} == {"A": 1, "B": 2}
    for other in neighbours(TABLES, "staff"):
        moved = [key for key, plan in found.items() if vectors(db, plan, other) != vectors(db, plan, TABLES)]
        assert len(moved) == 1


def test_owners_who_are_reached_are_put_into_parts_too(db: jali.Database) -> None:
    sql = "SELECT COUNT(*), SUM(price) FROM items"
    found = {key: db.explain(sql, epsilon=1, part={"FLOOR(price / 5)": key}) for key in (0, 1, 2)}
    before = {key: vectors(db, plan, TABLES) for key, plan in found.items()}
    assert sum(any(v.values()) for (v, *_) in before.values()) == 2
    for name in ("items", "orders"):
        for other in neighbours(TABLES, name):
            assert sum(vectors(db, plan, other) != before[key] for key, plan in found.items()) <= 1


def test_a_table_whose_rows_can_do_without_the_part_pays_as_without_parts(db: jali.Database) -> None:
    sql = "SELECT COUNT(*) FROM patients LEFT JOIN visits ON pid = uid"
    found = plans(db, sql)
    paying = {table.name: count_charged_subpopulations(found["A"], table) for table in found["A"].tables}
    assert paying == {"patients": None, "visits": (1, None)}
    before = {key: vectors(db, plan, TABLES) for key, plan in found.items()}
    other = without(TABLES, "patients", 2)
    assert sum(vectors(db, plan, other) != before[key] for key, plan in found.items()) == 3


REFUSED: dict[str, tuple[str, Any]] = {
    "keys that nobody declared": ("SELECT COUNT(*) FROM visits", {"code": "c0"}),
    "real numbers": ("SELECT COUNT(*) FROM visits", {"cost": 1}),
    "a key that is none": ("SELECT COUNT(*) FROM visits", {"ward": "Z"}),
    "two columns": ("SELECT COUNT(*) FROM visits", {"ward": "A", "age": 1}),
    "no column": ("SELECT COUNT(*) FROM visits", {"nothing": "A"}),
    "an aggregate": ("SELECT COUNT(*) FROM visits", {"COUNT(*)": 1}),
    "a subquery": ("SELECT COUNT(*) FROM visits", {"uid IN (SELECT pid FROM patients)": True}),
    "a public table": ("SELECT COUNT(*) FROM wards JOIN visits ON ward = w", {"w": "A"}),
}


@pytest.mark.parametrize(("sql", "wanted"), REFUSED.values(), ids=REFUSED)
def test_parts_that_public_facts_do_not_tell_are_refused(db: jali.Database, sql: str, wanted: Any) -> None:
    refusal(db, sql, part=wanted)


def test_a_question_that_reaches_its_owners_through_all_parts_is_refused() -> None:
    with hospital() as db:
        known = {"o": jali.Range(10, 14)}
        db.protect(
            "orders", frame("orders", TABLES["orders"]), unit="uid", max_rows=3, columns=known, budget=BUDGET
        )
        sql = "SELECT COUNT(*) FROM orders JOIN items ON o = item_o"
        assert "from the whole of" in str(refusal(db, sql, part={"o": 10}))


def test_the_data_decides_no_part_no_price_and_no_text(db: jali.Database) -> None:
    found = plans(db, QUESTIONS["sums and people"])
    with hospital({name: [] for name in SCHEMAS}) as empty:
        others = plans(empty, QUESTIONS["sums and people"])
        assert {key: str(plan) for key, plan in found.items()} == {key: str(plan) for key, plan in others.items()}
        assert list(empty.session("ana").table("visits").partition("ward")) == list(WARDS)


def test_parts_cost_the_dearest_two_partitions_add_and_the_whole_adds_to_all() -> None:
    with hospital() as db:

        def spent(table: str = "table visits") -> Fraction | None:
            return next(account.spent.epsilon for account in db.ledger.accounts() if account.name == table)

        for key in WARDS:
            db.ask("SELECT COUNT(*) FROM visits", epsilon="1/2", part={"ward": key})
        assert spent() == Fraction(1, 2)
        for age in (1, 50, 120):
            db.ask("SELECT COUNT(*) FROM visits", epsilon="1/4", part={"age": age})
        assert spent() == Fraction(3, 4)
        db.ask("SELECT COUNT(*) FROM visits", epsilon=1)
        assert spent() == Fraction(7, 4)
        db.ask(QUESTIONS["another protected table"], epsilon="1/2", part={"ward": "B"})
        assert spent() == Fraction(9, 4)
        for key in WARDS:
            db.ask(QUESTIONS["another protected table"], epsilon="1/2", part={"ward": key})
        assert spent("table patients") == Fraction(1, 2)
        assert db.verify().problems == ()


def test_new_data_begins_a_new_scheme() -> None:
    """A person may have moved from one part to another: what was spent before and after adds."""
    with hospital() as db:
        db.ask("SELECT COUNT(*) FROM visits", epsilon=1, part={"ward": "A"})
        db.refresh("visits")
        db.ask("SELECT COUNT(*) FROM visits", epsilon=1, part={"ward": "B"})
        assert db.ledger.accounts()[0].spent.epsilon == 2


def test_a_receipt_on_a_part_is_not_redeemed_on_new_data(monkeypatch: pytest.MonkeyPatch) -> None:
    with hospital() as db:
        with monkeypatch.context() as patch:
            patch.setattr(db._engine, "run", lambda *_: 1 / 0)
            with pytest.raises(jali.errors.EngineError):
                db.ask("SELECT COUNT(*) FROM visits", epsilon=1, part={"ward": "A"})
        (receipt,) = db.receipts()
        db.refresh("visits")
        with pytest.raises(jali.errors.LedgerError, match="moved between subpopulations"):
            db.redeem(receipt.id)


def test_an_answer_is_not_given_if_the_data_changed_while_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with hospital() as db:
        run = db._engine.run

        def slow(*arguments: Any) -> Any:
            found = run(*arguments)
            db.refresh("visits")
            return found

        with monkeypatch.context() as patch:
            patch.setattr(db._engine, "run", slow)
            with pytest.raises(jali.errors.LedgerError):
                db.ask("SELECT COUNT(*) FROM visits", epsilon=1, part={"ward": "A"})
        assert [receipt.state for receipt in db.receipts()] == ["open"]
