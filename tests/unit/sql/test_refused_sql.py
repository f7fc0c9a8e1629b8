"""What is refused: with its type, its place, and a remedy or a reason. Nothing is dropped in silence."""

from __future__ import annotations

import contextlib
import datetime
import logging

import pytest
from tests.depth import whole

from jali.catalog.columns import Field, Keys, Kind, Range
from jali.catalog.tables import Catalog, Source, Table
from jali.errors import QueryError, Unsupported
from jali.planner import make_plan
from jali.planner.terms import read_terms
from jali.privacy import Adjacency, Budget
from jali.sql.reader.read_select import read_condition, read_sql, read_value

TABLE = Table(
    name="visits",
    source=Source("parquet", "/data/visits.parquet"),
    unit="uid",
    max_rows=5,
    adjacency=Adjacency.ADD_REMOVE,
    fields=(
        Field("uid", Kind.INTEGER, "BIGINT"),
        Field("age", Kind.INTEGER, "BIGINT", range=Range(0, 120)),
        Field("cost", Kind.REAL, "DOUBLE", range=Range(0, 100)),
        Field("free", Kind.REAL, "DOUBLE"),
        Field("ward", Kind.TEXT, "VARCHAR", keys=Keys(["A", "B"])),
        Field("note", Kind.TEXT, "VARCHAR"),
        Field("paid", Kind.BOOLEAN, "BOOLEAN"),
        Field("day", Kind.DATE, "DATE", keys=Keys([datetime.date(2026, 1, 1)])),
        Field("at", Kind.TIMESTAMP, "TIMESTAMP"),
        Field("tags", Kind.OTHER, "VARCHAR"),
    ),
    budget=Budget(1),
)
CATALOG = Catalog((TABLE,))


def refusal_of(sql: str) -> QueryError:
    with pytest.raises(QueryError) as refused:
        make_plan(read_sql(sql), CATALOG, read_terms(epsilon=1))
    return refused.value


# Whole statements that are understood and not answered: each with a word that its reason must have.
UNSUPPORTED: list[tuple[str, str]] = [
    # clauses
    ("WITH RECURSIVE c AS (SELECT 1) SELECT COUNT(*) FROM visits", "WITH"),
    ("SELECT DISTINCT COUNT(*) FROM visits", "DISTINCT"),
    ("SELECT DISTINCT ON (ward) ward, COUNT(*) FROM visits GROUP BY ward", "DISTINCT"),
    ("SELECT COUNT(*) FROM visits QUALIFY row_number() OVER () = 1", "QUALIFY"),
    ("SELECT COUNT(*) FROM visits WINDOW w AS ()", "Window"),
    ("SELECT COUNT(*) INTO copy FROM visits", "INTO"),
    ("SELECT COUNT(*) FROM visits FOR UPDATE", "Locking"),
    ("SELECT COUNT(*) FROM visits USING SAMPLE 10%", "Sampling"),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", "FROM"),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE reservoir(10)", "FROM"),
    ("SELECT COUNT(*) FROM visits LIMIT 10%", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT 10 PERCENT", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT -1", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT 1 + 1", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT '1'", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT 2.5", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT ALL", "LIMIT"),
    ("SELECT COUNT(*) FROM visits FETCH FIRST 3 ROWS ONLY", "LIMIT"),
    ("SELECT COUNT(*) FROM visits LIMIT 1 OFFSET age", "OFFSET"),
    ("SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits", "one SELECT"),
    ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", "one SELECT"),
    ("SELECT COUNT(*) FROM visits EXCEPT SELECT 1", "one SELECT"),
    ("SELECT COUNT(*) FROM visits INTERSECT SELECT 1", "one SELECT"),
    # tables
    ("SELECT COUNT(*) FROM visits POSITIONAL JOIN visits AS w", "POSITIONAL"),
    ("SELECT COUNT(*) FROM visits, LATERAL (SELECT 1)", "FROM takes"),
    ("SELECT COUNT(*) OVER () FROM visits", "Window"),
    ("SELECT COUNT(*) FROM visits AS v, visits AS w", "same person"),
    ("SELECT COUNT(*) FROM visits AS v JOIN visits AS w ON v.ward = w.ward", "same person"),
    ("SELECT COUNT(*) FROM visits AS v JOIN visits AS w ON v.uid = w.uid OR v.age = w.age", "same person"),
    ("SELECT COUNT(*) FROM (SELECT ward FROM visits GROUP BY ward)", "different people"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits)", "different people"),
    ("SELECT COUNT(*) FROM (SELECT COUNT(*) FROM visits)", "different people"),
    ("SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 3)", "LIMIT"),
    ("SELECT uid, COUNT(*) FROM visits GROUP BY uid", "one row per person"),
    ("SELECT COUNT(*)", "FROM"),
    ("SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN ('A'))", "FROM"),
    ("SELECT COUNT(*) FROM visits UNPIVOT (v FOR n IN (age))", "FROM"),
    ("SELECT COUNT(*) FROM visits AS v(a)", "FROM"),
    ("SELECT COUNT(*) FROM visits AT (VERSION => 1)", "FROM"),
    ("SELECT COUNT(*) FROM ONLY visits", "FROM"),
    ("SELECT COUNT(*) FROM main.visits", "FROM takes a plain table name"),
    ("SELECT COUNT(*) FROM memory.main.visits", "FROM takes a plain table name"),
    ("SELECT COUNT(*) FROM (VALUES (1)) AS v(a)", "FROM"),
    ("SELECT COUNT(*) FROM read_parquet('visits.parquet')", "FROM"),
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "FROM"),
    ("SELECT COUNT(*) FROM range(10)", "FROM"),
    ("SELECT COUNT(*) FROM unnest([1, 2])", "FROM"),
    # outputs
    ("SELECT * FROM visits", "rows"),
    ("SELECT visits.* FROM visits", "rows"),
    ("SELECT * EXCLUDE (age) FROM visits", "rows"),
    ("SELECT COLUMNS(*) FROM visits", "COLUMNS"),
    ("FROM visits", "rows"),
    ("SELECT age FROM visits", "rows"),
    ("SELECT 1 FROM visits", "rows"),
    ("SELECT main.visits.age, COUNT(*) FROM visits", "COLUMN"),
    # aggregates
    ("SELECT SUM(age) OVER (PARTITION BY ward) FROM visits", "not supported"),
    ("SELECT COUNT(age ORDER BY cost) FROM visits", "ORDER"),
    ("SELECT COUNT(DISTINCT uid, age) FROM visits", "DISTINCT"),
    ("SELECT SUM(DISTINCT age) FROM visits", "DISTINCT"),
    ("SELECT AVG(DISTINCT age) FROM visits", "DISTINCT"),
    ("SELECT FIRST(age) FROM visits", "FIRST"),
    ("SELECT ANY_VALUE(age) FROM visits", "not supported"),
    ("SELECT LIST(age) FROM visits", "LIST"),
    ("SELECT STRING_AGG(note) FROM visits", "would return rows"),
    ("SELECT ARG_MAX(note, age) FROM visits", "value of a row"),
    ("SELECT SUM(free) FROM visits", "range"),
    ("SELECT AVG(age / cost) FROM visits", "unbounded"),
    ("SELECT SUM(NULL) FROM visits", "unbounded"),
    # grouping and ordering
    ("SELECT COUNT(*) FROM visits GROUP BY lower(ward)", "keys"),
    ("SELECT note, COUNT(*) FROM visits GROUP BY note", "keys"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ward COLLATE NOCASE", "COLLATE"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY random()", "RAND"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ALL", "not supported"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ward LIKE 'A%'", "LIKE"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING LOWER(ward) = 'a'", "LOWER"),
]

# Conditions over rows that are understood and not answered.
CONDITIONS: list[tuple[str, str]] = [
    ("note LIKE 'a!%' ESCAPE '!'", "ESCAPE"),
    ("note LIKE ANY ('a', 'b')", "ANY"),
    ("note SIMILAR TO 'a.*'", "SIMILAR"),
    ("note GLOB 'a*'", "GLOB"),
    ("note COLLATE NOCASE = 'a'", "COLLATE"),
    ("note[1] = 'a'", "BRACKET"),
    ("repeat(note, 1000000) = ''", "REPEAT"),
    ("age IN (SELECT age FROM visits)", "same person"),
    ("age NOT IN (SELECT age FROM visits)", "same person"),
    ("EXISTS (SELECT 1 FROM visits)", "same person"),
    ("age > (SELECT AVG(age) FROM visits)", "subquery"),
    ("age > ANY (SELECT age FROM visits)", "ANY"),
    ("age IN ()", "IN"),
    ("(age, cost) IN ((1, 2))", "TUPLE"),
    ("age BETWEEN SYMMETRIC 5 AND 1", "SYMMETRIC"),
    ("age & 2 = 0", "BITWISE"),
    ("age << 2 = 0", "BITWISE"),
    ("~age = 0", "BITWISE"),
    ("xor(paid, paid)", "XOR"),
    ("hash(uid) > 3", "hash"),
    ("random() < 0.5", "RAND"),
    ("uuid() IS NULL", "UUID"),
    ("at < now()", "now"),
    ("at < CURRENT_TIMESTAMP", "when the question runs"),
    ("day < CURRENT_DATE", "when the question runs"),
    ("day < today()", "TODAY"),
    ("nextval('s') > 1", "NEXTVAL"),
    ("getenv('HOME') = ''", "getenv"),
    ("age = ?", "PLACEHOLDER"),
    ("age = $1", "PLACEHOLDER"),
    ("age = :a", "PLACEHOLDER"),
    ("FLOOR(cost, 1) = 1", "FLOOR"),
    ("[1, 2] IS NULL", "ARRAY"),
    ("{'a': 1} IS NULL", "STRUCT"),
    ("ROW(1, 2) IS NULL", "ROW"),
    ("MAP {'a': 1} IS NULL", "MAP"),
    ("tags IS NULL", "type"),
]
CASES = UNSUPPORTED + [(f"SELECT COUNT(*) FROM visits WHERE {text}", word) for text, word in CONDITIONS]


@whole
@pytest.mark.parametrize(("sql", "word"), CASES, ids=[sql for sql, _ in CASES])
def test_an_unsupported_construct_is_refused_with_its_reason(sql: str, word: str) -> None:
    refused = refusal_of(sql)
    assert isinstance(refused, Unsupported)
    assert word.lower() in f"{refused.message} {refused.remedy or ''}".lower()


@pytest.mark.parametrize("sql", [sql for sql, _ in CASES])
def test_an_unsupported_construct_is_refused_with_its_place(sql: str) -> None:
    position = refusal_of(sql).position
    assert position is not None
    line, column = position
    assert line == 1
    assert 1 <= column <= len(sql)


WRONG: list[tuple[str, str]] = [
    ("SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits", "one SELECT"),
    ("SELECT COUNT(*) FROM visits; DROP TABLE visits", "one SELECT"),
    ("", "one SELECT"),
    ("-- nothing", "one SELECT"),
    ("DELETE FROM visits", "one SELECT"),
    ("INSERT INTO visits VALUES (1)", "one SELECT"),
    ("UPDATE visits SET age = 1", "one SELECT"),
    ("DROP TABLE visits", "one SELECT"),
    ("CREATE TABLE t AS SELECT 1", "one SELECT"),
    ("COPY visits TO 'x.csv'", "one SELECT"),
    ("ATTACH 'x.duckdb'", "one SELECT"),
    ("PRAGMA table_info('visits')", "one SELECT"),
    ("EXPLAIN SELECT COUNT(*) FROM visits", "one SELECT"),
    ("EXPLAIN ANALYZE SELECT COUNT(*) FROM visits", "one SELECT"),
    ("DESCRIBE visits", "one SELECT"),
    ("SUMMARIZE visits", "one SELECT"),
    ("SHOW TABLES", "one SELECT"),
    ("SET threads = 1", "one SELECT"),
    ("VALUES (1)", "one SELECT"),
    ("SELEC COUNT(*) FROM visits", "spelling"),
    ("SELECT COUNT(* FROM visits", "spelling"),
    ("SELECT COUNT(*) FROM", "spelling"),
    ("SELECT COUNT(*) FROM visits WHERE", "spelling"),
    ("SELECT COUNT(*) FROM visits WHERE LEAST() > 1", "spelling"),
    ("SELECT COUNT(*) FROM visits WHERE ABS(age, 1) > 1", "spelling"),
    ("SELECT COUNT(*) FROM visits WHERE note = x'00'", "spelling"),
    ("SELECT TOP 3 COUNT(*) FROM visits", "spelling"),
    ("SELECT COUNT(*) FROM visits WHERE nope > 1", "no column nope"),
    ("SELECT COUNT(*) FROM visits WHERE rowid = 1", "no column rowid"),
    ("SELECT COUNT(*) FROM visits WHERE filename = 'x'", "no column filename"),
    ("SELECT COUNT(*) FROM visits WHERE file_row_number = 1", "no column file_row_number"),
    ("SELECT COUNT(*) FROM visits WHERE others.age > 1", "no table others"),
    ("SELECT COUNT(note.length) FROM visits", "no table note"),
    ("SELECT COUNT(*) AS n FROM visits WHERE n > 1", "no column n"),
    ("SELECT note, COUNT(*) FROM visits GROUP BY ward", "GROUP BY"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY 3", "output 3"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 0", "output 0"),
    ("SELECT COUNT(*) FROM visits WHERE age", "condition"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*)", "condition"),
    ("SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3", "HAVING"),
    ("SELECT SUM(COUNT(*)) FROM visits", "Aggregates cannot be nested"),
    ("SELECT SUM(note) FROM visits", "CAST"),
    ("SELECT SUM(paid) FROM visits", "number"),
    ("SELECT SUM(1), SUM(TRUE) FROM visits", "number"),
    ("SELECT AVG(day) FROM visits", "number"),
    (
        "SELECT COUNT(*) FROM visits WHERE age > 'x'",
        "one kind",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE paid = 1",
        "one kind",
    ),
    ("SELECT COUNT(*) FROM visits WHERE age + note > 1", "numbers"),
    ("SELECT COUNT(*) FROM visits WHERE LOWER(age) = 'a'", "text"),
    ("SELECT COUNT(*) FROM visits WHERE note LIKE age", "text"),
    ("SELECT COUNT(*) FROM visits WHERE paid AND age", "condition"),
    ("SELECT COUNT(*) FROM visits WHERE CASE WHEN age THEN 1 END = 1", "conditions"),
    ("SELECT COUNT(*) FROM visits WHERE day = 'soon'", "date"),
    ("SELECT COUNT(*) FROM visits WHERE at = 'soon'", "timestamp"),
    ("SELECT COUNT(*) + 'a' FROM visits", "numbers"),
]


@pytest.mark.parametrize(("sql", "word"), WRONG, ids=[sql for sql, _ in WRONG])
def test_a_wrong_question_is_refused_with_its_place_and_its_reason(sql: str, word: str) -> None:
    refused = refusal_of(sql)
    assert not isinstance(refused, Unsupported)
    assert refused.position is not None
    assert word.lower() in f"{refused.message} {refused.remedy or ''}".lower()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE note = 'x",
        "SELECT COUNT(*) + 1e400 FROM visits",
        "SELECT COUNT(*) FROM visits WHERE age > " + "9" * 200,
        "SELECT COUNT(*) FROM visits WHERE note = '\x00'",
        "SELECT COUNT(*) FROM visits WHERE age > 1" + " " * 100_001,
        "SELECT COUNT(*) FROM visits WHERE " + "(" * 3000 + "paid" + ")" * 3000,
        "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 3000 + "paid",
        "SELECT COUNT(*) FROM visits WHERE " + " AND ".join(["paid"] * 3000),
        "SELECT COUNT(*) FROM visits WHERE note = '\ud800'",
    ],
    ids=[
        "open text",
        "1e400",
        "200 digits",
        "NUL",
        "100,001 characters",
        "parentheses",
        "nots",
        "ands",
        "surrogate",
    ],
)
def test_what_cannot_be_read_at_all_is_refused_like_any_other_question(sql: str) -> None:
    assert refusal_of(sql).message


def test_a_syntax_error_does_not_speak_of_the_parser() -> None:
    for sql in ("SELECT COUNT(*) FROM visits WHERE", "SELECT COUNT(*) FROM visits WHERE age > LEAST()"):
        said = str(refusal_of(sql))
        assert "sqlglot" not in said
        assert "class" not in said


def test_a_long_conjunction_is_read() -> None:
    many = " AND ".join(f"age <> {k}" for k in range(150))
    assert make_plan(read_sql(f"SELECT COUNT(*) FROM visits WHERE {many}"), CATALOG, read_terms(epsilon=1))


@pytest.mark.parametrize("sql", ["EXPLAIN SELECT COUNT(*) FROM visits", "CALL x()", "SELECT COUNT(*) FROM visits"])
def test_reading_writes_no_log_line(sql: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), contextlib.suppress(QueryError):
        read_sql(sql)
    assert caplog.records == []


@pytest.mark.parametrize(
    "text",
    ["age > 1 GROUP BY ward", "age > 1; SELECT 2", "age > 1) OR (TRUE", "", "age > 1 LIMIT 1", "age >"],
)
def test_the_builder_takes_one_condition_and_nothing_after_it(text: str) -> None:
    with pytest.raises(QueryError):
        read_condition(text)


@pytest.mark.parametrize("text", ["age, cost", "age FROM visits", "age AS a", "*", "", "age WHERE TRUE", "age; 1"])
def test_the_builder_takes_one_value_and_nothing_after_it(text: str) -> None:
    with pytest.raises(QueryError):
        read_value(text)


def test_an_unbounded_number_made_of_text_is_refused_with_a_clamp_that_works() -> None:
    """The remedy must be a question that is answered: a range on a text column would be refused."""
    refused = refusal_of("SELECT SUM(CAST(note AS DOUBLE)) FROM visits")
    assert "CLAMP(CAST(note AS DOUBLE)" in (refused.remedy or "")
