"""What Spark does differently from other engines: each trap by its name."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.depth import deep
from tests.servers.spark import hasten

import jali
from jali.catalog.columns import Kind
from jali.catalog.tables import Catalog, Public, Source, Table
from jali.engines.spark import SparkEngine
from jali.engines.spark.arithmetic import total
from jali.engines.spark.connections import SETTINGS, own_session
from jali.engines.spark.dialect import SPARK
from jali.engines.spark.regex import java_pattern
from jali.engines.spark.sources import field_of, parts_of, scan
from jali.errors import CatalogError, EngineError, Unsupported
from jali.planner import make_plan
from jali.planner.terms import read_terms
from jali.privacy import Adjacency
from jali.sql.reader.read_select import read_sql


class Home:
    """An engine over a given session, and tables that are declared in it."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self.user, self.folder, self.engine = spark, folder, SparkEngine()
        self.engine.use(spark)
        self.session = self.engine._session("session")
        hasten(self.session)

    def one(self, *written: str) -> tuple[Any, ...]:
        """Return what expressions give."""
        return tuple(self.session.sql(f"SELECT {', '.join(written)}").collect()[0])

    def source(self, name: str, rows: pa.Table, **options: Any) -> Source:
        pq.write_table(rows, self.folder / f"{name}.parquet", **options)
        return Source("spark", "session", f"parquet:{self.folder / name}.parquet")

    def table(self, source: Source, unit: str | None = None, max_rows: int = 1, **declared: Any) -> Table:
        fields = []
        for field in self.engine.fields(source, {}):
            given = declared.get(field.name)
            known = {"keys": given} if isinstance(given, jali.Keys) else {"range": given} if given else {}
            fields.append(replace(field, **known))
        return Table("t", source, unit, max_rows, Adjacency.ADD_REMOVE, tuple(fields), jali.Budget(10**6))

    def asked(self, table: Table, question: str, *others: Table | Public, **terms: Any) -> list[tuple[Any, ...]]:
        """Return the exact integers of a question with one part."""
        plan = make_plan(read_sql(question), Catalog((table, *others)), read_terms(**{"epsilon": 1, **terms}))
        (part,) = plan.parts
        return self.engine.run(self.engine.emit(part.aggregation), plan.read)


@pytest.fixture(scope="module")
def home(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home(spark, tmp_path_factory.mktemp("traps"))
    yield made
    made.engine.close()


def test_try_cast_makes_null_of_what_does_not_fit(home: Home) -> None:
    """A cast saturates: 2^63 becomes the largest BIGINT, NaN becomes 0."""
    values = ["double('NaN')", "double('Infinity')", "double('9223372036854775808')", "double('2.5')"]
    found = home.one(*(SPARK.round_half_even(value, "BIGINT", fits=False) for value in values))
    assert found == (None, None, None, 2)


def test_hash_is_md5_as_everywhere(home: Home) -> None:
    assert home.one(SPARK.digest("'a'")) == ("0cc175b9c0f1b6a831c399e269772661",)


def test_nan_is_above_every_number_and_equal_to_itself(home: Home) -> None:
    nan = "double('NaN')"
    assert home.one(f"{nan} > double('Infinity')", f"{nan} = {nan}", f"{nan} <= {SPARK.infinite}") == (
        True,
        True,
        False,
    )


def test_least_and_greatest_leave_nulls_out(home: Home) -> None:
    assert home.one("least(NULL, 2)", "greatest(NULL, 2D)", "least(NULL, CAST(NULL AS INT))") == (2, 2.0, None)


def test_sums_of_64_bits_do_not_wrap(home: Home) -> None:
    """Spark's own sum of the largest BIGINT and 1 is the least one."""
    largest, least = (1 << 63) - 1, -(1 << 63)
    values = [largest, largest, 1, least, least, least, -1, 8388608, -8388609]
    rows = ", ".join(f"({value})" for value in values)
    for most in (1 << 63, 1 << 62):
        kept = [v for v in values if abs(v) <= most]
        source = ", ".join(f"({value})" for value in kept)
        ((found,),) = home.session.sql(f"SELECT {total('v', most)} FROM VALUES {source} AS t(v)").collect()
        assert int(found) == sum(kept)
    ((wrapped,),) = home.session.sql(f"SELECT sum(v) FROM VALUES {rows} AS t(v)").collect()
    assert wrapped != sum(values)


@pytest.mark.parametrize("most", [1, 2**23 - 1, 2**23, 2**31, 2**46 - 1, 2**46, 2**62, 2**63])
def test_a_limb_has_room_for_all_rows(most: int) -> None:
    """2^39 rows of limbs below 2^23 sum to less than 2^63."""
    assert total("v", most).count("sum(") == max(1, -(-most.bit_length() // 23))


def test_weights_and_sums_are_exact_at_the_ends_of_64_bits(home: Home) -> None:
    rows = pa.table({"p": [1] * 9 + [2], "x": [2**62] * 9 + [-(2**62)]})
    table = home.table(home.source("wide", rows), "p", 2, x=jali.Range(-(2**40), 2**40))
    ((found,),) = home.asked(table, "SELECT SUM(x) FROM t")
    plan = make_plan(read_sql("SELECT SUM(x) FROM t"), Catalog((table,)), read_terms(epsilon=1))
    (part,) = plan.parts
    weights, (measure,) = part.aggregation.weights, part.aggregation.measures
    assert weights is not None
    share = min(weights.resolution, weights.resolution * 2 // 9)
    assert found == 9 * share * measure.most + weights.resolution * measure.least  # type: ignore[union-attr]


def test_integer_division_is_of_integers(home: Home) -> None:
    assert home.one(SPARK.quotient("7", "2"), "7 / 2") == (3, 3.5)


def test_weeks_begin_on_mondays_and_quarters_in_january(home: Home) -> None:
    assert home.one("trunc(DATE '2025-06-01', 'week')", "trunc(DATE '2025-06-01', 'quarter')") == (
        datetime.date(2025, 5, 26),
        datetime.date(2025, 4, 1),
    )


def test_empty_groups_and_null_keys_are_there(home: Home) -> None:
    rows = pa.table({"g": ["a", None, "c", None], "x": [1, 2, 3, 4]})
    table = home.table(home.source("groups", rows), g=jali.Keys(["b", "a", None]))
    assert home.asked(table, "SELECT g, COUNT(*) FROM t GROUP BY g") == [(0,), (1,), (2,)]


def test_a_question_of_no_rows_has_its_zeros(home: Home) -> None:
    rows = pa.table({"g": pa.array([], pa.string()), "x": pa.array([], pa.int64())})
    table = home.table(home.source("empty", rows), g=jali.Keys(["a"]), x=jali.Range(0, 9))
    assert home.asked(table, "SELECT g, SUM(x) FROM t GROUP BY g") == [(0,)]
    assert home.asked(table, "SELECT COUNT(*) FROM t") == [(0,)]


def test_decimals_are_read_as_doubles(home: Home) -> None:
    from decimal import Decimal

    rows = pa.table({"x": pa.array([Decimal("1.25"), Decimal("-3.50"), None], pa.decimal128(20, 2))})
    source = home.source("decimals", rows)
    assert home.engine.fields(source, {})[0] == field_of("x", "double")
    table = home.table(source, x=jali.Range(-10, 10))
    plan = make_plan(read_sql("SELECT SUM(x) FROM t"), Catalog((table,)), read_terms(epsilon=1))
    ((found,),) = home.asked(table, "SELECT SUM(x) FROM t")
    aggregation = plan.parts[0].aggregation
    assert found * aggregation.unit(aggregation.measures[0]) == Fraction("-2.25")


def test_times_with_a_zone_are_read_in_utc(home: Home) -> None:
    """Whatever the zone of the user's session is."""
    moment = datetime.datetime(2025, 3, 30, 0, 30, tzinfo=datetime.UTC)
    rows = pa.table({"t": pa.array([moment], pa.timestamp("us", tz="Asia/Kolkata"))})
    table = home.table(home.source("zones", rows))
    assert table.fields[0].kind is Kind.TIMESTAMP
    assert home.session.conf.get("spark.sql.session.timeZone") == "UTC"
    question = "SELECT COUNT(*) FROM t WHERE HOUR(t) = 0 AND DAY(t) = 30"
    assert home.asked(table, question) == [(1,)]


def test_keys_are_told_apart_by_their_bytes(home: Home) -> None:
    rows = pa.table({"g": ["a", "A", "á", "a "]})
    table = home.table(home.source("case", rows), g=jali.Keys(["a", "A", "á"]))
    assert home.asked(table, "SELECT g, COUNT(*) FROM t GROUP BY g") == [(1,), (1,), (1,)]
    assert home.one("CAST(collate('a', 'UNICODE_CI') AS STRING) = 'A'") == (False,)


def test_nan_is_missing_whatever_the_least_and_largest_values_of_a_file_say(home: Home) -> None:
    """The writer leaves NaN out of them: pushed down, a filter could skip the block, unless somebody has a 5."""
    for more in ([], [5.0]):
        rows = pa.table({"x": [1.0, 3.0, math.nan, *more]})
        table = home.table(home.source(f"nan{len(more)}", rows))
        assert home.asked(table, "SELECT COUNT(*) FROM t WHERE x > 4") == [(len(more),)]
        assert home.asked(table, "SELECT COUNT(*) FROM t WHERE x IS NULL") == [(1,)]


def test_lattice_points_are_rounded_to_even_and_marks_away_from_zero(home: Home) -> None:
    values = ["2.5", "3.5", "-2.5", "0.49999999999999994", "-0.5", "1e300"]
    nearest = home.one(*(SPARK.round_half_even(f"double('{v}')", "BIGINT", fits=False) for v in values))
    assert nearest == (2, 4, -2, 0, 0, None)
    away = home.one(*(SPARK.round_half_away(f"double('{v}')") for v in values))
    assert away == (3.0, 4.0, -3.0, 0.0, -1.0, 1e300)


@pytest.mark.parametrize(
    "text", ["a\\b", "it's", "${env:HOME}", "\\u0041", 'quo"te', "line\nbreak", "nul\0", "é日"]
)
def test_texts_are_what_they_are(text: str, home: Home) -> None:
    assert home.one(SPARK.text(text)) == (text,)
    keys = SPARK.key_places((text, None), Kind.TEXT)
    assert [tuple(row) for row in home.session.sql(keys).collect()] == [(0, text), (1, None)]


def test_names_are_quoted_by_backticks(home: Home) -> None:
    rows = pa.table({"a`b ${x}": [1, 2], "order": ["a", "b"]})
    table = home.table(home.source("names", rows), order=jali.Keys(["a"]))
    assert home.asked(table, 'SELECT "order", COUNT(*) FROM t WHERE "a`b ${x}" < 2 GROUP BY "order"') == [(1,)]
    assert scan(Source("spark", "session", "db.`my``visits`")) == "`db`.`my``visits`"
    assert parts_of("a.b.c") == ["a", "b", "c"]
    for wrong in ("", "a.", "a b", "`a", "a..b", "a; DROP TABLE b"):
        with pytest.raises(CatalogError):
            parts_of(wrong)


def test_a_path_is_no_pattern(home: Home) -> None:
    with pytest.raises(CatalogError, match="one source"):
        home.engine.fields(Source("spark", "session", "parquet:/data/*"), {})


def test_rows_that_are_people_are_owners_whichever_way_they_are_read(home: Home) -> None:
    """Two readings of the same rows give the same owners, however often each row is there."""
    rows = pa.table({"x": [1.0, 1.0, math.nan, math.nan, None, None, 2.0], "g": ["a"] * 6 + [None]})
    table = home.table(home.source("owners", rows))
    owners = f"SELECT {SPARK.row_owner(table)} AS owner FROM {scan(table.source)}"
    twice = f"SELECT count(*), count(DISTINCT a.owner) FROM ({owners}) a JOIN ({owners}) b ON a.owner = b.owner"
    assert tuple(home.session.sql(twice).collect()[0]) == (7, 7)


def test_exists_is_a_value(home: Home) -> None:
    rows = "SELECT * FROM VALUES (1), (2), (NULL) AS s(v)"
    others = "SELECT * FROM VALUES (2), (2), (NULL) AS o(w)"
    sql = SPARK.flag_rows(None, rows, others, "v = w", ["v"], "flag")
    found = {tuple(row) for row in home.session.sql(sql).collect()}
    assert found == {(1, False), (2, True), (None, False)}


def test_a_group_of_everything_is_one_row(home: Home) -> None:
    rows = "(SELECT * FROM VALUES (1) AS s(v) WHERE v > 1)"
    assert home.session.sql(f"SELECT 1 AS one FROM {rows}{SPARK.group_by([])}").count() == 1
    assert home.session.sql(f"SELECT v FROM {rows}{SPARK.group_by(['v'])}").count() == 0


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a$", "a\n", False),
        ("^a", "b\na", False),
        ("(?m)^a$", "b\na\r", False),
        ("(?m)^a$", "b\na\n", True),
        ("a.b", "a\rb", True),
        ("a.b", "a\nb", False),
        ("(?s)a.b", "a\nb", True),
        ("\\d", "٣", False),
        ("\\s", "\x0b", False),
        ("\\bé\\b", "é", False),
        ("(?i)k", "\u212a", True),
        ("(?i)[^k]", "\u212a", False),
        ("(?i)\\w", "\u017f", True),
        ("(?i)\\W", "\u017f", False),
        ("(?i:A)b|(?P<n>c)", "ab", True),
        ("[[:alpha:]]+", "é", False),
        ("a{2}", "aa", True),
        ("a{,2}", "a{,2}", True),
        ("\\Qa.b\\E", "axb", False),
        ("x*", "", True),
        ("a|b|", "c", True),
        ("[\\]a-]", "-", True),
        ("\\x{65e5}", "日", True),
    ],
)
def test_patterns_are_those_of_re2(pattern: str, text: str, found: bool, home: Home) -> None:
    import duckdb

    assert duckdb.execute("SELECT regexp_matches($1, $2)", [text, pattern]).fetchall() == [(found,)]
    java = java_pattern(pattern, whole=False)
    assert home.one(f"{SPARK.text(text)} RLIKE {SPARK.text(java)}") == (found,)
    (whole,) = duckdb.execute("SELECT regexp_full_match($1, $2)", [text, pattern]).fetchall()
    assert home.one(f"{SPARK.text(text)} RLIKE {SPARK.text(java_pattern(pattern, whole=True))}") == whole


@pytest.mark.parametrize(
    "pattern", ["(ab)*", "(a*)+", "(a?){50}", "\\p{L}", "(?i)é", "a*b*c*d*e*", "(a|bc)+", "\\C", "[^\\pN]"]
)
def test_a_pattern_that_java_might_never_end_is_refused(pattern: str) -> None:
    with pytest.raises(Unsupported) as refused:
        java_pattern(pattern, whole=False)
    assert refused.value.remedy


def test_a_long_text_ends_no_search(home: Home) -> None:
    """Java's own repetition of a group overflows its stack on such a text."""
    long = "concat(repeat('ab\U0001d4b3', 200000), 'c')"
    pattern = java_pattern("^(a|b|\U0001d4b3)+$", whole=False)
    assert home.one(f"{long} RLIKE {SPARK.text(pattern)}") == (False,)


@deep
def test_like_has_no_escapes(home: Home) -> None:
    rows = pa.table({"s": ["a%", "a\\%", "ab", "É_"]})
    table = home.table(home.source("like", rows))
    assert home.asked(table, "SELECT COUNT(*) FROM t WHERE s LIKE 'a\\%'") == [(1,)]
    assert home.asked(table, "SELECT COUNT(*) FROM t WHERE s ILIKE 'é_'") == [(1,)]


@deep
def test_letters_have_one_capital_each(home: Home) -> None:
    """As in DuckDB, for every character but those whose case is newer than its tables."""
    import unicodedata

    import duckdb

    from jali.engines.spark.texts import write_lower, write_upper

    points = "SELECT id, decode(unhex(lpad(hex(id), 8, '0')), 'UTF-32') AS c FROM range(1, 55296)"
    sql = f"SELECT id, {write_lower('c')}, {write_upper('c')} FROM ({points})"
    found = {row[0]: (row[1], row[2]) for row in home.session.sql(sql).collect()}
    wanted = duckdb.execute(
        "SELECT i, lower(chr(i::INT)), upper(chr(i::INT)) FROM range(1, 55296) t(i)"
    ).fetchall()
    other = [(found[i], (lower, upper)) for i, lower, upper in wanted if i in found and found[i] != (lower, upper)]
    new = [pair for pair in other if any(unicodedata.category(c) == "Cn" for c in "".join(pair[0]))]
    assert [pair for pair in other if pair not in new] == []
    assert len(new) < 100


def test_a_view_is_refused_and_a_table_is_read(home: Home) -> None:
    home.user.sql("CREATE TABLE IF NOT EXISTS default.jali_visits USING parquet AS SELECT 1 AS x")
    home.user.sql("CREATE OR REPLACE VIEW default.jali_view AS SELECT rand() AS x")
    home.user.range(3).createOrReplaceTempView("jali_temporary")
    try:
        source = Source("spark", "session", "`default`.jali_visits")
        assert [field.name for field in home.engine.fields(source, {})] == ["x"]
        assert home.asked(home.table(source), "SELECT COUNT(*) FROM t") == [(1,)]
        for name in ("default.jali_view", "jali_temporary", "nowhere.nothing"):
            with pytest.raises(CatalogError, match="has no table"):
                home.engine.fields(Source("spark", "session", name), {})
    finally:
        home.user.sql("DROP TABLE default.jali_visits")
        home.user.sql("DROP VIEW default.jali_view")


def test_the_users_settings_stay_as_they_are(home: Home) -> None:
    session = own_session(home.user)
    changed = [name for name, value in SETTINGS.items() if session.conf.get(name) != value]
    assert changed == []
    assert home.user.conf.get("spark.sql.parquet.filterPushdown") == "true"


@deep
def test_questions_mean_the_same_in_ansi_mode(home: Home) -> None:
    rows = pa.table({"p": [1, 1, 2, 3], "s": ["x", "12", "1e400", None], "x": [1e300, -1.5, math.nan, None]})
    table = home.table(home.source("ansi", rows), "p", 1, x=jali.Range(-5, 5))
    question = "SELECT SUM(CLAMP(CAST(s AS DOUBLE) / x, 0, 9)), COUNT(CAST(x AS INTEGER)), SUM(x) FROM t"
    usual = home.asked(table, question)
    home.session.conf.set("spark.sql.ansi.enabled", "true")
    try:
        assert home.asked(table, question) == usual
    finally:
        home.session.conf.set("spark.sql.ansi.enabled", "false")


def test_what_spark_says_of_an_error_is_not_told(home: Home) -> None:
    table = home.table(home.source("secret", pa.table({"s": ["a secret"]})))
    failing = f"SELECT raise_error(s) FROM {scan(table.source)}"
    with pytest.raises(EngineError) as told:
        home.engine.run(failing, [table])
    assert str(told.value) == "The engine could not run this question."
    assert told.value.__context__ is None
    assert told.value.__cause__ is None


def test_a_source_that_is_gone_or_changed_is_refused_before_any_charge(home: Home) -> None:
    source = home.source("changing", pa.table({"x": [1], "y": ["a"]}))
    table = home.table(source)
    home.engine.ready(table)
    home.source("changing", pa.table({"x": ["1"], "y": ["a"]}))
    home.engine.reopen(source)
    with pytest.raises(EngineError, match=r"differ from its declaration.*Nothing was spent"):
        home.engine.ready(table)
    (home.folder / "changing.parquet").unlink()
    home.engine.reopen(source)
    with pytest.raises(EngineError, match=r"cannot be read.*Nothing was spent"):
        home.engine.ready(table)
    with pytest.raises(EngineError, match=r"No Spark session was given"):
        SparkEngine().ready(table)


def test_what_spark_has_not_is_refused_with_a_remedy(home: Home) -> None:
    table = home.table(home.source("refused", pa.table({"p": [1, 1]})), "p")
    attempts: tuple[Callable[[], object], ...] = (
        lambda: home.engine.check_unique(table),
        lambda: home.engine.prepare(table, print, print),
        lambda: home.engine.check_key(table, "p"),
        lambda: home.engine.attach("t", pa.table({"x": [1]})),
    )
    for refused in attempts:
        with pytest.raises(CatalogError) as told:
            refused()
        assert told.value.remedy
    home.engine.check(table)
    assert home.engine.contents(Public("t", table.source, table.fields), 10) == {"p": (1,)}
