"""The same questions on peers: CPU seconds, memory and mean absolute error at equal loss.

One Parquet table, epsilon 1 (delta 1e-6 for unknown keys, otherwise none), all questions by 1,000 groups, so that
one answer has 1,000 errors. `python -m benchmarks.questions 25000 Jali,OpenDP person/median` makes so many people,
and asks those sides and questions only. `large` asks Jali and Tumult on Spark, over 10 million rows.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from benchmarks.aggregates.sides import JALI
from benchmarks.peer_work.questioned import PERSON, ROW
from benchmarks.questions.sides import ON_SPARK, SIDES, Measured, Question, ask
from benchmarks.questions.table import EPSILON, MAX_ROWS, PEOPLE, SHORT, Column, generated
from benchmarks.questions.truth import bounded, whole

TITLES = {
    "count": "COUNT(*) by city",
    "sum": "SUM(fare) by city",
    "avg": "AVG(fare) by city",
    "median": "MEDIAN(fare) by city",
    "people": "COUNT(DISTINCT person) by city",
    "short": f"COUNT(*) by city WHERE km < {SHORT}",
    "zones": "unknown keys: COUNT by zone",
}
QUESTIONS = [
    Question(level, name, title)
    for level in (ROW, PERSON)
    for name, title in TITLES.items()
    if (level, name) != (ROW, "people")
]
_MB = 1e6
LARGE = (2_500_000, "Jali,Spark,Tumult", "row/count", "row/sum", "person/count", "person/sum")

Found = dict[str, Measured]


def main(people: int = PEOPLE, sides: str = "", *names: str) -> int:
    """Print the tables; fail where Jali is slower than a peer, or errs more beyond what sampling explains."""
    rides = generated(people)
    asked = [question for question in QUESTIONS if not names or question.argument in names]
    chosen = [side for side in SIDES if not sides or side.title.split()[0] in sides.split(",")]
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "rides.parquet"
        pyarrow.parquet.write_table(pyarrow.table(rides), source)
        np.savez(source.with_suffix(".npz"), **rides)  # type: ignore[arg-type]
        measured = {side.title: ask(side, source, asked) for side in chosen}
    print(f"{len(rides['fare']):,} rows of {people:,} people at epsilon {EPSILON:g}; CPU seconds of all threads.")
    truths = {
        (ROW, "error"): whole(rides, people=False),
        (PERSON, "error"): bounded(rides),
        (PERSON, "error, all rows"): whole(rides, people=True),
    }
    missed = 0
    for question in asked:
        found = {title: answered[question] for title, answered in measured.items()}
        against = {
            word: truth[question.name] for (level, word), truth in truths.items() if level == question.level
        }
        missed += _table(question, found, against)
    return int(missed > 0)


def _table(question: Question, found: Found, truths: dict[str, Column]) -> int:
    """Print one question's table and return how many of its targets were missed."""
    bound = f", at most {MAX_ROWS} rows a person" if question.level == PERSON else ""
    words = "".join(f"{word:>17}" for word in ("warm s", "first s", "peak MB", *truths))
    print(f"\n{question.title}, {question.level} level{bound}\n  {'':<24}{words}")
    for title, measured in found.items():
        print(f"  {title:<24}{measured.refused or _figures(measured, truths)}")
    return _speed(found) + sum(_error(found, word, truth) for word, truth in truths.items())


def _figures(measured: Measured, truths: dict[str, Column]) -> str:
    first = f"{'' if measured.first is None else format(measured.first, '.3g'):>17}"
    errors = "".join(f"{measured.error(truth).mean:>17.4g}" for truth in truths.values())
    return f"{measured.warm:>17.3g}{first}{measured.peak / _MB:>17.0f}{errors}"


def _speed(found: Found) -> int:
    """Print the ratios of time, which are judged, and of memory; return how many were missed."""
    answered, ours = _peers(found), found[JALI]
    if not answered or ours.refused:
        return int(bool(answered))
    missed: int = _line("warm: Jali / best peer", ours.warm, min(peer.warm for peer in answered))
    starts = [peer.first for peer in answered if peer.first is not None]
    if ours.first is not None and starts:
        missed += _line("first: Jali / best peer", ours.first, min(starts))
    print(f"    {'peak: Jali / best peer':<40}{ours.peak / min(peer.peak for peer in answered):>9.3g}")
    return missed


def _error(found: Found, word: str, truth: Column) -> bool:
    answered = _peers(found)
    if not answered or found[JALI].refused:
        return False
    ours = found[JALI].error(truth)
    best = min((measured.error(truth) for measured in answered), key=lambda score: score.mean)
    return _line(f"{word}: Jali / best peer", ours.mean, best.mean, worse=ours.worse_than(best))


def _peers(found: Found) -> list[Measured]:
    return [
        measured for title, measured in found.items() if title not in (JALI, ON_SPARK) and not measured.refused
    ]


def _line(title: str, ours: float, best: float, *, worse: bool | None = None) -> bool:
    missed = ours > best if worse is None else worse
    print(f"    {title:<40}{ours / best:>9.3g}  {'MISSED' if missed else 'ok'}")
    return missed


if __name__ == "__main__":
    if sys.argv[1:] == ["large"]:
        sys.exit(main(*LARGE))
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]) if len(sys.argv) > 1 else main())
