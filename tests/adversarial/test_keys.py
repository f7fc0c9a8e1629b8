"""Groups: which there are, in which order and how many must tell nothing but what was paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.adversarial.hospital import BUDGET, TABLES, check_harmless, frame, hospital, refusal
from tests.harness import noise_off

import jali
from jali.mechanisms import OptimalKeys

DELTA = "1/1000000"


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with hospital() as opened:
        yield opened


UNDECLARED = ["code", "code || 'x'", "lower(code)", "ward || code", "left(code, 1)"]


@pytest.mark.parametrize("key", UNDECLARED)
def test_keys_are_never_read_off_the_data_without_a_delta(db: jali.Database, key: str) -> None:
    refused = refusal(db, f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY k")
    assert "delta" in (refused.remedy or "")


def test_real_numbers_are_no_keys_even_with_a_delta(db: jali.Database) -> None:
    refusal(db, "SELECT cost, COUNT(*) FROM visits GROUP BY cost", delta=DELTA)


@pytest.mark.parametrize("key", UNDECLARED)
def test_the_people_behind_unknown_groups_move_by_one_for_each_group_that_a_person_keeps(
    db: jali.Database, key: str
) -> None:
    plan = check_harmless(
        db, f"SELECT {key} AS k, COUNT(*), COUNT(DISTINCT uid), SUM(cost) FROM visits GROUP BY k", delta=DELTA
    )
    assert plan.selection is not None
    ((_, cost),) = plan.costs
    assert cost.delta == Fraction(DELTA)


def by_code(people: int, **options: Any) -> jali.Database:
    rows = [(person, "A", 1.0, 30, code) for person in range(people) for code in ("often", f"only {person}")]
    db = jali.connect()
    arguments: dict[str, Any] = {"unit": "uid", "max_rows": 2, "columns": {"age": jali.Range(0, 99)}} | options
    db.protect("visits", frame("visits", rows), budget=BUDGET, **arguments)
    return db


def test_a_group_of_one_person_is_shown_with_a_chance_of_delta_at_most() -> None:
    """The first step of optimal partition selection is delta; of two groups each has 1 - sqrt(1 - delta)."""
    with by_code(3) as db:
        plan = db.explain("SELECT code, COUNT(*) FROM visits GROUP BY code", epsilon=1, delta=DELTA)
        assert isinstance(plan.selection, OptimalKeys)
        chances = [plan.selection.chance(n) for n in range(60)]
        assert chances[0] == 0
        each, drop = float(plan.selection.epsilon) / 2, 1 - math.sqrt(1 - float(Fraction(DELTA)))
        assert 0 < chances[1] <= drop * (1 + 1e-9)
        for fewer, more in pairwise(chances):
            assert more <= math.exp(each) * fewer + drop + 1e-12
            assert 1 - fewer <= math.exp(each) * (1 - more) + drop + 1e-12


def test_unknown_groups_come_in_an_order_that_the_shown_ones_determine() -> None:
    rows = [(person, "A", 1.0, 30, code) for code in ("b", "c", "a") for person in range(100)]
    found = []
    for shuffled in (rows, rows[::-1], rows[150:] + rows[:150]):
        with jali.connect() as db, noise_off():
            db.protect("visits", frame("visits", shuffled), unit="uid", max_rows=3, budget=BUDGET)
            found.append(db.ask("SELECT code, COUNT(*) FROM visits GROUP BY code", epsilon=3, delta=DELTA).rows)
    assert [key for key, _ in found[0]] == ["a", "b", "c"]
    assert found[0] == found[1] == found[2]


def test_declared_groups_are_all_shown_in_their_order_also_where_nobody_is(db: jali.Database) -> None:
    sql = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    for rows in (TABLES["visits"], [], [(1, "Z", 1.0, 1, "c")], TABLES["visits"][::-1]):
        db.tables.attach("visits", frame("visits", list(rows)))
        db.refresh("visits")
        assert [key for key, _ in db.ask(sql, epsilon=1).rows] == ["A", "B", "C"]
    db.tables.attach("visits", frame("visits", list(TABLES["visits"])))
    db.refresh("visits")


def test_keys_outside_the_declared_ones_show_nowhere(db: jali.Database) -> None:
    with noise_off():
        rows = db.ask("SELECT ward, COUNT(*) FROM visits WHERE ward = 'Z' GROUP BY ward", epsilon=1).rows
    assert rows == [("A", 0), ("B", 0), ("C", 0)]


def test_having_order_and_limit_look_at_noisy_values_only(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The noise is replaced by one that turns the order around: what is kept and first follows the noise."""
    from jali.mechanisms import Laplace

    def turned(self: Any, exact: Any, **_: Any) -> Any:
        del self
        return np.array([-int(value) for value in exact], dtype=object)

    monkeypatch.setattr(Laplace, "release_integers", turned)
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    ordered = db.ask(f"{sql} ORDER BY n DESC", epsilon=2).rows
    assert [n for _, n in ordered] == sorted((n for _, n in ordered), reverse=True)
    assert max(n for _, n in ordered) < 0
    assert db.ask(f"{sql} HAVING COUNT(*) > 0", epsilon=2).rows == []
    assert db.ask(f"{sql} ORDER BY n DESC LIMIT 1", epsilon=2).rows == ordered[:1]


# The least number of people.


def test_a_group_below_the_least_number_of_people_is_not_shown() -> None:
    with by_code(200, min_people=50) as db, noise_off():
        shown = db.ask("SELECT code, COUNT(*) FROM visits GROUP BY code", epsilon=4, delta=DELTA).rows
        assert [key for key, _ in shown] == ["often"]
    with by_code(40, min_people=50) as db:
        plan = db.explain("SELECT code, COUNT(*) FROM visits GROUP BY code", epsilon=4, delta=DELTA)
        assert isinstance(plan.selection, OptimalKeys)
        assert [plan.selection.chance(n) for n in range(50)] == [0] * 50
        assert db.ask("SELECT code, COUNT(*) FROM visits GROUP BY code", epsilon=4, delta=DELTA).rows == []


def test_the_least_number_of_people_can_be_raised_and_not_lowered_by_a_question() -> None:
    with by_code(40, min_people=50) as db:
        sql = "SELECT code, COUNT(*) FROM visits GROUP BY code"
        for asked, least in ((1, 50), (49, 50), (60, 60)):
            plan = db.explain(sql, epsilon=4, delta=DELTA, min_people=asked)
            assert plan.selection is not None
            assert plan.selection.least_people == least


def test_the_least_number_of_people_holds_without_groups_and_in_joins() -> None:
    with by_code(40, min_people=50) as db:
        refusal(db, "SELECT COUNT(*) FROM visits")
        assert db.ask("SELECT COUNT(*) FROM visits", epsilon=1, delta=DELTA).rows == []
        db.protect("others", pa.table({"uid": [1, 2]}), unit="uid", max_rows=1, budget=BUDGET)
        joined = "SELECT COUNT(*) FROM others o JOIN visits v ON o.uid = v.uid"
        plan = db.explain(joined, epsilon=1, delta=DELTA)
        assert plan.selection is not None
        assert plan.selection.least_people == 50


def test_the_key_of_a_group_has_the_type_of_its_column_whatever_the_data() -> None:
    """A computed whole number is a double in the engine: it must not be printed as one for some data only."""
    for values in ([1, 2], [1, 2**40], [0, -3]):
        rows = pa.table({"uid": list(range(200)), "n": pa.array([values[i % 2] for i in range(200)], pa.int64())})
        with jali.connect() as db, noise_off():
            db.protect("t", rows, unit="uid", max_rows=1, budget=BUDGET)
            found = db.ask("SELECT n * 2 AS k, COUNT(*) FROM t GROUP BY k", epsilon=4, delta=DELTA).rows
            assert sorted(key for key, _ in found) == sorted({2 * v for v in values})
            assert {type(key) for key, _ in found} == {int}
