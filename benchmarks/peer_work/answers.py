"""What every side of the aggregate benchmark shares: how its answers are drawn and printed. Needs numpy only."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

ADD_REMOVE, REPLACE_ONE = "add-remove", "replace-one"
ROW, PERSON = "row", "person"

# One answer: its numbers, with None where a group is not shown.
Numbers = Sequence[float | None]
Release = Callable[[], Numbers]


@dataclass(frozen=True)
class Asked:
    """A question as one side puts it: what is asked, whom it protects, and what draws an answer.

    `prepare` does what needs doing once, and returns the release; where it raises, the side does not offer this.
    """

    name: str
    prepare: Callable[[], Release]
    level: str = ROW
    adjacency: str = ADD_REMOVE


def print_answers(questions: Iterable[Asked], runs: int) -> None:
    """Print every answer of every question as one line of JSON; names from the third argument on choose some."""
    names = sys.argv[3:]
    print(json.dumps([_record(question, runs) for question in questions if not names or question.name in names]))


def once(values: Iterable[Numbers]) -> Callable[[], Release]:
    """Return what prepares a release from answers that were drawn together."""
    drawn = iter([list(value) for value in values])
    return lambda: drawn.__next__


def listed(counts: dict[Any, float], size: int) -> list[float | None]:
    """Return counts by number, None for those that are not there."""
    return [None if i not in counts else float(counts[i]) for i in range(size)]


def _record(question: Asked, runs: int) -> dict[str, Any]:
    record = {"name": question.name, "level": question.level, "adjacency": question.adjacency}
    try:
        release = question.prepare()
        answers = [[None if v is None else float(v) for v in release()] for _ in range(runs)]
    except Exception as problem:  # whatever a peer says, the others go on
        return {**record, "refused": f"{type(problem).__name__}: {' '.join(str(problem).split())[:160]}"}
    return {**record, "answers": answers}
