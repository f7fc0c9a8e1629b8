"""`jali rehearse`: answer a question on made-up rows of the declared shape. Free."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.errors import attach_context
from jali.cli.options import (
    Analyst,
    AsJson,
    Confidence,
    DatabasePath,
    Delta,
    Epsilon,
    GroupRows,
    MaxGroups,
    MaxRows,
    MinPeople,
    NoiseName,
    PartName,
    Question,
    Rho,
    Within,
    collect_terms,
    open_database,
    read_question,
)
from jali.cli.output import StageProgress, check_confidence, choose_ink, write_json
from jali.display.text import WIDTH, clean, write_facts

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.planner import Plan

_HEAD = "Rehearsal: synthetic data. Nothing real was read, and nothing was charged."


def rehearse(
    database: DatabasePath,
    sql: Question,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    max_rows: MaxRows = None,
    max_groups: MaxGroups = None,
    min_people: MinPeople = None,
    part: PartName = None,
    within: Within = None,
    confidence: Confidence = 0.95,
    noise: NoiseName = None,
    group_rows: GroupRows = None,
    analyst: Analyst = None,
    rows: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="About how many rows are made up for each table.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question on made-up rows of the declared shape. Free: nothing real is read or charged.

    Example: [bold]jali rehearse clinic.jali "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    --epsilon 0.1[/bold]
    """
    terms = collect_terms(
        part,
        within,
        confidence,
        epsilon=epsilon,
        rho=rho,
        delta=delta,
        max_rows=max_rows,
        max_groups=max_groups,
        min_people=min_people,
        noise=noise,
        group_rows=group_rows,
    )
    check_confidence(confidence)
    question = read_question(sql)
    with open_database(database) as opened, attach_context(database, question, analyst):
        plan = opened.explain(question, analyst=analyst, **terms)
        with StageProgress() as stages:
            stages("making rows up")
            with opened.rehearse(rows=rows) as rehearsal:
                answer = rehearsal.ask(question, analyst=analyst, on_stage=stages, **terms)
    _write_rehearsal(answer, plan, confidence, analyst=analyst, as_json=as_json)


def _write_rehearsal(answer: Answer, plan: Plan, confidence: float, *, analyst: str | None, as_json: bool) -> None:
    """Write the answer, and what the same question would cost and leave in earnest."""
    if as_json:
        # The receipt is of a ledger that is gone.
        kept = {name: value for name, value in answer.to_json(confidence).items() if name not in _OF_THE_LEDGER}
        write_json(kept | {"analyst": analyst, "leaves": dict(plan.leaves)})
        return
    from jali.display.text import write_answer_table, write_legend
    from jali.display.view_models import flatten_cells

    ink = choose_ink(sys.stdout)
    spans = answer.interval(confidence)
    print(f"{ink.strong(_HEAD)}\n\n{write_answer_table(answer.columns, answer.shown_rows, spans, ink=ink)}\n")
    for line in (write_legend(*flatten_cells(answer.rows, spans), confidence), *answer.remarks[1:]):
        if line:
            print(ink.faint(textwrap.fill(line, WIDTH)))
    print(f"In earnest it would cost {answer.cost} and leave:")
    print(write_facts([(clean(account), left) for account, left in plan.leaves]))


_OF_THE_LEDGER = ("receipt", "cached")
