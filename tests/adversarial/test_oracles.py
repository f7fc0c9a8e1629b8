"""Errors, lengths, orders and types as oracles: whatever is in the data, only noisy values differ."""

from __future__ import annotations

import datetime
import logging
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.adversarial.hospital import BUDGET
from tests.depth import thinned
from tests.harness import noise_off

import jali
from jali.engines.duckdb import DuckDBEngine

PLAIN = [
    "(1, 'A', 1.0, 5, '7', DATE '2020-05-05', TIMESTAMP '2020-05-05 12:00:00', 'a@b')",
    "(2, 'B', 2.0, 6, '8', DATE '2020-06-06', TIMESTAMP '2020-06-06 12:00:00', 'c@d')",
]
# One person, whose rows hold whatever makes an engine stumble.
STRANGE = [
    "(9, NULL, 'nan', 0, NULL, NULL, NULL, NULL)",
    "(9, 'A', 'inf', 9223372036854775807, 'x', DATE 'infinity', TIMESTAMP 'infinity', '')",
    "(9, 'B', '-inf', -9223372036854775808, '1e999', DATE '-infinity', TIMESTAMP '-infinity', '%_\\')",
    "(9, 'Z', 1.7e308, -1, '-0', DATE '5877642-06-25 (BC)', TIMESTAMP '290309-12-22 (BC) 00:00:00', '[')",
    "(9, '', -1.7e308, 1, '99999999999999999999', DATE '5881580-07-10', TIMESTAMP '294247-01-10 04:00:54', '(')",
    "(9, 'A', 5e-324, 2, '2020-13-45', DATE '20000-01-01', TIMESTAMP '20000-01-01 00:00:00', chr(1) || 'İß🙂')",
    "(9, 'B', '-0.0', 3, 'true', DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00', repeat('9', 5000))",
]
COLUMNS: dict[str, Any] = {
    "g": jali.Keys(["A", "B"]),
    "x": jali.Range(-10, 10),
    "n": jali.Range(0, 100),
    "d": jali.Range(datetime.date(2020, 1, 1), datetime.date(2020, 12, 31)),
    "ts": jali.Range(datetime.datetime(2020, 1, 1), datetime.datetime(2020, 12, 31)),  # noqa: DTZ001
}

ORACLES = {
    "division by zero": (
        "SELECT SUM(LEAST(GREATEST(x / (n - n), -1), 1)), COUNT(n % 0), COUNT(n // (n - n)) FROM t"
    ),
    "casts": "SELECT COUNT(CAST(s AS INTEGER)), COUNT(CAST(s AS DATE)), COUNT(CAST(s AS BOOLEAN)) FROM t",
    "casts of what is too large": (
        "SELECT COUNT(CAST(x AS BIGINT)), COUNT(CAST(n AS DOUBLE)) FROM t WHERE x * 1e300 > n"
    ),
    "overflow": "SELECT SUM(n * n * n), SUM(x * x * x * x), COUNT(*) FROM t WHERE n * n * n * n + n > 0",
    "roots and logarithms": "SELECT COUNT(sqrt(x)), COUNT(ln(x)), COUNT(log10(n)), COUNT(log2(-x)) FROM t",
    "powers": "SELECT COUNT(power(x, 0.5)), COUNT(power(x, -1)), COUNT(exp(x * 1e6)) FROM t",
    "rounding": "SELECT SUM(round(x, 15)), SUM(floor(x)), SUM(ceil(x)), COUNT(width_bucket(x, 0, 1, 5)) FROM t",
    "far dates": (
        "SELECT COUNT(year(d)), COUNT(week(d)), COUNT(dayname(d)), COUNT(last_day(d)) FROM t WHERE d + 9999 > d"
    ),
    "far dates moved": (
        "SELECT COUNT(d + INTERVAL 1 MONTH), COUNT(ts - INTERVAL 100 DAY), COUNT(d - 5000000) FROM t"
    ),
    "far dates apart": (
        "SELECT COUNT(date_diff('day', d, DATE '2020-01-01')), COUNT(d - DATE '1970-01-01') FROM t WHERE d <= ts"
    ),
    "far times": (
        "SELECT COUNT(date_trunc('month', ts)), COUNT(hour(ts)), COUNT(CAST(ts AS DATE)),"
        " COUNT(CAST(d AS TIMESTAMP)) FROM t"
    ),
    "medians of dates": "SELECT MEDIAN(d), MEDIAN(ts), MIN(d), MAX(ts) FROM t",
    "quantiles and modes": "SELECT MEDIAN(x), MODE(n), HISTOGRAM(x, [0, 1]), approx_top_k(g, 2) FROM t",
    "moments": "SELECT VAR_POP(x), CORR(x, n), REGR_SLOPE(x, n), AVG(x) FROM t",
    "patterns": (
        "SELECT COUNT(*) FROM t WHERE s LIKE '%\\' OR m LIKE '[%' OR regexp_matches(m, '^[a-z]+@') OR m ILIKE 'İ%'"
    ),
    "text": (
        "SELECT COUNT(upper(m)), COUNT(substring(m, 2, 3)), COUNT(m || s), COUNT(replace(m, '9',"
        " 'xy')) FROM t WHERE length(m) > 0"
    ),
    "per person": (
        "SELECT SUM(a), SUM(b), MAX(c), COUNT(e) FROM"
        " (SELECT id, SUM(n) AS a, AVG(x) AS b, MIN(d) AS c, MAX(m) AS e FROM t GROUP BY id)"
    ),
    "months": "SELECT date_trunc('month', d) AS k, COUNT(*) FROM t GROUP BY k",
    "joins": "SELECT a.g, COUNT(*) FROM t a LEFT JOIN t b ON a.id = b.id AND a.x < b.x GROUP BY a.g",
    "conditions as keys": "SELECT x > 0 AS k, COUNT(*) FROM t GROUP BY k",
}
UNKNOWN = {
    "texts": "SELECT m, COUNT(*) FROM t GROUP BY m",
    "texts with medians": "SELECT s, MEDIAN(x), COUNT(DISTINCT m) FROM t GROUP BY s",
    "numbers that are not": "SELECT floor(x * 1e300 - x * 1e300) AS k, MEDIAN(n) FROM t GROUP BY k",
    "numbers without limit": "SELECT floor(exp(x * 100)) AS k, MEDIAN(n), COUNT(*) FROM t GROUP BY k",
    "times without limit": "SELECT ts + INTERVAL 1 DAY AS k, MEDIAN(n), COUNT(*) FROM t GROUP BY k",
    "dates without limit": "SELECT CAST(CAST(d AS VARCHAR) AS DATE) AS k, MEDIAN(n) FROM t GROUP BY k",
}


def database(path: Path, rows: list[str]) -> jali.Database:
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t (id INTEGER, g VARCHAR, x DOUBLE, n BIGINT, s VARCHAR, d DATE, ts TIMESTAMP,"
            " m VARCHAR)"
        )
        connection.execute(f"INSERT INTO t VALUES {', '.join(rows)}")
    db = jali.connect()
    db.protect("t", path, unit="id", max_rows=2, columns=COLUMNS, budget=BUDGET)
    return db


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Any:
    directory = tmp_path_factory.mktemp("oracles")
    with (
        database(directory / "plain.duckdb", PLAIN) as plain,
        database(directory / "odd.duckdb", PLAIN + STRANGE) as odd,
    ):
        yield plain, odd


def facts(db: jali.Database, sql: str, **terms: Any) -> tuple[Any, ...]:
    """What can be seen of an answer besides its values."""
    with noise_off():
        answer = db.ask(sql, epsilon=1, **terms)
    shapes = [len(v) if isinstance(v, list | tuple) else None for row in answer.rows for v in row]
    return answer.columns, len(answer.rows), shapes, answer.cost, answer.costs


@thinned(4)
@pytest.mark.parametrize("sql", ORACLES.values(), ids=ORACLES)
def test_no_value_of_one_person_makes_a_question_fail_or_look_different(
    pair: tuple[jali.Database, jali.Database], sql: str, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    plain, odd = pair
    with caplog.at_level(logging.DEBUG):
        assert facts(odd, sql) == facts(plain, sql)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sql", UNKNOWN.values(), ids=UNKNOWN)
def test_no_key_of_one_person_makes_a_question_fail_or_shows(
    pair: tuple[jali.Database, jali.Database], sql: str
) -> None:
    """With noise off groups of one person are never chosen; what cannot be printed must not be read either."""
    plain, odd = pair
    assert facts(odd, sql, delta="1/1000000") == facts(plain, sql, delta="1/1000000")


WRONG = {
    "a regular expression": "SELECT COUNT(*) FROM t WHERE regexp_matches(m, '[')",
    "a pattern from the data": "SELECT COUNT(*) FROM t WHERE regexp_matches('a', m)",
    "a pattern of LIKE from the data": "SELECT COUNT(*) FROM t WHERE 'a' LIKE m",
    "an escape": "SELECT COUNT(*) FROM t WHERE m LIKE 'a!%' ESCAPE '!!'",
    "a date": "SELECT COUNT(*) FROM t WHERE d > '2020-13-45'",
    "digits": "SELECT SUM(round(x, 400)) FROM t",
    "buckets": "SELECT COUNT(width_bucket(x, 1, 0, 5)) FROM t",
    "a place of a column": "SELECT g, COUNT(*) FROM t GROUP BY 7",
}


@pytest.mark.parametrize("sql", WRONG.values(), ids=WRONG)
def test_what_would_fail_in_the_engine_is_refused_before_it_with_the_same_words_for_all_data(
    pair: tuple[jali.Database, jali.Database], sql: str
) -> None:
    told = []
    for db in pair:
        before = len(db.receipts())
        with pytest.raises(jali.errors.QueryError) as refused:
            db.ask(sql, epsilon=1)
        assert len(db.receipts()) == before
        told.append((type(refused.value), str(refused.value), refused.value.position, refused.value.remedy))
    assert told[0] == told[1]
    assert told[0][3]


def failing(row: str, *_: Any) -> Any:
    raise ValueError(f"Could not convert {row}")


def test_a_failed_engine_says_the_same_for_all_data_and_is_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for name, rows in (("a", PLAIN), ("b", PLAIN + STRANGE)):
        with database(tmp_path / f"{name}.duckdb", rows) as db, monkeypatch.context() as patched:
            # The columns, which are looked at before anything is reserved, are found.
            patched.setattr(DuckDBEngine, "_has_columns", lambda *_: True)
            patched.setattr(DuckDBEngine, "_cursor", partial(failing, rows[-1]))
            with pytest.raises(jali.errors.EngineError) as failed:
                db.ask("SELECT COUNT(*) FROM t", epsilon=1)
            (receipt,) = db.receipts()
            told.append(str(failed.value).replace(receipt.id, "..."))
            assert db.remaining("t").epsilon == 10**6 - 1
    assert told[0] == told[1]
