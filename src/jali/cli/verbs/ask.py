"""`jali ask`: answer a question through noise."""

from __future__ import annotations

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
from jali.cli.output import StageProgress, check_confidence, write_answer


def ask(
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
    """Ask a question. It is answered once, for good, and the same question again is free.

    Example: [bold]jali ask clinic.jali "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    --epsilon 0.1 --analyst ana[/bold]

    Groups that nobody declared: [bold]jali ask clinic.jali "SELECT drug, COUNT(*) AS n FROM visits GROUP BY drug"
    --epsilon 1 --delta 1e-9 --min-people 10[/bold]

    For an accuracy instead of a loss: [bold]jali ask clinic.jali "SELECT COUNT(*) FROM visits" --within 20[/bold]
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
        with StageProgress() as stages:
            answer = opened.ask(question, analyst=analyst, on_stage=stages, **terms)
        write_answer(answer, opened, analyst=analyst, confidence=confidence, as_json=as_json)
