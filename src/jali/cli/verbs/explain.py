"""`jali explain`: show how a question would be answered and what it would cost. Free."""

from __future__ import annotations

import sys

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
from jali.cli.output import choose_ink, measure_width, write_json


@take_question_options
def explain(
    database: DatabasePath,
    sql: Question,
    asked: QuestionTerms,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Show how a question would be answered and its privacy loss. Free: no data is read.

    Example: [bold]jali explain clinic.jali "SELECT AVG(age) FROM visits" --epsilon 0.1[/bold]

    How large a group must be to be released: [bold]jali explain clinic.jali "SELECT drug, COUNT(*) FROM visits
    GROUP BY drug" --epsilon 1 --delta 1e-9[/bold]

    The least loss for a margin of error: [bold]jali explain clinic.jali "SELECT COUNT(*) FROM visits"
    --within 20[/bold]
    """
    question = read_question(sql)
    with open_database(database) as opened, attach_context(database, question):
        plan = opened.explain(question, analyst=analyst, **asked.terms)
    if as_json:
        from jali.explain import explain_plan

        write_json(explain_plan(plan).to_json())
    else:
        from jali.explain.plan_text import render_plan as explain_text

        print(explain_text(plan, ink=choose_ink(sys.stdout), width=measure_width(sys.stdout)))
