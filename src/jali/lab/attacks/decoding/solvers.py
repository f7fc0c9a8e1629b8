"""Fit bits to answers by least squares or by linear programs.

Least squares need a linear operator of subsets only (Hestenes and Stiefel 1952). Linear programs are solved by
HiGHS (Huangfu and Hall 2018) in scipy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.lab.attacks.arrays import Doubles, import_scipy
from jali.lab.attacks.decoding.design import Design
from jali.lab.attacks.subsets.random_subsets import Listed
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


@dataclass(frozen=True, eq=False)
class DualProgram:
    """The dual of a linear program over z with -1/2 <= z <= 1/2: minimise cost.y with matrix y = right.

    It has a row for each person and a column for each constraint. There are many more constraints than people,
    so the bases of the simplex method are small: it takes half the time of the primal program. The prices of
    the rows are z.

    Attributes:
        cost: Of each column.
        matrix: A row for each person; there may be a last one that is not about a person.
        right: What each row must come to.
        bounds: The least and largest value of each column.
    """

    cost: Doubles
    matrix: Any
    right: Doubles
    bounds: Doubles

    def solve(self) -> Any:
        """Return the solution as scipy states it."""
        return import_scipy("optimize").linprog(
            self.cost,
            A_eq=self.matrix,
            b_eq=self.right,
            bounds=self.bounds,
            method="highs-ds",
            # There is nothing to be presolved in random questions.
            options={"presolve": False},
        )

    def bits(self, people: int) -> Doubles | None:
        """Return the bits as numbers from 0 to 1; None if no numbers meet the constraints."""
        solution = self.solve()
        return None if solution.status else np.asarray(0.5 + solution.eqlin.marginals[:people])


def build_chebyshev(subsets: Listed, answers: Doubles) -> DualProgram:
    """Minimise the largest |A x - a|. In the dual the weights of all answers sum to 1."""
    sparse, people = import_scipy("sparse"), subsets.shape[1]
    rows, offsets = _list_rows(subsets), _compute_offsets(subsets, answers)
    ones = sparse.csr_array(np.ones((2 * len(answers), 1)))
    questions = sparse.hstack([sparse.vstack([rows, -rows]), ones], format="csr")
    edges = sparse.hstack([_list_edges(people), sparse.csr_array((2 * people, 1))], format="csr")
    return DualProgram(
        np.concatenate([offsets, -offsets, np.full(2 * people, 0.5)]),
        sparse.vstack([questions, edges], format="csr").T,
        np.append(np.zeros(people), 1.0),
        _stack_bounds((2 * len(answers), 0.0, np.inf), (2 * people, 0.0, np.inf)),
    )


def build_absolute(subsets: Listed, answers: Doubles) -> DualProgram:
    """Minimise the sum of |A x - a|. In the dual the weight of an answer is between -1 and 1."""
    people = subsets.shape[1]
    return DualProgram(
        np.append(_compute_offsets(subsets, answers), np.full(2 * people, 0.5)),
        import_scipy("sparse").vstack([_list_rows(subsets), _list_edges(people)], format="csr").T,
        np.zeros(people),
        _stack_bounds((len(answers), -1.0, 1.0), (2 * people, 0.0, np.inf)),
    )


def build_feasible(subsets: Listed, answers: Doubles, bound: float, direction: Doubles) -> DualProgram:
    """Of all x with |A x - a| <= bound find the one farthest in a direction."""
    rows, offsets, people = _list_rows(subsets), _compute_offsets(subsets, answers), subsets.shape[1]
    return DualProgram(
        np.concatenate([bound + offsets, bound - offsets, np.full(2 * people, 0.5)]),
        import_scipy("sparse").vstack([rows, -rows, _list_edges(people)], format="csr").T,
        direction,
        _stack_bounds((2 * len(answers), 0.0, np.inf), (2 * people, 0.0, np.inf)),
    )


def _list_rows(subsets: Listed) -> Any:
    """Return the subsets as sparse rows."""
    members = subsets.matrix != 0
    ends = np.append(0, np.cumsum(np.count_nonzero(members, axis=1)))
    people = np.nonzero(members)[1].astype(np.int32)
    return import_scipy("sparse").csr_array(
        (np.ones(len(people)), people, ends.astype(np.int32)), shape=subsets.shape
    )


def _compute_offsets(subsets: Listed, answers: Doubles) -> Doubles:
    """Return by how much answers exceed half of those asked about: what they say of z = x - 1/2."""
    return np.asarray(answers - subsets.matrix.sum(axis=1, dtype=np.float64) / 2)


def _list_edges(people: int) -> Any:
    """Return the sparse rows of z <= 1/2 and -z <= 1/2."""
    eye = import_scipy("sparse").eye_array(people, format="csr")
    return import_scipy("sparse").vstack([eye, -eye], format="csr")


def _stack_bounds(*parts: tuple[int, float, float]) -> Doubles:
    return np.concatenate([np.tile([[low, high]], (count, 1)) for count, low, high in parts])
