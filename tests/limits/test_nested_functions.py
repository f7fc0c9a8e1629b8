"""Functions inside each other: what an engine plans grows with the question and does not double at each level."""

from __future__ import annotations

import math
from collections.abc import Iterator

import duckdb
import pytest
from tests.golden.catalog import Clinic, clinic

from jali.errors import QueryError

DEEP = 16
LONG = f"{'ABS(' * 9}7 + age * 0{')' * 9}"
FUNCTIONS = ("SQRT({})", "LN({} + 3)", "7 % {}", "5 / {}", "NULLIF({}, 3)", "LOG2({} + 5)")


@pytest.fixture(scope="module")
def place() -> Iterator[Clinic]:
    with clinic() as made:
        yield made


def nested(function: str) -> str:
    written = "age"
    for _ in range(DEEP):
        written = function.format(written)
    return written


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_plan_of_the_engine_does_not_double_with_each_level(place: Clinic, function: str) -> None:
    """With two copies at each of 16 levels it would have 65,536 times as much to look at."""
    sql = place.db.explain(f"SELECT COUNT(*) FROM visits WHERE {nested(function)} > 0", epsilon=1).parts[0].sql
    with duckdb.connect() as engine:
        plans = engine.execute(f"EXPLAIN (FORMAT JSON) {sql}").fetchall()
    assert sum(len(text) for row in plans for text in row) < 40 * len(sql)


def test_what_a_case_compares_with_one_after_the_other_is_written_once(place: Clinic) -> None:
    written = "ABS(age - 30)"
    for _ in range(6):
        written = f"CASE {written} WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END"
    sql = place.db.explain(f"SELECT COUNT(*) FROM visits WHERE {written} = 4", epsilon=1).parts[0].sql
    # The innermost two are short, and are copied: 2^2 times, not 2^6.
    assert sql.count("abs(") <= 8


@pytest.mark.whole
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("SQRT(SQRT(SQRT(SQRT(81 - age * 0))))", 81 ** (1 / 16)),
        ("SQRT(SQRT(SQRT(SQRT(0 - age - 1))))", None),
        ("100 / (50 / (20 / (10 / (5 + age * 0))))", 100 / (50 / (20 / (10 / 5)))),
        ("100 / (50 / (20 / (10 / (age * 0))))", None),
        ("LN(LN(LN(LN(1e30 + age * 0))))", math.log(math.log(math.log(math.log(1e30))))),
        ("NULLIF(NULLIF(NULLIF(NULLIF(7 + age * 0, 1), 2), 3), 4)", 7.0),
        (f"CASE {LONG} WHEN 6 THEN 1 WHEN 7 THEN 2 WHEN 8 THEN 3 ELSE 4 END", 2.0),
        (f"CASE {LONG} WHEN 6 THEN 1 WHEN 8 THEN {LONG} ELSE {LONG} + 1 END", 8.0),
        (f"CASE CASE {LONG} WHEN 6 THEN 1 WHEN 7 THEN 2 END WHEN 1 THEN 3 WHEN 2 THEN {LONG} END", 7.0),
        ("NULLIF(NULLIF(NULLIF(NULLIF(7 + age * 0, 1), 2), 7), 4)", None),
    ],
)
def test_values_that_are_bound_to_a_name_are_the_same(place: Clinic, written: str, expected: float | None) -> None:
    kept = "IS NULL" if expected is None else f"BETWEEN {expected - 1e-9} AND {expected + 1e-9}"
    asked = f"SELECT COUNT(*) FROM visits WHERE age IS NOT NULL AND ({written}) {kept}"
    every = "SELECT COUNT(*) FROM visits WHERE age IS NOT NULL"
    counts = [float(place.db.ask(sql, epsilon=1000).rows[0][0]) for sql in (asked, every)]
    assert counts[0] == pytest.approx(counts[1], abs=2)
    assert counts[1] > 10


def test_the_harness_sees_what_doubles() -> None:
    written = "x"
    for _ in range(10):
        written = f"nullif({written}, 0)"
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE t AS SELECT 1.0 AS x")
        plans = engine.execute(f"EXPLAIN (FORMAT JSON) SELECT count(*) FROM t WHERE {written} > 0").fetchall()
    assert sum(len(text) for row in plans for text in row) > 1000 * len("nullif")


def test_the_patterns_of_a_question_repeat_five_thousand_times_at_most(place: Clinic) -> None:
    """Each is one that may be asked; forty of them took an engine a second."""
    one = "REGEXP_MATCHES(ward, '" + "[a-z]{1,100}" * 10 + "{}')"
    for many, refused in ((5, False), (6, True)):
        asked = " OR ".join(one.replace("{}", str(i)) for i in range(many))
        sql = f"SELECT COUNT(*) FROM visits WHERE {asked}"
        if refused:
            with pytest.raises(QueryError) as problem:
                place.db.explain(sql, epsilon=1)
            assert problem.value.code == "too-many-repetitions"
        else:
            assert place.db.explain(sql, epsilon=1).sql
