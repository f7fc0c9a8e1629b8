"""What dialects write differently: one subclass per engine, in its own folder. Shapes of queries are shared."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from jali.catalog.columns import Field, Kind
from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import Value
from jali.ir.expressions import Call

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

Template: TypeAlias = "Callable[[Emitter, Call], str]"
INT64 = 1 << 63
# Half of the range of 32 bits: what is below fits a small integer with room for a sign.
INT32 = 1 << 31


def quote(name: str) -> str:
    """Write an identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write a text constant."""
    return "'" + value.replace("'", "''") + "'"


class Dialect(ABC):
    """How one engine writes what all queries are made of.

    All that a dialect writes is total: a value or NULL for each row, never an error; and it is the same value in
    every dialect (`tests/engines` compares them on real servers). NaN is above every number and equal to
    itself, and LEAST and GREATEST leave NULLs out: a dialect whose engine differs must say so in its words.
    """

    name: ClassVar[str]
    types: ClassVar[Mapping[Kind, str]]
    templates: ClassVar[Mapping[str, Template]]
    # Whole numbers of 32 and 64 bits, and wider ones.
    small: ClassVar[str] = "INTEGER"
    large: ClassVar[str] = "BIGINT"
    widest: ClassVar[str]
    # Of dates and times: the last one before the calendar (`catalog.value_domain`), and the first one after it.
    outside: ClassVar[Mapping[Kind, tuple[str, str]]]

    # The largest double, infinity: NaN alone is not below or equal to it. And zero, and the double just below it.
    infinite: ClassVar[str]
    zero: ClassVar[str] = "0"
    below_zero: ClassVar[str]
    # What is always NULL, where a condition is expected; and the function that counts the bytes of a text.
    no_truth: ClassVar[str] = "NULL"
    octets: ClassVar[str] = "octet_length"
    # Whether prepared copies have codes for people, that stand for the units where they are only told apart.
    coded: ClassVar[bool] = True

    # Names, constants and types.

    def quote(self, name: str) -> str:
        """Write an identifier."""
        return quote(name)

    def text(self, value: str) -> str:
        """Write a text constant."""
        return text(value)

    @abstractmethod
    def double(self, value: Fraction) -> str:
        """Write a number as the double nearest to it."""

    def constant(self, value: Value) -> str:
        """Write a constant of any kind."""
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return str(value) if -INT64 <= value < INT64 else self.double(Fraction(value))
        if isinstance(value, Fraction):
            return self.double(value)
        if isinstance(value, str):
            return self.text(value)
        kind = self.types[Kind.TIMESTAMP if isinstance(value, datetime.datetime) else Kind.DATE]
        return f"{kind} {self.text(str(value))}"

    def type_name(self, kind: Kind) -> str:
        """Return the type that holds values of a kind."""
        return self.types[kind]

    def width(self, *numbers: int) -> str:
        """Return the type of whole numbers that these fit into."""
        return self.small if max(abs(number) for number in numbers) < INT32 - 1 else self.large

    def enclose(self, written: str) -> str:
        """Write a CASE, or another choice of values, where it is an operand."""
        return written

    @abstractmethod
    def once(self, written: str, make: Callable[[str], str]) -> str:
        """Use a value several times. A long one is bound to a name: nested calls would double the query."""

    def unless(self, written: str, other: str) -> str:
        """Write a value, or NULL where it is another one."""
        return f"nullif({written}, {other})"

    # Tables.

    def scan(self, table: Table | Public, wanted: Collection[str] | None = None) -> str:
        """Write the FROM item of a table: the normalising scan, through which every column enters a question.

        Each value is one of the closed domain (`catalog.value_domain`), or NULL. A prepared copy holds what such a
        scan gave, and is read as it is.

        Args:
            table: What is read.
            wanted: The names of the columns that are needed; all that can be read if none are named.
        """
        if table.read_from != table.source:
            return self.rows(table)
        fields = [field for field in table.columns if wanted is None or field.name in wanted]
        columns = ", ".join(f"{self.normalize(f)} AS {self.quote(f.name)}" for f in fields)
        return self.nest_query(f"SELECT {columns or '1 AS one'} FROM {self.rows(table)}")

    @abstractmethod
    def rows(self, table: Table | Public) -> str:
        """Write the FROM item of the rows as they are stored."""

    @abstractmethod
    def normalize(self, field: Field) -> str:
        """Write what a question sees of a stored column: a value of the closed domain, or NULL. It never fails.

        It is in the type that was frozen when the table was declared.
        """

    def in_calendar(self, written: str, kind: Kind) -> str:
        """Write a computed date or time that is NULL outside of the calendar. The value is written once.

        LEAST and GREATEST leave NULLs out: what they make of one becomes NULL again.
        """
        before, after = self.outside[kind]
        return f"nullif(nullif(greatest(least({written}, {after}), {before}), {after}), {before})"

    def counts_by_window(self, table: Table | None) -> bool:
        """Say whether the rows of each owner are counted beside them, rather than apart and joined.

        Args:
            table: The one table that is read; None for several.
        """
        del table
        return False

    def row_owner(self, table: Table) -> str:
        """Write the owner of a row that is a person of its own. Whoever reads it twice must keep what it was."""
        del table
        return "row_number() OVER ()"

    def nest_query(self, query: str) -> str:
        """Write a query as a FROM item that nobody names."""
        return f"({query})"

    def reading_hint(self, *, bare: bool) -> str:
        """Write the hint that rows are read twice (of one table), or computed once (of several)."""
        del bare
        return ""

    def key_places(self, values: Sequence[Value], kind: Kind) -> str:
        """Write the query whose rows are declared keys with their places."""
        return " UNION ALL ".join(
            f"SELECT {place} AS place, {self.cast_constant(value, kind)} AS value"
            for place, value in enumerate(values)
        )

    def cast_constant(self, value: Value, kind: Kind) -> str:
        """Write a constant in the type of a kind."""
        return f"CAST({self.constant(value)} AS {self.type_name(kind)})"

    def write_key(self, value: Value, kind: Kind) -> str:
        """Write a key, in the type of its kind."""
        return self.cast_constant(value, kind)

    def place(self, written: str, values: Sequence[Value], kind: Kind) -> str:
        """Write the place of a value among others, NULL where it is none of them."""
        branches = [
            f"WHEN {written} = {self.cast_constant(value, kind)} THEN {place}"
            for place, value in enumerate(values)
            if value is not None
        ]
        return f"CASE {' '.join(branches)} END" if branches else "NULL"

    def match_keys(self, one: str, other: str, kind: Kind, *, missing: bool) -> str:
        """Write the condition of a join that two keys are the same: NULL too, where they may be `missing`."""
        del kind, missing
        return f"{one} IS NOT DISTINCT FROM {other}"

    def semi_join(self, shown: str, rows: str, others: str, condition: str, names: tuple[str, str]) -> str:
        """Write the rows for which there is another row that meets a condition."""
        one, other = names
        return (
            f"SELECT {shown} FROM ({rows}) AS {one}"
            f" WHERE EXISTS (SELECT 1 FROM ({others}) AS {other} WHERE {condition})"
        )

    def flag_rows(
        self, owner: str | None, rows: str, others: str, condition: str, shown: list[str], flag: str
    ) -> str:
        """Write rows `s` with a flag: whether there is another row `o` that meets a condition."""
        exists = f"EXISTS (SELECT 1 FROM ({others}) AS o WHERE {condition}) AS {flag}"
        columns = ", ".join(([] if owner is None else [f"{owner} AS owner"]) + [*shown, exists])
        return f"SELECT {columns} FROM ({rows}) AS s"

    def group_by(self, names: list[str]) -> str:
        """Write the GROUP BY of a query that has one row at most for each combination; of all rows for none."""
        return f" GROUP BY {', '.join(names) or '()'}"

    # Numbers.

    def real(self, written: str) -> str:
        """Write a whole number as a double."""
        return f"CAST({written} AS {self.types[Kind.REAL]})"

    def multiply(self, value: str, by: Fraction) -> str:
        """Multiply a double by a constant, where the product is no larger than a whole number of 64 bits."""
        return f"{value} * {self.double(by)}"

    def divide(self, value: str, by: Fraction) -> str:
        """Divide a double by a constant, where the quotient is no larger than a whole number of 64 bits."""
        return f"{value} / {self.double(by)}"

    def clamp(self, value: str, low: str, high: str) -> str:
        """Cut a double that is neither NULL nor NaN; of those, something that is left out later."""
        return f"greatest(least({value}, {high}), {low})"

    @abstractmethod
    def round_half_even(self, value: str, width: str, *, fits: bool) -> str:
        """Round a double, halves to even, to a type of whole numbers; NULL where it does not fit."""

    def round_half_even_inside(self, value: str, width: str) -> str:
        """Round a double, as `round_half_even`, in the branch of a CASE where it fits."""
        return self.round_half_even(value, width, fits=True)

    def cast_integer(self, value: str, width: str, *, fits: bool = True) -> str:
        """Cast a whole number to a type of them; NULL where it does not fit."""
        del fits
        return f"CAST({value} AS {width})"

    @abstractmethod
    def round_half_away(self, value: str) -> str:
        """Round a double to a whole one, halves away from zero."""

    def indicator(self, condition: str) -> str:
        """Write 1 where a condition that is never NULL holds, 0 where not."""
        return f"CAST({condition} AS {self.small})"

    def widen(self, written: str) -> str:
        """Cast a whole number to the widest type."""
        return f"CAST({written} AS {self.widest})"

    def total(self, value: str) -> str:
        """Sum whole numbers of 64 bits or less in a type that no number of rows can overflow."""
        return f"sum({value})"

    def total_within(self, value: str, most: int) -> str:
        """Sum whole numbers, as `total`, of which each is at most so large, either way."""
        del most
        return self.total(value)

    def quotient(self, value: str, by: str) -> str:
        """Divide whole numbers above 0, and drop the rest."""
        return f"{value} / {by}"

    def aggregate_where(self, aggregate: str, value: str, condition: str) -> str:
        """Write an aggregate of the rows that meet a condition; `value` is evaluated for those alone."""
        return f"{aggregate}(CASE WHEN {condition} THEN {value} END)"

    def extreme(self, function: str, value: str, condition: str, kind: Kind) -> str:
        """Write the least (`min`) or largest (`max`) value of a kind, of the rows that meet a condition."""
        del kind
        return self.aggregate_where(function, value, condition)

    def total_where(self, value: str, condition: str) -> str:
        """Sum whole numbers, as `total`, of the rows that meet a condition."""
        return self.total(f"CASE WHEN {condition} THEN {value} END")

    def count_distinct(self, value: str, condition: str) -> str:
        """Count the different values of the rows that meet a condition."""
        return f"count(DISTINCT CASE WHEN {condition} THEN {value} END)"

    # Texts, dates and times.

    def cast_to_text(self, written: str) -> str:
        """Write any value as text, for a hash of it: different values have different texts."""
        return f"CAST({written} AS {self.types[Kind.TEXT]})"

    def integer_to_text(self, written: str) -> str:
        """Write a whole number where texts are joined."""
        return self.cast_to_text(written)

    def digest(self, written: str) -> str:
        """Hash a text, to a text."""
        return f"md5({written})"

    def hash_with_key(self, key: str, written: str) -> str:
        """Hash a text by a key, to anything that has an order."""
        return self.digest(f"{self.text(key)} || {written}")

    def concatenate(self, texts: Sequence[str]) -> str:
        """Write texts one after the other."""
        return " || ".join(texts)

    def order_by_bytes(self, written: str) -> str:
        """Write a text that is ordered by its bytes."""
        return written

    @abstractmethod
    def days(self, written: str) -> str:
        """Write a date as the double of its days since 1970."""

    @abstractmethod
    def microseconds(self, written: str) -> str:
        """Write a time as the double of its microseconds since 1970."""

    @abstractmethod
    def ticks(self, written: str) -> str:
        """Write a time of the usual calendar as whole microseconds since 1970."""

    @abstractmethod
    def timestamp(self, written: str) -> str:
        """Write a date or a time as a time, NULL where there is none."""

    @abstractmethod
    def cast_key(self, written: str, kind: Kind, *, double: bool) -> str:
        """Cast a key, which may be a double, to its kind, NULL where that fails."""


# Above so many characters a value that is used several times is bound to a name.
LONG = 100
# So many NULLIFs may stand inside another before its argument is bound to a name.
_COPIED = 2


class LambdaDialect(Dialect):
    """A dialect that binds a value to a name by a function of a list with one item."""

    # What stands in every such function, and in nothing else.
    mark: ClassVar[str]
    # The words of a join that keeps rows with a match, and of a cast that gives NULL where it fails.
    semi: ClassVar[str]
    tried: ClassVar[str] = "TRY_CAST"

    def cast_integer(self, value: str, width: str, *, fits: bool = True) -> str:
        """Cast a whole number."""
        return f"{'CAST' if fits else self.tried}({value} AS {width})"

    def semi_join(self, shown: str, rows: str, others: str, condition: str, names: tuple[str, str]) -> str:
        """Write the rows for which there is another row that meets a condition."""
        one, other = names
        return f"SELECT {shown} FROM ({rows}) AS {one} {self.semi} JOIN ({others}) AS {other} ON {condition}"

    @abstractmethod
    def bind(self, written: str, name: str, body: str) -> str:
        """Write an expression in which a name stands for a value."""

    def once(self, written: str, make: Callable[[str], str]) -> str:
        """Use a value several times."""
        return make(written) if len(written) <= LONG else self.bind(written, "v", make("v"))

    def unless(self, written: str, other: str) -> str:
        """Write a value, or NULL where it is another one.

        The engine makes two copies of the first argument of NULLIF, and so 2^n of n inside each other: 20 short
        calls would take minutes to plan. From the third on the value is bound to a name of its own.
        """
        if written.count("nullif(") < _COPIED:
            return super().unless(written, other)
        name = f"n{(written + other).count(self.mark)}"
        return self.bind(written, name, super().unless(name, other))
