"""Compile-only: every question is written in Snowflake's SQL and parses as such. No server has run any of it."""

from __future__ import annotations

import datetime
import json
import re
from fractions import Fraction

import pytest
import sqlglot
from tests.depth import whole
from tests.engines.compiled import bare, check, expression, queries, stream
from tests.exact.test_functions import EVERY, TABLE
from tests.golden.cases import Case
from tests.golden.test_golden import CASES, IDS

from jali.engines.dialects import dialect_of
from jali.engines.snowflake import SNOWFLAKE
from jali.engines.snowflake.types import field_of
from jali.engines.sql.expressions import Emitter
from jali.errors import Unsupported
from jali.query.catalog import Kind
from jali.query.nodes import Call, Column, Expression, Literal

NAME = "snowflake"
# Every golden question is written; of the battery of functions all but classes of Unicode.
REFUSED: frozenset[str] = frozenset()
REFUSED_FUNCTIONS = frozenset({"REGEXP_MATCHES(s, '\\p{L}')"})
HARD = ("it's", 'a "b"', "back\\slash", "\\", "end\\'", "two\nlines", "`tick`", "é日", "", "\t", "-- no", "$x")


@whole
@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_golden_question_is_written_and_parses(case: Case) -> None:
    if case.title in REFUSED:
        with pytest.raises(Unsupported):
            queries(case, NAME)
        return
    written = queries(case, NAME)
    assert written
    for sql in written:
        check(sql, NAME)


@pytest.mark.parametrize("asked", sorted({case.asked for _, case in EVERY}))
def test_a_function_is_written_and_parses_or_is_listed(asked: str) -> None:
    if asked in REFUSED_FUNCTIONS:
        with pytest.raises(Unsupported, match="Write it with letters"):
            expression(asked, TABLE, NAME)
        return
    check(f"SELECT {expression(asked, TABLE, NAME)} FROM t", NAME)


def test_the_registry_knows_it() -> None:
    assert dialect_of(NAME) is SNOWFLAKE


@pytest.mark.parametrize("key", HARD)
def test_a_key_comes_back_as_it_was(key: str) -> None:
    (token,) = sqlglot.tokenize(SNOWFLAKE.text(key), dialect=NAME)
    assert token.text == key
    tokens = sqlglot.tokenize(SNOWFLAKE.key_places([key, None], Kind.TEXT), dialect=NAME)
    (keys,) = [token.text for token in tokens if token.token_type.name == "STRING"]
    assert json.loads(keys) == [key, None]


def test_names_keep_their_case() -> None:
    assert SNOWFLAKE.quoted("v.Cost") == '"v.Cost"'


def test_sums_have_38_digits() -> None:
    assert SNOWFLAKE.total("w * v0") == "SUM(CAST(w * v0 AS NUMBER(38, 0)))"


def test_whole_quotients_are_not_rounded() -> None:
    """A quotient has six places: a weight of 0.9999999 would become 1, and count for more than its share."""
    assert SNOWFLAKE.quotient("5", "count(*)") == "CAST((5 - MOD(5, count(*))) / count(*) AS NUMBER(38, 0))"
    for _, case in CASES:
        for sql in queries(case, NAME):
            assert not re.search(r"\d / count\(\*\)", sql)


def test_least_and_greatest_leave_nulls_out() -> None:
    assert expression("LEAST(x, 5)", TABLE, NAME) == "LEAST_IGNORE_NULLS(\"x\", TO_DOUBLE('5.0'))"


def test_nulls_and_nan_are_put_at_an_end_before_they_are_left_out() -> None:
    """GREATEST of NULL is NULL; and a sum of NULLs would lose the centre that is added to it."""
    found = SNOWFLAKE.clamp("x", "0", "9")
    assert found == "coalesce(GREATEST(LEAST(NULLIF(x, TO_DOUBLE('NaN')), 9), 0), 0)"


def test_halves_go_to_even() -> None:
    """A cast takes halves away from zero, and only decimals are rounded to even."""
    found = SNOWFLAKE.nearest("x", "", fits=True)
    assert found == "CAST(ROUND(CAST(x AS NUMBER(38, 18)), 0, 'HALF_TO_EVEN') AS NUMBER(38, 0))"
    assert SNOWFLAKE.nearest("x", "", fits=False).startswith("CASE WHEN x >= ")


def test_functions_that_raise_are_guarded() -> None:
    assert "/ NULLIF(" in expression("x / y", TABLE, NAME)
    assert "CASE WHEN" in expression("SQRT(x)", TABLE, NAME)
    assert "LN(NULLIF(GREATEST(" in expression("LN(x)", TABLE, NAME)
    assert "TO_DOUBLE('NaN') WHEN" in expression("POWER(x, y)", TABLE, NAME)
    assert "BETWEEN 0 AND" in expression("d + i", TABLE, NAME)


def test_try_casts_take_texts_alone() -> None:
    for _, case in CASES:
        for sql in queries(case, NAME):
            assert "TRY_CAST" not in bare(sql, NAME)
    assert "TRY_TO_DOUBLE(" in expression("CAST(s AS DOUBLE)", TABLE, NAME)


def test_what_grows_too_long_is_refused() -> None:
    """Nothing can be bound to a name: a subquery that looks outside may only filter."""
    deep: Expression = Column("x")
    for _ in range(12):
        deep = Call("power", (deep, Literal(Fraction(3, 2))))
    with pytest.raises(Unsupported, match="Compute a part of it"):
        Emitter(TABLE, SNOWFLAKE).write(deep)
    long: Expression = Column("x")
    for _ in range(60):
        long = Call("clamp", (Call("+", (long, Literal(1))), Literal(0), Literal(9)))
    assert len(Emitter(TABLE, SNOWFLAKE).write(long)) < 20_000


def test_no_value_is_a_subquery() -> None:
    for _, case in EVERY:
        if case.asked not in REFUSED_FUNCTIONS:
            assert "SELECT" not in bare(expression(case.asked, TABLE, NAME), NAME)


def test_exists_only_filters() -> None:
    found = SNOWFLAKE.flagged("s.owner", "r", "q", "c", ["a"], "f")
    assert found.count("WHERE EXISTS") == found.count("WHERE NOT EXISTS") == 1
    for _, case in CASES:
        for sql in queries(case, NAME):
            assert not re.search(r"EXISTS \([^()]*\) AS", sql)


def test_weeks_and_names_depend_on_no_parameter_of_the_session() -> None:
    assert "'WEEK'" not in expression("DATE_TRUNC('week', d)", TABLE, NAME)
    assert "MONTHNAME" not in expression("MONTHNAME(d)", TABLE, NAME)
    assert "'September'" in expression("MONTHNAME(d)", TABLE, NAME)
    assert "DAYOFWEEKISO" in expression("DAYOFWEEK(d)", TABLE, NAME)
    assert "ADD_MONTHS" not in expression("d + INTERVAL 1 MONTH", TABLE, NAME)
    day = SNOWFLAKE.constant(datetime.datetime(1, 2, 3, 4, 5))  # noqa: DTZ001
    assert day == "TO_TIMESTAMP_NTZ('0001-02-03 04:05:00.000000', 'YYYY-MM-DD HH24:MI:SS.FF6')"


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a|b", "(.|\n)*(a|b)(.|\n)*"),
        (r"(?:\d+)x", r"(.|" + "\n" + r")*((\\d+)x)(.|" + "\n" + ")*"),
        (r"\(\?:", r"(.|" + "\n" + r")*(\\(\\?:)(.|" + "\n" + ")*"),
    ],
)
def test_a_pattern_is_found_anywhere(pattern: str, written: str) -> None:
    """REGEXP_LIKE compares the whole text."""
    found = expression(f"REGEXP_MATCHES(s, '{pattern}')", TABLE, NAME)
    assert found == f"REGEXP_LIKE(COLLATE(CAST(\"s\" AS VARCHAR), ''), '{written}')"


@pytest.mark.parametrize("pattern", [r"\bx", "a*?", r"[\d]", "(?s).", r"\pL", "[[:alpha:]]", r"\Aa"])
def test_a_pattern_that_may_be_read_otherwise_is_refused(pattern: str) -> None:
    with pytest.raises(Unsupported, match="regular expression"):
        expression(f"REGEXP_MATCHES(s, '{pattern}')", TABLE, NAME)


def test_rows_that_are_people_are_the_same_in_every_reading() -> None:
    owner = SNOWFLAKE.row_owner(TABLE)
    assert "row_number() OVER (PARTITION BY md5(" in owner
    written = [sql for _, case in CASES for sql in queries(case, NAME)]
    assert not any(re.search(r"\b(RANDOM|UUID_STRING|SEQ\d)\(|OVER \(\)", bare(sql, NAME)) for sql in written)


def test_streams_are_written() -> None:
    check(stream(NAME), NAME)


def test_types_of_columns() -> None:
    kinds = {"NUMBER(38,0)": Kind.INTEGER, "NUMBER(10,2)": Kind.REAL, "FLOAT": Kind.REAL, "DATE": Kind.DATE}
    kinds |= {"VARCHAR(16777216)": Kind.TEXT, "TIMESTAMP_NTZ(9)": Kind.TIMESTAMP, "TIMESTAMP_LTZ(9)": Kind.OTHER}
    assert {written: field_of("c", written).kind for written in kinds} == kinds
    assert SNOWFLAKE.column(field_of("x", "NUMBER(10,2)")) == 'CAST("x" AS FLOAT)'
