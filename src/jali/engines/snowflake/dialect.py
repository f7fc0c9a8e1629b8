"""Snowflake's words. Compile-only: they follow the documentation, and no server has read them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction

from jali.engines.snowflake import literals, numbers
from jali.engines.snowflake.functions import TEMPLATES
from jali.engines.snowflake.types import NAMES
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.functions import place_among, row_owner
from jali.query.catalog import Field, Kind, Public, Table
from jali.query.nodes import Value


class Snowflake(Dialect):
    """Snowflake, compile-only: whole numbers have 38 digits, and NaN is above every number and equals itself."""

    name = "Snowflake"
    types = NAMES
    templates = TEMPLATES
    small = "NUMBER(38, 0)"
    large = "NUMBER(38, 0)"
    widest = "NUMBER(38, 0)"
    infinite = literals.INFINITE

    def text(self, value: str) -> str:
        """Write a text constant."""
        return literals.text(value)

    def double(self, value: Fraction) -> str:
        """Write a number as the double nearest to it."""
        return literals.double(value)

    def constant(self, value: Value) -> str:
        """Write a constant; days and times in forms that no parameter of the session changes."""
        return literals.moment(value) if isinstance(value, datetime.date) else super().constant(value)

    def scan(self, table: Table | Public) -> str:
        """Write the FROM item of a table: database, schema and table, in the case in which they are stored."""
        return ".".join(self.quoted(part) for part in table.source.relation.split("."))

    def column(self, field: Field) -> str:
        """Write a column; texts are compared byte by byte, whatever their collation."""
        name = self.quoted(field.name)
        if field.kind in (Kind.TEXT, Kind.OTHER):
            return f"COLLATE(CAST({name} AS VARCHAR), '')"
        return self.real(name) if field.kind is Kind.REAL and field.type != "FLOAT" else name

    def row_owner(self, table: Table) -> str:
        """Write a digest of the row, and a number among equal ones: any two readings give the same owners."""
        return row_owner(self, table, lambda x: [x])

    def key_places(self, values: Sequence[Value], kind: Kind) -> str:
        """Write declared keys with their places."""
        return literals.key_rows(values, kind, self.type_name(kind))

    def place(self, written: str, values: Sequence[Value], kind: Kind) -> str:
        """Write the place of a value among others."""
        return place_among(self, written, values, kind)

    def same(self, one: str, other: str, kind: Kind, *, missing: bool) -> str:
        """Write that two keys are the same."""
        return super().same(one, other, kind, missing=missing) if missing else f"{one} = {other}"

    def flagged(
        self, owner: str | None, rows: str, others: str, condition: str, shown: list[str], flag: str
    ) -> str:
        """Write the rows that have another, and those that have none: EXISTS only filters in Snowflake."""
        columns = ([] if owner is None else [f"{owner} AS owner"]) + shown
        exists = f"EXISTS (SELECT 1 FROM ({others}) AS o WHERE {condition})"
        return " UNION ALL ".join(
            f"SELECT {', '.join([*columns, f'{found} AS {flag}'])} FROM ({rows}) AS s WHERE {word}{exists}"
            for word, found in (("", "TRUE"), ("NOT ", "FALSE"))
        )

    def grouped_by(self, names: list[str]) -> str:
        """Write the GROUP BY; of no names, what makes one row of all, also where there are none."""
        return f" GROUP BY {', '.join(names)}" if names else " HAVING count(*) >= 0"

    def nearest(self, value: str, width: str, *, fits: bool) -> str:
        """Round a double, halves to even: a cast alone takes them away from zero."""
        del width
        return numbers.nearest(value, fits=fits)

    def clamp(self, value: str, low: str, high: str) -> str:
        """Cut a double; NULL and NaN are put at an end, as a sum of NULLs would be none."""
        return f"coalesce({numbers.clamped(value, low, high)}, {low})"

    def half_away(self, value: str) -> str:
        """Round a double, halves away from zero."""
        return f"ROUND({value})"

    def indicator(self, condition: str) -> str:
        """Write 1 where a condition that is never NULL holds, 0 where not."""
        return f"IFF({condition}, 1, 0)"

    def total(self, value: str) -> str:
        """Sum whole numbers of 64 bits in 38 digits: 10^19 of them fit."""
        return f"SUM({self.wide(value)})"

    def quotient(self, value: str, by: str) -> str:
        """Divide whole numbers."""
        return numbers.quotient(value, by)

    def spelled(self, written: str) -> str:
        """Write any value as text."""
        return f"TO_VARCHAR({written})"

    def days(self, written: str) -> str:
        """Write a date as the double of its days since 1970."""
        return f"CAST(DATEDIFF(day, {self.constant(datetime.date(1970, 1, 1))}, {written}) AS FLOAT)"

    def microseconds(self, written: str) -> str:
        """Write a time as the double of its microseconds since 1970."""
        return f"CAST({self.ticks(written)} AS FLOAT)"

    def ticks(self, written: str) -> str:
        """Write a time as whole microseconds since 1970."""
        return f"DATEDIFF(microsecond, {self.constant(datetime.date(1970, 1, 1))}, {written})"

    def timestamp(self, written: str) -> str:
        """Write a date or a time as a time."""
        return f"CAST({written} AS TIMESTAMP_NTZ)"

    def readable(self, written: str, kind: Kind, *, double: bool) -> str:
        """Cast a key, which has its kind already, or is a double."""
        return numbers.nearest(written, fits=False) if double else f"CAST({written} AS {self.type_name(kind)})"


SNOWFLAKE = Snowflake()
