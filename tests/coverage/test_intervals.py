"""Intervals cover the bounded truth as often as they say, and are not wider than they must be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.coverage.clinic import CASES, NAMES, clinic
from tests.coverage.repeated import check, measured, repeat, truths
from tests.depth import thinned

# Questions: how much wider than needed an interval may be, per aggregate. One that is made of several noisy sums
# buys intervals for the means on the way, and where the noise drowns a group its interval says so.
COUNTS = {
    "COUNT(*)": 1.3,
    "COUNT(age)": 1.3,
    "SUM(cost)": 1.3,
    "AVG(age)": 1.5,
    "AVG(cost)": 1.5,
    "SUM(cost) / COUNT(*)": 1.5,
    "COUNT(DISTINCT uid)": 1.3,
    "COUNT(DISTINCT points)": 1.3,
    "COUNT(*) FILTER (WHERE cost > 50)": 1.3,
    "COUNT(DISTINCT uid) FILTER (WHERE h = 'x')": 1.3,
    "AVG(points) FILTER (WHERE h = 'y')": 1.5,
    "SQRT(COUNT(*)) + SUM(cost) / 100": 2,
}
CELLS = {
    "HISTOGRAM(cost, [20, 40, 60])": 1.3,
    "HISTOGRAM(h)": 1.3,
    "CDF(points, [200, 400, 600, 800])": 1.3,
    "HISTOGRAM(cost, [50]) FILTER (WHERE h = 'y')": 1.3,
}
SPREADS = {
    "VAR_POP(cost)": 2.5,
    "VAR_SAMP(cost)": 2.5,
    "STDDEV_POP(cost)": 2.5,
    "STDDEV_SAMP(cost)": 2.5,
    "2 * STDDEV(cost)": 2.5,
    "COVAR_POP(points, cost)": 3,
    "COVAR_SAMP(points, cost)": 3,
}
LINES: dict[str, float] = {
    "CORR(points, cost)": 3,
    "REGR_SLOPE(points, cost)": 3,
    "REGR_INTERCEPT(points, cost)": 4,
    "REGR_R2(points, cost)": 3,
}
REGRESSIONS = {
    "REGR_COUNT(points, cost)": 2,
    "REGR_AVGX(points, cost)": 1.5,
    "REGR_AVGY(points, cost)": 1.5,
    "REGR_SXX(points, cost)": 2.5,
    "REGR_SYY(points, cost)": 2.5,
    "REGR_SXY(points, cost)": 2.5,
}
# What is made of many sums needs more loss than a count, or there is nothing to see of most groups: so many times.
QUESTIONS: dict[str, tuple[dict[str, float], int]] = {
    "counts": (COUNTS, 1),
    "cells": (CELLS, 1),
    "spreads": (SPREADS, 8),
    "lines": (LINES, 8),
    "regressions": (REGRESSIONS, 4),
}


@thinned(3)
@pytest.mark.parametrize(("unit", "loss"), CASES, ids=NAMES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_intervals_of_every_aggregate_cover_and_are_tight(
    question: str, unit: str | None, loss: dict[str, Any]
) -> None:
    """Two thousand intervals of each aggregate: 40 groups, of a few rows and of hundreds, in 50 answers."""
    aggregates, factor = QUESTIONS[question]
    allowed = {a: most for a, most in aggregates.items() if unit or "DISTINCT uid" not in a}
    given = {name: factor * Fraction(value) for name, value in loss.items()}
    sql = f"SELECT g, {', '.join(allowed)} FROM t GROUP BY g"
    with clinic(unit) as db:
        truth, answers = truths(db, sql, given, keys=1), repeat(db, sql, given)
    for aggregate, found in zip(allowed, measured(answers, truth, keys=1), strict=True):
        check(found, allowed[aggregate], aggregate)


def test_intervals_of_a_group_do_not_depend_on_the_other_groups_of_the_answer() -> None:
    """The tests beside this one read many answers as one, which this allows."""
    sql = "SELECT g, AVG(cost), CORR(points, cost), CDF(age, [40]), MEDIAN(age) FROM t GROUP BY g"
    with clinic("uid") as db:
        (together,) = repeat(db, sql, {"epsilon": 6}, answers=3)
        alone = repeat(db, sql, {"epsilon": 6}, answers=3, together=False)
    assert together.rows == [row for answer in alone for row in answer.rows]
    assert together.interval() == [span for answer in alone for span in answer.interval()]
