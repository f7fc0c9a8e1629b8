"""Kinds of expressions: what each function takes and gives, and how columns and constants are typed."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest

from jali.catalog.columns import Field, Keys, Kind, Range
from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.catalog.tables import Source, Table
from jali.catalog.value_domain import Value
from jali.engines.duckdb.dialect import EMITTED_FUNCTIONS
from jali.errors import QueryError
from jali.ir.expressions import Aggregate, Call, Column, Literal
from jali.ir.functions import FUNCTIONS, Type
from jali.ir.types import find_field, infer_call_type, infer_type, literal_type, read_dates
from jali.privacy import Adjacency, Budget
from jali.sql.reader.read_select import read_value

TABLE = Table(
    name="t",
    source=Source("parquet", "t.parquet"),
    unit=None,
    max_rows=1,
    adjacency=Adjacency.ADD_REMOVE,
    fields=(
        Field("n", Kind.INTEGER, "BIGINT", range=Range(0, 9)),
        Field("x", Kind.REAL, "DOUBLE", range=Range("0.5", 2)),
        Field("u", Kind.REAL, "DOUBLE"),
        Field("k", Kind.INTEGER, "BIGINT", keys=Keys([3, 1, 2, None])),
        Field("s", Kind.TEXT, "VARCHAR"),
        Field("b", Kind.BOOLEAN, "BOOLEAN"),
        Field("d", Kind.DATE, "DATE"),
        Field("at", Kind.TIMESTAMP, "TIMESTAMP"),
        Field("o", Kind.OTHER, "VARCHAR"),
    ),
    budget=Budget(1),
)


def bounds(low: int | str, high: int | str) -> NumberInterval:
    return NumberInterval(Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("written", "kind", "interval"),
    [
        ("n", Kind.INTEGER, bounds(0, 9)),
        ("x", Kind.REAL, bounds("1/2", 2)),
        ("u", Kind.REAL, ANYTHING),
        ("k", Kind.INTEGER, bounds(1, 3)),
        ("n + 1", Kind.INTEGER, bounds(1, 10)),
        ("n + 0.5", Kind.REAL, bounds("1/2", "19/2")),
        ("n * x", Kind.REAL, bounds(0, 18)),
        ("n - x", Kind.REAL, bounds(-2, "17/2")),
        ("n / 2", Kind.REAL, bounds(0, "9/2")),
        ("n / n", Kind.REAL, ANYTHING),
        ("1 / x", Kind.REAL, bounds("1/2", 2)),
        ("-n", Kind.INTEGER, bounds(-9, 0)),
        ("ABS(n - 5)", Kind.INTEGER, bounds(0, 5)),
        ("FLOOR(x)", Kind.INTEGER, bounds(0, 2)),
        ("CEIL(x)", Kind.INTEGER, bounds(1, 2)),
        ("ROUND(x)", Kind.INTEGER, bounds(1, 2)),
        ("LEAST(u, 5)", Kind.REAL, NumberInterval(None, Fraction(5))),
        ("LEAST(GREATEST(u, 0), 5)", Kind.REAL, bounds(0, 5)),
        ("COALESCE(n, -1)", Kind.INTEGER, bounds(-1, 9)),
        ("CASE WHEN b THEN n ELSE x END", Kind.REAL, bounds(0, 9)),
        ("CASE WHEN b THEN 5 END", Kind.INTEGER, bounds(5, 5)),
        ("CASE WHEN b THEN 'a' ELSE s END", Kind.TEXT, ANYTHING),
        ("CAST(b AS DOUBLE)", Kind.REAL, bounds(0, 1)),
        ("CAST(s AS DOUBLE)", Kind.REAL, ANYTHING),
        ("CAST(n AS DOUBLE)", Kind.REAL, bounds(0, 9)),
        ("CAST(n AS INTEGER)", Kind.INTEGER, bounds(0, 9)),
        ("LOWER(s)", Kind.TEXT, ANYTHING),
        ("s LIKE 'a'", Kind.BOOLEAN, ANYTHING),
        ("n IN (1, 2)", Kind.BOOLEAN, ANYTHING),
        ("s IS NULL", Kind.BOOLEAN, ANYTHING),
        ("b AND n > 1", Kind.BOOLEAN, ANYTHING),
        ("NULL", None, ANYTHING),
        ("NULL = NULL", Kind.BOOLEAN, ANYTHING),
    ],
)
def test_an_expression_has_a_kind_and_an_interval(
    written: str, kind: Kind | None, interval: NumberInterval
) -> None:
    assert infer_type(read_value(written), TABLE) == Type(kind, interval)


@pytest.mark.parametrize(
    "written",
    [
        "s + 1",
        "b + b",
        "-s",
        "ABS(d)",
        "s > 1",
        "b = 1",
        "n AND b",
        "NOT n",
        "LOWER(n)",
        "s LIKE n",
        "COALESCE(s, 1)",
        "CASE WHEN n THEN 1 END",
        "CASE WHEN b THEN 1 ELSE 's' END",
        "CAST(d AS DOUBLE)",
        "LEAST(s, 's')",
        "n IN ('a')",
        "n BETWEEN 'a' AND 'b'",
    ],
)
def test_kinds_that_do_not_fit_are_refused_with_the_place_and_the_shape(written: str) -> None:
    with pytest.raises(QueryError) as refused:
        infer_type(read_value(written), TABLE)
    assert refused.value.position is not None
    assert "got" in refused.value.message


def test_a_column_of_a_type_that_is_not_read_is_refused_like_one_that_is_not_there() -> None:
    with pytest.raises(QueryError) as refused:
        infer_type(read_value("o = o"), TABLE)
    assert refused.value.code == "column-unknown-here"
    assert refused.value.position is not None
    columns = refused.value.fields["columns"]
    assert isinstance(columns, tuple)
    assert "o" not in columns


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_counts_its_arguments(name: str) -> None:
    function = FUNCTIONS[name]
    for count in {function.least - 1, 99 if function.most is None else function.most + 1} - {99}:
        with pytest.raises(QueryError, match="arguments") as refused:
            infer_call_type(Call(name, (Literal(None),) * count, (1, 1)), [Type(None)] * count)
        assert function.shape in (refused.value.remedy or "")


def test_every_function_is_written_by_the_engine_and_nothing_else_is() -> None:
    assert set(FUNCTIONS) == EMITTED_FUNCTIONS


def test_every_function_says_what_it_does_with_null() -> None:
    assert all("NULL" in f.nulls or "three-valued" in f.nulls for f in FUNCTIONS.values())


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, Kind.BOOLEAN),
        (1, Kind.INTEGER),
        (Fraction(1, 2), Kind.REAL),
        ("a", Kind.TEXT),
        (datetime.date(2026, 1, 1), Kind.DATE),
        (datetime.datetime(2026, 1, 1), Kind.TIMESTAMP),  # noqa: DTZ001 - columns have no zone either
        (None, None),
    ],
)
def test_a_constant_has_the_kind_of_its_value(value: Value, kind: Kind | None) -> None:
    assert literal_type(value).kind == kind


def test_columns_are_found_without_regard_to_case() -> None:
    assert find_field(Column("N"), TABLE).name == "n"


def test_an_unknown_column_is_refused_with_the_columns_there_are() -> None:
    with pytest.raises(QueryError, match="no column nope") as refused:
        find_field(Column("nope", (3, 4)), TABLE)
    assert refused.value.position == (3, 4)
    assert "n, x, u" in (refused.value.remedy or "")


def test_an_aggregate_has_no_place_among_rows() -> None:
    with pytest.raises(QueryError, match="is evaluated for each row"):
        infer_type(Aggregate("count"), TABLE)


DAY, NOON = datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 12)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("d = '2026-01-31'", DAY),
        ("'2026-01-31' < d", DAY),
        ("d IN ('2026-01-31')", DAY),
        ("at >= '2026-01-31 12:00:00'", NOON),
        ("at >= '2026-01-31T12:00:00'", NOON),
    ],
)
def test_text_beside_a_date_is_read_as_a_date(written: str, value: Value) -> None:
    read = read_value(written)
    assert isinstance(read, Call)
    assert Literal(value) in read_dates(read, lambda argument: infer_type(argument, TABLE).kind).arguments


@pytest.mark.parametrize("written", ["d = 'soon'", "d = '2026-02-30'", "at = 'noon'", "d IN ('2026-01-01', 'x')"])
def test_text_beside_a_date_that_is_no_date_is_refused_in_its_place(written: str) -> None:
    read = read_value(written)
    assert isinstance(read, Call)
    with pytest.raises(QueryError) as refused:
        read_dates(read, lambda argument: infer_type(argument, TABLE).kind)
    assert refused.value.position is not None
    assert refused.value.remedy


def test_text_beside_text_stays_text() -> None:
    read = read_value("s = '2026-01-31'")
    assert isinstance(read, Call)
    assert read_dates(read, lambda argument: infer_type(argument, TABLE).kind) == read
