"""Texts that somebody could send to exhaust or to break a server: each limit at and beyond its edge, and worse.

Every family makes a text of about a size; sizes are those at which a limit is reached and others around them. The
texts are the same in every run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle

from tests.golden.cases import FILES, read_cases

from jali.sql.question_limits import Limits

Family = Callable[[random.Random, int], str]
FAMILIES: dict[str, tuple[Family, tuple[int, ...]]] = {}
_LIMITS = Limits()


def family(*sizes: int) -> Callable[[Family], Family]:
    """Register a family with the sizes at which it hurts; sizes around them are tried too."""

    def registered(make: Family) -> Family:
        FAMILIES[make.__name__] = make, sizes
        return make

    return registered


def hostile_texts(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield texts with the names of their families, in turn."""
    chance = random.Random(seed)
    for _, (name, (make, sizes)) in zip(range(count), cycle(FAMILIES.items()), strict=False):
        size = chance.choice([*sizes, *(s + 1 for s in sizes), max(1, sizes[0] // 2), 1, 10 * sizes[-1]])
        yield name, make(chance, min(size, 40_000))


def _where(condition: str) -> str:
    return f"SELECT COUNT(*) FROM visits WHERE {condition}"


def _listed(items: Iterator[str] | list[str], joint: str = ", ") -> str:
    return joint.join(items)


def _nested(opening: str, core: str, closing: str, depth: int) -> str:
    depth = min(depth, 60_000 // (len(opening) + len(closing)))
    return opening * depth + core + closing * depth


# Deep nesting.

_WRAPPED = (
    ("(", ")"),
    ("SQRT(", ")"),
    ("LN(", ")"),
    ("ABS(", ")"),
    ("EXP(", ")"),
    ("ROUND(", ", 2)"),
    ("NULLIF(", ", 3)"),
    ("COALESCE(", ", 1)"),
    ("GREATEST(", ", 1, 2)"),
    ("POWER(", ", 2)"),
    ("CAST(", " AS INTEGER)"),
    ("CAST(", " AS TEXT)"),
    ("CASE WHEN ", " IN (1, 2, 3) THEN 1 ELSE 2 END"),
    ("CASE ", " WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END"),
    ("CASE WHEN age > 1 THEN ", " ELSE age END"),
    ("IF(", " > 1, 1, 2)"),
    ("(1 + ", ")"),
    ("(", " / 3)"),
    ("(7 % ", ")"),
    ("-", ""),
    ("- ", ""),
    ("[", "]"),
    ("{'a': ", "}"),
    ("WIDTH_BUCKET(", ", 0, 100, 10)"),
)


@family(_LIMITS.depth - 2, _LIMITS.depth, _LIMITS.terms)
def wrapped(chance: random.Random, size: int) -> str:
    opening, closing = chance.choice(_WRAPPED)
    return _where(f"{_nested(opening, 'age', closing, size)} > 3")


@family(_LIMITS.depth - 2, _LIMITS.depth)
def mixed_nesting(chance: random.Random, size: int) -> str:
    made = "age"
    for _ in range(min(size, 2000)):
        opening, closing = chance.choice(_WRAPPED[:19])
        made = f"{opening}{made}{closing}"
    return chance.choice((_where(f"{made} > 3"), f"SELECT SUM({made}) FROM visits"))


@family(90, 1000)
def prefixes(chance: random.Random, size: int) -> str:
    return _where(chance.choice(("NOT ", "- ", "+ ", "~ ", "@ ", "EXISTS ", "INTERVAL ")) * size + "paid")


@family(_LIMITS.depth // 2, _LIMITS.selects)
def subqueries(chance: random.Random, size: int) -> str:
    size = min(size, 1500)
    query = "SELECT * FROM visits"
    for i in range(size):
        query = chance.choice((f"SELECT * FROM ({query}) t{i}", f"SELECT DISTINCT * FROM ({query}) t{i}"))
    return f"SELECT COUNT(*) FROM ({query}) t"


@family(5, _LIMITS.selects)
def exists(chance: random.Random, size: int) -> str:
    one = "EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id)"
    if chance.random() < 0.5:
        return f"SELECT COUNT(*) FROM visits v WHERE {_listed([one] * size, ' AND ')}"
    inside = _nested("EXISTS (SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND ", "TRUE", ")", size)
    return f"SELECT COUNT(*) FROM visits v WHERE {inside}"


@family(_LIMITS.selects - 1, _LIMITS.selects)
def unions(chance: random.Random, size: int) -> str:
    joint = chance.choice((" UNION ALL ", " UNION ", " EXCEPT ", " INTERSECT "))
    return f"SELECT COUNT(*) FROM ({_listed(['SELECT * FROM visits'] * size, joint)}) t"


# Names that double.


@family(3, 4, 24)
def doubling_tables(chance: random.Random, size: int) -> str:
    size = min(size, 300)
    twice = chance.choice(
        (
            "SELECT * FROM {0} UNION ALL SELECT * FROM {0}",
            "SELECT x.* FROM {0} x JOIN {0} y ON x.patient_id = y.patient_id",
            "SELECT * FROM {0} WHERE patient_id IN (SELECT patient_id FROM {0})",
        )
    )
    tables = ["a0 AS (SELECT * FROM visits)"]
    tables += [f"a{i + 1} AS ({twice.format(f'a{i}')})" for i in range(size)]
    return f"WITH {_listed(tables)} SELECT COUNT(*) FROM a{size}"


@family(30, 400)
def unused_tables(_: random.Random, size: int) -> str:
    tables = [f"a{i} AS (SELECT * FROM visits)" for i in range(min(size, 3000))]
    return f"WITH {_listed(tables)} SELECT COUNT(*) FROM a0"


@family(10, 200)
def doubling_aliases(chance: random.Random, size: int) -> str:
    whole = _listed(["COUNT(*)"] * min(size, 100), " + ")
    used = _listed(["n"] * min(size, 2000), " + ")
    clause = chance.choice(("HAVING {} > 1", "ORDER BY {}", "HAVING n BETWEEN {} AND n ORDER BY {}"))
    return f"SELECT {whole} AS n FROM visits {clause.format(used, used)}"


@family(5, 12)
def doubling_subjects(chance: random.Random, size: int) -> str:
    made = "age"
    for _ in range(min(size, 400)):
        made = chance.choice(
            (
                f"({made} BETWEEN {made[:40].count('a')} AND 5)",
                f"CASE {made} WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE 4 END",
            )
        )
    return _where(f"{made} = 3")


# Wide lists.


@family(_LIMITS.items, 2 * _LIMITS.items, 10_000)
def membership(chance: random.Random, size: int) -> str:
    values = chance.choice(
        (
            [str(i) for i in range(size)],
            [f"'{i}'" for i in range(size)],
            [f"{i}.5" for i in range(size)],
            ["NULL"] * size,
            ["age + 1"] * size,
        )
    )
    column = chance.choice(("age", "ward", "cost", "level"))
    return _where(f"{column} {chance.choice(('IN', 'NOT IN'))} ({_listed(values)})")


@family(_LIMITS.items, 2400)
def outputs(chance: random.Random, size: int) -> str:
    one = chance.choice(("1", "COUNT(*)", "COUNT(*) AS n", "ward"))
    return f"SELECT {_listed([one] * size)} FROM visits {chance.choice(('', 'GROUP BY ward'))}"


@family(20, _LIMITS.items)
def orderings(chance: random.Random, size: int) -> str:
    by = _listed([chance.choice(("1", "ward", "COUNT(*) DESC", "AVG(age)"))] * size)
    return f"SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward ORDER BY {by}"


@family(3, 12, _LIMITS.items)
def groupings(chance: random.Random, size: int) -> str:
    by = _listed([f"{chance.choice(('level', 'age', 'cost', 'day'))} + {i}" for i in range(size)])
    return f"SELECT COUNT(*) FROM visits GROUP BY {by}"


@family(_LIMITS.items)
def arguments(chance: random.Random, size: int) -> str:
    function = chance.choice(("GREATEST", "LEAST", "COALESCE", "CONCAT"))
    column = "ward" if function == "CONCAT" else "age"
    return _where(f"{function}({_listed([column] * size)}) = '1'")


@family(100, 700)
def branches(chance: random.Random, size: int) -> str:
    whens = _listed([f"WHEN age {chance.choice('<>=')} {i} THEN {i}" for i in range(size)], " ")
    return f"SELECT {chance.choice(('SUM', 'COUNT', 'MEDIAN'))}(CASE {whens} END) FROM visits"


@family(_LIMITS.terms - 2, _LIMITS.terms, 1000)
def chains(chance: random.Random, size: int) -> str:
    operator = chance.choice(("+", "-", "*", "/", "%", "||", "AND", "OR", "=", "<", "::INTEGER +"))
    column = {"||": "ward", "AND": "paid", "OR": "paid"}.get(operator, "age")
    made = _listed([column] * size, f" {operator} ")
    return chance.choice((_where(f"{made} = '1'"), f"SELECT SUM({made}) FROM visits"))


@family(64, 1000)
def constants(chance: random.Random, size: int) -> str:
    numbers = _listed([f"0.{i:04d}" for i in range(size)])
    function = chance.choice(("QUANTILE_CONT", "QUANTILE_DISC", "HISTOGRAM", "CDF", "APPROX_TOP_K"))
    return f"SELECT {function}(age, [{numbers}]) FROM visits"


# Tables.


@family(_LIMITS.tables - 1, _LIMITS.tables, 1000)
def joins(chance: random.Random, size: int) -> str:
    size = min(size, 6000)
    kind = chance.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "SEMI JOIN"))
    other, column = chance.choice((("wards", "ward"), ("patients", "patient_id"), ("visits", "patient_id")))
    joined = (f"{kind} {other} j{i} ON v.{column} = j{i}.{column}" for i in range(size))
    return f"SELECT COUNT(*) FROM visits v {_listed(joined, ' ')}"


@family(_LIMITS.tables, 500)
def products(_: random.Random, size: int) -> str:
    return f"SELECT COUNT(*) FROM {_listed([f'visits v{i}' for i in range(size)])}"


# Aggregates.

_AGGREGATES = (
    "COUNT(age + {})",
    "SUM(age + {})",
    "SUM(age * {})",
    "AVG(age + {})",
    "AVG(age * {})",
    "VARIANCE(age * {})",
    "STDDEV(age + {})",
    "MEDIAN(age * {})",
    "MIN(age + {})",
    "CORR(age * {}, cost)",
    "REGR_INTERCEPT(age + {}, cost)",
    "REGR_R2(cost, age * {})",
    "COUNT(DISTINCT age + {})",
    "HISTOGRAM(age, [{}])",
    "CDF(level, [{}])",
    "COUNT(*) FILTER (WHERE age > {})",
    "QUANTILE_CONT(age, [0.1, 0.2, 0.{}])",
    "MODE(level + {})",
)


@family(10, 21, 42, 64, _LIMITS.aggregates)
def aggregates(chance: random.Random, size: int) -> str:
    size = min(size, 2000)
    one = chance.choice(_AGGREGATES)
    made = [(one if chance.random() < 0.7 else chance.choice(_AGGREGATES)).format(i + 1) for i in range(size)]
    groups = chance.choice(("", "", "GROUP BY ward", "GROUP BY ROLLUP (ward, level)", "GROUP BY age, level, ward"))
    return f"SELECT {_listed(made)} FROM visits {groups}"


# Grouping sets.


@family(4, 6, 24)
def cubes(chance: random.Random, size: int) -> str:
    columns = ["level", "ward", "paid", "day"] + [f"level + {i}" for i in range(size)]
    listed = _listed(columns[:size])
    clause = chance.choice(
        (
            f"CUBE ({listed})",
            f"ROLLUP ({listed})",
            f"CUBE ({listed}), CUBE ({listed})",
            f"GROUPING SETS (CUBE ({listed}), ROLLUP ({listed}))",
            f"GROUPING SETS ({_listed([f'({c})' for c in columns[:size]])})",
            _listed([f"ROLLUP ({c})" for c in columns[:size]]),
        )
    )
    return f"SELECT {chance.choice(('COUNT(*)', 'AVG(age), SUM(cost)'))} FROM visits GROUP BY {clause}"


# Many keys.


@family(1, 40, 900)
def computed_keys(chance: random.Random, size: int) -> str:
    by = chance.choice(
        (
            f"CAST(cost * {size} AS INTEGER)",
            f"age * {size} + level",
            "born",
            f"born + INTERVAL {size} DAY",
            f"date_trunc('week', born + INTERVAL {size} MONTH)",
            f"FLOOR(height * {size})",
        )
    )
    table = "patients" if "born" in by or "height" in by else "visits"
    kept = chance.choice(("", f"WHERE {by} IS NOT NULL", _listed([f"{by} <> {by}"] * min(size, 50), " AND ")))
    where = f" WHERE {kept}" if kept and not kept.startswith("WHERE") else f" {kept}"
    return f"SELECT COUNT(*) FROM {table}{where} GROUP BY {by}"


# Huge and odd constants.


@family(20, 100, 400, 5000)
def numbers(chance: random.Random, size: int) -> str:
    digits = "9" * size
    number = chance.choice(
        (
            digits,
            f"-{digits}",
            f"0.{digits}",
            f"{digits}.{digits}",
            f"1e{min(size, 9999)}",
            f"1e-{min(size, 9999)}",
            f"1e{digits}",
            f"0x{digits}",
            "1_" * min(size, 1000) + "1",
            f".{digits}e300",
            f"{digits}::INTEGER",
        )
    )
    shape = chance.choice(
        (
            "SELECT COUNT(*) FROM visits WHERE age > {}",
            "SELECT SUM(age * {}) FROM visits",
            "SELECT SUM(CLAMP(cost, {}, 5)) FROM visits",
            "SELECT COUNT(*) FROM visits LIMIT {}",
            "SELECT COUNT(*) * {} FROM visits OFFSET {}",
            "SELECT COUNT(*) FROM visits WHERE day + INTERVAL {} DAY > DATE '2026-01-01'",
            "SELECT QUANTILE_CONT(age, {}) FROM visits",
            "SELECT COUNT(*) FROM visits GROUP BY age // {}",
            "SELECT WIDTH_BUCKET(age, 0, {}, 10), COUNT(*) FROM visits GROUP BY 1",
            "SELECT ROUND(AVG(age), {}) FROM visits",
            "SELECT POWER(COUNT(*), {}) FROM visits",
            "SELECT SUM(POWER(age, {})) FROM visits",
            "SELECT COUNT(*) FROM visits GROUP BY {}",
        )
    )
    return shape.format(number, number)


@family(1, 9999, 99_999)
def dates(chance: random.Random, size: int) -> str:
    moment = chance.choice(
        (f"{size:04d}-01-01", f"-{size:04d}-01-01", "9999-12-31", "0001-01-01", f"2026-{size}-01")
    )
    unit = chance.choice(("YEAR", "MONTH", "DAY", "SECOND", "WEEK", "HOUR"))
    shape = chance.choice(
        (
            "SELECT COUNT(*) FROM visits WHERE day > DATE '{0}'",
            "SELECT COUNT(*) FROM visits WHERE day + INTERVAL {1} {2} > DATE '2026-01-01'",
            "SELECT day + INTERVAL {1} {2}, COUNT(*) FROM visits GROUP BY 1",
            "SELECT MIN(born - INTERVAL {1} {2}) FROM patients",
            "SELECT date_trunc('{2}', born + INTERVAL {1} YEAR), COUNT(*) FROM patients GROUP BY 1",
            "SELECT COUNT(*) FROM prescriptions WHERE taken > TIMESTAMP '{0} 00:00:00'",
            "SELECT COUNT(*) FROM patients GROUP BY MAKE_DATE({1}, 1, 1)",
            "SELECT MAX(born) + {1} FROM patients",
            "SELECT COUNT(*) FROM patients WHERE date_diff('{2}', born, DATE '{0}') > {1}",
            "SELECT COUNT(*) FROM patients WHERE born IN ('{0}', '2000-01-01')",
        )
    )
    return shape.format(moment, min(size, 999_999), unit)


_ODD = (
    "\x00",
    "\ud800",
    "\u202e",
    "\u0301",
    "\u200b",
    "\U0001f9ea",
    "é",
    "ﬀ",
    "\ufeff",
    "\x1b",
    "\r",
    "\x85",
    "½",
    "٣",
)


@family(1, 30, 5000)
def unicode_signs(chance: random.Random, size: int) -> str:
    odd = "".join(chance.choice(_ODD) for _ in range(size))
    shape = chance.choice(
        (
            "SELECT COUNT(*) FROM visits WHERE ward = '{}'",
            'SELECT COUNT(*) AS "{}" FROM visits',
            "SELECT COUNT(*) FROM {}",
            "SELECT COUNT(*) {} FROM visits",
            "{}",
            "SELECT COUNT(*) FROM visits /* {} */",
            "SELECT COUNT(*) FROM visits WHERE ward LIKE '%{}%'",
            "SELECT COUNT(*) FROM visits WHERE age > {}",
            "SELECT '{}', COUNT(*) FROM visits",
        )
    )
    return shape.format(odd.replace("'", ""))


@family(10, 999, 45_000)
def long_words(chance: random.Random, size: int) -> str:
    word = chance.choice("abcde") * size
    shape = chance.choice(
        (
            "SELECT COUNT(*) FROM visits WHERE ward = '{}'",
            "SELECT COUNT(*) AS {} FROM visits",
            "SELECT COUNT(*) FROM {}",
            "SELECT {}(*) FROM visits",
            "SELECT COUNT(*) FROM visits WHERE {} = 1",
            "SELECT COUNT(*) FROM visits -- {}",
            "SELECT COUNT(*) FROM visits /*{}",
            "SELECT COUNT(*) FROM visits WHERE ward = '{}",
            'SELECT COUNT(*) FROM visits WHERE "{}',
            "SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES(ward, '({}*)*')",
            "SELECT COUNT(*) FROM visits WHERE ward = $x${}",
        )
    )
    return shape.format(word)


@family(20, 500)
def patterns(chance: random.Random, size: int) -> str:
    pattern = chance.choice(("(a*)*", "%a", "_", "[a-z]{1,100}", "(", "\\", "(?i)", "a|", ".{0,1000}"))
    function = chance.choice(("ward LIKE '{}'", "REGEXP_MATCHES(ward, '{}')", "ward ILIKE '{}'", "ward ~ '{}'"))
    several = _listed(
        [function.format(f"{pattern * min(size, 400)}{i}") for i in range(chance.choice((1, 1, 40)))], " OR "
    )
    return _where(several)


@family(100, 9000, 40_000)
def signs(chance: random.Random, size: int) -> str:
    return (
        chance.choice(("", "SELECT ", "SELECT COUNT(*) FROM visits "))
        + chance.choice("();,.*+-/'\"[]{}$@:=<>!|&~`?\\#%^") * size
    )


_WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET WITH AS UNION ALL DISTINCT JOIN LEFT ON USING CASE WHEN THEN
ELSE END AND OR NOT IN IS NULL LIKE BETWEEN EXISTS CAST CUBE ROLLUP GROUPING SETS OVER FILTER INTERVAL DATE TRUE
visits patients wards age ward cost level paid day patient_id COUNT SUM AVG MEDIAN MIN MAX VARIANCE CORR SQRT
( ) ( ) ( ) , , , . * * + - / % = < > <= <> || :: ; 1 2 0.5 1e9 'A' '2026-01-01' "age" $1 ? [ ] { } -- /* */
ROUND COALESCE OPTIONS DIFFERENTIAL_PRIVACY epsilon contribution_bounds_per_group => LATERAL VALUES QUALIFY
WINDOW PIVOT RECURSIVE FALSE
""".split()  # noqa: SIM905 - read as a text


@family(5, 20, 60, 400, 3000)
def soup(chance: random.Random, size: int) -> str:
    start = chance.choice(
        ("", "SELECT ", "SELECT COUNT(*) FROM visits WHERE ", "SELECT COUNT(*) FROM visits GROUP BY ")
    )
    return start + " ".join(chance.choice(_WORDS) for _ in range(size))


@cache
def golden_questions() -> tuple[str, ...]:
    """Return the golden questions: what is answered."""
    return tuple(case.question for file in FILES for case in read_cases(file))


@family(1, 2, 5, 20)
def mutated(chance: random.Random, size: int) -> str:
    tokens = chance.choice(golden_questions()).split()
    for _ in range(size):
        place = chance.randrange(len(tokens))
        what = chance.randrange(5)
        if what == 0 and len(tokens) > 1:
            del tokens[place]
        elif what == 1:
            tokens.insert(place, chance.choice(_WORDS))
        elif what == 2:
            tokens[place] = chance.choice(_WORDS)
        elif what == 3:
            other = chance.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        else:
            tokens[place:place] = tokens[place : place + chance.randrange(1, 8)]
    return " ".join(tokens)


@family(1)
def golden(chance: random.Random, _: int) -> str:
    return chance.choice(golden_questions())
