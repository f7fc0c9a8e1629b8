"""`jali ask`: a question, answered through noise."""

from __future__ import annotations

from jali.cli.failures import about
from jali.cli.opening import open_database, read_question
from jali.cli.options import Analyst, AsJson, Confidence, DatabasePath, Epsilon, Question, Rho
from jali.cli.terminal import Stages
from jali.cli.writing import check_confidence, write_answer


def ask(
    database: DatabasePath,
    sql: Question,
    epsilon: Epsilon = None,
    rho: Rho = None,
    analyst: Analyst = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Ask a question. It is answered once, for good, and the same question again is free.

    Example: [bold]jali ask clinic.jali "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    --epsilon 0.1 --analyst ana[/bold]
    """
    check_confidence(confidence)
    question = read_question(sql)
    with open_database(database) as opened, about(database, question, analyst):
        with Stages() as stages:
            answer = opened.ask(question, epsilon=epsilon, rho=rho, analyst=analyst, on_stage=stages)
        write_answer(answer, opened, analyst=analyst, confidence=confidence, as_json=as_json)
