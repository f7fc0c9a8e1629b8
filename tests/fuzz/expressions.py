"""Random expressions over the columns in sight, by kind: every function of the question language is among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from jali.ir.functions.date_functions import PARTS

T = TypeVar("T")
NUMBER, TEXT, DATE, TIME, TRUTH, OTHER = "number", "text", "date", "time", "truth", "other"


@dataclass(frozen=True)
class Seen:
    """A column that can be named.

    Attributes:
        bounded: Whether a range is declared.
        keyed: Whether the values that it can have are known.
        owner: Whether it names the person.
    """

    sql: str
    kind: str
    bounded: bool = False
    keyed: bool = False
    owner: bool = False


# {n}, {b}, {t}, {d}, {m}, {c} stand for a number, a bounded number, a text, a date, a moment and a condition; {p}
# for a part of a date.
_NUMBERS = (
    "({n} + {n})",
    "({n} - {n})",
    "({b} * {b})",
    "({b} / {b})",
    "({b} // 3)",
    "({n} // {n})",
    "({b} % 7)",
    "({n} % {n})",
    "-({n})",
    "ABS({n})",
    "SIGN({n})",
    "FLOOR({n} / 10)",
    "CEIL({n})",
    "ROUND({n})",
    "ROUND({b}, 1)",
    "ROUND({b}, -2)",
    "TRUNC({n})",
    "SQRT({n})",
    "EXP({b})",
    "LN({n})",
    "LOG10({b})",
    "LOG(2, {b})",
    "POWER({b}, 2)",
    "POWER({n}, {n})",
    "LEAST({n}, {n})",
    "GREATEST({b}, 0, {n})",
    "CLAMP({n}, -5, 20)",
    "WIDTH_BUCKET({n}, 0, 100, 5)",
    "COALESCE({n}, {b})",
    "NULLIF({n}, 0)",
    "CASE WHEN {c} THEN {n} ELSE {b} END",
    "CASE WHEN {c} THEN 1 WHEN {c} THEN {b} END",
    "CASE {b} WHEN 1 THEN 2 ELSE 0 END",
    "IF({c}, {b}, 0)",
    "IFF({c}, {b}, {b})",
    "CAST({t} AS DOUBLE)",
    "TRY_CAST({t} AS INTEGER)",
    "CAST({n} AS BIGINT)",
    "CAST({c} AS INTEGER)",
    "LENGTH({t})",
    "STRPOS({t}, 'a')",
    "YEAR({d})",
    "MONTH({d})",
    "QUARTER({m})",
    "WEEK({d})",
    "DAY({d})",
    "DAYOFWEEK({d})",
    "ISODOW({d})",
    "DAYOFYEAR({d})",
    "HOUR({m})",
    "MINUTE({m})",
    "SECOND({m})",
    "EXTRACT(year FROM {d})",
    "DATE_PART('month', {m})",
    "DATE_DIFF({p}, {d}, {d})",
    "DATE_DIFF({p}, {m}, {m})",
    "DATE_SUB({p}, {d}, DATE '2026-01-31')",
    "DATE_SUB({p}, {m}, {m})",
    "({d} - {d})",
)
_TEXTS = (
    "LOWER({t})",
    "UPPER({t})",
    "TRIM({t})",
    "LTRIM({t})",
    "RTRIM({t}, 'a')",
    "SUBSTRING({t}, 1, 2)",
    "LEFT({t}, 1)",
    "RIGHT({t}, 2)",
    "REPLACE({t}, 'a', 'bb')",
    "({t} || {t})",
    "CONCAT({t}, '-', {t})",
    "COALESCE({t}, '')",
    "NULLIF({t}, 'A')",
    "CASE WHEN {c} THEN 'yes' ELSE 'no' END",
    "CASE WHEN {c} THEN {t} ELSE {t} END",
    "CAST({n} AS TEXT)",
    "MONTHNAME({d})",
    "DAYNAME({m})",
)
_DATES = (
    "CAST({m} AS DATE)",
    "CAST({t} AS DATE)",
    "({d} + INTERVAL 3 MONTH)",
    "({d} - INTERVAL 2 DAY)",
    "({d} + 5)",
    "LAST_DAY({d})",
    "CAST(DATE_TRUNC({p}, {d}) AS DATE)",
    "COALESCE({d}, DATE '2025-02-01')",
    "CASE WHEN {c} THEN {d} ELSE {d} END",
)
_MOMENTS = (
    "CAST({d} AS TIMESTAMP)",
    "({m} + INTERVAL 90 MINUTE)",
    "({m} - INTERVAL 1 YEAR)",
    "DATE_TRUNC({p}, {m})",
)
_TRUTHS = (
    "{n} < {n}",
    "{n} <= {b}",
    "{n} > 3",
    "{b} >= 1.5",
    "{n} = {b}",
    "{b} <> 0",
    "{n} BETWEEN 0 AND {b}",
    "{n} IN (0, 1, 5)",
    "{n} NOT IN (2, 3)",
    "{n} IS DISTINCT FROM {n}",
    "{n} IS NULL",
    "{n} IS NOT NULL",
    "ISNAN({n})",
    "ISINF({n})",
    "ISFINITE({n})",
    "{t} = 'A'",
    "{t} < {t}",
    "{t} IN ('A', '', 'é')",
    "{t} NOT IN ('B')",
    "{t} LIKE '%a%'",
    "{t} NOT LIKE '_'",
    "{t} ILIKE 'A%'",
    "STARTS_WITH({t}, 'a')",
    "ENDS_WITH({t}, {t})",
    "CONTAINS({t}, '1')",
    "REGEXP_MATCHES({t}, '^[a-c]')",
    "REGEXP_FULL_MATCH({t}, '[0-9.]*')",
    "CAST({t} AS BOOLEAN)",
    "{t} IS NULL",
    "{t} IS NOT DISTINCT FROM {t}",
    "{d} > DATE '2025-01-15'",
    "{d} BETWEEN '2025-01-01' AND '2025-02-01'",
    "{d} <= {d}",
    "{m} < TIMESTAMP '2025-01-15 12:00:00'",
    "({c} AND {c})",
    "({c} OR {c})",
    "NOT ({c})",
    "({c}) IS TRUE",
    "({c}) IS NOT FALSE",
    "({c}) IS NULL",
)
# What stands for a kind where no column has it.
_CONSTANTS = {
    NUMBER: ("0", "1", "2.5", "-3", "1e6"),
    TEXT: ("'A'", "''", "'é'", "NULL"),
    DATE: ("DATE '2025-01-20'",),
    TIME: ("TIMESTAMP '2025-01-20 10:00:00'",),
    TRUTH: ("TRUE", "FALSE", "NULL"),
}
SHAPES = {NUMBER: _NUMBERS, TEXT: _TEXTS, DATE: _DATES, TIME: _MOMENTS, TRUTH: _TRUTHS}
_PLACES = {"{n}": NUMBER, "{b}": "bounded", "{t}": TEXT, "{d}": DATE, "{m}": TIME, "{c}": TRUTH}


class Pen:
    """Writes expressions by chance."""

    def __init__(self, chance: Random) -> None:
        self.random = chance

    def pick(self, options: Sequence[T]) -> T:
        """Choose one of several."""
        return self.random.choice(options)

    def chance(self, percent: int) -> bool:
        """Say yes in so many cases of a hundred."""
        return self.random.randrange(100) < percent

    def write(self, kind: str, seen: Sequence[Seen], depth: int) -> str:
        """Write an expression of a kind; a condition always has a shape."""
        if kind == "bounded":
            return self.bounded(seen, depth)
        if depth <= 0 and kind != TRUTH:
            return self._leaf(kind, seen)
        if kind == TRUTH and depth <= 0:
            return self._filled(self.pick(_TRUTHS[:-6]), seen, 0)
        if self.chance(25):
            return self._leaf(kind, seen)
        return self._filled(self.pick(SHAPES[kind]), seen, depth - 1)

    def bounded(self, seen: Sequence[Seen], depth: int) -> str:
        """Write a number whose range is known, by its column or because it is clamped."""
        columns = [column.sql for column in seen if column.kind == NUMBER and column.bounded]
        if columns and (depth <= 0 or self.chance(40)):
            return self.pick(columns)
        if depth > 0 and self.chance(30):
            shape = self.pick(("({b} + {b})", "({b} * {b})", "ABS({b})", "ROUND({b})"))
            return self._filled(shape, seen, depth - 1)
        return f"CLAMP({self.write(NUMBER, seen, depth - 1)}, {self.pick(('-5', '0', '0.25'))}, 20)"

    def _leaf(self, kind: str, seen: Sequence[Seen]) -> str:
        columns = [column.sql for column in seen if column.kind == kind]
        return self.pick(columns) if columns and self.chance(85) else self.pick(_CONSTANTS[kind])

    def _filled(self, shape: str, seen: Sequence[Seen], depth: int) -> str:
        shape = shape.replace("{p}", f"'{self.pick(PARTS)}'")
        for place, kind in _PLACES.items():
            while place in shape:
                shape = shape.replace(place, self.write(kind, seen, depth), 1)
        return shape
