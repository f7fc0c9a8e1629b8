"""Bound how many intermediate rows, and how many bytes of text, one person's stored rows can become.

Statement:
    Let a person have r rows in the tables of a relation, all together. Then the relation has at most
    `slope * r + constant` rows of this person, and computing it looks at no more pairs of rows for any join in
    it, whatever is stored. A join of two protected relations multiplies: it has such a bound only if one side has
    a constant one, as a `Capped` relation does.
Why:
    One row, copied by UNION ALL and joined to itself thirteen times, would exhaust the memory if its person is
    there, and take no time if not. Whether a question fails, and how long it takes, must not depend on one
    person.
Proof:
    docs/proofs/outcomes.md, "Intermediate rows".

Groups and different values are held until the last row is read: a text that tells them apart stays in the memory
of the engine. Texts as they are stored are no larger than the table. But a join repeats them for each pair of
rows, and REPLACE and long constants make much of little: 330 rows of five characters became gigabytes. So rows
are capped where they could make an engine hold more than `PERSON_BYTES` (`rules.bound_joins`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jali.catalog.columns import Kind
from jali.catalog.tables import Public, Table
from jali.ir.expressions import Call, Column, Expression, Literal, Question, aggregates, conjuncts, walk
from jali.ir.functions.text_functions import JOINS_TEXTS, LONGEST_PART, LONGEST_TAKEN, MAKES_TEXT
from jali.ir.ownership import own
from jali.ir.relations import Belonging, Capped, Compute, Keep, Match, Pair, PerOwner, Relation, Scan, Stack, parts
from jali.ir.types import find_field, infer_type

# The rows of a public table that was declared when they were not counted.
UNCOUNTED = 1_000_000


@dataclass(frozen=True)
class Fanout:
    """At most `slope * r + constant` rows of a person who has r rows in the tables. Of public rows: `constant`."""

    slope: int
    constant: int

    @property
    def is_bounded(self) -> bool:
        """Whether there is a bound that does not depend on how many rows are stored."""
        return self.slope == 0

    def __add__(self, other: Fanout) -> Fanout:
        return Fanout(self.slope + other.slope, self.constant + other.constant)

    def times(self, factor: int) -> Fanout:
        """Return the bound where each row becomes up to so many."""
        return Fanout(self.slope * factor, self.constant * factor)


def compute_fanout(relation: Relation) -> Fanout:
    """Return the bound of a relation in which every join that multiplies has a bounded side.

    Raises:
        ValueError: if two sides of a join are not bounded.
    """
    if isinstance(relation, Scan):
        return _fanout_of_table(relation.table)
    if isinstance(relation, Compute | Keep | Belonging):
        return compute_fanout(relation.source)
    if isinstance(relation, Capped):
        return Fanout(0, relation.rows)
    if isinstance(relation, Stack):
        return sum((compute_fanout(part) for part in relation.parts), Fanout(0, 0))
    if isinstance(relation, PerOwner):
        return Fanout(0, 1) if has_one_row_each(relation) else compute_fanout(relation.source)
    if isinstance(relation, Match):
        if multiplies(relation):
            multiply_fanouts(
                compute_fanout(relation.source),
                _fanout_of_matches(relation.source, relation.other, relation.condition),
            )
        return compute_fanout(relation.source)
    return _fanout_of_pair(relation)


def multiplies(match: Match) -> bool:
    """Say whether a semi-join may look at all pairs of rows: one by equalities alone is looked up."""
    return not all(_equal_columns(condition) for condition in conjuncts(match.condition))


def multiply_fanouts(one: Fanout, other: Fanout) -> Fanout:
    """Return the bound of all pairs of rows of one person."""
    if not one.is_bounded and not other.is_bounded:
        raise ValueError("both sides of a join are unbounded")
    return Fanout(
        one.slope * other.constant + other.slope * one.constant,
        one.constant * other.constant,
    )


def _fanout_of_table(table: Table | Public) -> Fanout:
    if isinstance(table, Public):
        return Fanout(0, UNCOUNTED if table.rows is None else max(1, table.rows))
    return Fanout(0, 1) if table.one_row_each else Fanout(1, 0)


def has_one_row_each(relation: Relation) -> bool:
    """Say whether the rows are one for each person, by how they are made: grouped by no key but the person."""
    while isinstance(relation, Keep | Compute):
        relation = relation.source
    if not isinstance(relation, PerOwner) or own(relation).public:
        return False
    return {key.field.name for key in relation.keys} <= set(own(relation).owner_columns())


def count_expected_rows(relation: Relation) -> int:
    """Return how many rows a person has who has `max_rows` rows in each table: no cap may be below this."""
    if isinstance(relation, Scan):
        return relation.table.max_rows if isinstance(relation.table, Table) else 1
    if isinstance(relation, Stack):
        return sum(count_expected_rows(part) for part in relation.parts)
    if isinstance(relation, PerOwner) and has_one_row_each(relation):
        return 1
    if isinstance(relation, Pair):
        if own(relation.right).public:
            return count_expected_rows(relation.left) * rows_met(relation.left, relation.right, relation.condition)
        return count_expected_rows(relation.left) * count_expected_rows(relation.right)
    return count_expected_rows(relation.source)


def _fanout_of_pair(pair: Pair) -> Fanout:
    left, right = compute_fanout(pair.left), _fanout_of_matches(pair.left, pair.right, pair.condition)
    found = multiply_fanouts(left, right)
    # Rows without partner stay in outer joins.
    return found if pair.kind == "inner" else found + left + (right if pair.kind == "full" else Fanout(0, 0))


def _fanout_of_matches(left: Relation, right: Relation, condition: Expression | None) -> Fanout:
    """Return how many rows of a right side one row of the left side can meet."""
    return Fanout(0, rows_met(left, right, condition)) if own(right).public else compute_fanout(right)


def rows_met(left: Relation, right: Relation, condition: Expression | None) -> int:
    """Return how many rows of a public side one row of the left side can meet: by its keys, or all of them."""
    rows = compute_fanout(right).constant
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


# What the texts that one person's rows are made into may take in an engine.
PERSON_BYTES = 1 << 28
# A character takes so many bytes at most.
_BYTES = 4
# So much more than what is stored may be made of each row without a cap: short constants beside a text.
_LITTLE = 1 << 12


def count_held_bytes(question: Question, relation: Relation) -> int:
    """Return the most bytes of the texts of a row by which groups and different values are told apart."""
    return sum(map(_longest, _list_held(question, relation)))


def count_grown_bytes(question: Question, relation: Relation) -> int:
    """Return how many bytes more than the stored texts of a row those texts can have; 0 where it is little."""
    found = sum(map(_count_growth, (*_list_held(question, relation), *_list_computed(relation))))
    return found if found > _LITTLE else 0


def _list_held(question: Question, relation: Relation) -> Iterator[Expression]:
    """Yield the expressions by which an engine tells rows apart, but for columns whose keys are declared."""
    for expression in question.group_by:
        declared = isinstance(expression, Column) and find_field(expression, relation).keys is not None
        if not declared and infer_type(expression, relation).kind is Kind.TEXT:
            yield expression
    for aggregate in aggregates(question):
        distinct = aggregate.argument if aggregate.distinct else None
        if distinct is not None and infer_type(distinct, relation).kind is Kind.TEXT:
            yield distinct
    yield from _list_group_keys(relation)


def _list_group_keys(relation: Relation) -> Iterator[Expression]:
    """Yield the keys of subqueries that group, or that ask for different rows."""
    if isinstance(relation, PerOwner):
        yield from (one.expression for one in relation.keys if one.field.kind is Kind.TEXT)
    for part in parts(relation):
        yield from _list_group_keys(part)


def _list_computed(relation: Relation) -> Iterator[Expression]:
    """Yield what subqueries compute: a column of them may be a key above."""
    if isinstance(relation, Compute):
        yield from (one.expression for one in relation.columns if one.field.kind is Kind.TEXT)
    for part in parts(relation):
        yield from _list_computed(part)


def _longest(expression: Expression) -> int:
    """Return the most bytes of a text that functions take or make."""
    if isinstance(expression, Literal):
        return len(str(expression.value).encode())
    return LONGEST_TAKEN


def _count_growth(expression: Expression) -> int:
    """Return how many bytes constants and replacements can add to what is stored."""
    found = 0
    for node in walk(expression):
        if isinstance(node, Call) and node.function == "replace":
            found += LONGEST_PART * _BYTES if _lengthens(node) else 0
        elif isinstance(node, Call) and node.function in JOINS_TEXTS | MAKES_TEXT:
            found += sum(_longest(one) for one in node.arguments if isinstance(one, Literal))
    return found


def _lengthens(call: Call) -> bool:
    """Say whether REPLACE can make a text longer."""
    old, new = (a.value if isinstance(a, Literal) else None for a in call.arguments[1:])
    return not (isinstance(old, str) and isinstance(new, str) and len(new.encode()) <= len(old.encode()))
