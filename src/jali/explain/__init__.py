"""Explain a plan, as data. A plan knows public facts only, so an explanation does too."""

from __future__ import annotations

from pathlib import PurePath

from jali.explain.aggregate_formulas import aggregate_notes
from jali.explain.distribution_notes import cells_note
from jali.explain.group_keys import count_groups, key_notes, list_grouping_sets, selection_note
from jali.explain.loss_notes import accuracy_lines, describe_split, list_postprocessing, part_lines
from jali.explain.measure_notes import measure_note
from jali.explain.notes import (
    AggregateNote,
    AlternativeNote,
    ChoiceNote,
    Explanation,
    InSet,
    KeyNote,
    MeasureNote,
    QueryNote,
    ReleaseNote,
    SelectionNote,
    TableNote,
)
from jali.explain.planned_releases import NotedRelease, list_noted_releases, note_of, release
from jali.explain.quantile_notes import choice_note
from jali.explain.row_origins import (
    describe_contribution,
    describe_neighbours,
    list_steps,
    public_names,
    table_notes,
    write_condition,
)
from jali.explain.vocabulary import CONFIDENCE, name_unit
from jali.planner.answer_notes import describe_clamps
from jali.planner.plan import Plan


def explain_plan(plan: Plan) -> Explanation:
    """Return the whole explanation of a plan."""
    return Explanation(
        table=plan.table.name,
        tables=table_notes(plan),
        public=public_names(plan),
        steps=list_steps(plan),
        clamps=describe_clamps(plan),
        unit=plan.table.owner,
        person=name_unit(plan),
        adjacency=plan.table.adjacency.value,
        neighbours=describe_neighbours(plan),
        contribution=describe_contribution(plan),
        where=write_condition(plan),
        keys=key_notes(plan),
        groups=count_groups(plan),
        sets=list_grouping_sets(plan),
        selection=selection_note(plan),
        loss=str(plan.cost),
        exact_loss=str(plan.cost.amount),
        split=describe_split(plan),
        confidence=CONFIDENCE,
        measures=tuple(_release_note(plan, one) for one in list_noted_releases(plan)),
        aggregates=aggregate_notes(plan),
        afterwards=list_postprocessing(plan),
        queries=_queries(plan),
        sql=_without_folders(plan, plan.sql),
        part=part_lines(plan),
        accuracy=accuracy_lines(plan),
        # A plan that was stored has none.
        leaves=plan.leaves or (),
    )


def _release_note(plan: Plan, one: NotedRelease) -> ReleaseNote:
    draw = release(plan, 0, one.place).draw
    if draw is None:
        return measure_note(plan, one.place)
    return cells_note(plan, one.place) if draw.kind in {"cells", "running"} else choice_note(plan, one)


def _queries(plan: Plan) -> tuple[QueryNote, ...]:
    """List the engine's queries, each with the notes that it feeds."""
    found = []
    for level in plan.levels:
        place = 0
        for part in level.parts:
            places = range(place, place + len(part.mechanisms))
            place += len(part.mechanisms)
            found.append(
                QueryNote(tuple(dict.fromkeys(note_of(plan, i) for i in places)), _without_folders(plan, part.sql))
            )
    return tuple(found)


def _without_folders(plan: Plan, sql: str) -> str:
    """Name files without their folders, which concern the curator's machine and no reader."""
    for table in plan.read:
        location = table.source.location
        for quote in "'\"":
            whole, name = (text.replace(quote, quote * 2) for text in (location, PurePath(location).name))
            sql = sql.replace(whole, name)
    return sql


__all__ = [
    "CONFIDENCE",
    "AggregateNote",
    "AlternativeNote",
    "ChoiceNote",
    "Explanation",
    "InSet",
    "KeyNote",
    "MeasureNote",
    "QueryNote",
    "ReleaseNote",
    "SelectionNote",
    "TableNote",
    "explain_plan",
]
