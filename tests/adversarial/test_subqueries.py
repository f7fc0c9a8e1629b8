"""Subqueries: IN and EXISTS on the owner only; no value, window, limit or sample of other people's rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.adversarial.hospital import TABLES, charged, check_harmless, hospital, refusal, vectors
from tests.depth import thinned

import jali


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with hospital() as opened:
        yield opened


MIXED = {
    "the largest value of all": "visits WHERE cost = (SELECT MAX(cost) FROM visits)",
    "the average of all": "visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "one person's value for all": "visits WHERE cost > (SELECT cost FROM visits WHERE uid = 1)",
    "a correlated number": "visits WHERE (SELECT COUNT(*) FROM patients WHERE pid = uid) > 0",
    "ALL": "visits WHERE cost >= ALL (SELECT cost FROM visits)",
    "ANY": "visits WHERE cost > ANY (SELECT cost FROM visits)",
    "LIMIT": "(SELECT * FROM visits LIMIT 1)",
    "LIMIT in order": "(SELECT * FROM visits ORDER BY cost LIMIT 1)",
    "OFFSET": "(SELECT * FROM visits OFFSET 1)",
    "LIMIT in EXISTS": "visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid LIMIT 1)",
    "LIMIT in a union": "(SELECT uid FROM visits UNION ALL SELECT pid FROM patients LIMIT 1)",
    "a window over all": "(SELECT uid, MAX(ward) OVER () AS m FROM visits)",
    "ranks": "(SELECT uid, ROW_NUMBER() OVER (ORDER BY cost) AS r FROM visits) WHERE r = 1",
    "ranks by owner": (
        "(SELECT uid, ROW_NUMBER() OVER (PARTITION BY uid ORDER BY cost) AS r FROM visits) WHERE r = 1"
    ),
    "the row before": "(SELECT uid, LAG(cost) OVER (ORDER BY age) AS r FROM visits)",
    "QUALIFY": "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (ORDER BY cost) = 1)",
    "a sample": "visits USING SAMPLE 10%",
    "a sample of a table": "visits TABLESAMPLE 10%",
    "a sample in a subquery": "(SELECT * FROM visits USING SAMPLE 1 ROWS)",
    "DISTINCT ON": "(SELECT DISTINCT ON (ward) uid, ward FROM visits)",
    "INTERSECT": "(SELECT uid FROM visits INTERSECT SELECT pid FROM patients)",
    "EXCEPT": "(SELECT uid FROM visits EXCEPT SELECT pid FROM patients)",
    "PIVOT": "(PIVOT visits ON ward USING COUNT(*))",
    "UNNEST": "visits, UNNEST([1, 2])",
    "a function as a table": "visits, range(10)",
    "numbers of rows": "visits WHERE rowid = 0",
}


@pytest.mark.parametrize("source", MIXED.values(), ids=MIXED)
def test_what_mixes_the_rows_of_different_people_is_refused(db: jali.Database, source: str) -> None:
    refusal(db, f"SELECT COUNT(*) FROM {source}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*), (SELECT COUNT(*) FROM patients) FROM visits",
        "SELECT SUM((SELECT MAX(cost) FROM visits)) FROM visits",
        "SELECT COUNT(*) FROM visits GROUP BY (SELECT MAX(ward) FROM visits)",
        "SELECT COUNT(*) FROM visits HAVING COUNT(*) > (SELECT COUNT(*) FROM patients)",
        "SELECT COUNT(*) FROM visits HAVING EXISTS (SELECT 1 FROM patients)",
        "SELECT COUNT(*) FROM visits ORDER BY (SELECT COUNT(*) FROM patients)",
        "SELECT COUNT(*) FROM visits LIMIT (SELECT COUNT(*) FROM patients)",
        "SELECT MAX(cost) OVER () FROM visits",
    ],
)
def test_a_value_of_other_peoples_rows_is_refused_wherever_it_stands(db: jali.Database, sql: str) -> None:
    refusal(db, sql)


UNTIED = {
    "EXISTS of anything": "EXISTS (SELECT 1 FROM patients)",
    "EXISTS by another column": "EXISTS (SELECT 1 FROM patients p WHERE p.home = v.ward)",
    "EXISTS by the owner or not": "EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid OR TRUE)",
    "EXISTS by another value": "EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.age)",
    "EXISTS of a number": "EXISTS (SELECT COUNT(*) FROM patients)",
    "NOT EXISTS by another column": "NOT EXISTS (SELECT 1 FROM patients p WHERE p.home = v.ward)",
    "IN by another column": "ward IN (SELECT home FROM patients)",
    "NOT IN by another column": "ward NOT IN (SELECT home FROM patients)",
    "the owner in a value": "uid IN (SELECT age FROM visits)",
    "a value in the owners": "age IN (SELECT pid FROM patients)",
    "a constant in the owners": "1 IN (SELECT pid FROM patients)",
    "the owner in computed owners": "uid IN (SELECT pid + 0 FROM patients)",
    "the owner in the owners of another type": "uid IN (SELECT uid FROM badges)",
    "the owner in rows that are people": "uid IN (SELECT uid FROM staff)",
    "the owner in a false owner": "uid IN (SELECT uid FROM (SELECT 1 AS uid FROM visits))",
    "EXISTS as a value": "CASE WHEN EXISTS (SELECT 1 FROM patients p WHERE p.home = v.ward) THEN TRUE END",
    "the owner is not inside": "EXISTS (SELECT 1 FROM patients p WHERE v.uid = v.uid)",
}


@pytest.mark.parametrize("condition", UNTIED.values(), ids=UNTIED)
def test_a_condition_on_other_peoples_rows_is_refused(db: jali.Database, condition: str) -> None:
    refusal(db, f"SELECT COUNT(*) FROM visits AS v WHERE {condition}")


TIED = {
    "IN": ("SELECT COUNT(*) FROM visits WHERE uid IN (SELECT pid FROM patients WHERE sex = 'f')", 1),
    "EXISTS": (
        (
            "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid AND"
            " p.home = v.ward)"
        ),
        1,
    ),
    "IN under OR": ("SELECT COUNT(*) FROM visits WHERE uid IN (SELECT pid FROM patients) OR age > 45", 2),
    "NOT IN": ("SELECT COUNT(*) FROM visits WHERE uid NOT IN (SELECT pid FROM patients)", 2),
    "NOT EXISTS": (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid)",
        2,
    ),
    "a value": (
        (
            "SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid AND p.home = v.ward)"
            " THEN cost END) FROM visits v"
        ),
        2,
    ),
    "a group": (
        (
            "SELECT EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid) AS known, COUNT(*) FROM visits v"
            " GROUP BY known"
        ),
        2,
    ),
    "a filter": (
        (
            "SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid)), COUNT(*)"
            " FROM visits v"
        ),
        2,
    ),
    "IN of a summary": (
        "SELECT COUNT(*) FROM visits WHERE uid IN (SELECT pid FROM patients GROUP BY pid HAVING COUNT(*) > 1)",
        1,
    ),
}


@thinned(4)
@pytest.mark.parametrize(("sql", "paid"), TIED.values(), ids=TIED)
def test_a_condition_on_the_same_persons_rows_is_bounded(db: jali.Database, sql: str, paid: int) -> None:
    plan = check_harmless(db, sql)
    assert (charged(plan, "visits"), charged(plan, "patients")) == (1, paid)


def test_one_null_does_not_empty_not_in_for_everybody(db: jali.Database) -> None:
    """In SQL one NULL in the list makes NOT IN true for nobody: one person would change the answer for all."""
    sql = "SELECT COUNT(*) FROM visits WHERE uid NOT IN (SELECT pid FROM patients)"
    plan = db.explain(sql, epsilon=1)
    with_null = {**TABLES, "patients": [(2, "m", "A"), (None, "f", "B")]}
    no_null = {**TABLES, "patients": [(2, "m", "A")]}
    assert vectors(db, plan, with_null) == vectors(db, plan, no_null)
    assert vectors(db, plan, with_null)[0][0] > 0


def test_a_null_on_the_left_of_in_is_the_same_persons_affair(db: jali.Database) -> None:
    sql = "SELECT COUNT(*) FROM visits v WHERE ward NOT IN (SELECT home FROM patients p WHERE p.pid = v.uid)"
    assert charged(check_harmless(db, sql), "patients") == 2


NOT_OF_THE_ROW = [
    "random() < 0.5",
    "uuid() = 'a'",
    "now() > TIMESTAMP '2020-01-01'",
    "current_date > DATE '2020-01-01'",
]
NOT_OF_THE_ROW += ["hash(uid) % 10 = 0", "length(repeat(code, age)) > 1", "length(lpad(code, age, 'x')) > 1"]
NOT_OF_THE_ROW += [
    "error(code) IS NULL",
    "current_setting('threads') = '2'",
    "getenv('HOME') = 'x'",
    "nextval('s') = 1",
]
NOT_OF_THE_ROW += ["len(range(age)) > 1", "filename = 'x'", "file_row_number = 1", "ctid = 1"]


@pytest.mark.parametrize("condition", NOT_OF_THE_ROW)
def test_what_is_not_a_function_of_the_row_or_grows_without_limit_is_refused(
    db: jali.Database, condition: str
) -> None:
    refusal(db, f"SELECT COUNT(*) FROM visits WHERE {condition}")
