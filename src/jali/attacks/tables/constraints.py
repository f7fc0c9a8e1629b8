"""From published tables to the constraints that they put on the people."""

from __future__ import annotations

import math

import numpy as np

from jali.attacks.arrays import Members
from jali.attacks.tables.cells import Release, Statistic, rounded_mean
from jali.attacks.tables.people import AGE, LIKELIHOOD, OLDEST
from jali.attacks.tables.program import Program

# Ages beyond 100 are unheard of in the population, and possible all the same.
_RARE = 1e-12


def constraints(release: Release) -> Program:
    """Return the program whose solutions are exactly the blocks about which these exact tables would be published.

    Of several it takes the likeliest one.
    """
    program = Program(most=release.people, cost=-np.log(LIKELIHOOD + _RARE))
    program.require(np.ones(len(AGE)), low=release.people, high=release.people)
    for told in release.statistics:
        if told.count is None:
            program.require(told.cell.members.astype(np.float64), high=release.threshold - 1)
        else:
            _add(program, told, int(told.count))
    return program


def _add(program: Program, told: Statistic, count: int) -> None:
    members = told.cell.members.astype(np.float64)
    program.require(members, low=count, high=count)
    if told.mean is not None:
        low, high = _totals(told.mean, count)
        program.require(members * AGE, low=low, high=high)
    if told.median is not None:
        _middle(program, told, told.median, count)
    if told.mean is not None and told.median is not None:
        program.require(members * _impossible(told.median, _totals(told.mean, count), count), high=0)


def _impossible(median: float, totals: tuple[int, int], count: int) -> Members:
    """Return the ages that would make the total too large, or too small, with the others as the median allows.

    The constraints say so too, but only in whole people; a solver starts with fractions of them.
    """
    others = (count - 1) // 2 * median
    young, old = totals[0] - others - count // 2 * OLDEST, totals[1] - others
    return np.asarray(((median < AGE) & (old < AGE)) | ((median > AGE) & (young > AGE)))


def _totals(mean: float, count: int) -> tuple[int, int]:
    """Return the least and the largest sum of ages whose mean is rounded to this one."""
    about = range(math.floor(count * (mean - 0.06)), math.ceil(count * (mean + 0.06)) + 1)
    totals = [total for total in about if rounded_mean(total, count) == mean]
    return totals[0], totals[-1]


def _middle(program: Program, told: Statistic, median: float, count: int) -> None:
    """Require a median: at least half of the people on either side, who are counted on both if they are at it.

    An odd number has a person in the middle, counted twice. In an even number the two in the middle are equally
    far from the median; how far is an unknown of its own.
    """
    members = told.cell.members.astype(np.float64)
    least = (count + 1) // 2
    program.require(members * (median >= AGE), low=least)
    program.require(members * (median <= AGE), low=least)
    if count % 2 == 0:
        _two_in_the_middle(program, told, round(2 * median), count)


def _two_in_the_middle(program: Program, told: Statistic, twice: int, count: int) -> None:
    """Require the two people in the middle of an even number to be at the same distance from the median.

    Distances are doubled, to be whole. Unknowns within[d] say whether the two are at most d away: nobody is at a
    distance d unless they are, and where within[d] is the first to be 1, someone is at d on either side. At
    distance 0 half of the people and one more are on either side, counted with those at the median.
    """
    members = told.cell.members.astype(np.float64)
    distance = 2 * AGE - twice
    before: dict[int, float] = {}
    for away in range(twice % 2, min(twice, 2 * OLDEST - twice) + 1, 2):
        within = program.unknown()
        first = {within: -1.0} | before
        needed = count // 2 + 1 if away == 0 else 1
        for side in (distance <= 0, distance >= 0) if away == 0 else (distance == -away, distance == away):
            program.require(members * side, low=0, extra={number: needed * sign for number, sign in first.items()})
        program.require(members * (np.abs(distance) == away), high=0, extra={within: -count})
        program.require(np.zeros(len(AGE)), high=0, extra={within: -1.0} | before)
        before = {within: 1.0}
    program.require(np.zeros(len(AGE)), low=1, high=1, extra=before)
