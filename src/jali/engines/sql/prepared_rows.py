"""What prepared copies have in common, whichever engine writes them.

Statement:
    In a copy each row has its rank among the rows of its person: 1, 2, ... by a keyed hash of the row's content,
    and then by the content itself. The key is drawn for each copy and forgotten. Whatever the key, a person's rows
    and their ranks depend on that person's rows alone, up to the order of rows that are equal in everything; so at
    most k rows of each person have rank <= k, whoever else there is. Where people have codes, these do depend on
    others: they are compared for equality, and never hashed, ordered or shown.
Proof:
    docs/proofs/prepared.md.
"""

from __future__ import annotations

from jali.catalog.tables import Table
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.expression_emitter import Emitter
from jali.ir.expressions import Column
from jali.sampling import BitSource

_KEY_WORDS = 2


def person_column(table: Table) -> str:
    """Name the column of a prepared copy that holds the code of the person: compared for equality, and no more."""
    return _apart(table, "person")


def rank_column(table: Table) -> str:
    """Name the column of a prepared copy that ranks the rows of each person."""
    return _apart(table, "place")


def _apart(table: Table, name: str) -> str:
    """Return a name that no column of the table has."""
    taken = {field.name.lower() for field in table.fields}
    while name in taken:
        name += "_"
    return name


def draw_key(bits: BitSource) -> str:
    """Draw the key of a copy's ranks."""
    return "".join(f"{int(word):016x}" for word in bits.words(_KEY_WORDS))


def unit_of(table: Table, dialect: Dialect) -> str:
    """Write the unit of a row."""
    assert table.unit is not None
    return Emitter(table, dialect).write(Column(table.unit))


def rank_rows(table: Table, dialect: Dialect, key: str, hint: str = "") -> str:
    """Write the rows that have an owner: columns c0, c1, ... as questions see them, the unit, and the rank.

    The content of a row is what questions read of it. Rows that differ in nothing that can be read have one
    content, and no question tells them apart. A hint to the engine stands where rows are read.
    """
    emitter = Emitter(table, dialect)
    fields = table.columns
    stored = ", ".join(f"{emitter.write(Column(field.name))} AS c{i}" for i, field in enumerate(fields))
    values = [write_content(emitter.write(Column(field.name)), dialect) for field in fields]
    content = dialect.order_by_bytes(dialect.concatenate(values))
    unit = unit_of(table, dialect)
    owned = f"FROM {dialect.scan(table)} WHERE {unit} IS NOT NULL"
    rows = f"SELECT {hint}{stored}, {unit} AS unit, {content} AS content {owned}"
    order = f"{dialect.hash_with_key(key, 'content')}, content"
    rank = f"row_number() OVER (PARTITION BY unit ORDER BY {order}) AS place"
    columns = ", ".join(f"c{i}" for i, _ in enumerate(fields))
    return f"SELECT {columns}, unit, {rank} FROM {dialect.nest_query(rows)}"


def rename_columns(table: Table, dialect: Dialect) -> str:
    """Write the columns of ranked rows under their own names."""
    return ", ".join(f"c{i} AS {dialect.quote(field.name)}" for i, field in enumerate(table.columns))


def write_content(written: str, dialect: Dialect) -> str:
    """Write a value so that different rows have different contents: its length comes first. -0.0 is not 0.0.

    It is the length in bytes: where a text is not Unicode, characters are not cut off where they seem to be.
    """
    text = dialect.cast_to_text(written)
    return f"coalesce({dialect.octets}({text}) || ':' || {text}, '-')"
