"""Writing results: a table for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from jali.cli.terminal import ink_for
from jali.display.text import answer_table, legend
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.database import Database, Remaining


def write_json(document: dict[str, Any]) -> None:
    """Write one JSON document to stdout."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def remaining_json(remaining: Remaining) -> dict[str, str]:
    """Return what is left as exact rationals."""
    return {"epsilon": str(remaining.epsilon), "rho": str(remaining.rho)}


def write_answer(
    answer: Answer, database: Database, *, analyst: str | None, confidence: float, as_json: bool
) -> None:
    """Write an answer, what it cost, and what is left."""
    left = database.remaining(answer.release.question.table, analyst=analyst)
    if as_json:
        write_json(answer.to_json(confidence) | {"analyst": analyst, "remaining": remaining_json(left)})
        return
    ink = ink_for(sys.stdout)
    spans = answer.interval(confidence)
    print(f"{answer_table(answer.columns, answer.rows, spans, ink=ink)}\n")
    shown = legend(list(chain(*answer.rows)), list(chain(*spans)), confidence)
    if shown:
        print(ink.faint(shown))
    again = ", answered before: the table was not charged again" if answer.cached else ""
    print(f"cost {answer.cost}{again} · left {left} · receipt {answer.receipt}")


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is none, before anything is spent."""
    if not 0 < confidence < 1:
        raise CatalogError(
            f"--confidence must lie between 0 and 1, not {confidence:g}.", remedy="Write --confidence 0.95."
        )
