"""The table of functions: each is read, typed, written by the engine and shown; what is refused has a reason."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.depth import whole

from jali.catalog.columns import Field, Kind
from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Source, Table
from jali.engines.duckdb.dialect import EMITTED_FUNCTIONS, DuckDBEmitter
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import Call, Column, Expression, Literal
from jali.ir.functions import FUNCTIONS, Type
from jali.ir.functions.date_functions import (
    DAY,
    PARTS,
    add_months,
    count_date_parts,
    date_from_day,
    day_from_date,
    find_part_start,
)
from jali.ir.functions.evaluate import EVALUATED
from jali.ir.functions.text_functions import is_pattern
from jali.ir.types import infer_call_type, infer_type
from jali.privacy import Adjacency, Budget
from jali.sql.printer import show_expression
from jali.sql.reader.read_function import REFUSED_FUNCTIONS
from jali.sql.reader.read_select import read_value

KINDS = {"n": Kind.INTEGER, "x": Kind.REAL, "s": Kind.TEXT, "b": Kind.BOOLEAN, "d": Kind.DATE, "t": Kind.TIMESTAMP}
TYPES = {"n": "BIGINT", "x": "DOUBLE", "s": "VARCHAR", "b": "BOOLEAN", "d": "DATE", "t": "TIMESTAMP"}
TABLE = Table(
    name="t",
    source=Source("parquet", "t.parquet"),
    unit=None,
    max_rows=1,
    adjacency=Adjacency.ADD_REMOVE,
    fields=tuple(Field(name, kind, TYPES[name]) for name, kind in KINDS.items()),
    budget=Budget(1),
)
N, X, S, B, D, T = (Column(name) for name in KINDS)
_WORD, _THREE = Literal("a'b"), Literal(3)
_ARGUMENTS: dict[str, tuple[Expression, ...]] = {
    **dict.fromkeys(("and", "or"), (B, Call("is null", (S,)))),
    "not": (Call("=", (N, N)),),
    "is null": (S,),
    "in": (N, Literal(1), Literal(2)),
    "case": (B, N, Literal(None)),
    "coalesce": (X, Literal(0)),
    **dict.fromkeys(("like", "ilike", "contains", "strpos", "regexp_matches", "regexp_full_match"), (S, _WORD)),
    **dict.fromkeys(("starts_with", "ends_with", "||"), (S, Call("||", (S, _WORD)))),
    **dict.fromkeys(("lower", "upper", "length"), (S,)),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), (S, _WORD)),
    **dict.fromkeys(("left", "right"), (S, Literal(-2))),
    "substring": (S, _THREE, Literal(1)),
    "replace": (S, _WORD, Literal("")),
    "concat": (S, N, D),
    **dict.fromkeys(("clamp",), (N, Literal(Fraction(-1, 2)), _THREE)),
    "width_bucket": (X, Literal(0), Literal(10), _THREE),
    "round": (X, Literal(-1)),
    **{f"add {unit}": (Call("add days", (T, Literal(-5))), _THREE) for unit in ("months", "days", "seconds")},
    **{f"{name} {part}": (D, Literal(datetime.date(2026, 1, 31))) for name in ("diff", "sub") for part in PARTS},
    **{f"trunc {part}": (D,) for part in PARTS},
    **dict.fromkeys(("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear"), (T,)),
    **dict.fromkeys(("hour", "minute", "second", "monthname", "dayname", "last_day", "date", "timestamp"), (D,)),
    **dict.fromkeys(("//", "%"), (N, Call("//", (N, _THREE)))),
}


def example(name: str) -> Call:
    numbers: tuple[Expression, ...] = (N, Call("-", (X, Call("-", (N, _THREE)))))
    function = FUNCTIONS[name]
    arity = function.least if function.most is None else function.most
    return Call(name, _ARGUMENTS.get(name, numbers[: max(arity, 1)]))


@whole
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_a_type_a_template_and_an_evaluator(name: str) -> None:
    call = example(name)
    assert infer_type(call, TABLE).kind is not None
    assert DuckDBEmitter(TABLE).write(call)
    assert (name in EVALUATED) == FUNCTIONS[name].after


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_shown_function_is_read_as_the_same_function(name: str) -> None:
    call = example(name)
    assert read_value(show_expression(call)) == call


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_of_nothing_but_null_is_written(name: str, plain: duckdb.DuckDBPyConnection) -> None:
    """NULL has no type of its own: a function that DuckDB overloads must be told which one is meant."""
    call = example(name)
    kept = [a if isinstance(a, Literal) else Literal(None) for a in call.arguments]
    kinds = [infer_type(a, TABLE) for a in kept]
    if name == "case":
        kept, kinds = [Literal(None)] * 3, [Type(None)] * 3
    infer_call_type(Call(name, tuple(kept)), kinds)
    assert plain.execute(f"SELECT {DuckDBEmitter(TABLE).write(Call(name, tuple(kept)))}").fetchone() is not None


def test_tables_name_the_same_functions() -> None:
    assert set(FUNCTIONS) == EMITTED_FUNCTIONS
    assert len({function.shape for function in FUNCTIONS.values()}) == len(FUNCTIONS)
    assert all(name == function.name for name, function in FUNCTIONS.items())


@pytest.mark.parametrize(
    ("written", "function"),
    [
        ("MOD(n, 3)", "%"),
        ("n ^ 2", "power"),
        ("CEILING(x)", "ceil"),
        ("LOG(x)", "log10"),
        ("LOG(2, x)", "log2"),
        ("IFNULL(n, 1)", "coalesce"),
        ("IF(b, 1, 2)", "case"),
        ("IFF(b, 1, 2)", "case"),
        ("s ~ 'a'", "regexp_matches"),
        ("PREFIX(s, 'a')", "starts_with"),
        ("SUFFIX(s, 'a')", "ends_with"),
        ("SUBSTR(s, 1)", "substring"),
        ("CHAR_LENGTH(s)", "length"),
        ("POSITION('a' IN s)", "strpos"),
        ("INSTR(s, 'a')", "strpos"),
        ("TRIM(LEADING 'a' FROM s)", "ltrim"),
        ("EXTRACT(doy FROM d)", "dayofyear"),
        ("DATE_PART('years', d)", "year"),
        ("DATETRUNC('month', d)", "trunc month"),
        ("DATEDIFF('day', d, t)", "diff day"),
        ("DATESUB('year', d, t)", "sub year"),
        ("d + INTERVAL '3' WEEK", "add days"),
        ("d - INTERVAL 1 YEAR", "add months"),
        ("INTERVAL 1 HOUR + t", "add seconds"),
        ("DATE_ADD(d, INTERVAL 2 DAY)", "add days"),
        ("n::SMALLINT", "whole"),
        ("n::HUGEINT", "whole"),
        ("CAST(s AS DECIMAL(10, 2))", "number"),
        ("TRY_CAST(s AS REAL)", "number"),
        ("n::VARCHAR", "text"),
        ("s::DATE", "date"),
        ("s::DATETIME", "timestamp"),
        ("s::BOOL", "boolean"),
    ],
)
def test_other_spellings_are_understood(written: str, function: str) -> None:
    read = read_value(written)
    assert isinstance(read, Call)
    assert read.function == function


def test_arguments_keep_their_order() -> None:
    """sqlglot turns some of them around."""
    assert read_value("DATE_DIFF('day', d, t)") == Call("diff day", (D, T))
    assert read_value("DATE_SUB('day', d, t)") == Call("sub day", (D, T))
    assert read_value("STRPOS(s, 'a')") == Call("strpos", (S, Literal("a")))
    assert read_value("POSITION('a' IN s)") == Call("strpos", (S, Literal("a")))
    assert read_value("d - INTERVAL 2 YEAR") == Call("add months", (D, Literal(-24)))
    assert read_value("LOG(2, x)") == Call("log2", (X,))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("DATE '2026-01-31'", datetime.date(2026, 1, 31)),
        ("'2026-01-31'::DATE", datetime.date(2026, 1, 31)),
        ("MAKE_DATE(2026, 1, 31)", datetime.date(2026, 1, 31)),
        ("TIMESTAMP '2026-01-31 10:00:00'", datetime.datetime(2026, 1, 31, 10)),  # noqa: DTZ001
    ],
)
def test_dates_are_constants(written: str, value: Any) -> None:
    assert read_value(written) == Literal(value)


@pytest.mark.parametrize(
    "written",
    [
        "s LIKE s",
        "s LIKE 3",
        "CONTAINS(s, s)",
        "STRPOS(s, LOWER(s))",
        "REGEXP_MATCHES(s, s)",
        "REGEXP_MATCHES(s, '(')",
        "REGEXP_MATCHES(s, '(?<=a)b')",
        "REGEXP_MATCHES(s, 'a{1001}')",
        "s ~ '\\1'",
        f"s LIKE '{'a' * 1001}'",
        "LEFT(s, n)",
        "LEFT(s, 1.5)",
        "LEFT(s, 9999999999)",
        "SUBSTRING(s, 1, n)",
        "TRIM(s, s)",
        "REPLACE(s, s, 'x')",
        "REPLACE(s, 'x', s)",
        "ROUND(x, 16)",
        "ROUND(x, n)",
        "CLAMP(x, n, 3)",
        "CLAMP(x, 0)",
        "WIDTH_BUCKET(x, n, 10, 5)",
        "WIDTH_BUCKET(x, 0, 10, n)",
        "WIDTH_BUCKET(x, 0, 10, 1e9)",
        "DATE_TRUNC('fortnight', d)",
        "DATE_TRUNC(s, d)",
        "DATE_PART('epoch', d)",
        "DATE_PART('year')",
        "d + INTERVAL (n) DAY",
        "d + INTERVAL '1.5' DAY",
        "d + INTERVAL '1 year 2 months'",
        "d + INTERVAL 9999999 DAY",
        "DATE '2026-02-30'",
        "DATE 'soon'",
        "TIMESTAMP '2026-01-31 10:00:00+01:00'",
        "MAKE_DATE(2026, 2, 30)",
        "MAKE_DATE(n, 1, 1)",
        "PREFIX(s)",
        "IFF(b, 1)",
    ],
)
def test_what_must_be_constant_is_refused_otherwise_with_its_place_and_a_remedy(written: str) -> None:
    with pytest.raises(QueryError) as refused:
        read_value(written)
    assert refused.value.position is not None
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("RANDOM()", "not a function of the row"),
        ("UUID()", "not a function of the row"),
        ("NEXTVAL('s')", "not a function of the row"),
        ("NOW()", "when the question runs"),
        ("CURRENT_DATE", "when the question runs"),
        ("TODAY()", "when the question runs"),
        ("CURRENT_TIMESTAMP", "when the question runs"),
        ("REPEAT(s, 9)", "grows"),
        ("LPAD(s, 9, 'x')", "grows"),
        ("RPAD(s, 9, 'x')", "grows"),
        ("REGEXP_REPLACE(s, 'a', 'b')", "grows"),
        ("RANGE(3)", "lists"),
        ("UNNEST(s)", "lists"),
        ("[1, 2]", "lists"),
        ("STRING_SPLIT(s, ',')", "lists"),
        ("GETENV('HOME')", "other than the row"),
        ("CURRENT_SETTING('x')", "other than the row"),
        ("HASH(s)", "compare the value itself"),
        ("MD5(s)", "compare the value itself"),
        ("ERROR('x')", "fail"),
        ("AGE(d, d)", "DATE_SUB"),
    ],
)
def test_a_refused_function_says_why(written: str, reason: str) -> None:
    with pytest.raises(Unsupported, match="not supported") as refused:
        read_value(written)
    assert reason in refused.value.message
    assert refused.value.position is not None


def test_no_function_is_both_offered_and_refused() -> None:
    assert not set(REFUSED_FUNCTIONS) & set(FUNCTIONS)


@pytest.mark.parametrize(
    "written",
    ["SIN(x)", "ASCII(s)", "n & 1", "s -> 'a'", "s[1]", "TRUNC(x, 2)", "s LIKE 'a' ESCAPE '!'", "JARO(s, s)"],
)
def test_what_is_in_no_table_is_refused(written: str) -> None:
    with pytest.raises(Unsupported) as refused:
        read_value(written)
    assert refused.value.position is not None


@pytest.mark.parametrize(
    "written",
    [
        "x // 2",
        "s % 2",
        "SQRT(s)",
        "YEAR(n)",
        "YEAR(s)",
        "DATE_DIFF('day', d, n)",
        "n + INTERVAL 1 DAY",
        "d + x",
        "d * 2",
        "LENGTH(n)",
        "CAST(x AS TEXT)",
        "CONCAT(s, x)",
        "CAST(n AS DATE)",
        "CAST(d AS DOUBLE)",
        "CAST(d AS BOOLEAN)",
        "NULLIF(n, s)",
        "NULLIF(d, t)",
        "COALESCE(d, t)",
        "LEAST(d, t)",
        "s IS DISTINCT FROM n",
        "CLAMP(x, 3, 1)",
        "CLAMP(s, 1, 3)",
        "WIDTH_BUCKET(x, 10, 10, 3)",
        "WIDTH_BUCKET(x, 0, 10, 0)",
        "ISNAN(s)",
    ],
)
def test_kinds_that_do_not_fit_are_refused(written: str) -> None:
    with pytest.raises(QueryError) as refused:
        infer_type(read_value(written), TABLE)
    assert "got" in refused.value.message
    assert refused.value.position is not None


def test_dates_and_timestamps_are_compared() -> None:
    assert infer_type(read_value("d < t"), TABLE).kind is Kind.BOOLEAN
    assert infer_type(read_value("t BETWEEN DATE '2026-01-01' AND d"), TABLE).kind is Kind.BOOLEAN


def test_a_pattern_is_what_re2_compiles() -> None:
    assert all(is_pattern(written) for written in ("", "a|b", "(?i)A", r"\d+", "[^x]{2,9}", "^$"))
    assert not any(is_pattern(written) for written in ("(", "*", "[z-a]", r"(a)\1", "(?=a)", "a{1001}"))


moments = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9990, 12, 31))  # noqa: DTZ001
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001


def _since(moment: datetime.datetime) -> int:
    return (moment - _EPOCH) // datetime.timedelta(microseconds=1)


@given(moments)
def test_days_are_those_of_the_calendar(moment: datetime.datetime) -> None:
    day = _since(moment) // DAY
    assert date_from_day(day) == (moment.year, moment.month, moment.day)
    assert day_from_date(moment.year, moment.month, moment.day) == day


@given(st.integers(-(10**10), 10**10))
def test_days_of_any_year_are_told_apart(day: int) -> None:
    assert day_from_date(*date_from_day(day)) == day
    assert date_from_day(day) < date_from_day(day + 1)


@given(moments, st.sampled_from(PARTS))
def test_a_moment_lies_in_the_part_with_its_index(moment: datetime.datetime, part: str) -> None:
    since = _since(moment)
    number = count_date_parts(part, Fraction(since))
    assert find_part_start(part, number) <= since < find_part_start(part, number + 1)
    if part == "week":
        assert (_EPOCH + datetime.timedelta(microseconds=find_part_start(part, number))).isoweekday() == 1


@given(moments, st.integers(0, 50))
def test_a_day_some_months_later_is_never_skipped_over(moment: datetime.datetime, months: int) -> None:
    year, month, day = date_from_day(add_months(_since(moment) // DAY, months))
    assert 12 * year + month == 12 * moment.year + moment.month + months
    assert day == moment.day or (day < moment.day and date_from_day(day_from_date(year, month, day) + 1)[2] == 1)


@given(st.fractions(-1000, 1000), st.fractions(-1000, 1000))
def test_rounded_bounds_hold_the_doubles_of_their_numbers(one: Fraction, other: Fraction) -> None:
    low, high = sorted([one, other])
    made = NumberInterval(low, high).round_to_doubles()
    assert made.low is not None
    assert made.high is not None
    assert made.low <= Fraction(float((low + high) / 2)) <= made.high
    assert made == made.round_to_doubles()
    assert NumberInterval(Fraction(-(10**400)), Fraction(10**400)).round_to_doubles() == NumberInterval()
