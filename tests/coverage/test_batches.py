"""The intervals of batches hold, and answers that agree err less than answers by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.coverage.clinic import CASES, KEYS, NAMES, clinic
from tests.coverage.repeated import ANSWERS, CONFIDENCE, LEAST, ends, numbers, seeded
from tests.depth import DEPTH, deep, thinned
from tests.harness import noise_off

import jali
from jali.answer import Answer
from jali.execution.ask_batch import batch_of
from jali.execution.measure import measure as draw
from jali.planner.batch import BatchPlan
from jali.serialization.schema import VALUES

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM t",
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
    "SELECT h, COUNT(*) AS n FROM t WHERE age > 50 GROUP BY h",
    "SELECT CDF(age, [30, 40, 50, 60, 70]) AS ages FROM t",
    "SELECT COUNT(*) AS n, AVG(cost) AS cost FROM t WHERE age > 50",
    "SELECT COUNT(*) AS n FROM t WHERE age > 60 AND h = 'x'",
    "SELECT SUM(cost) AS cost FROM t",
    "SELECT h, SUM(cost) AS cost FROM t GROUP BY h",
]


def begun(db: jali.Database, given: dict[str, Any]) -> BatchPlan:
    batch = db.batch(**given)
    for sql in QUESTIONS:
        batch.ask(sql)
    return batch.explain()


def many(db: jali.Database, plan: BatchPlan, answers: int) -> list[tuple[Answer, ...]]:
    """Draw the noise again and again from the same exact integers, which are read once."""
    known: dict[str, list[tuple[Any, ...]]] = {}

    def run(part: Any) -> list[tuple[Any, ...]]:
        if part.sql not in known:
            known[part.sql] = db._engine.run(part.sql, plan.read)
        return list(known[part.sql])

    with seeded():
        drawn = [tuple(draw(one, run) for one in plan.plans) for _ in range(answers)]
    return [batch_of(plan, "", VALUES.encode(one), cached=False).answers for one in drawn]


def truth(db: jali.Database, plan: BatchPlan) -> tuple[Answer, ...]:
    with noise_off():
        drawn = tuple(draw(one, lambda part: db._engine.run(part.sql, plan.read)) for one in plan.plans)
    return batch_of(plan, "", VALUES.encode(drawn), cached=False).answers


def flat(answers: tuple[Answer, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return all numbers of all questions, and their intervals."""
    values, spans = [], []
    for answer in answers:
        for row, span in zip(answer.rows, answer.interval(CONFIDENCE), strict=True):
            for value, interval in zip(row, span, strict=True):
                if interval is not None:
                    values.append(numbers(value))
                    spans.append(np.reshape(ends(interval), (-1, 2)))
    return np.concatenate(values), np.concatenate(spans)


@deep
@thinned(4)
@pytest.mark.parametrize(("unit", "given"), CASES, ids=NAMES)
def test_intervals_of_answers_that_agree_hold_as_often_as_they_say(
    unit: str | None, given: dict[str, Any]
) -> None:
    """50 answers of some 55 numbers: below 92.5 % of 2,000 has a chance below 1e-6; bits are seeded besides."""
    db = clinic(unit)
    plan = begun(db, given)
    true, _ = flat(truth(db, plan))
    # What the noise-free draw says is the bounded truth itself: the counts of the groups sum to their total.
    assert true[1 : 1 + len(KEYS)].sum() == pytest.approx(true[0], rel=1e-6)
    held = []
    for answers in many(db, plan, ANSWERS):
        _, spans = flat(answers)
        held.append((spans[:, 0] <= true + 1e-3) & (true - 1e-3 <= spans[:, 1]))
    assert np.size(held) >= 2000
    assert np.mean(held) >= LEAST
    # Of one number's 50 intervals 72 % would be missed with a chance below 1e-6.
    assert np.mean(held, axis=0).min() >= 0.72


@deep
def test_answers_that_agree_err_less_than_the_same_releases_by_themselves() -> None:
    """The same noise, fitted and as it is: the sum of squared errors of all counts is clearly smaller."""
    db = clinic("uid")
    plan = begun(db, {"epsilon": 2})
    alone = BatchPlan(plan.plans, plan.readings, plan.cost, plan.costs, plan.parts, agree=False)
    places = [0, 1, 2, 4, 5]
    true = truth(db, plan)
    fitted, raw = (
        sum(_squared(one, true, places) for one in many(db, which, 10 * DEPTH)) for which in (plan, alone)
    )
    assert fitted < 0.95 * raw


def _squared(found: tuple[Answer, ...], true: tuple[Answer, ...], places: list[int]) -> float:
    total = 0.0
    for place in places:
        column = found[place].columns.index("n")
        pairs = zip(found[place].rows, true[place].rows, strict=True)
        total += sum((row[column] - exact[column]) ** 2 for row, exact in pairs)
    return total
