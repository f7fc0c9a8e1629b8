"""Tricks with the owner: redefined, renamed, computed, merged away or lost. Each is refused or proved harmless."""

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


REDEFINED = {
    "a constant": "1 AS uid",
    "another column": "age AS uid",
    "a sum": "uid + 0 AS uid",
    "its negative": "-uid AS uid",
    "a cast to its own type": "CAST(uid AS BIGINT) AS uid",
    "a default for NULL": "COALESCE(uid, 1) AS uid",
    "a choice": "CASE WHEN TRUE THEN uid END AS uid",
    "an aggregate": "MAX(uid) AS uid",
}


@pytest.mark.parametrize("column", REDEFINED.values(), ids=REDEFINED)
def test_an_owner_that_was_redefined_joins_nothing(db: jali.Database, column: str) -> None:
    refused = refusal(
        db, f"SELECT COUNT(*) FROM (SELECT {column} FROM visits) AS v JOIN patients AS p ON v.uid = p.pid"
    )
    assert refused.position is not None


HARMLESS = {
    "a constant called like the unit": "SELECT COUNT(*), COUNT(DISTINCT uid) FROM (SELECT 1 AS uid FROM visits)",
    "a value called like the unit": (
        "SELECT ward, COUNT(DISTINCT uid) FROM (SELECT -uid AS uid, ward FROM visits) GROUP BY ward"
    ),
    "the unit called like a value": "SELECT AVG(uid) FROM (SELECT age AS uid, uid AS age FROM visits)",
    "one sum for each person": "SELECT SUM(n) FROM (SELECT uid, COUNT(*) AS n FROM visits GROUP BY uid)",
    "sums, averages and extremes by person and ward": (
        "SELECT AVG(n), SUM(s), SUM(m), SUM(b) FROM (SELECT uid, ward, COUNT(*) AS n, SUM(cost) AS s,"
        " MAX(cost) AS m, AVG(age) AS b FROM visits GROUP BY uid, ward)"
    ),
    "a person's own number of rows as a key": (
        "SELECT n, COUNT(*) FROM (SELECT uid, COUNT(*) AS n FROM visits GROUP BY uid) GROUP BY n"
    ),
    "DISTINCT with the owner": "SELECT COUNT(*) FROM (SELECT DISTINCT uid, ward FROM visits)",
    "a constant among the groups": (
        "SELECT AVG(n) FROM (SELECT uid, 2 AS two, COUNT(*) AS n FROM visits GROUP BY uid, two)"
    ),
}


@thinned(4)
@pytest.mark.parametrize("sql", HARMLESS.values(), ids=HARMLESS)
def test_the_hidden_owner_bounds_each_person_whatever_the_columns_are_called(db: jali.Database, sql: str) -> None:
    assert charged(check_harmless(db, sql), "visits") == 1


def test_a_column_redefined_after_the_bound_cannot_undo_it(db: jali.Database) -> None:
    """In a peer a count moved by 102 where 1 was claimed. Person 1 has eight visits and may count for three."""
    sql = "SELECT COUNT(*) FROM (SELECT uid * 1000 + age AS uid FROM (SELECT uid, age FROM visits) AS a) AS b"
    plan = check_harmless(db, sql)
    without_one = {**TABLES, "visits": [row for row in TABLES["visits"] if row[0] != 1]}
    (before,), (after,) = vectors(db, plan, TABLES), vectors(db, plan, without_one)
    assert 0 < before[0] - after[0] <= 3 << 20


MERGED = {
    "groups of wards": "SELECT COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
    "one number of all": "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits)",
    "groups of a value called like the unit": (
        "SELECT SUM(n) FROM (SELECT age % 2 AS uid, COUNT(*) AS n FROM visits GROUP BY age % 2)"
    ),
    "HAVING without groups": "SELECT COUNT(*) FROM (SELECT 1 AS uid FROM visits HAVING COUNT(*) > 1)",
    "DISTINCT without the owner": "SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits)",
    "DISTINCT of a false owner": "SELECT COUNT(*) FROM (SELECT DISTINCT 1 AS uid FROM visits)",
    "UNION without the owner": "SELECT COUNT(*) FROM (SELECT ward FROM visits UNION SELECT home FROM patients)",
    "the owner of the side that may be missing": (
        "SELECT COUNT(*) FROM (SELECT p.pid, COUNT(*) AS n FROM visits v LEFT JOIN patients p ON v.uid ="
        " p.pid GROUP BY p.pid)"
    ),
    "rows that are people": "SELECT COUNT(*) FROM (SELECT uid, COUNT(*) AS n FROM staff GROUP BY uid)",
    "different rows that are people": "SELECT COUNT(*) FROM (SELECT DISTINCT uid FROM staff)",
}


@pytest.mark.parametrize("sql", MERGED.values(), ids=MERGED)
def test_rows_of_different_people_are_not_merged(db: jali.Database, sql: str) -> None:
    assert "combines rows of different people" in str(refusal(db, sql))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT uid, COUNT(*) FROM visits GROUP BY uid",
        "SELECT u, COUNT(*) FROM (SELECT uid AS u FROM visits) GROUP BY u",
        "SELECT p.pid, COUNT(*) FROM visits v JOIN patients p ON v.uid = p.pid GROUP BY p.pid",
    ],
)
def test_no_group_is_a_person(db: jali.Database, sql: str) -> None:
    assert "one row per person" in str(refusal(db, sql, delta="1/1000000"))


@pytest.mark.parametrize("sql", ["SELECT uid FROM visits", "SELECT * FROM visits", "SELECT MAX(uid) FROM visits"])
def test_no_row_is_printed(db: jali.Database, sql: str) -> None:
    refusal(db, sql)


PER_PERSON = ["FIRST(ward)", "ANY_VALUE(ward)", "LIST(ward)", "STRING_AGG(ward, ',')", "MODE(ward)"]
PER_PERSON += ["ARG_MAX(ward, cost)", "MEDIAN(cost)", "SUM(DISTINCT age)", "approx_quantile(cost, 0.5)"]


@pytest.mark.parametrize("function", PER_PERSON)
def test_what_depends_on_the_order_of_a_persons_rows_is_refused(db: jali.Database, function: str) -> None:
    refusal(db, f"SELECT COUNT(*) FROM (SELECT uid, {function} AS f FROM visits GROUP BY uid)")


@pytest.mark.parametrize(
    "clause", ["GROUP BY ROLLUP (uid)", "GROUP BY CUBE (uid)", "GROUP BY GROUPING SETS ((uid), ())"]
)
def test_a_subquery_has_no_row_of_all_people_together(db: jali.Database, clause: str) -> None:
    refusal(db, f"SELECT SUM(n) FROM (SELECT uid, COUNT(*) AS n FROM visits {clause})")


def test_the_sums_of_a_person_are_the_same_in_every_order_of_rows(db: jali.Database) -> None:
    """Sums of doubles would differ: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1, and 1e16 swallows what follows."""
    costs = [0.1, 0.2, 0.3, 1e16, -1e16, 0.7, 1 / 3, float("nan"), float("inf"), -0.0, 0.0]
    rows = [(7, "A", cost, 30, "c") for cost in costs]
    plan = db.explain(
        (
            "SELECT SUM(s), SUM(a), SUM(s * a) FROM (SELECT uid, SUM(cost) AS s, AVG(cost) AS a FROM visits"
            " GROUP BY uid)"
        ),
        epsilon=1,
    )
    orders = [rows, rows[::-1], rows[3:] + rows[:3], sorted(rows, key=lambda row: str(row[2]))]
    assert len({str(vectors(db, plan, {**TABLES, "visits": order})) for order in orders}) == 1


def test_of_the_two_zeros_the_first_row_does_not_decide(db: jali.Database) -> None:
    """0.0 and -0.0 are one value with two texts: which pairs a person keeps must not hang on the order of rows."""
    values = (0.0, -0.0, 1.0)
    rows = [(person, ward, cost, 30, "c") for person in range(20) for ward in "ABC" for cost in values]
    plan = db.explain("SELECT ward, COUNT(DISTINCT cost * 1) FROM visits GROUP BY ward", epsilon=1)
    alone = [[row for row in rows if row[0] == person] for person in range(20)]
    for mine in alone:
        found = [vectors(db, plan, {**TABLES, "visits": order}) for order in (mine, mine[::-1])]
        assert found[0] == found[1]
        assert sum(found[0][0].values()) == 3


def test_where_rows_are_people_the_number_of_a_row_decides_nothing() -> None:
    """Rows are numbered, and numbers move when one row is gone: others' choices must not move with them."""
    staff = [(i, ward) for i, ward in enumerate("ABAABBABAB")]
    tables = {**TABLES, "staff": staff}
    with hospital(tables) as db:
        by_tag = "FROM staff JOIN wards ON ward = w GROUP BY"
        check_harmless(db, f"SELECT tag, COUNT(*), COUNT(DISTINCT uid) {by_tag} tag", tables)
        check_harmless(db, f"SELECT ward || tag AS t, COUNT(*) {by_tag} t", tables, delta="1/1000000")


def test_a_person_counts_for_so_many_rows_and_no_more(db: jali.Database) -> None:
    """`max_rows` is enforced, not assumed: a million rows of one person weigh like three."""
    many = {**TABLES, "visits": [(1, "A", 100.0, 30, "c")] * 100_000 + [(2, "A", 100.0, 30, "c")]}
    plan = db.explain("SELECT COUNT(*), SUM(cost), COUNT(DISTINCT uid) FROM visits", epsilon=1)
    count, total, people = (vector[0] for vector in vectors(db, plan, many))
    assert count <= 4 << 20
    assert plan.aggregation.unit(plan.aggregation.measures[1]) * total <= 400
    assert people == 2
