"""The dialect of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from types import MappingProxyType

from jali.catalog.columns import CALENDAR, Field, Kind
from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import LONGEST_TEXT, Value
from jali.engines.spark import literals
from jali.engines.spark.arithmetic import bind, round_half_away, round_half_even, total
from jali.engines.spark.functions import TEMPLATES
from jali.engines.spark.sources import NAMES, scan
from jali.engines.sql.dialect import INT64, LambdaDialect


class Spark(LambdaDialect):
    """Spark: sums of 64 bits wrap silently, casts cut, floors are integers, and a CTE may be computed twice.

    What is written here means the same whether ANSI mode is on or off.
    """

    name = "Spark"
    types = NAMES
    templates = TEMPLATES
    small = "INT"
    widest = "DECIMAL(38, 0)"
    # Numbering people takes a second pass over all of them: units are as good where copies lie in their order.
    coded = False
    infinite = literals.INFINITE
    zero = "0D"
    below_zero = "double('-5e-324')"
    no_truth = "CAST(NULL AS BOOLEAN)"
    mark = " -> "
    semi = "LEFT SEMI"
    tried = "try_cast"
    outside = MappingProxyType(
        {
            Kind.DATE: ("DATE '0000-12-31'", "DATE '+10000-01-01'"),
            Kind.TIMESTAMP: (
                "TIMESTAMP_NTZ '0000-12-31 23:59:59.999999'",
                "TIMESTAMP_NTZ '+10000-01-01 00:00:00'",
            ),
        }
    )

    def quote(self, name: str) -> str:
        """Write an identifier."""
        return literals.quote(name)

    def text(self, value: str) -> str:
        """Write a text constant."""
        return literals.text(value)

    def double(self, value: Fraction) -> str:
        """Write a number as the double nearest to it."""
        return literals.double(value)

    def bind(self, written: str, name: str, body: str) -> str:
        """Write an expression in which a name stands for a value."""
        return bind(written, name, body)

    def rows(self, table: Table | Public) -> str:
        """Write the FROM item of the rows as they are stored."""
        return scan(table.read_from)

    def normalize(self, field: Field) -> str:
        """Write what a question sees of a stored column. Spark keeps bytes that are no text as they are."""
        value = f"try_cast({self.quote(field.name)} AS {field.type})"
        if field.kind is Kind.REAL:
            return f"nullif({value}, double('NaN'))"
        if field.kind is Kind.TEXT:
            return f"CASE WHEN octet_length({value}) <= {LONGEST_TEXT} THEN try_validate_utf8({value}) END"
        if field.kind not in CALENDAR:
            return value
        low, high = map(self.constant, CALENDAR[field.kind])
        return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"

    def concatenate(self, texts: Sequence[str]) -> str:
        """Write texts one after the other: hundreds of || would nest too deep for Spark."""
        return f"concat({', '.join(texts)})"

    def counts_by_window(self, table: Table | None) -> bool:
        """Count rows beside them, as they are then read once and are the same ones; a copy stays as it is."""
        return table is None or table.copy is None

    def row_owner(self, table: Table) -> str:
        """Write the row itself, and a number among equal ones: any two readings of a row give the same owners."""
        columns = [self.quote(field.name) for field in table.columns]
        same = ", ".join(columns) or "1"
        return f"struct({same}, row_number() OVER (PARTITION BY {same} ORDER BY 1))"

    def key_places(self, values: Sequence[Value], kind: Kind) -> str:
        """Write declared keys with their places."""
        keys = literals.key_array(values, kind, self.type_name(kind))
        return f"SELECT posexplode({keys}) AS (place, value)"

    def place(self, written: str, values: Sequence[Value], kind: Kind) -> str:
        """Write the place of a value among others."""
        keys = literals.key_array(values, kind, self.type_name(kind))
        return f"nullif(array_position({keys}, {written}), 0) - 1"

    def match_keys(self, one: str, other: str, kind: Kind, *, missing: bool) -> str:
        """Write that two keys are the same; NULL is one."""
        del kind, missing
        return f"{one} <=> {other}"

    def flag_rows(
        self, owner: str | None, rows: str, others: str, condition: str, shown: list[str], flag: str
    ) -> str:
        """Write the rows that have another, and those that have none: EXISTS is no value in Spark."""
        columns = ([] if owner is None else [f"{owner} AS owner"]) + shown
        return " UNION ALL ".join(
            f"SELECT {', '.join([*columns, f'{found} AS {flag}'])} FROM ({rows}) AS s"
            f" LEFT {kind} JOIN ({others}) AS o ON {condition}"
            for kind, found in (("SEMI", "TRUE"), ("ANTI", "FALSE"))
        )

    def group_by(self, names: list[str]) -> str:
        """Write the GROUP BY; of no names, what makes one row of all, also where there are none."""
        return f" GROUP BY {', '.join(names)}" if names else " HAVING count(*) >= 0"

    def round_half_even(self, value: str, width: str, *, fits: bool) -> str:
        """Round a double, halves to even: a cast alone would cut it."""
        return round_half_even(value, width, fits=fits)

    def round_half_away(self, value: str) -> str:
        """Round a double, halves away from zero."""
        return round_half_away(value)

    def total(self, value: str) -> str:
        """Sum whole numbers of 64 bits."""
        return total(value, INT64)

    def total_within(self, value: str, most: int) -> str:
        """Sum whole numbers that are no larger than some number, either way."""
        return total(value, most)

    def quotient(self, value: str, by: str) -> str:
        """Divide whole numbers."""
        return f"{value} div {by}"

    def days(self, written: str) -> str:
        """Write a date as the double of its days since 1970."""
        return f"CAST(unix_date({written}) AS DOUBLE)"

    def microseconds(self, written: str) -> str:
        """Write a time as the double of its microseconds since 1970."""
        return f"CAST({self.ticks(written)} AS DOUBLE)"

    def ticks(self, written: str) -> str:
        """Write a time as microseconds since 1970: the time zone of the session is UTC."""
        return f"unix_micros(CAST({written} AS TIMESTAMP_LTZ))"

    def timestamp(self, written: str) -> str:
        """Write a date or a time as a time."""
        return f"try_cast({written} AS TIMESTAMP_NTZ)"

    def cast_key(self, written: str, kind: Kind, *, double: bool) -> str:
        """Cast a key to its kind."""
        if double:
            return self.round_half_even(written, self.large, fits=False)
        return f"try_cast({written} AS {self.type_name(kind)})"


SPARK = Spark()
