"""Every function on a battery of values in DuckDB: it never fails, keeps its interval and equals DuckDB's own."""

from __future__ import annotations

import datetime
import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from tests.depth import DEPTH, thinned, whole

from jali.catalog.columns import Field, Kind, Range
from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Source, Table
from jali.engines.duckdb.dialect import DUCKDB, DuckDBEmitter
from jali.ir.expressions import Call, Column, Expression, Literal, walk
from jali.ir.functions import FUNCTIONS, Type
from jali.ir.functions.date_functions import PARTS
from jali.ir.functions.evaluate import evaluate
from jali.ir.types import infer_type
from jali.privacy import Adjacency, Budget
from jali.sql.reader.read_select import read_value

_LONG = "ab" * 8000
_WHOLES = ["0", "1", "-1", "2", "7", "-7", "120", "9223372036854775807", "-9223372036854775808", "NULL"]
_REALS = ["0", "-0.0", "1", "-1", "0.5", "-2.5", "3.7", "1e-320", "1e308", "-1e308", "nan", "inf", "-inf", "NULL"]
_TEXTS = [
    "",
    "a",
    "Ab",
    " a b ",
    "é%_",
    "12",
    "-1.5",
    "1e400",
    "nan",
    "true",
    "2026-01-31",
    "日本\U0001d4b3",
    _LONG,
    "NULL",
]
_DATES = [
    "1970-01-01",
    "2024-02-29",
    "2025-12-29",
    "2026-01-31",
    "0001-01-01",
    "9999-12-31",
    "5881580-07-10",
    "5877642-06-25 (BC)",
    "0001-06-01 (BC)",
    "infinity",
    "-infinity",
    "NULL",
]
_TIMES = [
    "1970-01-01 00:00:00",
    "2026-01-31 23:59:59.999999",
    "2024-02-29 12:30:01",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "294247-01-10 04:00:54.775806",
    "290309-12-22 (BC) 00:00:00",
    "infinity",
    "-infinity",
    "NULL",
]
_NEAR = [repr(math.nextafter(end, toward)) for end, toward in ((0.1, 1.0), (9.7, 0.0), (10.0, 0.0))]
# Names of columns, their kind, their range and their values. Those with a range hold values within it only.
COLUMNS: dict[str, tuple[Kind, Range | None, list[str]]] = {
    "i": (Kind.INTEGER, None, _WHOLES),
    "j": (Kind.INTEGER, None, _WHOLES),
    "x": (Kind.REAL, None, _REALS),
    "y": (Kind.REAL, None, _REALS),
    "s": (Kind.TEXT, None, _TEXTS),
    "r": (Kind.TEXT, None, _TEXTS),
    "b": (Kind.BOOLEAN, None, ["true", "false", "NULL"]),
    "c": (Kind.BOOLEAN, None, ["true", "false", "NULL"]),
    "d": (Kind.DATE, None, _DATES),
    "e": (Kind.DATE, None, _DATES),
    "t": (Kind.TIMESTAMP, None, _TIMES),
    "u": (Kind.TIMESTAMP, None, _TIMES),
    "n": (Kind.INTEGER, Range(0, 120), ["0", "1", "9", "10", "60", "119", "120"]),
    "m": (Kind.INTEGER, Range(-9, 7), ["-9", "-8", "-1", "0", "1", "3", "7"]),
    "z": (Kind.REAL, Range("0.1", "9.7"), ["0.1", "9.7", *_NEAR[:2], "0.5", "2.5", "3.3", "9"]),
    "w": (Kind.REAL, Range("-2.5", 10), ["-2.5", "10", _NEAR[2], "-0.0", "0", "0.3", "7.1"]),
    "f": (
        Kind.DATE,
        Range(datetime.date(2024, 2, 28), datetime.date(2025, 3, 31)),
        ["2024-02-28", "2024-02-29", "2024-12-31", "2025-01-01", "2025-01-31", "2025-03-31"],
    ),
    "g": (
        Kind.DATE,
        Range(datetime.date(2025, 5, 1), datetime.date(2025, 5, 31)),
        ["2025-05-01", "2025-05-05", "2025-05-31"],
    ),
    "h": (
        Kind.TIMESTAMP,
        Range(datetime.datetime(2025, 1, 30, 1, 2, 3), datetime.datetime(2025, 3, 31, 23)),  # noqa: DTZ001
        [f"2025-{rest}" for rest in ("01-30 01:02:03", "01-30 12:00:00", "01-31 10:00:00", "03-31 23:00:00")],
    ),
}
TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
TABLE = Table(
    name="t",
    source=Source("parquet", "t.parquet"),
    unit=None,
    max_rows=1,
    adjacency=Adjacency.ADD_REMOVE,
    fields=tuple(Field(name, kind, TYPES[kind], range=given) for name, (kind, given, _) in COLUMNS.items()),
    budget=Budget(1),
)
_FAR = re.compile(r"-?\d{4,}-\d\d-\d\d( \(BC\))?( \d\d:\d\d:\d\d(\.\d+)?)?|-?infinity")
_D = "CAST({} AS DOUBLE)".format
_SAME = "same"


@dataclass(frozen=True)
class Case:
    """An expression, and the plain DuckDB that it must equal where both have a value; None where there is none."""

    asked: str
    plain: str | None = _SAME


def _numbers(form: str, plain: str | None = None) -> list[Case]:
    """A form of one number, over all columns of numbers."""
    return [Case(form.format(a), (plain or form).format(_D(a))) for a in "ixnmzw"]


def _pairs(form: str, plain: str | None = None) -> list[Case]:
    return [
        Case(form.format(*pair), (plain or form).format(*map(_D, pair)))
        for pair in ("ij", "ix", "xy", "nm", "mn", "nz", "zw", "wz", "wm", "mm", "iw")
    ]


def _texts(*forms: str) -> list[Case]:
    return [Case(form) for form in forms]


def _dates(form: str, columns: str = "dtfgh") -> list[Case]:
    return [Case(form.format(a)) for a in columns]


def _both_dates(form: str) -> list[Case]:
    return [Case(form.format(*pair)) for pair in ("de", "tu", "dt", "td", "fg", "gf", "hf", "gh", "ff", "hh")]


def _compared(operator: str) -> list[Case]:
    pairs = ("ij", "ix", "xy", "sr", "bc", "de", "tu", "nz", "fh")
    # A date beyond the last timestamp is NULL beside one, where DuckDB fails.
    mixed = [Case(f"{a} {operator} {b}", None) for a, b in (("d", "t"), ("t", "d"))]
    return (
        mixed
        + [Case(f"{pair[0]} {operator} {pair[1]}") for pair in pairs]
        + [Case(f"{a} {operator} NULL") for a in "isbdt"]
    )


CASES: dict[str, list[Case]] = {
    "+": [*_pairs("{} + {}"), Case("d + i", "d + i::INTEGER"), Case("f + n", "f + n::INTEGER")],
    "-": [*_pairs("{} - {}"), Case("d - e"), Case("f - g"), Case("d - i", "d - i::INTEGER"), Case("g - f")],
    "*": _pairs("{} * {}"),
    "/": _pairs("{} / {}"),
    "//": [Case("n // m"), Case("m // n"), Case("i // 7", None), Case("m // m"), Case("i // j", None)],
    "%": _pairs("{} % {}"),
    "negate": _numbers("-({})"),
    "abs": _numbers("ABS({})"),
    "sign": _numbers("SIGN({})"),
    "floor": [*_numbers("FLOOR({})"), *_numbers("FLOOR({} / 10)"), *_numbers("FLOOR({} / 0.1)", None)],
    "ceil": [*_numbers("CEIL({})"), *_numbers("CEILING({} / 10)")],
    "round": [*_numbers("ROUND({})"), *_numbers("ROUND({}, 1)"), *_numbers("ROUND({}, -1)")],
    "trunc": [*_numbers("TRUNC({})"), *_numbers("TRUNC({} / 3)")],
    "sqrt": _numbers("SQRT({})"),
    "exp": _numbers("EXP({})"),
    "ln": _numbers("LN({})"),
    "log10": [*_numbers("LOG10({})"), *_numbers("LOG({})")],
    "log2": _numbers("LOG2({})"),
    "power": [*_pairs("POWER({}, {})"), *_numbers("{} ** 2"), *_numbers("POW({}, 3)"), *_numbers("POW(2, {})")],
    "least": [*_pairs("LEAST({}, {})"), *_numbers("LEAST({}, 5)"), Case("LEAST(d, e)"), Case("LEAST(f, g)")],
    "greatest": [*_pairs("GREATEST({}, {})"), *_numbers("GREATEST({}, 5)"), Case("GREATEST(t, u)")],
    "clamp": [
        *_numbers("CLAMP({}, -1, 5.5)", "CASE WHEN {0} <= 'inf'::DOUBLE THEN least(greatest({0}, -1), 5.5e0) END"),
        Case("CLAMP(i * 2 + 1 + i * 2 + 1 + i * 2 + 1 + i * 2 + 1, 0, 3)", None),
    ],
    "width_bucket": [Case(f"WIDTH_BUCKET({a}, 0, 10, 5)", None) for a in "ixnmzw"]
    + [Case("WIDTH_BUCKET(n, 0, 120, 12)", "CASE WHEN n < 120 THEN n // 10 + 1 ELSE 13 END")]
    + [Case("WIDTH_BUCKET((z + w) / 3 - (z * w) / 7 + z * 2, 0.1, 9.7, 7)", None)],
    "isnan": _numbers("ISNAN({})"),
    "isinf": _numbers("ISINF({})"),
    "isfinite": _numbers("ISFINITE({})"),
    **{operator: _compared(operator) for operator in ("=", "<>", "<", "<=", ">", ">=")},
    "is distinct from": _compared("IS DISTINCT FROM"),
    "is not distinct from": _compared("IS NOT DISTINCT FROM"),
    "and": [Case("b AND c"), Case("b AND NULL")],
    "or": [Case("b OR c"), Case("COALESCE(NULL, NULL) OR b")],
    "not": [Case("NOT b"), Case("NOT NULL")],
    "is null": [Case(f"{a} IS NULL") for a in "ixsbdt"],
    "in": [Case("i IN (1, 2.5)"), Case("s IN ('a', '')"), Case("x NOT IN (1)"), Case("d IN (DATE '1970-01-01')")],
    "coalesce": [
        Case("COALESCE(i, j, 0)"),
        Case("COALESCE(x, i)"),
        Case("COALESCE(s, r)"),
        Case("COALESCE(d, e)"),
    ],
    "nullif": [*_pairs("NULLIF({}, {})"), Case("NULLIF(s, r)"), Case("NULLIF(d, e)"), Case("NULLIF(NULL, 1)")],
    "case": [
        Case("CASE WHEN b THEN x WHEN c THEN i ELSE 0 END"),
        Case("CASE i WHEN 1 THEN 'one' WHEN 7 THEN s END"),
        Case("IF(b, d, e)"),
        Case("IFF(b, n, m)", "IF(b, n, m)"),
        Case("CASE WHEN b THEN NULL END", None),
    ],
    "like": _texts("s LIKE 'a%'", "s NOT LIKE '%_b%'", "s LIKE ''", "NULL LIKE 'a'", "s LIKE '%é\\%%'"),
    "ilike": _texts("s ILIKE 'A%'", "s NOT ILIKE '%B'"),
    "starts_with": _texts("STARTS_WITH(s, 'a')", "STARTS_WITH(s, r)", "PREFIX(s, r)", "s ^@ 'a'"),
    "ends_with": _texts("ENDS_WITH(s, r)", "SUFFIX(s, 'b')"),
    "contains": [*_texts("CONTAINS(s, 'a')", "CONTAINS(s, '')"), Case("CONTAINS(NULL, 'a')", None)],
    "regexp_matches": [
        *_texts("REGEXP_MATCHES(s, '^(a|b)+$')", "s ~ '[0-9]'", "REGEXP_MATCHES(s, 'AB', 'i')"),
        *_texts("REGEXP_MATCHES(s, '(a?){50}b{1,50}')", "REGEXP_MATCHES(s, '\\p{L}')"),
    ],
    "regexp_full_match": _texts("REGEXP_FULL_MATCH(s, '[ab]*')"),
    "lower": [*_texts("LOWER(s)"), Case("LOWER(NULL)")],
    "upper": _texts("UPPER(s)", "UPPER(UPPER(s))"),
    "trim": _texts("TRIM(s)", "TRIM(s, 'ab')", "TRIM(BOTH 'a' FROM s)"),
    "ltrim": _texts("LTRIM(s)", "LTRIM(s, 'a')"),
    "rtrim": _texts("RTRIM(s)", "RTRIM(s, 'b')"),
    "length": [*_texts("LENGTH(s)", "LEN(s)"), Case("LENGTH(NULL)", "NULL")],
    "strpos": _texts("STRPOS(s, 'b')", "POSITION('b' IN s)", "INSTR(s, '')"),
    "substring": _texts("SUBSTRING(s, 2, 3)", "SUBSTR(s, -2)", "SUBSTRING(s, 0, 1000000)", "SUBSTR(s, 3, -2)"),
    "left": _texts("LEFT(s, 1)", "LEFT(s, -1)", "LEFT(s, 0)"),
    "right": _texts("RIGHT(s, 2)", "RIGHT(s, -1)"),
    # The battery's long text is cut by what joins or replaces, so that nothing grows.
    "replace": [
        Case("REPLACE(LEFT(s, 99), 'a', 'xyz')"),
        Case("REPLACE(LEFT(s, 9), '', 'x')"),
        Case("REPLACE(s, 'ab', 'xyz')", None),
    ],
    "||": [
        Case("LEFT(s, 99) || LEFT(r, 99)"),
        Case("LEFT(s, 9) || i || b || d || t"),
        Case("s || r", None),
        Case("s || NULL"),
    ],
    "concat": [
        Case("CONCAT(LEFT(s, 99), 'x', i, NULL)"),
        Case("CONCAT(NULL, NULL)", None),
        Case("CONCAT(s, r, s)", None),
    ],
    **{name: _dates(f"{name.upper()}({{}})") for name in ("year", "quarter", "month", "dayofyear", "isodow")},
    "week": [*_dates("WEEK({})"), *_dates("WEEKOFYEAR({})")],
    "day": [*_dates("DAY({})"), *_dates("DAYOFMONTH({})"), Case("DAY(NULL)", None)],
    "dayofweek": [*_dates("DAYOFWEEK({})"), *_dates("WEEKDAY({})"), *_dates("EXTRACT(dow FROM {})")],
    "hour": [*_dates("HOUR({})"), *_dates("EXTRACT(hour FROM {})")],
    "minute": [*_dates("MINUTE({})"), *_dates("DATE_PART('minute', {})")],
    "second": _dates("SECOND({})"),
    "monthname": _dates("MONTHNAME({})"),
    "dayname": _dates("DAYNAME({})"),
    "last_day": _dates("LAST_DAY({})"),
    **{f"trunc {part}": _dates(f"DATE_TRUNC('{part}', {{}})") for part in PARTS},
    **{f"diff {part}": _both_dates(f"DATE_DIFF('{part}', {{}}, {{}})") for part in PARTS},
    **{f"sub {part}": _both_dates(f"DATE_SUB('{part}', {{}}, {{}})") for part in PARTS},
    "add months": [
        *_dates("{} + INTERVAL 1 MONTH"),
        *_dates("{} - INTERVAL '13' MONTH"),
        *_dates("{} + INTERVAL 3 YEAR"),
        *_dates("{} - INTERVAL 999999 QUARTER"),
    ],
    "add days": [
        *_dates("{} + INTERVAL 1 DAY"),
        *_dates("{} - INTERVAL '2 weeks'"),
        *_dates("{} - INTERVAL 999999 DAY"),
    ],
    "add seconds": [
        *_dates("{} + INTERVAL 90 MINUTE"),
        *_dates("{} - INTERVAL 1 SECOND"),
        *_dates("{} - INTERVAL 7 HOUR"),
    ],
    "whole": [
        *_numbers("CAST({} AS BIGINT)"),
        Case("CAST(s AS INTEGER)", None),
        Case("b::INT"),
        Case("CAST(n / 4 AS INTEGER)"),
    ],
    "number": [Case(f"CAST({a} AS DOUBLE)") for a in "ixsbnz"],
    "text": [Case(f"CAST({a} AS TEXT)") for a in "isbdtnf"]
    + [Case("CAST(n + 1 AS VARCHAR)"), Case("CAST(FLOOR(x) AS TEXT)", None)],
    "date": [Case(f"CAST({a} AS DATE)") for a in "sdthf"],
    "timestamp": [Case(f"CAST({a} AS TIMESTAMP)") for a in "sdthf"],
    "boolean": [Case(f"CAST({a} AS BOOLEAN)") for a in "ixsb"],
}
EVERY = [(name, case) for name, cases in CASES.items() for case in cases]


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB with one table for each column of the battery, of one column each, as the scan gives it."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, (kind, _, values) in COLUMNS.items():
            connection.execute(f'CREATE TABLE stored_{name} ("{name}" {TYPES[kind]})')
            for value in values:
                given = None if value == "NULL" else value
                connection.execute(
                    f"INSERT INTO stored_{name} SELECT CAST(CAST(? AS VARCHAR) AS {TYPES[kind]})", [given]
                )
            field = Field(name, kind, TYPES[kind])
            connection.execute(
                f'CREATE TABLE v_{name} AS SELECT {DUCKDB.normalize(field)} AS "{name}" FROM stored_{name}'
            )
        yield connection


def columns_of(expression: Expression) -> list[str]:
    return sorted({node.name for node in walk(expression) if isinstance(node, Column)})


def rows(engine: duckdb.DuckDBPyConnection, selected: list[str], columns: list[str]) -> list[tuple[Any, ...]]:
    source = " CROSS JOIN ".join(f"v_{name}" for name in columns) or "(SELECT 1)"
    return engine.execute(f"SELECT {', '.join(selected)} FROM {source}").fetchall()


def test_every_function_is_tried() -> None:
    assert set(CASES) == set(FUNCTIONS)
    for name, case in EVERY:
        called = {node.function for node in walk(read_value(case.asked)) if isinstance(node, Call)}
        assert name in called, case


_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001


def _number(value: Any) -> Fraction | None:
    """A value as the interval of its type counts it; None for NaN and for what Python's dates cannot hold."""
    if isinstance(value, datetime.datetime):
        return Fraction((value - _EPOCH) // datetime.timedelta(microseconds=1))
    if isinstance(value, datetime.date):
        return Fraction((value - _EPOCH.date()).days)
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None
    return Fraction(value) if isinstance(value, int) else None


def _inside(value: Any, bounds: NumberInterval, kind: Kind | None) -> bool:
    number = _number(value)
    if kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP) or value is None:
        return True
    if isinstance(value, float) and math.isinf(value):
        return (bounds.high if value > 0 else bounds.low) is None
    if number is None:
        return True
    return (bounds.low is None or bounds.low <= number) and (bounds.high is None or number <= bounds.high)


def _tried(expression: Expression, plain: str) -> str:
    """Plain SQL with NULL for errors. DuckDB makes timestamps of dates and intervals: dates stay dates here."""
    tried = f"TRY({plain})"
    return f"TRY_CAST({tried} AS DATE)" if infer_type(expression, TABLE).kind is Kind.DATE else tried


def _close(value: Any, expected: Any) -> bool:
    if isinstance(expected, bool | str) or not isinstance(value, float):
        return bool(value == expected)
    expected = float(expected)
    return math.isclose(value, expected, rel_tol=1e-12) or (math.isnan(value) and math.isnan(expected))


@whole
@thinned(3)
@pytest.mark.parametrize(("name", "case"), EVERY, ids=[case.asked for _, case in EVERY])
def test_a_function_never_fails_keeps_its_interval_and_equals_duckdbs_own(
    name: str, case: Case, engine: duckdb.DuckDBPyConnection
) -> None:
    expression = read_value(case.asked)
    made, columns = infer_type(expression, TABLE), columns_of(expression)
    plain = case.asked if case.plain is _SAME else case.plain
    selected = [DuckDBEmitter(TABLE).write(expression), "NULL" if plain is None else _tried(expression, plain)]
    pairs = rows(engine, selected, columns)
    _check_interval([value for value, _ in pairs], made)
    if plain is not None:
        if made.kind in (Kind.DATE, Kind.TIMESTAMP):
            pairs = [(value, _in_calendar(expected)) for value, expected in pairs]
        _check_equal(pairs, moderate=name not in _NULLED and not set(columns) & set("ijxydetus"))
        nothing = "NULL" in case.asked or "999999" in case.asked
        assert nothing or any(value is not None and expected is not None for value, expected in pairs)


def _check_interval(values: list[Any], made: Type) -> None:
    bounds = made.bounds.round_to_doubles() if made.numeric else made.bounds
    assert [value for value in values if not _inside(value, bounds, made.kind)] == []
    if made.kind is Kind.INTEGER:
        assert all(v.is_integer() for v in values if isinstance(v, float) and math.isfinite(v))


# These are NULL where DuckDB's own are NaN or infinite.
_NULLED = {"sqrt", "ln", "log10", "log2", "/", "%", "//", "clamp", "width_bucket"}


def _check_equal(pairs: list[tuple[Any, ...]], moderate: bool) -> None:
    """Where both have a value it is the same one. More values only where integers overflow and doubles do not."""
    known = [pair for pair in pairs if None not in pair]
    assert [pair for pair in known if not _close(*pair)] == []
    more = [value for value, expected in pairs if expected is None and value is not None]
    assert all(isinstance(value, float) and not abs(value) < 1e9 for value in more), more
    if moderate:
        assert [expected for value, expected in pairs if value is None and expected is not None] == []


def _in_calendar(value: Any) -> Any:
    """Return a value of the domain; None for a date that Python's calendar does not hold, which comes as text."""
    return None if isinstance(value, str) and _FAR.fullmatch(value) else value


def _moderate(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        return not value[:4].isdigit() or len(value) < 30
    return not isinstance(value, int) or abs(value) < 1 << 53


AFTER = [
    (name, case)
    for name, case in EVERY
    if all(FUNCTIONS[node.function].after for node in walk(read_value(case.asked)) if isinstance(node, Call))
]


@pytest.mark.parametrize(("name", "case"), AFTER, ids=[case.asked for _, case in AFTER])
def test_after_the_noise_a_function_gives_what_the_engine_gives(
    name: str, case: Case, engine: duckdb.DuckDBPyConnection
) -> None:
    expression = read_value(case.asked)
    columns = columns_of(expression)
    selected = [*(f'"{column}"' for column in columns), DuckDBEmitter(TABLE).write(expression)]
    tried = 0
    for *given, computed in rows(engine, selected, columns):
        dated = [COLUMNS[column][0] in (Kind.DATE, Kind.TIMESTAMP) for column in columns]
        if any(isinstance(v, str) and d for v, d in zip(given, dated, strict=True)) or not all(
            map(_moderate, given)
        ):
            continue
        if any(d and v is not None and v.year in (1, 9999) for v, d in zip(given, dated, strict=True)):
            continue
        value = evaluate(expression, {Column(c): v for c, v in zip(columns, given, strict=True)})
        finite = not isinstance(computed, float) or math.isfinite(computed)
        expected = computed if finite else None
        assert value is expected or _close(expected, value), (given, value, expected)
        tried += 1
    assert tried >= len(columns)


def test_every_function_that_may_follow_the_noise_was_tried_after_it() -> None:
    assert {name for name, _ in AFTER} == {name for name, function in FUNCTIONS.items() if function.after}


_LEAVES: list[Expression] = [
    *(Column(name) for name in "nmzw"),
    *(Literal(value) for value in (1, 3, 10, Fraction(1, 10), Fraction(-7, 3), Fraction(1, 3))),
]
_STEPS = ("+", "-", "*", "/", "%", "power", "least", "greatest")
_ONES = ("negate", "abs", "sign", "floor", "ceil", "round", "trunc", "sqrt", "exp", "ln", "log10", "log2", "whole")


def _nested(chance: random.Random, depth: int) -> Expression:
    if depth == 0:
        return chance.choice(_LEAVES)
    if chance.random() < 0.5:
        return Call(chance.choice(_ONES), (_nested(chance, depth - 1),))
    return Call(chance.choice(_STEPS), (_nested(chance, depth - 1), _nested(chance, depth - 1)))


@thinned(4)
@pytest.mark.parametrize("function", ["floor", "ceil", "round", "trunc", "whole"])
def test_whole_intervals_hold_whatever_rounding_happens_below_them(
    function: str, engine: duckdb.DuckDBPyConnection
) -> None:
    """Group keys are enumerated from these intervals: one value outside would lose a group's rows."""
    chance = random.Random(function)
    bounded = 0
    for _ in range(150 * DEPTH):
        expression = Call(function, (_nested(chance, chance.choice([1, 2, 3])),))
        made = infer_type(expression, TABLE)
        assert made.kind is Kind.INTEGER
        bounded += made.bounds.low is not None and made.bounds.high is not None
        for (value,) in rows(engine, [DuckDBEmitter(TABLE).write(expression)], columns_of(expression)):
            assert _inside(value, made.bounds, made.kind), (expression, value, made.bounds)
    assert bounded > 50 * DEPTH


def test_buckets_are_those_of_exact_arithmetic(engine: duckdb.DuckDBPyConnection) -> None:
    """Away from the edges of buckets, where doubles and fractions cannot disagree."""
    expression = read_value("WIDTH_BUCKET(z, 0.1, 9.7, 7)")
    for value, made in rows(engine, ["z", DuckDBEmitter(TABLE).write(expression)], ["z"]):
        place = (Fraction(value) - Fraction("0.1")) * 7 / (Fraction("9.7") - Fraction("0.1"))
        if abs(place - round(place)) > Fraction(1, 10**9):
            assert made == math.floor(place) + 1


def test_an_interval_of_dates_is_as_narrow_as_it_can_be() -> None:
    year = infer_type(read_value("YEAR(f)"), TABLE).bounds
    assert year == NumberInterval(Fraction(2024), Fraction(2025))
    assert infer_type(read_value("MONTH(g)"), TABLE).bounds == NumberInterval(Fraction(5), Fraction(5))
    assert infer_type(read_value("DAY(g)"), TABLE).bounds == NumberInterval(Fraction(1), Fraction(31))
    assert infer_type(read_value("FLOOR(n / 10)"), TABLE).bounds == NumberInterval(Fraction(0), Fraction(12))
    assert infer_type(read_value("WIDTH_BUCKET(n, 0, 100, 10)"), TABLE).bounds == NumberInterval(
        Fraction(1), Fraction(11)
    )
    days = infer_type(read_value("DATE_DIFF('day', f, g)"), TABLE).bounds
    assert days == NumberInterval(Fraction(31), Fraction(458))


def test_texts_that_are_joined_again_and_again_stop_growing(engine: duckdb.DuckDBPyConnection) -> None:
    expression: Expression = Column("s")
    for _ in range(9):
        expression = Call("||", (expression, expression))
    lengths = rows(engine, [f"length({DuckDBEmitter(TABLE).write(expression)})"], ["s"])
    assert max(length for (length,) in lengths if length is not None) <= 20_000
    grown: Expression = Column("s")
    for _ in range(12):
        grown = Call("replace", (grown, Literal("a"), Literal("a" * 1000)))
    assert all(
        n is None or n <= 10_000 for (n,) in rows(engine, [f"length({DuckDBEmitter(TABLE).write(grown)})"], ["s"])
    )


def test_a_nested_call_is_written_once() -> None:
    """Otherwise forty nested clamps would be a query of 2^40 copies."""
    expression: Expression = Column("x")
    for _ in range(40):
        expression = Call("clamp", (Call("+", (expression, Literal(1))), Literal(0), Literal(9)))
    assert len(DuckDBEmitter(TABLE).write(expression)) < 20_000


def test_a_long_nested_call_has_the_value_of_its_steps(engine: duckdb.DuckDBPyConnection) -> None:
    expression: Expression = Column("x")
    for _ in range(6):
        expression = Call("clamp", (Call("+", (expression, Literal(1))), Literal(0), Literal(9)))
    for value, made in rows(engine, ["x", DuckDBEmitter(TABLE).write(expression)], ["x"]):
        steps = value
        for _ in range(6 if value is not None and not math.isnan(value) else 0):
            steps = min(max(steps + 1, 0), 9)
        assert made == (None if value is None or math.isnan(value) else steps)
