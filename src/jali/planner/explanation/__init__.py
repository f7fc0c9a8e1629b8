"""What there is to say about a plan, as data. Public facts only: a plan knows nothing else."""

from __future__ import annotations

from pathlib import PurePath

from jali.planner.answer_notes import clamps
from jali.planner.explanation.accuracy import accuracy_lines
from jali.planner.explanation.afterwards import afterwards, split
from jali.planner.explanation.aggregates import aggregate_notes
from jali.planner.explanation.cells import cells_note
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
from jali.planner.explanation.parts import part_lines
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
        clamps=clamps(plan),
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
        sql=_without_folders(plan, plan.sql),
        part=part_lines(plan),
        accuracy=accuracy_lines(plan),
        # A plan that was stored has none.
        leaves=plan.leaves or (),
    )


def _release_note(plan: Plan, one: Noted) -> ReleaseNote:
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
