"""The least squared violation of slabs, by first-order steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.subsets.subsets import Subsets

# The chance that a random matrix is longer than its law by so much is below e^-8 (Davidson and Szarek 2001).
_SLACK = 4.0
_STILL = 1e-4


@dataclass(frozen=True, eq=False)
class Nearest:
    """Where the violation is least.

    Attributes:
        bits: Each bit, as a number from 0 to 1.
        steps: How many steps it took.
    """

    bits: Doubles
    steps: int


def nearest(subsets: Subsets, answers: Doubles, width: float, *, steps: int) -> Nearest:
    """Minimise the sum of squares by which A x leaves the slabs |A x - answers| <= width, where 0 <= x <= 1.

    By the accelerated gradient steps of Beck and Teboulle 2009 (FISTA), which begin anew whenever they go
    uphill (O'Donoghue and Candes 2015). A random matrix of zeros and ones has one singular value of about
    sqrt(m n) / 2, along the mean of x, and the others up to (sqrt(m) + sqrt(n)) / 2. So the mean is taken out
    of A, and the number of ones is a variable of its own: steps can be n / (1 + sqrt(n/m))^2 times as long, and
    one equation is given up.

    Args:
        subsets: Random subsets, which hold everybody with probability 1/2.
        answers: As many as there are subsets.
        width: Half the width of the slabs.
        steps: How many steps to go at most, each with two products.
    """
    questions, people = subsets.shape
    length = (2 / (math.sqrt(questions) + math.sqrt(people + 1) + _SLACK)) ** 2
    # All of it in single precision, which Python's own numbers leave as it is.
    target = np.asarray(answers - subsets.matvec(np.full(people, 0.5, np.float32)), np.float32)
    here = np.zeros(people + 1, np.float32)
    here[-1] = 2 * float(target.mean())
    ahead, pace, taken, moved = here, 1.0, 0, math.inf
    while taken < steps and moved > _STILL:
        taken += 1
        slope = _slope(subsets, target, float(width), ahead)
        there = ahead - length * slope
        np.clip(there[:-1], -0.5, 0.5, out=there[:-1])
        move = there - here
        if float(slope @ move) > 0:
            ahead, pace = here, 1.0
            continue
        faster = (1 + math.sqrt(1 + 4 * pace**2)) / 2
        ahead, here, pace = there + (pace - 1) / faster * move, there, faster
        moved = float(np.abs(move).max())
    return Nearest(here[:-1] + 0.5, taken)


def _slope(subsets: Subsets, target: Doubles, width: float, point: Doubles) -> Doubles:
    """Return half the gradient of the squared violation, for each person and the number of ones."""
    off = subsets.matvec(point[:-1])
    off += 0.5 * float(point[-1] - point[:-1].sum()) - target
    off -= np.clip(off, -width, width)
    half = 0.5 * float(off.sum())
    slope = np.empty_like(point)
    np.subtract(subsets.rmatvec(off), half, out=slope[:-1])
    slope[-1] = half
    return slope
