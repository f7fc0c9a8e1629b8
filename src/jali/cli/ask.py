"""`jali ask`: a question, answered through noise."""

from __future__ import annotations

from jali.cli.failures import about
from jali.cli.opening import open_database, read_question
from jali.cli.options import (
    Analyst,
    AsJson,
    Confidence,
    DatabasePath,
    Delta,
    Epsilon,
    MaxGroups,
    MaxRows,
    MinPeople,
    Question,
    Rho,
)
from jali.cli.terminal import Stages
from jali.cli.writing import check_confidence, write_answer


def ask(
    database: DatabasePath,
    sql: Question,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    max_rows: MaxRows = None,
    max_groups: MaxGroups = None,
    min_people: MinPeople = None,
    analyst: Analyst = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Ask a question. It is answered once, for good, and the same question again is free.

    Example: [bold]jali ask clinic.jali "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    --epsilon 0.1 --analyst ana[/bold]

    Groups that nobody declared: [bold]jali ask clinic.jali "SELECT drug, COUNT(*) AS n FROM visits GROUP BY drug"
    --epsilon 1 --delta 1e-9 --min-people 10[/bold]
    """
    bounds = {"max_rows": max_rows, "max_groups": max_groups, "min_people": min_people}
    check_confidence(confidence)
    question = read_question(sql)
    with open_database(database) as opened, about(database, question, analyst):
        with Stages() as stages:
            answer = opened.ask(
                question, epsilon=epsilon, rho=rho, delta=delta, analyst=analyst, on_stage=stages, **bounds
            )
        write_answer(answer, opened, analyst=analyst, confidence=confidence, as_json=as_json)
