"""`jali batch`: ask the questions of a file together."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jali.cli.errors import attach_context
from jali.cli.options import Analyst, AsJson, Confidence, DatabasePath, Rho, open_database
from jali.cli.output import (
    StageProgress,
    check_confidence,
    choose_ink,
    encode_result,
    find_remaining,
    print_rows,
    write_json,
)
from jali.display.text import clean
from jali.errors import CatalogError, QueryError

if TYPE_CHECKING:
    from jali.batch import Batch, BatchAnswer
    from jali.database import Database
    from jali.planner.batch import BatchPlan

Questions = Annotated[
    str,
    typer.Argument(metavar="FILE", help="SELECT statements, separated by semicolons; [bold]-[/bold] is stdin."),
]
BatchEpsilon = Annotated[
    str | None, typer.Option("--epsilon", metavar="NUMBER", help="The total privacy loss of all questions.")
]
BatchDelta = Annotated[
    str | None,
    typer.Option("--delta", metavar="NUMBER", help="Allows tighter composition of the losses than their sum."),
]
Agree = Annotated[
    bool, typer.Option("--agree/--apart", help="Make the answers consistent, or leave them independent.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Show the plan and the privacy loss without asking.")]


def batch(
    database: DatabasePath,
    file: Questions,
    epsilon: BatchEpsilon = None,
    rho: Rho = None,
    delta: BatchDelta = None,
    agree: Agree = True,
    analyst: Analyst = None,
    confidence: Confidence = 0.95,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Ask all questions of a file together: planned jointly, charged once, with consistent answers.

    Example: [bold]jali batch clinic.jali questions.sql --epsilon 1 --analyst ana[/bold]
    """
    check_confidence(confidence)
    if epsilon is None and rho is None:
        raise QueryError("batch-option-loss-missing")
    text = _read_file(file)
    questions = split_statements(text)
    with open_database(database) as opened, attach_context(database, text, analyst):
        with StageProgress() as stages:
            asked = opened.batch(
                epsilon=epsilon, rho=rho, delta=delta, agree=agree, analyst=analyst, on_stage=stages
            )
            for question in questions:
                asked.ask(question.sql_at_position)
            plan = _plan_batch(asked, questions)
            found = None if explain else asked.run()
        if found is None:
            _write_plan(str(plan), as_json=as_json)
        else:
            write_batch(found, questions, opened, analyst=analyst, confidence=confidence, as_json=as_json)


@dataclass(frozen=True)
class BatchStatement:
    """A question of a file.

    Attributes:
        sql: The question without comments, in one line.
        written: The question as it is written.
        position: Line and column in the file where it begins.
    """

    sql: str
    written: str
    position: tuple[int, int]

    @property
    def sql_at_position(self) -> str:
        """The question at its place: a refusal then names the line and column of the file."""
        line, column = self.position
        return "\n" * (line - 1) + " " * (column - 1) + self.written


def split_statements(text: str) -> list[BatchStatement]:
    """Return the statements of a text; semicolons in strings, names and comments part nothing."""
    from jali.planner.batch.batch_terms import write_in_one_line
    from jali.sql.tokens import TokenizedText

    lexed = TokenizedText.of(text)
    found, first = [], 0
    ends = [i for i in range(len(lexed.tokens)) if lexed.word(i) == ";"]
    for end in (*ends, len(lexed.tokens)):
        if first < end:
            written = lexed.text(range(first, end))
            found.append(
                BatchStatement(
                    write_in_one_line(written), written, _find_position(text, lexed.tokens[first].start)
                )
            )
        first = end + 1
    if not found:
        raise QueryError("batch-file-empty")
    return found


def _find_position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")


def _plan_batch(asked: Batch, questions: list[BatchStatement]) -> BatchPlan:
    """Plan the batch; a refusal without a place is about the question from its beginning."""
    from jali.planner.batch.batch_terms import find_refused_question

    try:
        return asked.explain()
    except QueryError as refusal:
        place = find_refused_question(refusal)
        if refusal.position is not None or place is None:
            raise
        where = questions[place].position
        raise refusal.at(where) from None


def _read_file(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise CatalogError("batch-file-unreadable", file=file) from None


def _write_plan(text: str, *, as_json: bool) -> None:
    if as_json:
        write_json({"explanation": text})
    else:
        print(text)


def write_batch(
    found: BatchAnswer,
    questions: list[BatchStatement] | None,
    database: Database,
    *,
    analyst: str | None,
    confidence: float,
    as_json: bool,
) -> None:
    """Write all answers, what the batch cost, and what is left."""
    left = find_remaining(found, database, analyst)
    if as_json:
        write_json(encode_result(found, left, analyst=analyst, confidence=confidence))
        return
    ink = choose_ink(sys.stdout)
    for number, answer in enumerate(found, 1):
        title = "" if questions is None else " " + clean(questions[number - 1].sql)
        print(f"{ink.accent(f'[{number}]')}{title}")
        print_rows(answer, confidence, gap="")
        print()
    for table, cost in found.costs:
        again = ", already released: nothing was charged again" if found.cached else ""
        print(f"{clean(table)}: cost {cost}{again} · remaining {left[table]} · receipt {found.receipt}")
