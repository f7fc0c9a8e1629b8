"""The dialect of Postgres.

Postgres raises where others give infinity, 0 or NULL: on overflow, on underflow, on casts, on far dates, and it
knows no TRY. Every form here takes those values out before they are computed (`functions.py`): what is in a branch
of a CASE is computed only where that branch is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from jali.catalog.columns import CALENDAR, Field, Kind
from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import LONGEST_TEXT, Value
from jali.engines.postgres import arithmetic
from jali.engines.postgres.functions import TEMPLATES
from jali.engines.postgres.sources import NAMES, is_beyond_doubles, quote_relation
from jali.engines.sql.dialect import Dialect
from jali.errors import Unsupported

# Equal keys are joined by hashing; a missing key is told by a second equality, and stands for one of these.
_STANDS_FOR: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.INTEGER: "0",
        Kind.REAL: "0",
        Kind.TEXT: "''",
        Kind.BOOLEAN: "FALSE",
        Kind.DATE: "DATE '1970-01-01'",
        Kind.TIMESTAMP: "TIMESTAMP '1970-01-01'",
    }
)
# Unconstrained decimals beyond these have no double: Postgres would raise.
_LEAST, _MOST = "1e-300", "1e300"


class Postgres(Dialect):
    """Postgres 13 and later: casts of doubles round halves to even, sums of 64 bits are decimals of any length."""

    name = "Postgres"
    types = NAMES
    templates = TEMPLATES
    small = "integer"
    large = "bigint"
    widest = "numeric"
    infinite = arithmetic.INFINITE
    below_zero = "'-5e-324'::float8"
    outside = MappingProxyType(
        {
            Kind.DATE: ("DATE '0001-12-31 BC'", "DATE '10000-01-01'"),
            Kind.TIMESTAMP: ("TIMESTAMP '0001-12-31 23:59:59.999999 BC'", "TIMESTAMP '10000-01-01'"),
        }
    )

    def double(self, value: Fraction) -> str:
        """Write a number as the double nearest to it."""
        return arithmetic.double(float(value))

    def text(self, value: str) -> str:
        """Write a text constant."""
        if "\0" in value:
            raise Unsupported("text-with-zero-byte")
        return super().text(value)

    def constant(self, value: Value) -> str:
        """Write a constant. A bare text has no type until it meets another."""
        return f"{self.text(value)}::text" if isinstance(value, str) else super().constant(value)

    def enclose(self, written: str) -> str:
        """Write a CASE, or another choice of values, where it is an operand."""
        return f"({written})"

    def once(self, written: str, make: Callable[[str], str]) -> str:
        """Use a value several times."""
        return arithmetic.bind_values(make, written)

    def rows(self, table: Table | Public) -> str:
        """Write the FROM item of the rows as they are stored."""
        return quote_relation(table.read_from)

    def normalize(self, field: Field) -> str:
        """Write what a question sees of a stored column. Texts are compared by bytes, whatever their collation."""
        name = self.quote(field.name)
        if field.kind is Kind.TEXT:
            value = f"CAST({name} AS text)"
            return f'(CASE WHEN octet_length({value}) <= {LONGEST_TEXT} THEN {value} END COLLATE "C")'
        if field.kind is Kind.REAL and is_beyond_doubles(field.type):
            fits = f"abs({name}) BETWEEN {_LEAST} AND {_MOST} OR {name} = 0"
            beyond = f"CASE WHEN abs({name}) < 1 THEN 0 ELSE sign({name}) * {self.infinite} END"
            return f"(CASE WHEN {name} = 'NaN' THEN NULL WHEN {fits} THEN {self.real(name)} ELSE {beyond} END)"
        if field.kind is Kind.REAL:
            double = name if field.type == "double precision" else self.real(name)
            return f"nullif({double}, {arithmetic.NOT_A_NUMBER})"
        if field.kind not in CALENDAR:
            return name
        low, high = map(self.constant, CALENDAR[field.kind])
        return f"(CASE WHEN {name} BETWEEN {low} AND {high} THEN {name} END)"

    def counts_by_window(self, table: Table | None) -> bool:
        """Count rows beside them: for a join every worker would count everybody again (docs/benchmarks.md)."""
        del table
        return True

    def order_by_bytes(self, written: str) -> str:
        """Write a text that is ordered by its bytes, whatever the database has for a collation."""
        return f'({written}) COLLATE "C"'

    def nest_query(self, query: str) -> str:
        """Write a query as a FROM item: it must have a name."""
        return f"({query}) AS derived"

    def reading_hint(self, *, bare: bool) -> str:
        """Rows of one table are read again where they are needed twice; others are computed once."""
        return "NOT MATERIALIZED " if bare else "MATERIALIZED "

    def key_places(self, values: Sequence[Value], kind: Kind) -> str:
        """Write declared keys with their places, as one array."""
        value = 'value COLLATE "C" AS value' if kind is Kind.TEXT else "value"
        keys = f"unnest({self._array(values, kind)}) WITH ORDINALITY AS listed(value, number)"
        return f"SELECT number - 1 AS place, {value} FROM {keys}"

    def place(self, written: str, values: Sequence[Value], kind: Kind) -> str:
        """Write the place of a value among others."""
        return f"array_position({self._array(values, kind)}, {written}) - 1"

    def write_key(self, value: Value, kind: Kind) -> str:
        """Write a key, in the type of its kind."""
        return self.cast_constant(value, kind)

    def _array(self, values: Sequence[Value], kind: Kind) -> str:
        return f"{self.text('{' + ','.join(map(_item, values)) + '}')}::{self.type_name(kind)}[]"

    def match_keys(self, one: str, other: str, kind: Kind, *, missing: bool) -> str:
        """Write the equality of keys so that it can be hashed: IS NOT DISTINCT FROM compares all pairs."""
        if not missing:
            return f"{one} = {other}"
        stands = _STANDS_FOR[kind]
        return f"coalesce({one}, {stands}) = coalesce({other}, {stands}) AND ({one} IS NULL) = ({other} IS NULL)"

    def multiply(self, value: str, by: Fraction) -> str:
        """Multiply a double by a constant. Postgres raises where a product is too small to be told from 0."""
        return f"{_away_from_zero(value) if abs(by) < 1 else value} * {self.double(by)}"

    def divide(self, value: str, by: Fraction) -> str:
        """Divide a double by a constant."""
        return f"{_away_from_zero(value) if abs(by) > 1 else value} / {self.double(by)}"

    def extreme(self, function: str, value: str, condition: str, kind: Kind) -> str:
        """Write the least or largest value: truth values have no order in Postgres, but AND and OR."""
        of_truths = {"min": "bool_and", "max": "bool_or"}[function]
        return self.aggregate_where(of_truths if kind is Kind.BOOLEAN else function, value, condition)

    def total_within(self, value: str, most: int) -> str:
        """Sum small numbers in 64 bits: 2^31 rows of them fit, and it is cheaper than decimals."""
        return f"sum(CAST({value} AS integer))" if most < 1 << 31 else self.total(value)

    def round_half_even(self, value: str, width: str, *, fits: bool) -> str:
        """Round a double, halves to even, as casts do."""
        made = f"CAST({value} AS {width})"
        return (
            made
            if fits
            else f"CASE WHEN {value} BETWEEN {arithmetic.LEAST_64} AND {arithmetic.MOST_64} THEN {made} END"
        )

    def round_half_away(self, value: str) -> str:
        """Round a double, halves away from zero: ROUND takes them to even."""
        return arithmetic.round_half_away(f"({value})")

    def days(self, written: str) -> str:
        """Write a date as the double of its days since 1970."""
        return f"CASE WHEN isfinite({written}) THEN CAST({written} - DATE '1970-01-01' AS double precision) END"

    def microseconds(self, written: str) -> str:
        """Write a time as the double of its microseconds since 1970."""
        return f"CASE WHEN isfinite({written}) THEN {self.real(f'extract(epoch FROM {written}) * 1000000')} END"

    def ticks(self, written: str) -> str:
        """Write a time as whole microseconds since 1970."""
        return f"CAST(extract(epoch FROM {written}) * 1000000 AS bigint)"

    def timestamp(self, written: str) -> str:
        """Write a date or a time as a time."""
        return arithmetic.timestamp(written)

    def cast_key(self, written: str, kind: Kind, *, double: bool) -> str:
        """Cast a key to its kind."""
        if double:
            return self.round_half_even(written, self.large, fits=False)
        return f"CAST({written} AS {self.type_name(kind)})"


def _away_from_zero(value: str) -> str:
    """Make 0 of what is so near to it that no lattice tells."""
    return (
        f"(CASE WHEN abs({value}) >= {arithmetic.double(1e-290)} THEN {value} WHEN {value} IS NOT NULL THEN 0 END)"
    )


def _item(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(value).lower()
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


POSTGRES = Postgres()
