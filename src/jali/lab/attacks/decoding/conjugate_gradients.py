"""Fit bits to answers by least squares, with a linear operator of subsets (Hestenes and Stiefel 1952)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.decoding.design import Design
from jali.lab.attacks.subsets.subset_operators import Subsets

_MOST = 300
# An error of stopping early that is so small beside the error by noise changes no guess to speak of.
_NEGLIGIBLE = 0.02
_SPREADS = (0.02, 1.0)
# Near m = n the smallest eigenvalue is anybody's guess.
_LEAST = 1e-3

# Where the fit to the answers of a log stops.
LOG_GRADIENT = 1e-4


@dataclass(frozen=True, eq=False)
class FittedBits:
    """Estimated bits.

    Attributes:
        estimate: Each bit, as a real number.
        residual: The root of the sum of squares that the answers are off.
        spare: How many more answers there are than people.
        steps: How many steps it took, each with two products.
    """

    estimate: Doubles
    residual: float
    spare: int
    steps: int

    @property
    def stddev(self) -> float:
        """The standard deviation of the answers' errors, as the residual tells it; 0 where there are too few."""
        return self.residual / math.sqrt(self.spare) if self.spare > 0 else 0.0


def fit(
    subsets: Subsets,
    answers: Doubles,
    *,
    density: float,
    ridge: float = 0.0,
    gradient: float,
    most: int = _MOST,
) -> FittedBits:
    """Minimise |A x - answers|^2 + ridge |x - centre|^2 by conjugate gradients (Hestenes and Stiefel 1952).

    The centre is the share of ones that fits the answers best if all bits are equal to it; where many solutions
    are as good, one near to it is found.

    Random subsets of a density p have one singular value far above the others, p sqrt(m n) along the mean of all
    bits. In the variables z with x = centre + z - (1 - t) mean(z) it is as large as the others, and the condition
    number is (1 + sqrt(n/m)) / (1 - sqrt(n/m)): with four questions for each person every step halves the error.

    Args:
        subsets: A.
        answers: As many as there are subsets.
        density: The share of the people that a subset holds.
        ridge: How much a bit's distance from the centre weighs.
        gradient: The root mean square, over the people, of the gradient at which to stop.
        most: How many steps to go at most.
    """
    people = subsets.shape[1]
    shrink = math.sqrt((1 - density) / (density * people + 1 - density))
    offset = np.zeros(people)
    sizes = np.asarray(subsets.matvec(np.ones(people)), np.float64)
    centre = _find_centre(sizes, answers)
    rest = np.asarray(answers - centre * sizes, np.float64)
    slope = _shrink_mean(subsets.rmatvec(rest), shrink)
    way, size, steps = slope, _sum_squares(slope), 0
    while steps < most and size > people * gradient**2:
        step = _shrink_mean(way, shrink)
        seen = np.asarray(subsets.matvec(step), np.float64)
        length = size / (_sum_squares(seen) + ridge * _sum_squares(step))
        offset += length * step
        rest -= length * seen
        slope = _shrink_mean(subsets.rmatvec(rest) - ridge * offset, shrink)
        before, size = size, _sum_squares(slope)
        way = slope + (size / before) * way
        steps += 1
    return FittedBits(centre + offset, math.sqrt(_sum_squares(rest)), len(answers) - people, steps)


def fit_answers(
    subsets: Subsets,
    answers: Doubles,
    design: Design,
    stddev: float,
    variance: float | None = None,
) -> FittedBits:
    """Fit the first subsets, all that were answered, until what is left is small beside the noise.

    Args:
        subsets: The questions.
        answers: To all of them, or the first ones.
        design: What is known of the questions.
        stddev: The standard deviation of one answer's error.
        variance: The variance of a bit, for a ridge; None for plain least squares.
    """
    least, most = _SPREADS
    ridge = 0.0 if variance is None else stddev**2 / variance
    target = _NEGLIGIBLE * min(max(design.spread(stddev, variance), least), most)
    eigenvalue = max(design.least, _LEAST * design.weight) + ridge
    return fit(
        subsets if len(subsets) == len(answers) else subsets.first(len(answers)),
        answers,
        density=design.density,
        ridge=ridge,
        gradient=target * eigenvalue,
    )


def _find_centre(sizes: Doubles, answers: Doubles) -> float:
    """Return the share of ones that fits the answers best; 1/2 where there are none."""
    square = _sum_squares(sizes)
    return min(max(float(sizes @ answers) / square, 0.0), 1.0) if square else 0.5


def _shrink_mean(x: Doubles, shrink: float) -> Doubles:
    """Shrink the mean of x."""
    return np.asarray(x - (1 - shrink) * x.mean(), np.float64)


def _sum_squares(x: Doubles) -> float:
    return float(x @ x)
