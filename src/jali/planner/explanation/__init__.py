"""What there is to say about a plan, as data. Public facts only: a plan knows nothing else."""

from __future__ import annotations

from jali.planner.explanation.afterwards import afterwards, split
from jali.planner.explanation.aggregates import aggregate_notes
from jali.planner.explanation.choices import choice_note
from jali.planner.explanation.keys import groups, key_notes, selection_note, sets
from jali.planner.explanation.measures import measure_note
from jali.planner.explanation.notes import (
    AggregateNote,
    Alternative,
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
from jali.planner.explanation.releases import Noted, note_of, noted, release
from jali.planner.explanation.rows import condition, steps
from jali.planner.explanation.tables import contribution, neighbours, public_names, table_notes
from jali.planner.explanation.words import CONFIDENCE, person
from jali.planner.plan import Plan


def explanation(plan: Plan) -> Explanation:
    """Say everything about a plan that a reader may want to know."""
    return Explanation(
        table=plan.table.name,
        tables=table_notes(plan),
        public=public_names(plan),
        steps=steps(plan),
        unit=plan.table.owner,
        person=person(plan),
        adjacency=plan.table.adjacency.value,
        neighbours=neighbours(plan),
        contribution=contribution(plan),
        where=condition(plan),
        keys=key_notes(plan),
        groups=groups(plan),
        sets=sets(plan),
        selection=selection_note(plan),
        loss=str(plan.cost),
        exact_loss=str(plan.cost.amount),
        split=split(plan),
        confidence=CONFIDENCE,
        measures=tuple(_release_note(plan, one) for one in noted(plan)),
        aggregates=aggregate_notes(plan),
        afterwards=afterwards(plan),
        queries=_queries(plan),
        sql=plan.sql,
    )


def _release_note(plan: Plan, one: Noted) -> ReleaseNote:
    draw = release(plan, 0, one.place).draw
    return measure_note(plan, one.place) if draw is None or draw.kind == "cells" else choice_note(plan, one)


def _queries(plan: Plan) -> tuple[QueryNote, ...]:
    """List the engine's queries, each with the notes that it feeds."""
    found = []
    for level in plan.levels:
        place = 0
        for part in level.parts:
            places = range(place, place + len(part.mechanisms))
            place += len(part.mechanisms)
            found.append(QueryNote(tuple(dict.fromkeys(note_of(plan, i) for i in places)), part.sql))
    return tuple(found)


__all__ = [
    "CONFIDENCE",
    "AggregateNote",
    "Alternative",
    "ChoiceNote",
    "Explanation",
    "InSet",
    "KeyNote",
    "MeasureNote",
    "QueryNote",
    "ReleaseNote",
    "SelectionNote",
    "TableNote",
    "explanation",
]
