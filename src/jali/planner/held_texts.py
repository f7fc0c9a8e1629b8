"""How many bytes of texts one row of a person makes an engine hold, by how the question is written.

Groups and different values are held until the last row is read: a text that tells them apart stays in the memory
of the engine. Texts as they are stored are no larger than the table. But a join repeats them for each pair of
rows, and REPLACE and long constants make much of little: 330 rows of five characters became gigabytes. So rows are
capped where they could make an engine hold more than `PERSON_BYTES` (`bound_joins`).
"""

from __future__ import annotations

from collections.abc import Iterator

from jali.query.catalog import Kind
from jali.query.functions.texts import JOINS_TEXTS, LONGEST_PART, LONGEST_TAKEN, MAKES_TEXT
from jali.query.nodes import Call, Column, Expression, Literal, Question, aggregates, walk
from jali.query.relation import Compute, PerOwner, Relation, parts
from jali.query.types import find_field, type_of

# What the texts that one person's rows are made into may take in an engine.
PERSON_BYTES = 1 << 28
# A character takes so many bytes at most.
_BYTES = 4
# So much more than what is stored may be made of each row without a cap: short constants beside a text.
_LITTLE = 1 << 12


def held_bytes(question: Question, relation: Relation) -> int:
    """Return the most bytes of the texts of a row by which groups and different values are told apart."""
    return sum(map(_longest, _held(question, relation)))


def grown_bytes(question: Question, relation: Relation) -> int:
    """Return how many bytes more than the stored texts of a row those texts can have; 0 where it is little."""
    found = sum(map(_grown, (*_held(question, relation), *_computed(relation))))
    return found if found > _LITTLE else 0


def _held(question: Question, relation: Relation) -> Iterator[Expression]:
    """Yield the expressions by which an engine tells rows apart, but for columns whose keys are declared."""
    for expression in question.group_by:
        declared = isinstance(expression, Column) and find_field(expression, relation).keys is not None
        if not declared and type_of(expression, relation).kind is Kind.TEXT:
            yield expression
    for aggregate in aggregates(question):
        distinct = aggregate.argument if aggregate.distinct else None
        if distinct is not None and type_of(distinct, relation).kind is Kind.TEXT:
            yield distinct
    yield from _grouped(relation)


def _grouped(relation: Relation) -> Iterator[Expression]:
    """Yield the keys of subqueries that group, or that ask for different rows."""
    if isinstance(relation, PerOwner):
        yield from (one.expression for one in relation.keys if one.field.kind is Kind.TEXT)
    for part in parts(relation):
        yield from _grouped(part)


def _computed(relation: Relation) -> Iterator[Expression]:
    """Yield what subqueries compute: a column of them may be a key above."""
    if isinstance(relation, Compute):
        yield from (one.expression for one in relation.columns if one.field.kind is Kind.TEXT)
    for part in parts(relation):
        yield from _computed(part)


def _longest(expression: Expression) -> int:
    """Return the most bytes of a text that functions take or make."""
    if isinstance(expression, Literal):
        return len(str(expression.value).encode())
    return LONGEST_TAKEN


def _grown(expression: Expression) -> int:
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
