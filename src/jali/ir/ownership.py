"""Ownership: whose row each row of a relation is, and what one person's absence from one table can change.

Statement:
    A relation is owned if every row has exactly one owner and the rows of one owner depend on that owner's rows of
    the protected tables, and on public tables, alone. Let every owner's rows be bounded just before aggregation.
    When one owner's rows of one table T change, only this owner's rows change. If every row of the relation needs
    a row of T, they vanish with the owner's rows of T: one bounded vector is taken away (`changes` is 1). If some
    can do without (outer joins, UNION ALL, anti-joins, EXISTS as a value), they may also move or gain weight: one
    bounded vector is taken away and another put in its place (2). Replace-one does this for two owners: twice as
    many.
Proof:
    docs/proofs/ownership.md, after Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo and Gipson 2020, Section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from jali.catalog.tables import Public, Table
from jali.ir.expressions import Call, Column, Expression
from jali.ir.relations import (
    Belonging,
    Capped,
    Compute,
    Computed,
    Keep,
    Match,
    Pair,
    PerOwner,
    Relation,
    Scan,
    Stack,
    sources,
)
from jali.privacy import Adjacency

# What the value of a column tells about the owner: it is the owner, or a unique key that has one owner.
OwnerToken: TypeAlias = tuple[str, str]
OWNER: OwnerToken = ("", "owner")


@dataclass(frozen=True)
class Ownership:
    """What is known about the owners of a relation's rows.

    Attributes:
        public: Whether nobody owns the rows.
        row_level: Whether each row of the one protected table is a person.
        unit: What names the people, for the eye.
        type: The engine's type of the owner.
        copies: The columns whose value determines the owner, with what they hold.
        needed: The protected tables of which every row of the relation needs a row.
        max_rows: For how many rows one person may count.
    """

    public: bool
    row_level: bool = False
    unit: str | None = None
    type: str = ""
    copies: tuple[tuple[str, OwnerToken], ...] = ()
    needed: frozenset[str] = frozenset()
    max_rows: int = 1

    def token(self, column: str) -> OwnerToken | None:
        """Return what a column tells about the owner."""
        return dict(self.copies).get(column)

    def owner_columns(self) -> tuple[str, ...]:
        """Return the columns that hold the owner itself."""
        return tuple(name for name, token in self.copies if token == OWNER)


NOBODY = Ownership(public=True)


def own(relation: Relation) -> Ownership:
    """Return whose rows a relation has. The relation is one that the planner made: it keeps the rules.

    It is found once for each relation, which never changes: relations stand deep inside each other.
    """
    known: Ownership | None = relation.__dict__.get(_KNOWN)
    if known is None:
        known = relation.__dict__[_KNOWN] = _find_owners(relation)
    return known


_KNOWN = "_ownership"


def _find_owners(relation: Relation) -> Ownership:
    if isinstance(relation, Scan):
        return _own_scan(relation)
    if isinstance(relation, Compute):
        return _own_computed(relation, own(relation.source))
    if isinstance(relation, Keep | Belonging | Capped):
        return own(relation.source)
    if isinstance(relation, Pair):
        return _own_pair(relation, own(relation.left), own(relation.right))
    if isinstance(relation, Match):
        return _own_match(relation, own(relation.source), own(relation.other))
    if isinstance(relation, Stack):
        return reduce(_own_union, (_own_part(relation, part) for part in relation.parts))
    return _own_summary(relation, own(relation.source))


def _own_scan(scan: Scan) -> Ownership:
    table = scan.table
    if isinstance(table, Public):
        return NOBODY
    copies = [] if table.unit is None else [(_spell_column(scan, table.unit), OWNER)]
    if table.reach is not None:
        copies.append((_spell_column(scan, table.reach.here), (table.reach.table.name, table.reach.there)))
    return Ownership(
        public=False,
        row_level=table.row_level,
        unit=table.owner,
        type=_owner_type(table),
        copies=tuple(copies),
        needed=frozenset(t.name for t in sources(scan)),
        max_rows=table.max_rows,
    )


def same_owner(left: Relation, one: str, right: Relation, other: str) -> bool:
    """Say whether two rows that agree in these columns have the same owner.

    Both columns hold the owner, or both hold a unique key through which an owner is reached: as the reaching
    table has it, or as the table that is reached has it itself.
    """
    mine, theirs = own(left).token(one), own(right).token(other)
    if mine is None and theirs is None:
        return False
    return (mine or origin(left, one)) == (theirs or origin(right, other))


def find_owner_equality(left: Relation, right: Relation, conditions: Sequence[Expression]) -> Call | None:
    """Return the condition that equates the owners of two relations; None if there is none."""
    for condition in conditions:
        if isinstance(condition, Call) and condition.function == "=":
            one, other = condition.arguments
            if isinstance(one, Column) and isinstance(other, Column):
                for a, b in ((one.name, other.name), (other.name, one.name)):
                    if left.field(a) is not None and right.field(b) is not None and same_owner(left, a, right, b):
                        return condition
    return None


def origin(relation: Relation, column: str) -> OwnerToken | None:
    """Return the protected table and column that a column of a relation is read from, unchanged."""
    if isinstance(relation, Scan):
        field = next((f for f in relation.table.columns if relation.prefix + f.name == column), None)
        return None if field is None else (relation.table.name, field.name)
    if isinstance(relation, Compute):
        made = next((c.expression for c in relation.columns if c.field.name == column), None)
        return origin(relation.source, made.name) if isinstance(made, Column) else None
    if isinstance(relation, Pair):
        return origin(relation.left, column) or (
            origin(relation.right, column) if relation.kind == "inner" else None
        )
    return origin(relation.source, column) if isinstance(relation, Keep | Match | Belonging | Capped) else None


def _spell_column(scan: Scan, column: str) -> str:
    field = scan.table.field(column)
    assert field is not None
    return scan.prefix + field.name


def _owner_type(table: Table) -> str:
    if table.reach is not None:
        return _owner_type(table.reach.table)
    field = None if table.unit is None else table.field(table.unit)
    return "" if field is None else field.type


def _own_computed(relation: Compute, source: Ownership) -> Ownership:
    return replace(source, copies=_hand_on_tokens(relation.columns, source))


def _hand_on_tokens(columns: tuple[Computed, ...], source: Ownership) -> tuple[tuple[str, OwnerToken], ...]:
    """Return what the columns that are mere copies tell about the owner."""
    tokens = dict(source.copies)
    plain = [(c.field.name, c.expression.name) for c in columns if isinstance(c.expression, Column)]
    return tuple((name, tokens[original]) for name, original in plain if original in tokens)


def _own_pair(pair: Pair, left: Ownership, right: Ownership) -> Ownership:
    if left.public or right.public:
        return right if left.public else left
    copies = left.copies + right.copies
    needed = left.needed | right.needed
    if pair.kind == "left":
        # A row without partner has NULL on the right: those columns name nobody.
        copies, needed = left.copies, left.needed
    if pair.kind == "full":
        copies, needed = (), left.needed & right.needed
    return replace(left, copies=copies, needed=needed, max_rows=max(left.max_rows, right.max_rows))


def _own_match(relation: Match, source: Ownership, other: Ownership) -> Ownership:
    if relation.flag is None and not other.public:
        return replace(source, needed=source.needed | other.needed)
    return source


def _own_part(stack: Stack, part: Relation) -> Ownership:
    """Return the owners of one part, whose columns take the names of the stack."""
    owners = own(part)
    names = {mine.name: field.name for mine, field in zip(part.fields, stack.fields, strict=True)}
    return replace(owners, copies=tuple((names[name], token) for name, token in owners.copies))


def _own_union(one: Ownership, other: Ownership) -> Ownership:
    copies = tuple(copy for copy in one.copies if copy in other.copies)
    rows = one.max_rows + other.max_rows
    return replace(one, copies=copies, needed=one.needed & other.needed, max_rows=rows)


def _own_summary(relation: PerOwner, source: Ownership) -> Ownership:
    copies = _hand_on_tokens(relation.keys, source)
    alone = all(dict(copies).get(key.field.name) == OWNER for key in relation.keys)
    return replace(source, copies=copies, max_rows=1 if alone else source.max_rows)


def list_protected_tables(relation: Relation) -> tuple[Table, ...]:
    """Return the protected tables that a relation reads."""
    return tuple(table for table in sources(relation) if isinstance(table, Table))


def changes(relation: Relation, table: Table) -> int:
    """Return how many bounded vectors change when one privacy unit of one table does."""
    moved = 1 if table.name in own(relation).needed else 2
    return moved if table.adjacency is Adjacency.ADD_REMOVE else 2 * moved


def most_changes(relation: Relation) -> int:
    """Return the largest number of changes over all protected tables of a relation."""
    return max(changes(relation, table) for table in list_protected_tables(relation))
