"""BigQuery's words. Compile-only: they follow the documentation, and no server has read them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from jali.engines.bigquery import literals, numbers, sources
from jali.engines.bigquery.functions import TEMPLATES
from jali.engines.bigquery.types import NAMES
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.functions import place_among, row_owner, same_key
from jali.errors import Unsupported
from jali.query.catalog import Field, Kind, Public, Table
from jali.query.nodes import Value

# 2^40 numbers of this size sum to less than 2^63.
_SMALL_SUM = 1 << 23


class BigQuery(Dialect):
    """BigQuery, compile-only: integers and doubles that overflow raise, and a CTE may be computed twice.

    Nothing here draws at random: whatever is read twice is the same both times.
    """

    name = "BigQuery"
    types = NAMES
    templates = TEMPLATES
    small = "INT64"
    large = "INT64"
    widest = "BIGNUMERIC"
    infinite = literals.INFINITE

    def quoted(self, name: str) -> str:
        """Write an identifier."""
        return literals.quoted(name)

    def text(self, value: str) -> str:
        """Write a text constant."""
        return literals.text(value)

    def double(self, value: Fraction) -> str:
        """Write a number as the double nearest to it."""
        return literals.double(value)

    def scan(self, table: Table | Public) -> str:
        """Write the FROM item of a table."""
        return sources.scan(table.source)

    def column(self, field: Field) -> str:
        """Write a column in its frozen type; texts are compared byte by byte, whatever their collation."""
        read = f"SAFE_CAST({self.quoted(field.name)} AS {field.type})"
        return f"COLLATE({read}, '')" if field.kind in (Kind.TEXT, Kind.OTHER) else read

    def row_owner(self, table: Table) -> str:
        """Write a digest of the row, and a number among equal ones: any two readings give the same owners."""
        return row_owner(self, table, lambda x: [x, f"IEEE_DIVIDE(1, {x})"])

    def key_places(self, values: Sequence[Value], kind: Kind) -> str:
        """Write declared keys with their places, as one array."""
        keys = ", ".join(map(self.constant, values))
        return (
            f"SELECT place, value FROM UNNEST(ARRAY<{self.type_name(kind)}>[{keys}]) AS value WITH OFFSET AS place"
        )

    def place(self, written: str, values: Sequence[Value], kind: Kind) -> str:
        """Write the place of a value among others."""
        return place_among(self, written, values, kind)

    def same(self, one: str, other: str, kind: Kind, *, missing: bool) -> str:
        """Write that two keys are the same: outer joins need equalities."""
        return same_key(self, one, other, kind, missing=missing)

    def grouped_by(self, names: list[str]) -> str:
        """Write the GROUP BY; of no names, what makes one row of all, also where there are none.

        Raises:
            Unsupported: if a name holds a subquery, which BigQuery cannot match with that of the SELECT list.
        """
        if any("(SELECT" in name for name in names):
            raise Unsupported(
                "BigQuery cannot group people by an expression of this length.",
                remedy="Compute it in a column of a subquery first, and group by that.",
            )
        return f" GROUP BY {', '.join(names)}" if names else " HAVING count(*) >= 0"

    def clamp(self, value: str, low: str, high: str) -> str:
        """Cut a double; NULL and NaN are put at an end, as a sum of NULLs would be none."""
        return numbers.bound(
            lambda v: f"IF({v} <= {self.infinite}, GREATEST(LEAST({v}, {high}), {low}), {low})", value
        )

    def nearest(self, value: str, width: str, *, fits: bool) -> str:
        """Round a double, halves to even: a cast alone takes them away from zero."""
        del width, fits
        return numbers.nearest(value)

    def narrowed(self, value: str, width: str, *, fits: bool = True) -> str:
        """Cast a whole number."""
        return f"{'CAST' if fits else 'SAFE_CAST'}({value} AS {width})"

    def half_away(self, value: str) -> str:
        """Round a double, halves away from zero."""
        return f"ROUND({value})"

    def indicator(self, condition: str) -> str:
        """Write 1 where a condition that is never NULL holds, 0 where not."""
        return f"IF({condition}, 1, 0)"

    def total(self, value: str) -> str:
        """Sum whole numbers as decimals of 76 digits: a sum of INT64 raises where it overflows."""
        return f"SUM({self.wide(value)})"

    def bounded_total(self, value: str, most: int) -> str:
        """Sum whole numbers; small ones as they are, since no table has 2^40 rows in one group."""
        return f"SUM({value})" if most <= _SMALL_SUM else self.total(value)

    def quotient(self, value: str, by: str) -> str:
        """Divide whole numbers: an operator would make a double."""
        return f"DIV({value}, {by})"

    def digest(self, written: str) -> str:
        """Hash a text, to a text: MD5 gives bytes."""
        return f"TO_HEX(MD5({written}))"

    def days(self, written: str) -> str:
        """Write a date as the double of its days since 1970."""
        return f"CAST(DATE_DIFF({written}, DATE '1970-01-01', DAY) AS FLOAT64)"

    def microseconds(self, written: str) -> str:
        """Write a time as the double of its microseconds since 1970."""
        return f"CAST(DATETIME_DIFF({written}, DATETIME '1970-01-01 00:00:00', MICROSECOND) AS FLOAT64)"

    def ticks(self, written: str) -> str:
        """Refuse: the query of streams names its columns outside, which BigQuery cannot."""
        del written
        raise Unsupported("Streams are not written for BigQuery.", remedy="Follow a table of another engine.")

    def timestamp(self, written: str) -> str:
        """Write a date or a time as a time."""
        return f"SAFE_CAST({written} AS DATETIME)"

    def readable(self, written: str, kind: Kind, *, double: bool) -> str:
        """Cast a key to its kind."""
        return numbers.nearest(written) if double else f"SAFE_CAST({written} AS {self.type_name(kind)})"


BIGQUERY = BigQuery()
