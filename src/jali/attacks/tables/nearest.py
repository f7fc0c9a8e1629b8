"""The likeliest people behind private tables, which contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.tables.cells import Release, Statistic
from jali.attacks.tables.people import AGE, LIKELIHOOD, OLDEST, commonest
from jali.attacks.tables.program import Program

_RARE = 1e-12
# What is found in the first steps is good enough where everything is a guess; the rest of the search takes long.
_NODES = 20


def nearest(release: Release) -> Bits:
    """Return the different people who are likeliest in view of noisy tables, counted by combination.

    Noise with a scale of 1/w makes an answer that is off by d people exp(-w d) times as likely, and everybody is
    as likely as in the population before: the largest product is the least weighted sum of violations, a linear
    program in integers. The mean m says that the ages differ from m by 0 in all, a median that as many people are
    on either side of it: neither needs to know the true count.
    """
    weight = release.weight or 0.0
    program = Program(most=1, cost=-np.log(LIKELIHOOD + _RARE))
    program.require(np.ones(len(AGE)), low=release.people, high=release.people)
    for told in release.statistics:
        for people, target in _aims(told):
            off = program.unknown(most=np.inf, cost=weight, whole=False)
            program.require(people, low=target, extra={off: 1.0})
            program.require(people, high=target, extra={off: -1.0})
    try:
        found = program.solve(nodes=_NODES)
    except TimeoutError:
        found = None
    return commonest(release.people) if found is None else found


def _aims(told: Statistic) -> Iterator[tuple[Doubles, float]]:
    """Return weighted sums over the people with what they should be, in units of a person's contribution."""
    members = told.cell.members.astype(np.float64)
    if told.count is not None:
        yield members, told.count
    if told.mean is not None:
        yield members * (AGE - told.mean) / (OLDEST / 2), 0.0
    if told.median is not None:
        yield members * np.sign(AGE - told.median) / 2, 0.0
