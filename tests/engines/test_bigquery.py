"""Compile-only: every question is written in BigQuery's SQL and parses as such. No server has run any of it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
import sqlglot
from tests.depth import whole
from tests.engines.compiled import bare, catalog, check, expression, queries, stream
from tests.exact.test_functions import EVERY, TABLE
from tests.exact.test_functions import Case as Asked
from tests.golden.cases import Case, plan_of
from tests.golden.test_golden import CASES, IDS

from jali.engines.bigquery import BIGQUERY, emit
from jali.engines.bigquery.numbers import plus, times
from jali.engines.bigquery.sources import scan
from jali.engines.bigquery.types import field_of
from jali.engines.dialects import dialect_of
from jali.engines.sql.expressions import Emitter
from jali.errors import CatalogError, Unsupported
from jali.query.aggregation import Weights
from jali.query.catalog import Kind, Source
from jali.query.nodes import Call, Column, Expression, Literal

NAME = "bigquery"
# Every golden question and every function is written.
REFUSED: frozenset[str] = frozenset()
HARD = ("it's", 'a "b"', "back\\slash", "\\", "end\\'", "two\nlines", "`tick`", "é日", "", "\r", "groups", "-- no")


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
def test_a_function_is_written_and_parses(asked: str) -> None:
    check(f"SELECT {expression(asked, TABLE, NAME)} FROM t", NAME)


def test_the_registry_knows_it() -> None:
    assert dialect_of(NAME) is BIGQUERY


@pytest.mark.parametrize("key", HARD)
def test_a_key_comes_back_as_it_was(key: str) -> None:
    (token,) = sqlglot.tokenize(BIGQUERY.text(key), dialect=NAME)
    assert token.text == key
    tokens = sqlglot.tokenize(BIGQUERY.key_places([key, None], Kind.TEXT), dialect=NAME)
    assert key in [token.text for token in tokens if token.token_type.name == "STRING"]


def test_no_line_ends_inside_a_constant() -> None:
    assert "\n" not in BIGQUERY.text("a\nb")
    assert BIGQUERY.text("\\'") == r"'\\\''"


def test_names_with_dots_are_spelled_out_and_stay_different() -> None:
    names = ["v.a_b", "v_a.b", "v.a.b", "v_a_b", "v__a.b"]
    assert len({BIGQUERY.quoted(name) for name in names}) == len(names)
    assert BIGQUERY.quoted("order total") == "`order total`"
    assert "." not in BIGQUERY.quoted("v.cost")


def test_sums_are_widened() -> None:
    """SUM of INT64 raises where it overflows, which would tell of the data."""
    assert BIGQUERY.total("v") == "SUM(CAST(v AS BIGNUMERIC))"
    assert BIGQUERY.bounded_total("w * v0", 1 << 40) == "SUM(CAST(w * v0 AS BIGNUMERIC))"
    assert BIGQUERY.bounded_total("w", 1 << 20) == "SUM(w)"


def test_nulls_and_nan_are_put_at_an_end_before_they_are_left_out() -> None:
    """GREATEST of NULL is NULL, of NaN is NaN; and a sum of NULLs would lose the centre that is added to it."""
    assert BIGQUERY.clamp("x", "0.0", "9.0") == (
        "IF(x <= CAST('inf' AS FLOAT64), GREATEST(LEAST(x, 9.0), 0.0), 0.0)"
    )


def test_least_and_greatest_leave_nulls_out_and_sort_nan_last() -> None:
    found = expression("GREATEST(x, y, 5)", TABLE, NAME)
    assert "WHERE v IS NOT NULL ORDER BY IS_NAN(v) DESC, v DESC LIMIT 1" in found
    assert not re.search(r"\b(LEAST|GREATEST)\(", bare(found, NAME))


def test_halves_go_to_even() -> None:
    """CAST(2.5 AS INT64) is 3."""
    assert BIGQUERY.nearest("x", "INT64", fits=True) == (
        "SAFE_CAST(ROUND(SAFE_CAST(x AS BIGNUMERIC), 0, 'ROUND_HALF_EVEN') AS INT64)"
    )


def test_nan_is_above_all_numbers_and_equals_itself() -> None:
    assert "IS_NAN(" in expression("x > 5", TABLE, NAME)
    assert "IS_NAN(" not in expression("x < 5", TABLE, NAME)
    assert expression("x = y", TABLE, NAME).count("IS_NAN(") == 2
    assert "IS_NAN(" not in expression("i = j", TABLE, NAME)


def test_arithmetic_never_raises() -> None:
    assert plus("a", "+", "b").startswith("IFNULL(SAFE_ADD(a, b)")
    assert times("a", "b").startswith("IFNULL(SAFE_MULTIPLY(a, b)")
    assert expression("x / y", TABLE, NAME).startswith("IEEE_DIVIDE(")
    for asked in ("EXP(x)", "POWER(x, y)", "t + INTERVAL 1 MONTH", "d + i"):
        assert "SAFE." in expression(asked, TABLE, NAME)


def test_deep_expressions_do_not_double() -> None:
    expression: Expression = Column("x")
    for _ in range(40):
        expression = Call("+", (Call("*", (expression, Literal(Fraction(3, 2)))), Literal(Fraction(1, 4))))
    assert len(Emitter(TABLE, BIGQUERY).write(expression)) < 30_000


def test_weeks_begin_on_mondays() -> None:
    assert "ISOWEEK" in expression("DATE_TRUNC('week', d)", TABLE, NAME)
    assert "ISOWEEK" in expression("WEEK(d)", TABLE, NAME)


def test_contains_heeds_the_case_and_like_has_no_escape() -> None:
    assert "CONTAINS_SUBSTR" not in expression("CONTAINS(s, 'a')", TABLE, NAME)
    assert expression(r"s LIKE 'a\%'", TABLE, NAME).endswith(r"LIKE 'a\\\\%')")


def test_texts_are_compared_by_their_bytes() -> None:
    assert expression("s = 'a'", TABLE, NAME) == "(COLLATE(SAFE_CAST(`s` AS STRING), '') = 'a')"


def test_rows_that_are_people_are_the_same_in_every_reading() -> None:
    """A CTE may be computed twice: nothing is drawn at random, and no number depends on the order of reading."""
    owner = BIGQUERY.row_owner(TABLE)
    assert "UUID" not in owner.upper()
    assert "row_number() OVER (PARTITION BY TO_HEX(MD5(" in owner
    assert " ORDER BY " in owner
    written = [sql for _, case in CASES for sql in queries(case, NAME)]
    assert not any(re.search(r"\bRAND\w*\(|GENERATE_UUID|OVER \(\)", bare(sql, NAME)) for sql in written)


def test_no_partition_is_by_a_double() -> None:
    for _, case in CASES:
        for sql in queries(case, NAME):
            assert set(re.findall(r"PARTITION BY (\w+)", bare(sql, NAME))) <= {"owner", "TO_HEX"}


def test_reserved_words_and_long_numbers_are_mended_outside_of_constants() -> None:
    """GROUPS is a word of BigQuery, and no INT64 has twenty digits."""
    written = [sql for _, case in CASES for sql in queries(case, NAME)]
    assert any("`groups` AS (" in sql for sql in written)
    assert not any(re.search(r"\bgroups\b", bare(sql, NAME)) for sql in written)
    assert not any(re.search(r"LEFT JOIN \w+ ON TRUE", bare(sql, NAME)) for sql in written)
    case = next(case for _, case in CASES if case.title == "Means by ward with Gaussian noise")
    part = plan_of(case, catalog(NAME)).parts[0].aggregation
    many = replace(part, weights=Weights(max_rows=10**6, max_groups=10, resolution=1 << 20, norm="l2"))
    sql = emit(many)
    check(sql, NAME)
    assert f"BIGNUMERIC '{(10**6 << 20) ** 2}'" in sql


def test_a_join_of_keys_is_an_equality() -> None:
    """Outer joins of BigQuery need one; a missing key is told by a second."""
    assert BIGQUERY.same("a", "b", Kind.TEXT, missing=False) == "a = b"
    assert BIGQUERY.same("a", "b", Kind.TIMESTAMP, missing=True).startswith(
        "coalesce(a, CAST(DATETIME '1970-01-01"
    )
    for _, case in CASES:
        for sql in queries(case, NAME):
            assert not re.search(r"LEFT JOIN \w+ ON \S+ IS NOT DISTINCT FROM", sql)


def test_people_are_not_grouped_by_a_subquery() -> None:
    assert BIGQUERY.grouped_by([]) == " HAVING count(*) >= 0"
    with pytest.raises(Unsupported, match="Compute it in a column"):
        BIGQUERY.grouped_by(["owner", "(SELECT 1)"])


def test_streams_are_refused() -> None:
    with pytest.raises(Unsupported, match="Streams"):
        stream(NAME)


def test_types_of_columns() -> None:
    kinds = {"INT64": Kind.INTEGER, "NUMERIC(10, 2)": Kind.REAL, "DATETIME": Kind.TIMESTAMP}
    kinds |= {"TIMESTAMP": Kind.OTHER, "STRING(5)": Kind.TEXT, "ARRAY<INT64>": Kind.OTHER, "BOOL": Kind.BOOLEAN}
    assert {written: field_of("c", written).kind for written in kinds} == kinds


@pytest.mark.parametrize("relation", ["visits", "a.b.c", "clinic.visits_*", "", "clinic."])
def test_a_source_is_one_table_of_a_dataset(relation: str) -> None:
    assert scan(Source(NAME, "p", "clinic.visits")) == "`p`.`clinic`.`visits`"
    with pytest.raises(CatalogError):
        scan(Source(NAME, "p", relation))


def test_the_battery_has_every_function() -> None:
    assert {name for name, _ in EVERY} <= set(BIGQUERY.templates)
    assert isinstance(EVERY[0][1], Asked)
