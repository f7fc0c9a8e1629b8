"""Rule of batches: the questions about one relation are weighed over the same rows.

Statement:
    A person's rows are weighed by their number. Where questions have different conditions, the rows of each would
    weigh differently, and the exact total would not be the sum of its parts. So the rows that any of the questions
    is about are weighed, once for all, and the condition of each question moves into its aggregates: the rows that
    fail it add nothing. A person still adds at most `max_rows` to each measure: fewer rows of the same weights.
Proof:
    docs/proofs/batches.md, Theorem 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jali.planner.draft import Draft
from jali.query.aggregation import Axis, Categories, CountPeople, CountRows, CountValues, Marks, Measure, SumValues
from jali.query.estimates import AnyEstimate, Cells, Picked
from jali.query.nodes import Call, Expression, Literal
from jali.query.relation import Keep, Relation


def base_of(relation: Relation) -> tuple[Relation, tuple[Expression, ...]]:
    """Return the rows before the conditions on top of them, and these conditions."""
    found: tuple[Expression, ...] = ()
    while isinstance(relation, Keep):
        found = (relation.condition, *found)
        relation = relation.source
    return relation, found


def weighed_together(drafts: Sequence[Draft]) -> list[Draft]:
    """Let the drafts that share a relation and a bound share the rows that are weighed."""
    known: dict[object, list[int]] = {}
    for place, draft in enumerate(drafts):
        if _movable(draft):
            known.setdefault((base_of(draft.rows)[0], draft.weights is None, draft.terms.max_rows), []).append(
                place
            )
    found = list(drafts)
    for places in known.values():
        rows = _all_rows([drafts[place].rows for place in places])
        for place in places:
            found[place] = _moved(drafts[place], rows)
    return found


def _movable(draft: Draft) -> bool:
    """Say whether conditions can move into the measures: not where all rows without a value are counted on.

    Groups that are chosen, and grouping sets, weigh rows in a way of their own.
    """
    plain = not draft.selecting and draft.question.sets is None
    return plain and not any(isinstance(m, SumValues) and m.missing is not None for m in draft.measures)


def _all_rows(relations: Sequence[Relation]) -> Relation:
    """Return the rows that any of the relations has, all of which have one base."""
    base, conditions = base_of(relations[0])[0], [base_of(relation)[1] for relation in relations]
    if len(set(conditions)) == 1:
        return relations[0]
    if not all(conditions):
        return base
    each = dict.fromkeys(_joined("and", one) for one in conditions)
    return Keep(base, _joined("or", tuple(each)))


def _joined(function: str, conditions: Sequence[Expression]) -> Expression:
    """Join conditions in pairs, and the pairs: very many of them stay shallow enough for every reader."""
    if len(conditions) == 1:
        return conditions[0]
    half = (len(conditions) + 1) // 2
    return Call(function, (_joined(function, conditions[:half]), _joined(function, conditions[half:])))


def _moved(draft: Draft, rows: Relation) -> Draft:
    conditions = base_of(draft.rows)[1]
    if draft.rows == rows or not conditions:
        return replace(draft, relation=rows)
    condition = _joined("and", conditions)
    return replace(
        draft,
        relation=rows,
        measures=tuple(_measured_where(condition, measure) for measure in draft.measures),
        draws=tuple(replace(draw, axis=_axis_where(condition, draw.axis)) for draw in draft.draws),
        estimates=tuple((a, _estimated_where(condition, e)) for a, e in draft.estimates),
    )


def _where(condition: Expression, value: Expression | None) -> Expression:
    return Call("case", (condition, Literal(1) if value is None else value, Literal(None)))


def _measured_where(condition: Expression, measure: Measure) -> Measure:
    if isinstance(measure, CountRows | CountPeople):
        return replace(measure, present=_where(condition, measure.present))
    assert isinstance(measure, SumValues | CountValues)
    return replace(measure, value=_where(condition, measure.value))


def _axis_where(condition: Expression, axis: Axis) -> Axis:
    if isinstance(axis, Marks):
        return replace(axis, value=_where(condition, axis.value))
    return _categories_where(condition, axis)


def _categories_where(condition: Expression, axis: Categories) -> Categories:
    return Categories(replace(axis.keys, expression=_where(condition, axis.keys.expression)))


def _estimated_where(condition: Expression, estimate: AnyEstimate) -> AnyEstimate:
    if isinstance(estimate, Picked):
        return replace(estimate, axis=_axis_where(condition, estimate.axis))
    if isinstance(estimate, Cells):
        return replace(estimate, axis=_categories_where(condition, estimate.axis))
    return estimate
