"""Every aggregate's error at equal loss beside the peers that offer it: the second half of `make bench-peers`.

One table, one loss (epsilon 1; delta 1e-6 for unknown keys, otherwise none), the same bound on what a person may
count for. Each side answers a question many times; its error is set beside Jali's in the same adjacency.
`python -m benchmarks.aggregates 200 keys min` asks so often, and those questions only.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.aggregates.score import QUESTIONS, Question, Score
from benchmarks.aggregates.sides import JALI, SIDES, Answers, Setting, ask
from benchmarks.aggregates.table import EPSILON, MAX_ROWS, Table, generated
from benchmarks.aggregates.truth import Truth, of_bounded, whole
from benchmarks.peer_work.answers import ADD_REMOVE, PERSON, REPLACE_ONE, ROW

RUNS = 200
SETTINGS = (Setting(ROW, ADD_REMOVE), Setting(ROW, REPLACE_ONE), Setting(PERSON, ADD_REMOVE))
_WIDTH = 11


def main(runs: int = RUNS, *names: str) -> int:
    """Print the tables; fail if Jali errs more than the best peer anywhere, beyond what sampling explains."""
    table = generated()
    asked = {name for question in QUESTIONS if question.name in names for name in (question.name, question.peers)}
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "visits.npz"
        columns = table.columns
        np.savez(source, **columns)  # type: ignore[arg-type]
        answers = {side.title: ask(side, source, runs, sorted(asked - {""})) for side in SIDES}
    for title, found in answers.items():
        if found.problem:
            print(f"{title} could not be asked: {found.problem}")
    print(f"\nMean error of {runs} answers at epsilon {EPSILON:g}; a dash: not offered.")
    return int(
        sum(_table(setting, truth, answers) for setting in SETTINGS for truth in _truths(table, setting)) > 0
    )


def _truths(table: Table, setting: Setting) -> list[tuple[str, Truth]]:
    if setting.level == ROW:
        return [("each row is a person", whole(table, people=False))]
    bounds = f"a person counts for {MAX_ROWS} rows"
    return [
        (f"{bounds}; error against the bounded truth", of_bounded(table)),
        (f"{bounds}; error against the whole table", whole(table, people=True)),
    ]


def _table(setting: Setting, truth: tuple[str, Truth], answers: dict[str, Answers]) -> int:
    """Print one table and return how many targets it missed."""
    print(f"\n{setting.adjacency}, {truth[0]}")
    names = "".join(f"{side.title.split()[0]:>{_WIDTH}}" for side in SIDES)
    print(f"  {'':<42}{names}{'/ best':>{_WIDTH}}")
    missed = 0
    for question in QUESTIONS:
        scores = {title: _score(question, setting, truth[1], title, found) for title, found in answers.items()}
        if any(scores.values()):
            missed += _line(question, scores)
    return missed


def _score(question: Question, setting: Setting, truth: Truth, title: str, found: Answers) -> Score | None:
    name = question.name if title == JALI else question.peers or question.name
    answers = found.by_question.get((setting, name))
    return None if answers is None else question.score(answers, truth[question.name])


def _line(question: Question, scores: dict[str, Score | None]) -> int:
    ours = scores[JALI]
    theirs = [score for title, score in scores.items() if title != JALI and score is not None]
    best = min(theirs, key=lambda score: score.mean, default=None)
    cells = "".join(_cell(score, "not yet" if title == JALI else "-") for title, score in scores.items())
    judged = ours is not None and best is not None
    ratio = f"{ours.mean / best.mean:.3g}" if ours and best and best.mean else ""
    missed = bool(judged and question.counted and ours and best and ours.worse_than(best))
    mark = "" if not judged or not question.counted else "  MISSED" if missed else "  ok"
    print(f"  {question.title:<42}{cells}{ratio:>{_WIDTH}}{mark}")
    return missed


def _cell(score: Score | None, missing: str) -> str:
    return f"{missing if score is None else f'{score.mean:.3g}':>{_WIDTH}}"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]) if len(sys.argv) > 1 else main())
