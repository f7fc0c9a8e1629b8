"""What other engines do differently, in Postgres: each trap by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.golden.cases import plan_of
from tests.golden.catalog import clinic as golden
from tests.golden.test_golden import CASES
from tests.harness import noise_off
from tests.servers.postgres import Postgres

import jali
from jali.engines.postgres import PostgresEngine
from jali.engines.postgres.dialect import POSTGRES
from jali.errors import CatalogError

BUDGET = jali.Budget(10**6)


@pytest.fixture
def home(postgres: Postgres) -> Iterator[tuple[psycopg.Connection[Any], jali.Database]]:
    """An empty schema `traps`, and a database to protect its tables in, with the noise off."""
    with psycopg.connect(postgres.url, autocommit=True) as connection, jali.connect() as db, noise_off():
        connection.execute("CREATE SCHEMA traps")
        yield connection, db
        connection.execute("DROP SCHEMA traps CASCADE")


def asked(home: Any, postgres: Postgres, fields: str, rows: str, question: str, **terms: Any) -> list[Any]:
    """Make a table `t` of these rows, protect it, and return the exact answer."""
    connection, db = home
    connection.execute(f"CREATE TABLE traps.t ({fields})")
    connection.execute(f"INSERT INTO traps.t VALUES {rows}")
    given: dict[str, Any] = {"unit": None, "budget": BUDGET} | terms
    db.protect("t", f"{postgres.url}?schema=traps", **given)
    return list(db.ask(question, epsilon=1).rows)


def test_try_cast(home: Any, postgres: Postgres) -> None:
    """Postgres has no TRY_CAST, and its casts raise: what cannot be read is NULL."""
    rows = "('12'), ('x'), ('1e400'), (''), (NULL), ('9' || repeat('9', 500)), ('-3')"
    question = "SELECT COUNT(CAST(s AS INTEGER)), SUM(CLAMP(CAST(s AS DOUBLE), -10, 100)) FROM t"
    ((count, total),) = asked(home, postgres, "s text", rows, question)
    # 12, infinity and -3; the long one is no number.
    assert (count, total) == (3, pytest.approx(12 + 100 - 3, abs=1e-3))


def test_hash() -> None:
    """HASH is another function in every engine: digests are those of MD5, which is the same in all."""
    with golden() as opened:
        written = [POSTGRES.digest("x")]
        plans = [plan_of(case, opened.catalog) for _, case in CASES]
        sqls = [PostgresEngine().emit(part.aggregation) for plan in plans[::7] for part in plan.parts]
    assert written == ["md5(x)"]
    assert not any(re.search(r"\bhash\w*\(", sql) for sql in sqls)


def test_nan_and_infinities(home: Any, postgres: Postgres) -> None:
    """NaN is no value; infinities are at the ends of a range."""
    rows = "('NaN'), ('Infinity'), ('-Infinity'), (5), (NULL)"
    question = "SELECT COUNT(x), SUM(x), MAX(x), COUNT(*) FROM t WHERE NOT ISNAN(x) OR x > 1"
    columns = {"x": jali.Range(0, 10)}
    ((count, total, top, every),) = asked(home, postgres, "x float8", rows, question, columns=columns)
    assert (count, total, every) == (3, pytest.approx(15), 3)
    assert top == pytest.approx(10, abs=0.1)


def test_least_and_greatest_leave_nulls_out(home: Any, postgres: Postgres) -> None:
    rows = "(1, NULL), (NULL, NULL), (3, 7)"
    question = "SELECT COUNT(GREATEST(a, b)), SUM(CLAMP(LEAST(a, b, 5), 0, 9)) FROM t"
    ((count, total),) = asked(home, postgres, "a int, b int", rows, question)
    # Of two NULLs and 5 the least is 5.
    assert (count, total) == (2, pytest.approx(1 + 5 + 3))


def test_sums_of_the_largest_numbers_do_not_overflow(home: Any, postgres: Postgres) -> None:
    rows = ", ".join(["(9223372036854775807)"] * 30)
    columns = {"x": jali.Range(0, 2**62)}
    ((total,),) = asked(home, postgres, "x bigint", rows, "SELECT SUM(x) FROM t", columns=columns)
    assert total == pytest.approx(30 * 2.0**62, rel=1e-9)


def test_products_of_the_largest_and_least_numbers_do_not_raise(home: Any, postgres: Postgres) -> None:
    rows = "(1e308, 1e308), (-1e308, 1e308), (5e-324, 5e-324), (1e-308, 1e-308), (5e-324, 0.25)"
    question = "SELECT SUM(CLAMP(x * y, -1, 1)), SUM(CLAMP(x / y, 0, 2)), SUM(CLAMP(EXP(x), 0, 2)) FROM t"
    ((product, _, power),) = asked(home, postgres, "x float8, y float8", rows, question)
    assert product == pytest.approx(0, abs=1e-3)
    assert power == pytest.approx(2 + 0 + 1 + 1 + 1, abs=1e-3)


def test_a_tiny_value_on_a_coarse_lattice_does_not_raise(home: Any, postgres: Postgres) -> None:
    """5e-324 times anything below 1 is 0, and Postgres raises."""
    columns = {"x": jali.Range(0, 10**12)}
    question = "SELECT SUM(x), MEDIAN(x) FROM t"
    ((total, _),) = asked(home, postgres, "x float8", "(5e-324), (1e12)", question, columns=columns)
    assert total == pytest.approx(1e12, rel=1e-6)


def test_integer_division(home: Any, postgres: Postgres) -> None:
    """7 / 2 is 3 in Postgres, and 3.5 in questions; 7 // 2 is 3, and -7 // 2 is -3."""
    question = "SELECT SUM(CLAMP(n / 2, -9, 9)), SUM(CLAMP(n // 2, -9, 9)) FROM t WHERE n // 2 IS NOT NULL"
    assert asked(home, postgres, "n int", "(7), (-7), (8)", question) == [
        (pytest.approx(4, abs=1e-3), pytest.approx(4, abs=1e-3))
    ]


def test_date_trunc(home: Any, postgres: Postgres) -> None:
    """Weeks begin on Mondays, quarters in January, and a truncated date is a date."""
    rows = "('2024-12-30'), ('2025-01-05'), ('2025-01-06'), ('infinity'), ('4000-01-01 BC'), (NULL)"
    question = "SELECT DATE_TRUNC('week', d) AS w, COUNT(*) AS n FROM t GROUP BY w"
    terms: dict[str, Any] = {"columns": {"d": jali.Range("2024-12-30", "2025-01-12")}}
    found = asked(home, postgres, "d date", rows, question, **terms)
    assert {str(week): count for week, count in found} == {"2024-12-30": 2, "2025-01-06": 1}


def test_empty_groups_and_null_keys(home: Any, postgres: Postgres) -> None:
    """Declared keys have a row each, NULL too where it is one; undeclared keys have none."""
    columns = {"k": jali.Keys(["A", "empty", None])}
    found = asked(
        home,
        postgres,
        "k text",
        "('A'), (NULL), (NULL), ('B')",
        "SELECT k, COUNT(*) FROM t GROUP BY k",
        columns=columns,
    )
    assert found == [("A", 1), ("empty", 0), (None, 2)]


def test_decimal_scale(home: Any, postgres: Postgres) -> None:
    """Decimals are read as doubles, also those of any length, which may be beyond all doubles."""
    rows = "(0.1, 1e500), (12345678.99, -1e500), (NULL, 1e-500), (0, 'NaN')"
    columns = {"x": jali.Range(0, 10**8), "y": jali.Range(0, 10)}
    question = "SELECT SUM(x), SUM(y), COUNT(y) FROM t"
    ((x, y, count),) = asked(home, postgres, "x numeric(12, 2), y numeric", rows, question, columns=columns)
    assert x == pytest.approx(12345679.09, rel=1e-6)
    assert (y, count) == (pytest.approx(10, abs=1e-3), 3)


def test_decimals_of_declared_digits_that_no_double_holds(home: Any, postgres: Postgres) -> None:
    """A cast of such a value raises: whoever has one would show by failing everybody's question."""
    rows = "(1e390, 0, 5e300, NULL), (-1e390, 1e-398, 7, '{1, 2}'), (3, 0, 2, '{}')"
    columns = {"x": jali.Range(0, 10), "y": jali.Range(0, 10), "z": jali.Range(0, 10)}
    fields = "x numeric(400, 0), y numeric(3, 400), z numeric(3, -300), a numeric[]"
    question = "SELECT SUM(x), SUM(y), SUM(z), COUNT(y) FROM t"
    ((x, y, z, count),) = asked(home, postgres, fields, rows, question, columns=columns)
    assert (x, y, z, count) == (
        pytest.approx(13, abs=1e-3),
        pytest.approx(0, abs=1e-3),
        pytest.approx(10, abs=1e-3),
        3,
    )


def test_time_zones(home: Any, postgres: Postgres) -> None:
    """A time with a zone has no day of its own: it is no time for questions. A plain one is read as it stands."""
    connection, db = home
    connection.execute("SET TimeZone = 'Asia/Kolkata'")
    connection.execute("CREATE TABLE traps.t (at timestamp, zoned timestamptz)")
    connection.execute("INSERT INTO traps.t VALUES ('2025-01-01 00:30', '2025-01-01 00:30+05:30')")
    source = f"{postgres.url}?schema=traps"
    day = jali.Range("2025-01-01 00:00:00", "2025-01-02 00:00:00")
    with pytest.raises(CatalogError):
        db.protect("t", source, unit=None, budget=BUDGET, columns={"zoned": day})
    db.protect("t", source, unit=None, budget=BUDGET, columns={"at": day})
    assert db.ask("SELECT COUNT(*) FROM t WHERE HOUR(at) = 0 AND at < '2025-01-01 01:00:00'", epsilon=1).rows == [
        (1,)
    ]


def test_collation_and_case_in_keys(home: Any, postgres: Postgres) -> None:
    """Keys and people are told apart byte by byte, whatever the collation of a column is."""
    connection, db = home
    connection.execute(
        "CREATE COLLATION traps.blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    connection.execute("CREATE TABLE traps.t (k text COLLATE traps.blind, p text COLLATE traps.blind)")
    connection.execute("INSERT INTO traps.t VALUES ('a', 'ana'), ('A', 'Ana'), ('á', 'ána')")
    columns = {"k": jali.Keys(["A", "a"])}
    db.protect("t", f"{postgres.url}?schema=traps", unit="p", max_rows=1, budget=BUDGET, columns=columns)
    assert db.ask("SELECT k, COUNT(*) FROM t GROUP BY k", epsilon=1).rows == [("A", 1), ("a", 1)]
    assert db.ask("SELECT COUNT(DISTINCT p) FROM t", epsilon=1).rows == [(3,)]
    assert db.ask("SELECT COUNT(*) FROM t WHERE UPPER(k) = 'Á' OR k ILIKE 'Á'", epsilon=1).rows == [(1,)]


def test_like_has_no_escape(home: Any, postgres: Postgres) -> None:
    r"""A backslash escapes in Postgres, and stands for itself in questions."""
    question = r"SELECT COUNT(*) FROM t WHERE s LIKE 'a\%'"
    assert asked(home, postgres, "s text", r"('a\b'), ('a%')", question) == [(1,)]


def test_no_chance_in_windows() -> None:
    """Which rows of a person are kept must not be drawn anew in each reading."""
    with golden() as opened:
        plans = [plan_of(case, opened.catalog) for _, case in CASES]
        for plan in plans:
            for part in plan.parts:
                assert "random" not in PostgresEngine().emit(part.aggregation)


def test_uuids_enums_and_domains(home: Any, postgres: Postgres) -> None:
    connection, db = home
    connection.execute("CREATE TYPE traps.mood AS ENUM ('sad', 'glad')")
    connection.execute("CREATE DOMAIN traps.years AS integer CHECK (VALUE >= 0)")
    connection.execute("CREATE TABLE traps.t (u uuid, m traps.mood, y traps.years, c char(5))")
    connection.execute("INSERT INTO traps.t VALUES (gen_random_uuid(), 'glad', 40, 'x'), (NULL, 'sad', 1, 'x')")
    columns = {"m": jali.Keys(["glad", "sad"]), "y": jali.Range(0, 120), "c": jali.Keys(["x"])}
    db.protect("t", f"{postgres.url}?schema=traps", unit="u", max_rows=1, budget=BUDGET, columns=columns)
    assert db.ask("SELECT m, c, SUM(y) FROM t GROUP BY m, c", epsilon=1).rows == [
        ("glad", "x", 40),
        ("sad", "x", 0),
    ]


def test_deep_expressions_do_not_double(home: Any, postgres: Postgres) -> None:
    """Each operation uses its operands several times: they are bound to names."""
    deep = "x"
    for _ in range(20):
        deep = f"({deep} * 1.5 + 0.25)"
    ((total,),) = asked(home, postgres, "x float8", "(1), (2)", f"SELECT SUM(CLAMP({deep}, 0, 100000)) FROM t")
    x, y = 1.0, 2.0
    for _ in range(20):
        x, y = x * 1.5 + 0.25, y * 1.5 + 0.25
    assert math.isclose(total, x + y, rel_tol=1e-6)
