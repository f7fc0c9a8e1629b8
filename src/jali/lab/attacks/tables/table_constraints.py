"""Turn published tables into constraints on the people, exact ones or the likeliest compromise.

Exact tables are met by their solutions and by no other block. Private tables contradict each other: there the
likeliest people minimize the weighted sum of violations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from jali.lab.attacks.arrays import Bits, Doubles, Members
from jali.lab.attacks.tables.integer_program import IntegerProgram
from jali.lab.attacks.tables.published_tables import (
    AGE,
    LIKELIHOOD,
    OLDEST,
    CellStatistic,
    TableRelease,
    list_commonest,
    round_mean,
)

# Ages beyond 100 are unheard of in the population, and possible all the same.
_RARE = 1e-12


def build_constraints(release: TableRelease) -> IntegerProgram:
    """Return the program whose solutions are exactly the blocks about which these exact tables would be published.

    Of several it takes the likeliest one.
    """
    program = IntegerProgram(most=release.people, cost=-np.log(LIKELIHOOD + _RARE))
    program.require(np.ones(len(AGE)), low=release.people, high=release.people)
    for told in release.statistics:
        if told.count is None:
            program.require(told.cell.members.astype(np.float64), high=release.threshold - 1)
        else:
            _add_statistic(program, told, int(told.count))
    return program


def _add_statistic(program: IntegerProgram, told: CellStatistic, count: int) -> None:
    members = told.cell.members.astype(np.float64)
    program.require(members, low=count, high=count)
    if told.mean is not None:
        low, high = _find_totals(told.mean, count)
        program.require(members * AGE, low=low, high=high)
    if told.median is not None:
        _require_median(program, told, told.median, count)
    if told.mean is not None and told.median is not None:
        program.require(
            members * _find_impossible_ages(told.median, _find_totals(told.mean, count), count), high=0
        )


def _find_impossible_ages(median: float, totals: tuple[int, int], count: int) -> Members:
    """Return the ages that would make the total too large, or too small, with the others as the median allows.

    The constraints say so too, but only in whole people; a solver starts with fractions of them.
    """
    others = (count - 1) // 2 * median
    young, old = totals[0] - others - count // 2 * OLDEST, totals[1] - others
    return np.asarray(((median < AGE) & (old < AGE)) | ((median > AGE) & (young > AGE)))


def _find_totals(mean: float, count: int) -> tuple[int, int]:
    """Return the least and the largest sum of ages whose mean is rounded to this one."""
    about = range(math.floor(count * (mean - 0.06)), math.ceil(count * (mean + 0.06)) + 1)
    totals = [total for total in about if round_mean(total, count) == mean]
    return totals[0], totals[-1]


def _require_median(program: IntegerProgram, told: CellStatistic, median: float, count: int) -> None:
    """Require a median: at least half of the people on either side, who are counted on both if they are at it.

    An odd number has a person in the middle, counted twice. In an even number the two in the middle are equally
    far from the median; how far is an unknown of its own.
    """
    members = told.cell.members.astype(np.float64)
    least = (count + 1) // 2
    program.require(members * (median >= AGE), low=least)
    program.require(members * (median <= AGE), low=least)
    if count % 2 == 0:
        _require_middle_pair(program, told, round(2 * median), count)


def _require_middle_pair(program: IntegerProgram, told: CellStatistic, twice: int, count: int) -> None:
    """Require the two people in the middle of an even number to be at the same distance from the median.

    Distances are doubled, to be whole. Unknowns within[d] say whether the two are at most d away: nobody is at a
    distance d unless they are, and where within[d] is the first to be 1, someone is at d on either side. At
    distance 0 half of the people and one more are on either side, counted with those at the median.
    """
    members = told.cell.members.astype(np.float64)
    distance = 2 * AGE - twice
    before: dict[int, float] = {}
    for away in range(twice % 2, min(twice, 2 * OLDEST - twice) + 1, 2):
        within = program.add_unknown()
        first = {within: -1.0} | before
        needed = count // 2 + 1 if away == 0 else 1
        for side in (distance <= 0, distance >= 0) if away == 0 else (distance == -away, distance == away):
            program.require(members * side, low=0, extra={number: needed * sign for number, sign in first.items()})
        program.require(members * (np.abs(distance) == away), high=0, extra={within: -count})
        program.require(np.zeros(len(AGE)), high=0, extra={within: -1.0} | before)
        before = {within: 1.0}
    program.require(np.zeros(len(AGE)), low=1, high=1, extra=before)


_RARE_SHARE = 1e-12
# What is found in the first steps is good enough where everything is a guess; the rest of the search takes long.
_MOST_NODES = 20


def find_likeliest_people(release: TableRelease) -> Bits:
    """Return the different people who are likeliest in view of noisy tables, counted by combination.

    Noise with a scale of 1/w makes an answer that is off by d people exp(-w d) times as likely, and everybody is
    as likely as in the population before: the largest product is the least weighted sum of violations, a linear
    program in integers. The mean m says that the ages differ from m by 0 in all, a median that as many people are
    on either side of it: neither needs to know the true count.
    """
    weight = release.weight or 0.0
    program = IntegerProgram(most=1, cost=-np.log(LIKELIHOOD + _RARE_SHARE))
    program.require(np.ones(len(AGE)), low=release.people, high=release.people)
    for told in release.statistics:
        for people, target in _list_aims(told):
            off = program.add_unknown(most=np.inf, cost=weight, whole=False)
            program.require(people, low=target, extra={off: 1.0})
            program.require(people, high=target, extra={off: -1.0})
    try:
        found = program.solve(nodes=_MOST_NODES)
    except TimeoutError:
        found = None
    return list_commonest(release.people) if found is None else found


def _list_aims(told: CellStatistic) -> Iterator[tuple[Doubles, float]]:
    """Return weighted sums over the people with what they should be, in units of a person's contribution."""
    members = told.cell.members.astype(np.float64)
    if told.count is not None:
        yield members, told.count
    if told.mean is not None:
        yield members * (AGE - told.mean) / (OLDEST / 2), 0.0
    if told.median is not None:
        yield members * np.sign(AGE - told.median) / 2, 0.0
