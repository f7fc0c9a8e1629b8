"""Fan-out: how many intermediate rows one person's stored rows can become, by how a relation is made.

Statement:
    Let a person have r rows in the tables of a relation, all together. Then the relation has at most
    `slope * r + constant` rows of this person, and computing it looks at no more pairs of rows for any join in it,
    whatever is stored. A join of two protected relations multiplies: it has such a bound only if one side has a
    constant one, as a `Capped` relation does.
Why:
    One row, copied by UNION ALL and joined to itself thirteen times, would exhaust the memory if its person is
    there, and take no time if not. Whether a question fails, and how long it takes, must not depend on one person.
Proof:
    docs/proofs/outcomes.md, "Intermediate rows".
"""

from __future__ import annotations

from dataclasses import dataclass

from jali.query.catalog import Public, Table
from jali.query.nodes import Call, Column, Expression, conjuncts
from jali.query.ownership import own
from jali.query.relation import (
    Belonging,
    Capped,
    Compute,
    Keep,
    Match,
    Pair,
    PerOwner,
    Relation,
    Scan,
    Stack,
)

# The rows of a public table that was declared when they were not counted.
UNCOUNTED = 1_000_000


@dataclass(frozen=True)
class Fanout:
    """At most `slope * r + constant` rows of a person who has r rows in the tables. Of public rows: `constant`."""

    slope: int
    constant: int

    @property
    def bounded(self) -> bool:
        """Whether there is a bound that does not depend on how many rows are stored."""
        return self.slope == 0

    def __add__(self, other: Fanout) -> Fanout:
        return Fanout(self.slope + other.slope, self.constant + other.constant)

    def times(self, factor: int) -> Fanout:
        """Return the bound where each row becomes up to so many."""
        return Fanout(self.slope * factor, self.constant * factor)


def fanout(relation: Relation) -> Fanout:
    """Return the bound of a relation in which every join that multiplies has a bounded side.

    Raises:
        ValueError: if two sides of a join are not bounded.
    """
    if isinstance(relation, Scan):
        return _scanned(relation.table)
    if isinstance(relation, Compute | Keep | Belonging):
        return fanout(relation.source)
    if isinstance(relation, Capped):
        return Fanout(0, relation.rows)
    if isinstance(relation, Stack):
        return sum((fanout(part) for part in relation.parts), Fanout(0, 0))
    if isinstance(relation, PerOwner):
        return Fanout(0, 1) if _one_each(relation) else fanout(relation.source)
    if isinstance(relation, Match):
        if multiplies(relation):
            product(fanout(relation.source), _met(relation.source, relation.other, relation.condition))
        return fanout(relation.source)
    return _paired(relation)


def multiplies(match: Match) -> bool:
    """Say whether a semi-join may look at all pairs of rows: one by equalities alone is looked up."""
    return not all(_equal_columns(condition) for condition in conjuncts(match.condition))


def product(one: Fanout, other: Fanout) -> Fanout:
    """Return the bound of all pairs of rows of one person."""
    if not one.bounded and not other.bounded:
        raise ValueError("both sides of a join are unbounded")
    return Fanout(
        one.slope * other.constant + other.slope * one.constant,
        one.constant * other.constant,
    )


def _scanned(table: Table | Public) -> Fanout:
    if isinstance(table, Public):
        return Fanout(0, UNCOUNTED if table.rows is None else max(1, table.rows))
    return Fanout(0, 1) if table.one_row_each else Fanout(1, 0)


def _one_each(relation: PerOwner) -> bool:
    """Say whether there is one row for each person: no key but the person."""
    named = set(own(relation).owner_columns())
    return not own(relation).public and all(key.field.name in named for key in relation.keys)


def expected_rows(relation: Relation) -> int:
    """Return how many rows a person has who has `max_rows` rows in each table: no cap may be below this."""
    if isinstance(relation, Scan):
        return relation.table.max_rows if isinstance(relation.table, Table) else 1
    if isinstance(relation, Stack):
        return sum(expected_rows(part) for part in relation.parts)
    if isinstance(relation, PerOwner) and _one_each(relation):
        return 1
    if isinstance(relation, Pair):
        if own(relation.right).public:
            return expected_rows(relation.left) * rows_met(relation.left, relation.right, relation.condition)
        return expected_rows(relation.left) * expected_rows(relation.right)
    return expected_rows(relation.source)


def _paired(pair: Pair) -> Fanout:
    left, right = fanout(pair.left), _met(pair.left, pair.right, pair.condition)
    found = product(left, right)
    # Rows without partner stay in outer joins.
    return found if pair.kind == "inner" else found + left + (right if pair.kind == "full" else Fanout(0, 0))


def _met(left: Relation, right: Relation, condition: Expression | None) -> Fanout:
    """Return how many rows of a right side one row of the left side can meet."""
    return Fanout(0, rows_met(left, right, condition)) if own(right).public else fanout(right)


def rows_met(left: Relation, right: Relation, condition: Expression | None) -> int:
    """Return how many rows of a public side one row of the left side can meet: by its keys, or all of them."""
    rows = fanout(right).constant
    for one, other in filter(None, map(_equal_columns, conjuncts(condition))):
        for mine, theirs in ((one, other), (other, one)):
            if left.field(mine) is not None and right.field(theirs) is not None:
                rows = min(rows, repeats(right, theirs) or rows)
    return rows


def repeats(relation: Relation, column: str) -> int | None:
    """Return how many rows of a public relation have one value in a column, at most; None if that is not known."""
    if isinstance(relation, Scan):
        known = dict(relation.table.repeats) if isinstance(relation.table, Public) else {}
        return known.get(column.removeprefix(relation.prefix))
    if isinstance(relation, Compute):
        made = next((c.expression for c in relation.columns if c.field.name == column), None)
        return repeats(relation.source, made.name) if isinstance(made, Column) else None
    if isinstance(relation, PerOwner):
        return 1 if [key.field.name for key in relation.keys] == [column] else None
    return repeats(relation.source, column) if isinstance(relation, Keep | Match) else None


def _equal_columns(condition: Expression) -> tuple[str, str] | None:
    """Return the names of two columns that a condition equates; None if it is another condition."""
    if not isinstance(condition, Call) or condition.function != "=":
        return None
    one, other = condition.arguments
    return (one.name, other.name) if isinstance(one, Column) and isinstance(other, Column) else None
