"""`jali explain`: show how a question would be answered and what it would cost. Free."""

from __future__ import annotations

import sys

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
from jali.cli.output import check_confidence, choose_ink, measure_width, write_json


def explain(
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
    as_json: AsJson = False,
) -> None:
    """Show how a question would be answered, and what it would cost. Free: no data is read.

    Example: [bold]jali explain clinic.jali "SELECT AVG(age) FROM visits" --epsilon 0.1[/bold]

    How large a group must be to appear: [bold]jali explain clinic.jali "SELECT drug, COUNT(*) FROM visits
    GROUP BY drug" --epsilon 1 --delta 1e-9[/bold]

    The least loss for an accuracy: [bold]jali explain clinic.jali "SELECT COUNT(*) FROM visits"
    --within 20[/bold]
    """
    check_confidence(confidence)
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
    question = read_question(sql)
    with open_database(database) as opened, attach_context(database, question):
        plan = opened.explain(question, analyst=analyst, **terms)
    if as_json:
        from jali.explain import explain_plan

        write_json(explain_plan(plan).to_json())
    else:
        from jali.explain.plan_text import render_plan as explain_text

        print(explain_text(plan, ink=choose_ink(sys.stdout), width=measure_width(sys.stdout)))
