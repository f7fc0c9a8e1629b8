"""Explain the group keys: where they come from, and how partition selection works where nobody declared them."""

from __future__ import annotations

from typing import Any

from jali.catalog.columns import Kind
from jali.catalog.tables import Public
from jali.display.numbers import show_amount, show_percent
from jali.explain.notes import KeyNote, SelectionNote
from jali.explain.planned_releases import amount
from jali.explain.vocabulary import CONFIDENCE, name_unit, plural, set_label, show_changes
from jali.ir.aggregates import KeySet
from jali.ir.expressions import Column, Expression, walk
from jali.ir.ownership import most_changes
from jali.ir.relations import Belonging, Capped, Compute, Keep, Match, Pair, PerOwner, Relation, Scan, Stack
from jali.ir.types import find_field, infer_type
from jali.mechanisms.partition_selection.group_selection import group_sizes
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.planner.original_expression import join_words, write_original
from jali.planner.plan import Plan
from jali.privacy import decimal
from jali.sql.printer import show_value

_SHOWN = 8


def key_notes(plan: Plan) -> tuple[KeyNote, ...]:
    """Describe the keys of each grouping expression."""
    return tuple(_note(plan, key) for key in plan.keys)


def count_groups(plan: Plan) -> int | None:
    """Return the number of groups, where it is known before the data is read."""
    return None if plan.selection is not None else plan.aggregation.groups


def list_grouping_sets(plan: Plan) -> tuple[tuple[str, int], ...]:
    """Return the grouping sets with their numbers of groups, where there are several."""
    if len(plan.levels) == 1:
        return ()
    return tuple((set_label(plan, i), level.aggregation.groups) for i, level in enumerate(plan.levels))


def _note(plan: Plan, key: KeySet) -> KeyNote:
    shown = write_original(key.expression)
    if key.values is None:
        meaning = "Not declared: the keys that are released are selected privately"
        return KeyNote(shown, "chosen", None, (), meaning)
    origin, source = _origin(plan, key.expression)
    values = tuple(map(_key, key.values[:_SHOWN]))
    return KeyNote(shown, origin, len(key.values), values, f"{source}: {_fate(plan)}")


def _key(value: Any) -> str:
    return value if isinstance(value, str) else show_value(value)


def _fate(plan: Plan) -> str:
    counts = ""
    if plan.aggregation.weights is not None and not plan.aggregation.required:
        counts = f", but still count toward the contribution bound of their {name_unit(plan)}"
    dropped = f"rows with other values are dropped{counts}"
    if plan.selection is None:
        return f"every key is released, even without rows; {dropped}"
    return f"{dropped}; the groups that are released are selected privately"


def _origin(plan: Plan, expression: Expression) -> tuple[str, str]:
    columns = list(dict.fromkeys(node for node in walk(expression) if isinstance(node, Column)))
    declared = [find_field(column, plan.source).keys is not None for column in columns]
    if isinstance(expression, Column) and declared[0]:
        table = table_of(plan.source, expression.name)
        if isinstance(table, Public):
            return "public", f"From the public table {table.name}"
        return "declared", "Declared"
    return "enumerated", _describe_enumeration(
        plan, expression, [column.name for column in columns], set(declared)
    )


def _describe_enumeration(plan: Plan, expression: Expression, columns: list[str], declared: set[bool]) -> str:
    if infer_type(expression, plan.source).kind is Kind.BOOLEAN:
        return "All values of a condition"
    if not columns:
        return "The only possible value"
    ranges = "range" if len(columns) == 1 else "ranges"
    facts = "keys and ranges" if len(declared) == 2 else ("keys" if True in declared else ranges)
    return f"All values that the declared {facts} of {join_words(columns)} allow"


def table_of(relation: Relation, column: str) -> object:
    """Return the table that a column is read from unchanged, or None."""
    if isinstance(relation, Scan):
        return relation.table
    if isinstance(relation, Keep | Match | Belonging | Capped):
        return table_of(relation.source, column)
    if isinstance(relation, Pair):
        inside = relation.left if relation.left.field(column) is not None else relation.right
        return table_of(inside, column)
    if isinstance(relation, Stack):
        return None
    made = relation.keys if isinstance(relation, PerOwner) else relation.columns
    assert isinstance(relation, PerOwner | Compute)
    found = next((m.expression for m in made if m.field.name == column), None)
    return table_of(relation.source, found.name) if isinstance(found, Column) else None


# Groups that are chosen.


def selection_note(plan: Plan) -> SelectionNote | None:
    """Say how large a group must be to be released, and what partition selection costs."""
    if plan.selection is None:
        return None
    chosen, event = plan.selection, plan.selection.loss.event
    sizes = group_sizes(chosen, confidence=CONFIDENCE)
    loss = amount(plan, event)
    kind = plan.cost.kind
    return SelectionNote(
        meaning=_meaning(plan),
        likely=sizes.likely,
        even=sizes.even,
        least=sizes.least,
        sizes=str(sizes),
        max_groups=_most_groups(plan),
        because=f"one {name_unit(plan)} is in at most {plural(_most_groups(plan), 'group')}{show_changes(plan)}",
        mechanism=_mechanism(plan),
        loss=f"{kind} {decimal(loss)} and delta {decimal(event.delta)}",
        exact_loss=str(loss),
        share=float(loss / plan.cost.amount),
        theorems=(chosen.page,),
    )


def _meaning(plan: Plan) -> str:
    people = "rows" if plan.aggregation.weights is None else f"distinct {name_unit(plan)}"
    told = (
        "only whether a group is released becomes known"
        if plan.selection_count is None
        else "it is released with noise for each selected group"
    )
    return f"number of {people} in each group that occurs; {told}"


def _most_groups(plan: Plan) -> int:
    assert plan.selection is not None
    weights = plan.aggregation.weights
    return plan.selection.max_keys if weights is None else weights.max_groups


def _mechanism(plan: Plan) -> str:
    most = plural(_most_groups(plan), "group")
    kept = f"; a {name_unit(plan)} in more groups keeps {most}, selected by a fixed hash"
    kept = "" if plan.aggregation.weights is None else kept
    counts = None if plan.selection is None else plan.selection.counts
    if counts is not None:
        told = "" if plan.selection_count is None else "; the count is released too"
        least = f"{counts.threshold:,}{_describe_chance(counts)}"
        return f"{_noise(counts)}: a group is released if its noisy count is at least {least}{told}{kept}"
    pairs = f", shared by up to {plural(most_changes(plan.source) * _most_groups(plan), 'group')}"
    return f"optimal partition selection: each group at the largest probability that the loss allows{pairs}{kept}"


def _describe_chance(chosen: ThresholdedCounts) -> str:
    """Say how often a count one below the threshold appears: so much of delta was left."""
    if not chosen.coin:
        return ""
    return f", or with probability {show_percent(float(chosen.coin))} if it is {chosen.threshold - 1:,}"


def _noise(chosen: ThresholdedCounts) -> str:
    told = chosen.describe()
    return f"{told.noun} noise of {told.parameter} {show_amount(told.scale)} and a threshold"
