"""Who may live in a block: every combination of age, sex, race and marital status, and how common it is."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jali.attacks.arrays import Bits, Doubles, Members

OLDEST = 115
# A few houses; the program of more people takes too long.
MOST_IN_A_BLOCK = 100
MARRIED_FROM = 15
SEXES = ("female", "male")
RACES = ("black", "white")
STATUSES = ("single", "married")

_GRID = np.indices((OLDEST + 1, len(SEXES), len(RACES), len(STATUSES))).reshape(4, -1)
# A code is the place in the grid: 8 age + 4 sex + 2 race + status.
CODES: Bits = np.flatnonzero((_GRID[0] >= MARRIED_FROM) | (_GRID[3] == 0)).astype(np.int16)
AGE, SEX, RACE, STATUS = (column[CODES].astype(np.int16) for column in _GRID)


def _likelihood() -> Doubles:
    """Return how common each combination is: ages are even up to 60 and fade out at 100."""
    ages = np.clip((100 - AGE) / 40, 0.0, 1.0)
    married = np.select([AGE < MARRIED_FROM, AGE < 20, AGE < 30, AGE < 65], [0.0, 0.03, 0.35, 0.65], 0.55)
    weight = ages * np.where(STATUS == 1, married, 1 - married) * np.where(RACE == 0, 0.4, 0.6)
    return np.asarray(weight / weight.sum())


# The public knowledge by which blocks are drawn, and by which an attacker guesses who lives there.
LIKELIHOOD = _likelihood()


def commonest(n: int) -> Bits:
    """Return one person of each of the n likeliest combinations, counted by combination."""
    counts = np.zeros(len(CODES), np.int64)
    counts[np.argsort(-LIKELIHOOD, kind="stable")[:n]] = 1
    return counts


def chance(n: int) -> float:
    """Return the largest share of n people that is guessed right without a release.

    The people guessed right have one of the guessed combinations, of which there are at most n: so their share is
    expected to be at most the probability of the n likeliest ones.
    """
    return float(LIKELIHOOD @ commonest(n))


def tally(codes: Bits) -> Bits:
    """Count the people of each combination; codes that mean nobody are left out."""
    counts = np.bincount(codes[codes >= 0], minlength=_GRID.shape[1])
    return counts[CODES]


def listed(counts: Bits) -> Bits:
    """Return the codes of people who are counted by combination; the inverse of `tally`."""
    return np.repeat(CODES, counts)


def described(codes: Iterable[int]) -> list[str]:
    """Name people in words.

    Example:
        >>> described([66, 243])
        ['8, female, white, single', '30, female, white, married']
    """
    return [
        f"{_GRID[0, code]}, {SEXES[_GRID[1, code]]}, {RACES[_GRID[2, code]]}, {STATUSES[_GRID[3, code]]}"
        for code in codes
    ]


def someone() -> Members:
    """Return all combinations, as a cell to narrow down."""
    return np.ones(len(CODES), np.bool_)
