"""BigQuery's clause and bounds: read exactly, blanked without moving anything, refused with their place."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from tests.depth import DEPTH

from jali.errors import QueryError, Unsupported
from jali.sql.bigquery import ContributionBounds, PrivacyClause, read_clause

QUESTION = """\
SELECT WITH DIFFERENTIAL_PRIVACY
  OPTIONS(epsilon=1, delta=1e-9, max_groups_contributed=3, privacy_unit_column=patient_id)
  ward, SUM(x, contribution_bounds_per_group => (0,100)) AS total, COUNT(*) -- all of them
FROM visits WHERE x > 0 GROUP BY ward"""
WORDS = ("differential_privacy", "anonymization", "aggregation_threshold", "contribution_bounds_per_")


def options(text: str) -> PrivacyClause:
    _, clause, _ = read_clause(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({text}) COUNT(*) FROM t")
    assert clause is not None
    return clause


def bounds_of(call: str) -> dict[int, ContributionBounds]:
    return dict(read_clause(f"SELECT {call} FROM t")[2])


def refusal_of(marked: str) -> QueryError:
    """Read a text whose character after ^ must be the place of the refusal, which must have a remedy."""
    before, _, after = marked.partition("^")
    with pytest.raises(QueryError) as refused:
        read_clause(before + after)
    lines = before.split("\n")
    assert refused.value.position == (len(lines), len(lines[-1]) + 1)
    assert refused.value.remedy
    return refused.value


def test_a_question_as_bigquery_users_write_it_is_understood() -> None:
    plain, clause, bounds = read_clause(QUESTION)
    assert clause == PrivacyClause(
        position=(1, 8), epsilon=Fraction(1), delta=Fraction(1, 10**9), max_groups=3, unit="patient_id"
    )
    assert bounds == {QUESTION.index("SUM"): ContributionBounds(Fraction(0), Fraction(100), "group")}
    expected = "SELECT ward, SUM(x) AS total, COUNT(*) FROM visits WHERE x > 0 GROUP BY ward"
    assert sqlglot.parse_one(plain, read="duckdb").sql(comments=False) == expected


def test_everything_else_stays_where_it_was() -> None:
    plain, _, _ = read_clause(QUESTION)
    assert len(plain) == len(QUESTION)
    for word in ("ward", "SUM", "x", ") AS total", "COUNT", "-- all of them", "FROM", "GROUP BY"):
        assert plain.index(word) == QUESTION.replace("max_groups", "          ").index(word)
    assert [i for i, c in enumerate(plain) if c == "\n"] == [i for i, c in enumerate(QUESTION) if c == "\n"]


def test_windows_line_ends_and_comments_within_the_clause_keep_the_lines() -> None:
    sql = (
        "SELECT\r\n WITH DIFFERENTIAL_PRIVACY -- noqa\r\n OPTIONS /* : */ (epsilon=2) -- kept\r\n COUNT(*) FROM é"
    )
    plain, clause, _ = read_clause(sql)
    assert plain.split() == ["SELECT", "--", "kept", "COUNT(*)", "FROM", "é"]
    assert plain.count("\r\n") == 3
    assert clause is not None
    assert (clause.epsilon, clause.position) == (Fraction(2), (2, 2))


def test_all_options_are_read_in_any_order_and_case() -> None:
    clause = options(
        "GROUP_SELECTION_STRATEGY = public_groups, Min_Privacy_Units_Per_Group = 10, max_rows_contributed = 7,"
        ' privacy_unit_column = visits . "Patient ""ID", DELTA = 0, epsilon = 0.25'
    )
    assert clause == PrivacyClause(
        position=(1, 8),
        epsilon=Fraction(1, 4),
        delta=Fraction(0),
        max_rows=7,
        unit='Patient "ID',
        unit_table="visits",
        min_people=10,
        selection="PUBLIC_GROUPS",
    )


def test_no_options_say_nothing() -> None:
    assert options("") == PrivacyClause(position=(1, 8))


@pytest.mark.parametrize(
    ("text", "unit"), [("id", "id"), ("`id`", "id"), ('"a,b"', "a,b"), ("größe", "größe"), ("_1", "_1")]
)
def test_the_unit_is_a_name_without_its_quotes(text: str, unit: str) -> None:
    clause = options(f"privacy_unit_column={text}, epsilon=1")
    assert (clause.unit, clause.unit_table, clause.epsilon) == (unit, None, Fraction(1))


@pytest.mark.parametrize("text", ["1", "1.", ".01", "0.1", "1e-9", "1E+3", "12.50e2", "+2", "1e20", "007"])
def test_numbers_are_exact(text: str) -> None:
    assert options(f"epsilon={text}").epsilon == Fraction(Decimal(text))


@settings(max_examples=100 * DEPTH)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_bounds_are_exact(value: Decimal) -> None:
    (bound,) = bounds_of(f"SUM(x, contribution_bounds_per_row => ({value}, 1e10))").values()
    assert bound == ContributionBounds(Fraction(value), Fraction(10**10), "row")


# Written out once more, so that a function that leaves the list in the source is noticed here.
PER_GROUP = ["COUNT(x", "COUNT(*", "COUNT(DISTINCT x", "SUM(x", "AVG(CASE WHEN a THEN (b) ELSE c END"]
PER_ROW = [
    *("SUM(x", "AVG(x", "VAR_POP(x", "VAR_SAMP(x", "VARIANCE(x", "STDDEV_POP(x", "STDDEV_SAMP(x", "STDDEV(x"),
    *("PERCENTILE_CONT(x, 0.5", "PERCENTILE_DISC(x, 0.5", "APPROX_QUANTILES(x, 4", "median (x"),
]


@pytest.mark.parametrize(
    ("call", "per"), [*((call, "group") for call in PER_GROUP), *((call, "row") for call in PER_ROW)]
)
def test_a_bound_is_found_by_the_place_of_its_aggregate_in_the_parsed_question(call: str, per: str) -> None:
    sql = f"SELECT ward,\n round({call}, contribution_bounds_per_{per}=>( -0.5 , 1e3 )), 1) AS n, SUM(y) FROM t"
    plain, clause, bounds = read_clause(sql)
    rounded = sqlglot.parse_one(plain, read="duckdb").expressions[1].this
    (bound,) = bounds.values()
    assert clause is None
    assert list(bounds) == [rounded.this.meta["start"]]
    assert (bound.low, bound.high) == (Fraction(-1, 2), Fraction(1000))
    assert bound.per == per


def test_several_bounds_each_find_their_own_aggregate() -> None:
    sql = (
        "SELECT SUM(a, contribution_bounds_per_group => (0, 1)) / SUM(b, contribution_bounds_per_group => (0, 2)),"
        " (SELECT AVG(c, contribution_bounds_per_group => (0, 3)) FROM u) FROM t"
    )
    plain, _, bounds = read_clause(sql)
    calls = list(sqlglot.parse_one(plain, read="duckdb").find_all(exp.Sum, exp.Avg))
    assert {call.this.name: bounds[call.meta["start"]].high for call in calls} == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)' AS a, COUNT(*) FROM t",
        "SELECT COUNT(*) FROM t WHERE a = 'SUM(x, contribution_bounds_per_group => (0, 1))'",
        "SELECT -- WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)\n COUNT(*) FROM t",
        "SELECT /* WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) */ COUNT(*) FROM t",
        'SELECT "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)" FROM t',
        "SELECT $$ WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) $$ FROM t",
        "SELECT differential_privacy, contribution_bounds_per_row FROM anonymization",
        "WITH differential_privacy AS (SELECT 1), anonymization AS (SELECT 2) SELECT COUNT(*) FROM anonymization",
        "SELECT COUNT(*) FROM t WHERE contribution_bounds_per_group = 3",
    ],
)
def test_the_words_in_strings_comments_and_names_are_left_alone(sql: str) -> None:
    assert read_clause(sql) == (sql, None, {})


def test_a_string_within_the_question_survives_beside_a_clause() -> None:
    text = "'WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)'"
    plain, clause, _ = read_clause(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) {text} FROM t")
    assert plain.split() == ["SELECT", *text.split(), "FROM", "t"]
    assert clause is not None
    assert clause.epsilon == 1


def test_the_older_clause_and_its_aggregates_are_read() -> None:
    sql = (
        "SELECT WITH ANONYMIZATION OPTIONS(epsilon=10, delta=.01, kappa=2) item, ANON_COUNT(*),"
        " anon_sum(q CLAMPED BETWEEN -1 AND 100), ANON_VAR_POP(q CLAMPED BETWEEN 0 AND 9) FROM t GROUP BY item"
    )
    plain, clause, bounds = read_clause(sql)
    expected = "SELECT item, COUNT(*), SUM(q), VARIANCE_POP(q) FROM t GROUP BY item"
    parsed = sqlglot.parse_one(plain, read="duckdb")
    assert parsed.sql() == expected
    assert clause == PrivacyClause(position=(1, 8), epsilon=Fraction(10), delta=Fraction(1, 100), max_groups=2)
    starts = [node.meta["start"] for node in parsed.expressions[2:]]
    assert bounds == {
        starts[0]: ContributionBounds(Fraction(-1), Fraction(100), "group"),
        starts[1]: ContributionBounds(Fraction(0), Fraction(9), "row"),
    }


CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS"


@pytest.mark.parametrize(
    ("marked", "word"),
    [
        (f"{CLAUSE}(epsilon=1, ^epsilom=1) COUNT(*) FROM t", "epsilon, delta, max_groups_contributed"),
        (f"{CLAUSE}(epsilon=1,\n  ^Epsilon=1) COUNT(*) FROM t", "twice"),
        (f"{CLAUSE}(max_groups_contributed=1, ^kappa=1) COUNT(*) FROM t", "twice"),
        (f"{CLAUSE}(max_rows_contributed=1, ^k_threshold=1) COUNT(*) FROM t", "no option k_threshold"),
        (f"{CLAUSE}(^max_rows_contributed=1, max_groups_contributed=1) COUNT(*) FROM t", "one of them"),
        (f"{CLAUSE}(epsilon=1,^) COUNT(*) FROM t", "name = value"),
        (f"{CLAUSE}(epsilon=1,^, delta=0) COUNT(*) FROM t", "name = value"),
        (f"{CLAUSE}(^epsilon) COUNT(*) FROM t", "name = value"),
        (f"{CLAUSE}(^epsilon=) COUNT(*) FROM t", "name = value"),
        (f"{CLAUSE}(^epsilon => 1) COUNT(*) FROM t", "name = value"),
        (f'{CLAUSE}(^"epsilon"=1) COUNT(*) FROM t', "no option"),
        (f"{CLAUSE}(^1) COUNT(*) FROM t", "no option"),
        (f"{CLAUSE}(epsilon=^0) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^-1) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^1+1) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^1 2) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^'1') COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^NULL) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^1e999999999) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(epsilon=^0x10) COUNT(*) FROM t", "above 0"),
        (f"{CLAUSE}(delta=^1) COUNT(*) FROM t", "below 1"),
        (f"{CLAUSE}(delta=^-1e-9) COUNT(*) FROM t", "below 1"),
        (f"{CLAUSE}(max_groups_contributed=^0) COUNT(*) FROM t", "max_groups_contributed takes a whole"),
        (f"{CLAUSE}(max_groups_contributed=^1.5) COUNT(*) FROM t", "whole"),
        (f"{CLAUSE}(max_groups_contributed=^NULL) COUNT(*) FROM t", "whole"),
        (f"{CLAUSE}(min_privacy_units_per_group=^-3) COUNT(*) FROM t", "whole"),
        (f"{CLAUSE}(privacy_unit_column=^'id') COUNT(*) FROM t", "name of a column"),
        (f"{CLAUSE}(privacy_unit_column=^a.b.c) COUNT(*) FROM t", "name of a column"),
        (f"{CLAUSE}(privacy_unit_column=^hash(id)) COUNT(*) FROM t", "name of a column"),
        (f"{CLAUSE}(group_selection_strategy=^NONE) COUNT(*) FROM t", "PUBLIC_GROUPS"),
        ("SELECT ^WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM t", "OPTIONS"),
        ("SELECT ^WITH DIFFERENTIAL_PRIVACY OPTIONS epsilon=1 COUNT(*) FROM t", "OPTIONS"),
        ("SELECT ^WITH DIFFERENTIAL_PRIVACY", "OPTIONS"),
        ("SELECT a, ^WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM t", "must directly follow SELECT"),
        ("SELECT DISTINCT ^WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) a FROM t", "must directly follow SELECT"),
        (f"{CLAUSE}(epsilon=1) ^WITH ANONYMIZATION OPTIONS(epsilon=1) a FROM t", "must directly follow SELECT"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS^(epsilon=1", "not closed"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS^(epsilon=1] COUNT(*) FROM t", "not closed"),
        ("SELECT SUM(x, ^contribution_bounds_per_group => (0, 1, 2)) FROM t", "two bounds"),
        ("SELECT SUM(x, ^contribution_bounds_per_group => 0, 1) FROM t", "two bounds"),
        ("SELECT SUM(x, ^contribution_bounds_per_group =>", "two bounds"),
        ("SELECT SUM(x, ^contribution_bounds_per_group => (0, 1) + 1) FROM t", "two bounds"),
        ("SELECT SUM(^contribution_bounds_per_group => (0, 1)) FROM t", "after the first"),
        ("SELECT SUM(x, contribution_bounds_per_group => (^, 1)) FROM t", "two numbers"),
        ("SELECT SUM(x, contribution_bounds_per_group => (0, ^y)) FROM t", "two numbers"),
        ("SELECT SUM(x, contribution_bounds_per_group => (^2, 1)) FROM t", "lower bound"),
        ("SELECT MIN(x, ^contribution_bounds_per_row => (0, 1)) FROM t", "COUNT, SUM"),
        ("SELECT t.SUM(x, ^contribution_bounds_per_group => (0, 1)) FROM t", "COUNT, SUM"),
        ("SELECT (x, ^contribution_bounds_per_group => (0, 1)) FROM t", "COUNT, SUM"),
        ("SELECT COUNT(x, ^contribution_bounds_per_row => (0, 1)) FROM t", "contribution_bounds_per_group"),
        ("SELECT VAR_POP(x, ^contribution_bounds_per_group => (0, 1)) FROM t", "contribution_bounds_per_row"),
        (
            "SELECT SUM(x, contribution_bounds_per_row => (0,1)^, contribution_bounds_per_group => (0,1)) FROM t",
            "This aggregate has more than one contribution bound",
        ),
        ("SELECT WITH ANONYMIZATION OPTIONS() ANON_SUM(x CLAMPED BETWEEN ^a AND 3) FROM t", "two numbers"),
        ("SELECT WITH ANONYMIZATION OPTIONS() ANON_MAX(x ^CLAMPED BETWEEN 1 AND 3) FROM t", "COUNT, SUM"),
    ],
)
def test_a_malformed_clause_is_refused_at_its_place(marked: str, word: str) -> None:
    refusal = refusal_of(marked)
    assert word in str(refusal)
    assert not isinstance(refusal, Unsupported)


@pytest.mark.parametrize(
    ("marked", "word"),
    [
        (f"SELECT COUNT(*) FROM (SELECT ^{CLAUSE[7:]}(epsilon=1) a FROM t)", "outermost"),
        (f"{CLAUSE}(epsilon=1) a FROM (SELECT ^{CLAUSE[7:]}(epsilon=1) a FROM t)", "outermost"),
        (f"WITH c AS (SELECT ^{CLAUSE[7:]}(epsilon=1) a FROM t) SELECT COUNT(*) FROM c", "outermost"),
        (f"{CLAUSE}(epsilon=1) a FROM t UNION ALL SELECT ^{CLAUSE[7:]}(epsilon=1) a FROM t", "first"),
        (f"SELECT 1; SELECT ^{CLAUSE[7:]}(epsilon=1) a FROM t", "first"),
        ("SELECT ^WITH AGGREGATION_THRESHOLD OPTIONS(threshold=50) COUNT(*) FROM t", "not private"),
        (f"{CLAUSE}(epsilon=1) SUM(x, ^epsilon => 0.5) FROM t", "contribution_bounds_per_group"),
        (f"{CLAUSE}(epsilon=1) SUM(x, ^report_format => JSON) FROM t", "contribution_bounds_per_group"),
    ],
)
def test_what_is_understood_and_not_supported_is_refused_at_its_place(marked: str, word: str) -> None:
    refusal = refusal_of(marked)
    assert word in str(refusal)
    assert isinstance(refusal, Unsupported)


def test_a_clause_after_common_table_expressions_is_read() -> None:
    _, clause, _ = read_clause(f"WITH c AS (SELECT a FROM t) {CLAUSE}(epsilon=1) COUNT(*) FROM c")
    assert clause is not None


@settings(max_examples=100 * DEPTH)
@given(st.text())
def test_a_text_without_the_words_comes_back_as_it_is(text: str) -> None:
    if not any(word in text.lower() for word in WORDS):
        assert read_clause(text) == (text, None, {})


def test_a_text_without_the_words_is_not_even_cut_into_tokens() -> None:
    assert read_clause("SELECT 'never closed") == ("SELECT 'never closed", None, {})
    with pytest.raises(QueryError, match="Close every string"):
        read_clause("SELECT contribution_bounds_per_row 'never closed")


FRAGMENTS = [
    *("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(", "SELECT", "WITH", "DIFFERENTIAL_PRIVACY", "ANONYMIZATION"),
    *("OPTIONS", "(", ")", "[", "]", "{", ",", "=", "=>", ".", "epsilon", "delta", "kappa", "privacy_unit_column"),
    *("epsilon=1", "max_groups_contributed=2", ", contribution_bounds_per_group => (0, 1)", "SUM(x", "COUNT(*"),
    *(
        "contribution_bounds_per_row",
        "ANON_SUM(",
        "CLAMPED BETWEEN",
        "0 AND 1",
        "FROM t",
        "'",
        '"',
        "`",
        "--",
        "/*",
    ),
    *("*/", "1e9", "-", "\n", "\r\n", "é", "😀", "\x00", "\ud800", "$$", "::", ";", "UNION ALL"),
]


@settings(max_examples=300 * DEPTH)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14), st.sampled_from([" ", "", "\n"]))
def test_any_text_is_refused_or_only_blanked(fragments: list[str], between: str) -> None:
    sql = between.join(fragments)
    try:
        plain, _, bounds = read_clause(sql)
    except QueryError:
        return
    assert len(plain) == len(sql)
    assert all(new == old or (new == " " and old not in "\r\n") for new, old in zip(plain, sql, strict=True))
    assert all(plain[start:].lower().startswith(("sum", "count")) for start in bounds)
    assert read_clause(plain)[1:] == (None, {})


NUMBERS = st.decimals(min_value="0.000001", max_value="0.999999", places=6)
WHOLES = st.integers(1, 10**18 - 1)
NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,9}", fullmatch=True)


@settings(max_examples=100 * DEPTH)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "epsilon": NUMBERS,
            "delta": NUMBERS,
            "max_groups_contributed": WHOLES,
            "min_privacy_units_per_group": WHOLES,
            "privacy_unit_column": NAMES,
            "group_selection_strategy": st.sampled_from(["PUBLIC_GROUPS", "LAPLACE_THRESHOLD"]),
        },
    ).flatmap(lambda chosen: st.permutations(list(chosen.items()))),
    st.sampled_from(["", " ", "\n", " -- ), epsilon=9\n", "/* ( */"]),
)
def test_every_well_formed_clause_says_what_was_written(chosen: list[tuple[str, object]], space: str) -> None:
    written = f",{space}".join(f"{name}{space}={space}{value}" for name, value in chosen)
    clause, said = options(written + space), dict(chosen)
    for number, name in ((clause.epsilon, "epsilon"), (clause.delta, "delta")):
        assert number == (Fraction(str(said[name])) if name in said else None)
    assert clause.max_groups == said.get("max_groups_contributed")
    assert clause.min_people == said.get("min_privacy_units_per_group")
    assert clause.unit == said.get("privacy_unit_column")
    assert clause.selection == said.get("group_selection_strategy")
    assert (clause.max_rows, clause.unit_table) == (None, None)
