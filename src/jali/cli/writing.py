"""Writing results: a table for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from jali.cli.terminal import ink_for
from jali.display.cells import flat
from jali.display.text import WIDTH, answer_table, clean, facts, legend
from jali.documents.accounts import remaining_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.database import Database, Remaining


def write_json(document: dict[str, Any]) -> None:
    """Write one JSON document to stdout."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def write_answer(
    answer: Answer, database: Database, *, analyst: str | None, confidence: float, as_json: bool
) -> None:
    """Write an answer, what it cost, and what is left."""
    left = {table: database.remaining(table, analyst=analyst) for table, _ in answer.costs}
    if as_json:
        remaining = {table: remaining_json(amount) for table, amount in left.items()}
        write_json(answer.to_json(confidence) | {"analyst": analyst, "remaining": remaining})
        return
    ink = ink_for(sys.stdout)
    spans = answer.interval(confidence)
    print(f"{answer_table(answer.columns, answer.shown_rows, spans, ink=ink)}\n")
    shown = legend(*flat(answer.rows, spans), confidence)
    for line in (shown, *answer.remarks):
        if line:
            print(ink.faint(textwrap.fill(line, WIDTH)))
    print(_account(answer, left))


def _account(answer: Answer, left: dict[str, Remaining]) -> str:
    """Say what was paid and what is left, table by table where there are several."""
    if len(left) == 1:
        again = ", answered before: the table was not charged again" if answer.cached else ""
        (rest,) = left.values()
        return f"cost {answer.cost}{again} · left {rest} · receipt {answer.receipt}"
    lines = [(clean(table), f"cost {cost} · left {left[table]}") for table, cost in answer.costs]
    again = " · answered before: the tables were not charged again" if answer.cached else ""
    return f"{facts(lines, indent=0)}\nreceipt {answer.receipt}{again}"


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is none, before anything is spent."""
    if not 0 < confidence < 1:
        raise CatalogError("confidence-option-out-of-range", confidence=confidence)
