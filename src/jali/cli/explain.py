"""`jali explain`: how a question would be answered and what it would cost. Free."""

from __future__ import annotations

import sys

from jali.cli.failures import about
from jali.cli.opening import open_database, read_question
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
    terms_named,
)
from jali.cli.terminal import ink_for, width_for
from jali.cli.writing import check_confidence, write_json


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
    terms = terms_named(
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
    with open_database(database) as opened, about(database, question):
        plan = opened.explain(question, analyst=analyst, **terms)
    if as_json:
        from jali.planner.explanation import explanation

        write_json(explanation(plan).to_json())
    else:
        from jali.planner.explain import explain as explain_text

        print(explain_text(plan, ink=ink_for(sys.stdout), width=width_for(sys.stdout)))
