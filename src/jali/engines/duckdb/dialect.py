"""DuckDB's words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import MappingProxyType

from jali.engines.duckdb import literals
from jali.engines.duckdb.functions import TEMPLATES
from jali.engines.duckdb.key_lists import key_list, key_places
from jali.engines.duckdb.sources import normalized, stored_rows
from jali.engines.duckdb.types import NAMES
from jali.engines.sql.dialect import Dialect
from jali.query.catalog import Field, Kind, Public, Table
from jali.query.nodes import Value


class DuckDB(Dialect):
    """DuckDB: TRY_CAST makes NULL of what cannot be cast, casts round halves to even, sums are 128 bits wide."""

    name = "DuckDB"
    types = NAMES
    templates = TEMPLATES
    widest = "HUGEINT"
    infinite = "'inf'::DOUBLE"
    outside = MappingProxyType(
        {
            Kind.DATE: ("DATE '0001-12-31 (BC)'", "DATE '10000-01-01'"),
            Kind.TIMESTAMP: ("TIMESTAMP '0001-12-31 (BC) 23:59:59.999999'", "TIMESTAMP '10000-01-01'"),
        }
    )

    def double(self, value: Fraction) -> str:
        """Write a number as the double nearest to it."""
        return literals.double(value)

    def rows(self, table: Table | Public) -> str:
        """Write the FROM item of the rows as they are stored."""
        return stored_rows(table)

    def normalized(self, field: Field) -> str:
        """Write what a question sees of a stored column."""
        return normalized(field)

    def kept(self, *, bare: bool) -> str:
        """Measured: to read a table twice beats materialising it (8.0 against 10.1 times the plain query)."""
        return "NOT MATERIALIZED " if bare else "MATERIALIZED "

    def key_places(self, values: Sequence[Value], kind: Kind) -> str:
        """Write declared keys with their places."""
        return key_places(values, kind)

    def one_key(self, value: Value, kind: Kind) -> str:
        """Write a key, in the type of its kind."""
        return f"({key_list([value], kind)})[1]"

    def place(self, written: str, values: Sequence[Value], kind: Kind) -> str:
        """Write the place of a value among others."""
        return f"list_position({key_list(values, kind)}, {written}) - 1"

    def semi(self, shown: str, rows: str, others: str, condition: str, names: tuple[str, str]) -> str:
        """Write the rows for which there is another row that meets a condition."""
        one, other = names
        return f"SELECT {shown} FROM ({rows}) AS {one} SEMI JOIN ({others}) AS {other} ON {condition}"

    def nearest(self, value: str, width: str, *, fits: bool) -> str:
        """Round a double, halves to even, as casts do."""
        return f"{'CAST' if fits else 'TRY_CAST'}({value} AS {width})"

    def nearest_inside(self, value: str, width: str) -> str:
        """Round a double where a branch is taken in which it fits: DuckDB computes branches ahead."""
        return self.nearest(value, width, fits=False)

    def narrowed(self, value: str, width: str, *, fits: bool = True) -> str:
        """Cast a whole number."""
        return f"{'CAST' if fits else 'TRY_CAST'}({value} AS {width})"

    def half_away(self, value: str) -> str:
        """Round a double, halves away from zero."""
        return f"round({value})"

    def quotient(self, value: str, by: str) -> str:
        """Divide whole numbers."""
        return f"{value} // {by}"

    def filtered(self, aggregate: str, value: str, condition: str) -> str:
        """Write an aggregate of the rows that meet a condition."""
        return f"{aggregate}({'*' if aggregate == 'count' else value}) FILTER (WHERE {condition})"

    def filtered_total(self, value: str, condition: str) -> str:
        """Sum the rows that meet a condition."""
        return f"sum({value}) FILTER (WHERE {condition})"

    def distinct(self, value: str, condition: str) -> str:
        """Count the different values of the rows that meet a condition."""
        return f"count(DISTINCT {value}) FILTER (WHERE {condition})"

    def joined(self, written: str) -> str:
        """Write a whole number where texts are joined: it becomes one by itself."""
        return written

    def days(self, written: str) -> str:
        """Write a date as the double of its days since 1970."""
        return f"CAST(date_diff('day', DATE '1970-01-01', {written}) AS DOUBLE)"

    def microseconds(self, written: str) -> str:
        """Write a time as the double of its microseconds since 1970."""
        return f"CAST(epoch_us({written}) AS DOUBLE)"

    def ticks(self, written: str) -> str:
        """Write a time as microseconds since 1970."""
        return f"TRY(epoch_us({written}))"

    def timestamp(self, written: str) -> str:
        """Write a date or a time as a time."""
        return f"TRY_CAST({written} AS TIMESTAMP)"

    def readable(self, written: str, kind: Kind, *, double: bool) -> str:
        """Cast a key to its kind."""
        del double
        return f"TRY_CAST({written} AS {self.type_name(kind)})"


DUCKDB = DuckDB()
