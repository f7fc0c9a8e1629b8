"""Intervals cover where totals agree, where groups are chosen privately, and where questions bound a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.coverage.clinic import CASES, NAMES, clinic
from tests.coverage.repeated import ANSWERS, check, measured, repeat, truths
from tests.depth import DEPTH, deep, thinned

import jali
from jali.mechanisms.intervals.weighted_sums import bound_weighted_quantile
from jali.mechanisms.workloads import grouping_sets

TOTALS = {"COUNT(*)": 1.3, "SUM(cost)": 1.3, "AVG(cost)": 1.5}
# Groups are chosen by coins, or by a noisy number of people which is told with them: then that number is cut off
# below, which its interval must count in, alone and in expressions. Without a unit the rows are the people.
CHOSEN = {
    "coins": {"SUM(cost)": 1.3, "AVG(cost)": 1.5, "COUNT(age)": 1.3, "MEDIAN(age)": 15.0},
    "people": {"COUNT(DISTINCT uid)": 1.5, "COUNT(*)": 1.5, "SUM(cost) / COUNT(DISTINCT uid)": 2.5},
    "rows": {"COUNT(*)": 1.5, "2 * COUNT(*) + 1": 1.5, "SUM(cost) / COUNT(*)": 2.5, "SQRT(COUNT(*))": 1.5},
}
LEAST_OF_SELDOM = 0.85  # of some dozens of intervals or more
BOUNDED = {
    "SUM(cost, contribution_bounds_per_group => (0, 150))": 1.3,
    "AVG(points, contribution_bounds_per_group => (200, 800))": 1.5,
    "COUNT(*, contribution_bounds_per_group => (0, 2))": 1.3,
}


@contextmanager
def _widths_once() -> Iterator[None]:
    """Compute the widths of averaged totals once: they depend on public facts only."""
    known = cache(lambda terms, confidence: bound_weighted_quantile(list(terms), confidence))
    with patch.object(
        grouping_sets, "bound_weighted_quantile", lambda terms, confidence: known(tuple(terms), confidence)
    ):
        yield


def _check_sets(
    db: jali.Database, sql: str, given: dict[str, Any], allowed: dict[str, float], answers: int
) -> None:
    """Check the intervals of every grouping set on its own: it is told by the keys that it leaves out."""
    keys = sql.count(",", 0, sql.index("COUNT"))
    with _widths_once():
        truth = truths(db, sql, given, keys)
        found = measured(repeat(db, sql, given, answers=answers, together=False), truth, keys)
    sets: dict[tuple[bool, ...], list[int]] = {}
    for place, group in enumerate(truth[0]):
        sets.setdefault(tuple(key is None for key in group), []).append(place)
    assert len(sets) == 2
    for left_out, groups in sets.items():
        for aggregate, of_all in zip(allowed, found, strict=True):
            check(of_all.only(groups), allowed[aggregate], f"{aggregate} of {left_out}")


@deep
@thinned(2)
@pytest.mark.parametrize(("unit", "loss"), CASES[::3], ids=NAMES[::3])
def test_intervals_of_every_grouping_set_cover_and_are_tight(unit: str | None, loss: dict[str, Any]) -> None:
    """Counts and sums are averaged over the sets; means are read in each of them."""
    sql = f"SELECT g, h, {', '.join(TOTALS)} FROM t GROUP BY GROUPING SETS ((g, h), (g))"
    with clinic(unit) as db:
        _check_sets(db, sql, loss, TOTALS, ANSWERS)


@deep
def test_intervals_of_the_grand_total_cover_and_are_tight() -> None:
    """There is one in each answer: 500 of them, of the seeded noise."""
    sql = "SELECT h, COUNT(*), SUM(cost) FROM t GROUP BY ROLLUP(h)"
    with clinic("uid") as db:
        _check_sets(db, sql, {"epsilon": 2}, {"COUNT(*)": 1.3, "SUM(cost)": 1.3}, 500 * DEPTH)


@thinned(2)
@pytest.mark.parametrize(("unit", "loss"), CASES, ids=NAMES)
@pytest.mark.parametrize("by", ["coins", "told"])
def test_intervals_of_groups_that_are_chosen_cover_and_are_tight(
    by: str, unit: str | None, loss: dict[str, Any]
) -> None:
    """Those of groups that are shown seldom are looked at alone: they hold given that the group is shown."""
    allowed = CHOSEN["coins" if by == "coins" else "people" if unit else "rows"]
    sql, given = f"SELECT code, {', '.join(allowed)} FROM t GROUP BY code", {**loss, "delta": "1/1000000"}
    with clinic(unit) as db:
        assert (db.explain(sql, **given).selection_count is None) == (by == "coins")
        truth, answers = truths(db, sql, given, keys=1), repeat(db, sql, given, answers=3 * ANSWERS // 2)
    found = measured(answers, truth, keys=1)
    names, counts = np.unique(found[0].groups, return_counts=True)
    seldom = names[counts < 1.4 * ANSWERS].tolist()
    assert 2 <= len(seldom) < len(names) < len(truth[0])
    for aggregate, of_all in zip(allowed, found, strict=True):
        check(of_all, allowed[aggregate], aggregate)
        assert of_all.only(seldom).coverage >= LEAST_OF_SELDOM, aggregate


@pytest.mark.parametrize("loss", ["epsilon = 6", "rho"])
def test_intervals_of_sums_with_bounds_in_the_question_cover_and_are_tight(loss: str) -> None:
    """What a person adds to a group is clamped to the question's bounds; the truth is the sum of what is left."""
    given = {"rho": 1} if loss == "rho" else {}
    clause = f"WITH DIFFERENTIAL_PRIVACY OPTIONS({loss}) " if not given else ""
    sql = f"SELECT {clause}g, {', '.join(BOUNDED)} FROM t GROUP BY g"
    with clinic("uid") as db:
        truth, answers = truths(db, sql, given, keys=1), repeat(db, sql, given)
    for aggregate, found in zip(BOUNDED, measured(answers, truth, keys=1), strict=True):
        check(found, BOUNDED[aggregate], aggregate)
