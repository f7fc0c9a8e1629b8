"""SQL to nodes: every construct that is supported, and what it becomes."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest

from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Expression,
    Literal,
    NamedTable,
    Ordering,
    Output,
    Question,
    aggregates,
)
from jali.sql.reader.read_select import read_condition, read_sql, read_value

AGE, WARD, PAID = Column("age"), Column("ward"), Column("paid")
ROWS = Aggregate("count")


def call(function: str, *arguments: Expression) -> Call:
    return Call(function, arguments)


CONDITIONS: list[tuple[str, Expression]] = [
    ("paid", PAID),
    ("TRUE", Literal(True)),
    ("NULL", Literal(None)),
    ("NOT paid", call("not", PAID)),
    ("(paid)", PAID),
    ("age = 1", call("=", AGE, Literal(1))),
    ("age == 1", call("=", AGE, Literal(1))),
    ("age <> 1", call("<>", AGE, Literal(1))),
    ("age != 1", call("<>", AGE, Literal(1))),
    ("age < 1", call("<", AGE, Literal(1))),
    ("age <= 1", call("<=", AGE, Literal(1))),
    ("age > 1", call(">", AGE, Literal(1))),
    ("age >= 1", call(">=", AGE, Literal(1))),
    ("1 < age", call("<", Literal(1), AGE)),
    ("paid AND age > 1", call("and", PAID, call(">", AGE, Literal(1)))),
    ("paid OR age > 1", call("or", PAID, call(">", AGE, Literal(1)))),
    ("paid OR paid AND NOT paid", call("or", PAID, call("and", PAID, call("not", PAID)))),
    ("age IS NULL", call("is null", AGE)),
    ("age IS NOT NULL", call("not", call("is null", AGE))),
    ("age ISNULL", call("is null", AGE)),
    ("age NOTNULL", call("not", call("is null", AGE))),
    ("paid IS TRUE", call("coalesce", call("=", PAID, Literal(True)), Literal(False))),
    ("paid IS NOT FALSE", call("not", call("coalesce", call("=", PAID, Literal(False)), Literal(False)))),
    ("age IN (1, 2)", call("in", AGE, Literal(1), Literal(2))),
    ("age NOT IN (1)", call("not", call("in", AGE, Literal(1)))),
    ("age BETWEEN 1 AND 2", call("and", call(">=", AGE, Literal(1)), call("<=", AGE, Literal(2)))),
    (
        "age NOT BETWEEN 1 AND 2",
        call("not", call("and", call(">=", AGE, Literal(1)), call("<=", AGE, Literal(2)))),
    ),
    ("ward LIKE 'a%'", call("like", WARD, Literal("a%"))),
    ("ward NOT LIKE 'a%'", call("not", call("like", WARD, Literal("a%")))),
    ("LOWER(ward) = 'a'", call("=", call("lower", WARD), Literal("a"))),
    ("upper(ward) = 'A'", call("=", call("upper", WARD), Literal("A"))),
    ("ward = 'it''s'", call("=", WARD, Literal("it's"))),
    ("ward = ''", call("=", WARD, Literal(""))),
    ('"ward" = \'"\'', call("=", WARD, Literal('"'))),
]


@pytest.mark.parametrize(("written", "node"), CONDITIONS, ids=[written for written, _ in CONDITIONS])
def test_a_condition_becomes_nodes(written: str, node: Expression) -> None:
    assert read_sql(f"SELECT COUNT(*) FROM visits WHERE {written}").where == node
    assert read_condition(written) == node


VALUES: list[tuple[str, Expression]] = [
    ("age", AGE),
    ("+age", AGE),
    ("-age", call("negate", AGE)),
    ("-3", Literal(-3)),
    ("- -age", call("negate", call("negate", AGE))),
    ("age + 1", call("+", AGE, Literal(1))),
    ("age - 1 - 2", call("-", call("-", AGE, Literal(1)), Literal(2))),
    ("age + 2 * 3", call("+", AGE, call("*", Literal(2), Literal(3)))),
    ("(age + 2) * 3", call("*", call("+", AGE, Literal(2)), Literal(3))),
    ("age / 2 / 3", call("/", call("/", AGE, Literal(2)), Literal(3))),
    ("ABS(age)", call("abs", AGE)),
    ("FLOOR(age)", call("floor", AGE)),
    ("CEIL(age)", call("ceil", AGE)),
    ("CEILING(age)", call("ceil", AGE)),
    ("ROUND(age)", call("round", AGE)),
    ("ROUND(age, 2)", call("round", AGE, Literal(2))),
    ("LEAST(age, 1, 2)", call("least", AGE, Literal(1), Literal(2))),
    ("GREATEST(age)", call("greatest", AGE)),
    ("COALESCE(age, 0)", call("coalesce", AGE, Literal(0))),
    ("IFNULL(age, 0)", call("coalesce", AGE, Literal(0))),
    ("CAST(ward AS DOUBLE)", call("number", WARD)),
    ("ward::DOUBLE", call("number", WARD)),
    ("TRY_CAST(ward AS FLOAT)", call("number", WARD)),
    ("CAST(ward AS INTEGER)", call("whole", WARD)),
    ("ward::BIGINT", call("whole", WARD)),
    ("CASE WHEN paid THEN 1 END", call("case", PAID, Literal(1), Literal(None))),
    (
        "CASE WHEN paid THEN 1 WHEN age > 2 THEN 3 ELSE 4 END",
        call("case", PAID, Literal(1), call(">", AGE, Literal(2)), Literal(3), Literal(4)),
    ),
    (
        "CASE ward WHEN 'A' THEN 1 ELSE 0 END",
        call("case", call("=", WARD, Literal("A")), Literal(1), Literal(0)),
    ),
    ("0.1", Literal(Fraction(1, 10))),
    (".5", Literal(Fraction(1, 2))),
    ("1e3", Literal(Fraction(1000))),
    ("1_000", Literal(1000)),
    ("9223372036854775808", Literal(9223372036854775808)),
]


@pytest.mark.parametrize(("written", "node"), VALUES, ids=[written for written, _ in VALUES])
def test_a_value_becomes_nodes(written: str, node: Expression) -> None:
    assert read_value(written) == node
    assert read_sql(f"SELECT SUM({written}) FROM visits").outputs[0].expression == Aggregate("sum", node)


@pytest.mark.parametrize(
    ("written", "node"),
    [
        ("COUNT(*)", ROWS),
        ("COUNT()", ROWS),
        ("count(age)", Aggregate("count", AGE)),
        ("COUNT(ALL age)", Aggregate("count", AGE)),
        ("COUNT(DISTINCT age)", Aggregate("count", AGE, distinct=True)),
        ("SUM(age)", Aggregate("sum", AGE)),
        ("AVG(age)", Aggregate("avg", AGE)),
        ("SUM(age) / COUNT(*)", call("/", Aggregate("sum", AGE), ROWS)),
    ],
)
def test_an_aggregate_becomes_a_node(written: str, node: Expression) -> None:
    assert read_sql(f"SELECT {written} FROM visits").outputs[0].expression == node


def test_a_whole_question_is_read() -> None:
    read = read_sql(
        """
        SELECT v.ward AS "The Ward", COUNT(*) AS n, AVG(age)
        FROM visits AS v
        WHERE age > 60
        GROUP BY ward
        HAVING n > 10
        ORDER BY n DESC NULLS FIRST, ward
        LIMIT 3 OFFSET 1
        """
    )
    assert read == Question(
        source=NamedTable("visits", "v"),
        outputs=(
            Output("The Ward", Column("ward", table="v")),
            Output("n", ROWS),
            Output("avg_age", Aggregate("avg", AGE)),
        ),
        where=call(">", AGE, Literal(60)),
        group_by=(WARD,),
        having=call(">", ROWS, Literal(10)),
        order_by=(Ordering(ROWS, descending=True, nulls_first=True), Ordering(WARD)),
        limit=3,
        offset=1,
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits;",
        "select count(*) from visits -- a remark",
        "SELECT /* a remark */ COUNT(*) FROM visits",
        "FROM visits SELECT COUNT(*)",
        'SELECT COUNT(*) FROM "visits"',
        "SELECT ALL COUNT(*) FROM visits",
    ],
)
def test_the_same_question_may_be_written_in_several_ways(sql: str) -> None:
    assert read_sql(sql) == Question(NamedTable("visits"), (Output("count", ROWS),))


@pytest.mark.parametrize(("written", "table"), [("ward", None), ("1", None), ("v.ward", "v")])
def test_group_by_takes_a_column_or_its_place(written: str, table: str | None) -> None:
    read = read_sql(f"SELECT ward AS w, COUNT(*) FROM visits AS v GROUP BY {written}")
    assert read.group_by == (Column("ward", table=table),)


@pytest.mark.parametrize("written", ["COUNT(*)", "n", "N", "2"])
def test_order_by_takes_an_aggregate_its_alias_or_its_place(written: str) -> None:
    read = read_sql(f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY {written}")
    assert read.order_by == (Ordering(ROWS),)


def test_an_alias_inside_an_aggregate_is_a_column() -> None:
    read = read_sql("SELECT SUM(age) AS age, COUNT(*) FROM visits ORDER BY AVG(age) + age")
    assert read.order_by[0].expression == call("+", Aggregate("avg", AGE), Aggregate("sum", AGE))


def test_grouping_twice_by_a_column_is_grouping_once() -> None:
    assert read_sql("SELECT COUNT(*) FROM visits GROUP BY ward, ward").group_by == (WARD,)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("COUNT(*)", "count"),
        ("COUNT(age)", "count_age"),
        ("SUM(age)", "sum_age"),
        ("AVG(age + 1)", "avg"),
        ("COUNT(DISTINCT age)", "distinct_age"),
        ("COUNT(DISTINCT age + 1)", "distinct"),
        ("COUNT(*) + 1", "column_1"),
        ("COUNT(*) n", "n"),
        ('COUNT(*) AS "weird name"', "weird name"),
        ("n: COUNT(*)", "n"),
    ],
)
def test_outputs_have_names(written: str, name: str) -> None:
    assert read_sql(f"SELECT {written} FROM visits").outputs[0].name == name


@pytest.mark.parametrize(
    "outputs",
    [
        "COUNT(*), COUNT(*)",
        "COUNT(*) AS n, SUM(age) AS n, AVG(age) AS n",
        "COUNT(*) AS n, SUM(age) AS n, AVG(age) AS n_2",
        "COUNT(*) AS n_2, SUM(age) AS n, AVG(age) AS n",
    ],
)
def test_no_two_outputs_have_the_same_name(outputs: str) -> None:
    names = [output.name for output in read_sql(f"SELECT {outputs} FROM visits").outputs]
    assert len(set(names)) == len(names)


def test_places_are_lines_and_columns_from_one() -> None:
    read = read_sql("SELECT COUNT(*),\n  SUM(age)\nFROM visits\nWHERE  ward = 'A'")
    assert [output.expression.position for output in read.outputs] == [(1, 8), (2, 3)]
    assert read.where is not None
    assert read.where.position == (4, 8)


def test_places_do_not_make_questions_differ() -> None:
    one = read_sql("SELECT COUNT(*) FROM visits WHERE age > 1")
    other = read_sql("SELECT  COUNT( * )\nFROM visits\nWHERE (age)>1")
    assert one == other
    assert hash(one) == hash(other)


def test_equal_aggregates_are_listed_once_in_order_of_appearance() -> None:
    read = read_sql("SELECT SUM(age), COUNT(*) + SUM(age) FROM visits HAVING COUNT(*) > 1 ORDER BY AVG(age)")
    assert aggregates(read) == (Aggregate("sum", AGE), ROWS, Aggregate("avg", AGE))


def test_a_date_is_read_as_a_date_and_text_stays_text() -> None:
    for written in ("DATE '2026-01-31'", "'2026-01-31'::DATE", "CAST('2026-01-31' AS DATE)"):
        assert read_value(written) == Literal(datetime.date(2026, 1, 31))
    assert read_value("'2026-01-31'") == Literal("2026-01-31")


def test_a_timestamp_is_read_like_a_date() -> None:
    for written in ("TIMESTAMP '2026-01-31 10:00:00'", "'2026-01-31 10:00:00'::TIMESTAMP"):
        assert read_value(written) == Literal(datetime.datetime(2026, 1, 31, 10))  # noqa: DTZ001


def test_literals_of_python_are_values_too() -> None:
    assert Literal(datetime.date(2026, 1, 31)) != Literal("2026-01-31")


def test_a_number_in_another_base_is_read_or_refused_and_never_cut() -> None:
    """sqlglot reads `0x10` as `0 AS x10`; DuckDB reads 16."""
    from jali.errors import QueryError

    for written, value in (("0x10", 16), ("0b11", 3)):
        try:
            read = read_sql(f"SELECT COUNT(*) + {written} FROM visits").outputs[0]
        except QueryError:
            continue
        assert read == Output("column_1", call("+", ROWS, Literal(value)))
