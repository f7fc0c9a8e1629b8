"""`jali rehearse`: answer a question on made-up rows of the declared shape. Free."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.errors import attach_context
from jali.cli.options import (
    Analyst,
    AsJson,
    DatabasePath,
    Question,
    QuestionTerms,
    open_database,
    read_question,
    take_question_options,
)
from jali.cli.output import StageProgress, choose_ink, print_rows, write_json
from jali.display.text import clean, write_facts

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.planner import Plan

_HEAD = "Rehearsal: synthetic data. Nothing real was read, and nothing was charged."


@take_question_options
def rehearse(
    database: DatabasePath,
    sql: Question,
    asked: QuestionTerms,
    analyst: Analyst = None,
    rows: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The approximate number of synthetic rows per table.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question on synthetic rows of the declared shape. Free: no real data is read, nothing is charged.

    Example: [bold]jali rehearse clinic.jali "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    --epsilon 0.1[/bold]
    """
    question = read_question(sql)
    with open_database(database) as opened, attach_context(database, question, analyst):
        plan = opened.explain(question, analyst=analyst, **asked.terms)
        with StageProgress() as stages:
            stages("generating rows")
            with opened.rehearse(rows=rows) as rehearsal:
                answer = rehearsal.ask(question, analyst=analyst, on_stage=stages, **asked.terms)
    _write_rehearsal(answer, plan, asked.confidence, analyst=analyst, as_json=as_json)


def _write_rehearsal(answer: Answer, plan: Plan, confidence: float, *, analyst: str | None, as_json: bool) -> None:
    """Write the answer, and what the same question would cost and leave in earnest."""
    if as_json:
        # The receipt is of a ledger that is gone.
        kept = {name: value for name, value in answer.to_json(confidence).items() if name not in _OF_THE_LEDGER}
        write_json(kept | {"analyst": analyst, "leaves": dict(plan.leaves)})
        return
    print(f"{choose_ink(sys.stdout).strong(_HEAD)}\n")
    print_rows(answer, confidence, answer.remarks[1:])
    print(f"The real question would cost {answer.cost}, with these budgets remaining:")
    print(write_facts([(clean(account), left) for account, left in plan.leaves]))


_OF_THE_LEDGER = ("receipt", "cached")
