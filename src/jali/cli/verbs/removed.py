"""`jali removed`: estimate the bias of clamping and of contribution bounds, for a loss of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.cli.errors import attach_context
from jali.cli.options import (
    Analyst,
    AsJson,
    Confidence,
    DatabasePath,
    Epsilon,
    MaxRows,
    Question,
    Rho,
    open_database,
    read_question,
)
from jali.cli.output import StageProgress, check_confidence, write_json
from jali.display.text import write_facts

if TYPE_CHECKING:
    from jali.execution.bias import Removed


def removed(
    database: DatabasePath,
    sql: Question,
    epsilon: Epsilon = None,
    rho: Rho = None,
    max_rows: MaxRows = None,
    confidence: Confidence = 0.95,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the bias of a question from clamping values to ranges and bounding rows to max_rows.

    It asks one or two separate questions over all groups instead.

    Example: [bold]jali removed clinic.jali "SELECT AVG(cost) FROM visits" --epsilon 0.05[/bold]
    """
    check_confidence(confidence)
    question = read_question(sql)
    with open_database(database) as opened, attach_context(database, question, analyst), StageProgress() as stages:
        found = opened.removed(
            question, epsilon=epsilon, rho=rho, max_rows=max_rows, analyst=analyst, on_stage=stages
        )
    if as_json:
        write_json(found.to_json(confidence))
        return
    _write_bias(found, confidence)


def _write_bias(found: Removed, confidence: float) -> None:
    if not found.answers:
        print(found)
        return
    print(write_facts(found.facts(confidence), indent=0))
    print("", *found.remarks(confidence), sep="\n")
    print(f"cost {found.cost} · receipt {', '.join(answer.receipt for answer in found.answers)}")
