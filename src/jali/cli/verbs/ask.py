"""`jali ask`: answer a question through noise."""

from __future__ import annotations

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
from jali.cli.output import StageProgress, write_answer


@take_question_options
def ask(
    database: DatabasePath,
    sql: Question,
    asked: QuestionTerms,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Ask a question. It is answered once; asking the same question again is free.

    Example: [bold]jali ask clinic.jali "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    --epsilon 0.1 --analyst ana[/bold]

    Groups without declared keys: [bold]jali ask clinic.jali "SELECT drug, COUNT(*) AS n FROM visits GROUP BY drug"
    --epsilon 1 --delta 1e-9 --min-people 10[/bold]

    A margin of error instead: [bold]jali ask clinic.jali "SELECT COUNT(*) FROM visits" --within 20[/bold]
    """
    question = read_question(sql)
    with open_database(database) as opened, attach_context(database, question, analyst):
        with StageProgress() as stages:
            answer = opened.ask(question, analyst=analyst, on_stage=stages, **asked.terms)
        write_answer(answer, opened, analyst=analyst, confidence=asked.confidence, as_json=as_json)
