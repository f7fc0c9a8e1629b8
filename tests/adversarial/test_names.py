"""Names: nothing that a question names can take the place of a protected table or of the engine's own names."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.adversarial.hospital import BUDGET, check_harmless, hospital, refusal
from tests.depth import thinned
from tests.harness import noise_off

import jali


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    with hospital() as opened:
        yield opened


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


SHADOWED = {
    "another protected table": (
        (
            "WITH visits AS (SELECT pid AS uid, home AS ward FROM patients) SELECT ward, COUNT(*) FROM"
            " visits GROUP BY ward"
        ),
        ["patients"],
    ),
    "cannot be combined": (
        "WITH patients AS (SELECT * FROM visits) SELECT COUNT(*) FROM patients p JOIN PATIENTS q ON p.uid = q.uid",
        ["visits"],
    ),
    "itself": ("WITH Visits AS (SELECT * FROM visits WHERE ward = 'A') SELECT COUNT(*) FROM VISITS", ["visits"]),
    "a public table": ("WITH wards AS (SELECT uid, ward AS w FROM visits) SELECT COUNT(*) FROM wards", ["visits"]),
    "from inside": (
        "SELECT COUNT(*) FROM (WITH patients AS (SELECT uid AS pid FROM visits) SELECT * FROM patients) x"
        " JOIN patients p ON x.pid = p.pid",
        ["visits", "patients"],
    ),
    "by an alias": ("SELECT COUNT(*) FROM visits AS patients", ["visits"]),
}


@pytest.mark.parametrize(("sql", "read"), SHADOWED.values(), ids=SHADOWED)
def test_a_shadowed_table_is_charged_under_its_own_name(db: jali.Database, sql: str, read: list[str]) -> None:
    plan = check_harmless(db, sql)
    assert sorted(name for name, _ in plan.costs) == sorted(read)


@pytest.mark.parametrize(
    "sql",
    [
        "WITH visits AS (SELECT * FROM wards) SELECT COUNT(*) FROM visits",
        "WITH visits AS (SELECT 1 AS uid) SELECT COUNT(*) FROM visits",
        "WITH RECURSIVE r AS (SELECT uid FROM visits UNION ALL SELECT uid FROM r) SELECT COUNT(*) FROM r",
        "SELECT COUNT(*) FROM main.visits",
        'SELECT COUNT(*) FROM "frame visits"',
        "SELECT COUNT(*) FROM 'visits.parquet'",
        "SELECT COUNT(*) FROM read_csv('visits.csv')",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM duckdb_tables()",
        "SELECT COUNT(*) FROM contributions",
        "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits",
        "CREATE TABLE t AS SELECT * FROM visits",
        "COPY visits TO 'visits.csv'",
        "PRAGMA database_list",
        "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
    ],
)
def test_nothing_but_declared_tables_is_read(db: jali.Database, sql: str) -> None:
    refusal(db, sql)


# Every name that the engine's query has of its own, and some that break quoting.
NAMES = [
    "owner",
    "k0",
    "k1",
    "v0",
    "m0",
    "w",
    "cell",
    "place",
    "people",
    "value",
    "there",
    "here",
    "reached",
]
NAMES += [
    "one",
    "contributions",
    "weights",
    "totals",
    "d",
    "l",
    "r",
    "s",
    "o",
    "visits.owner",
    "x.y",
    "found.1",
    "key0",
]
NAMES += ['"owner"', 'a"b', "it's", "é", "🙂", "select", " ", "a b", "--", "here.key", "person.key0", "select.n"]


def asked(db: jali.Database, sql: str) -> list[tuple[object, ...]]:
    with noise_off():
        return [
            tuple(round(float(v), 3) if isinstance(v, int | float) else v for v in row)
            for row in db.ask(sql, epsilon=1).rows
        ]


@pytest.fixture(scope="module")
def odd() -> Iterator[jali.Database]:
    """Three tables that have columns of all these names at once: people, keys, and lines that reach people."""
    columns: dict[str, jali.Range | jali.Keys] = {name: jali.Range(0, 9) for name in NAMES}
    with jali.connect() as db:
        rows = pa.table({"u": [1, 1, 2, 3], "z": ["A", "B", "A", "A"]} | {name: [1, 2, 2, 5] for name in NAMES})
        keyed = columns | {"z": jali.Keys(["A", "B"])}
        db.protect("t", rows, unit="u", max_rows=2, columns=keyed, budget=BUDGET)
        keys = pa.table({"j": [10, 11, 12], "unit": [1, 2, 3]} | {name: [7, 8, 9] for name in NAMES})
        db.protect("h", keys, unit="unit", max_rows=2, columns=columns, budget=BUDGET)
        lines = pa.table({"i": [10, 11, 12, 12]} | {name: [1, 2, 3, 4] for name in NAMES})
        via = jali.Via("h", on="i = j", unit="unit")
        db.protect("m", lines, unit=via, max_rows=2, columns=columns, budget=BUDGET)
        yield db


@thinned(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_column_may_be_called_like_anything_the_engine_uses(odd: jali.Database, name: str) -> None:
    """As a value, a key and in every kind of relation; the answers are those of a column called plain."""
    c = quoted(name)
    assert asked(odd, f"SELECT SUM({c}), COUNT(DISTINCT {c}), COUNT(*) FROM t WHERE {c} < 9") == [(10, 3, 4)]
    assert asked(odd, f"SELECT z, SUM({c}) FROM t GROUP BY z") == [("A", 8), ("B", 2)]
    by_size = f"SELECT {c} > 1 AS k, COUNT(*) FROM t GROUP BY k ORDER BY 2"
    assert asked(odd, by_size) == [(None, 0), (False, 1), (True, 3)]
    assert asked(odd, f"SELECT SUM({c}) FROM m") == [(10,)]
    assert asked(odd, f"SELECT SUM(m.{c}), SUM(h.{c}) FROM m JOIN h ON m.i = h.j") == [(10, 33)]
    per_person = f"SELECT u, MAX({c}) AS {c} FROM t GROUP BY u"
    assert asked(odd, f"SELECT SUM(x.{c}) FROM ({per_person}) AS x JOIN t ON x.u = t.u") == [(2 + 2 + 2 + 5,)]
    inside = f"SELECT 1 FROM t AS i WHERE i.u = t.u AND i.{c} > t.{c}"
    assert asked(odd, f"SELECT COUNT(*) FROM t WHERE EXISTS ({inside})") == [(1,)]
    stacked = f"SELECT u, {c} FROM t UNION ALL SELECT unit, {c} FROM h"
    assert asked(odd, f"SELECT MAX({c}) FROM ({stacked}) AS q") == [(9,)]


@pytest.mark.parametrize(
    "alias",
    ["l", "r", "s", "o", "d", "owner", "here", "reached", "found", "select", "union", "person", "a.b", "é"],
)
def test_a_table_may_be_called_like_anything_the_engine_uses(db: jali.Database, alias: str) -> None:
    a = quoted(alias)
    expected = asked(
        db, "SELECT COUNT(*), SUM(p.cost) FROM visits p JOIN patients q ON p.uid = q.pid WHERE p.cost < 99"
    )
    sql = (
        f"SELECT COUNT(*), SUM({a}.cost) FROM visits AS {a} JOIN patients AS q ON {a}.uid = q.pid WHERE"
        f" {a}.cost < 99"
    )
    assert asked(db, sql) == expected
    sql = (
        f"SELECT COUNT(*) FROM (SELECT uid, age AS {a} FROM visits) AS {a} WHERE EXISTS (SELECT 1 FROM"
        f" patients p WHERE p.pid = {a}.uid)"
    )
    assert asked(db, sql) == asked(
        db, "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid)"
    )


def test_names_that_differ_in_dots_and_case_only_stay_apart() -> None:
    """`a` with the column `b.c` and `a.b` with the column `c`; engines ignore case also where names are quoted."""
    rows = pa.table({"u": [1, 2], "b.c": [1, 2], "c": [10, 20]})
    with jali.connect() as db:
        db.protect(
            "t",
            rows,
            unit="u",
            max_rows=1,
            columns={"b.c": jali.Range(0, 9), "c": jali.Range(0, 99)},
            budget=BUDGET,
        )
        sql = 'SELECT SUM(a."b.c"), SUM("a.b".c), SUM(a.c) FROM t AS a JOIN t AS "a.b" ON a.u = "a.b".u'
        assert asked(db, sql) == [(3, 30, 30)]
        sql = "SELECT SUM(SUBQUERY.c) FROM (SELECT u AS v FROM t) JOIN t AS SUBQUERY ON v = u"
        assert asked(db, sql) == [(30,)]
        inner = '(SELECT u, c AS "1" FROM t) AS found'
        unmatched = "NOT EXISTS (SELECT 1 FROM t WHERE t.u = found.u)"
        sql = f'SELECT COUNT(*) FROM {inner} WHERE {unmatched} OR found."1" > 15'
        assert asked(db, sql) == [(1,)]
