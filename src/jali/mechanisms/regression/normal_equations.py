"""The normal equations of a linear regression as integer sums, and the fit that solves them after the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.regression.column_axes import AxisMarks, ColumnAxis, sums_of_products
from jali.privacy.adjacency import Adjacency

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class NormalEquations:
    """Z'Z (its upper triangle) and Z'v, for rows (z, v) of marks between -grain and grain.

    Attributes:
        terms: How many columns Z has: the features and, first, one of `grain` throughout if there is an intercept.
        intercept: Whether there is one.
        adjacency: Under replace-one the number of people is public, and so is the first entry of Z'Z with an
            intercept: it is left out.
        grain: The largest mark.

    Guarantee:
        `squared_sensitivity` is the largest squared L2 distance between the sums of neighbouring tables.
    Proof:
        docs/proofs/regression.md, Theorem 1.
    """

    terms: int
    intercept: bool
    adjacency: Adjacency
    grain: int

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Which entries of Z'Z are released."""
        upper = [(i, j) for i in range(self.terms) for j in range(i, self.terms)]
        return tuple(upper[self.knows_people :])

    @property
    def knows_people(self) -> bool:
        """Whether the entry that counts people is public."""
        return self.intercept and self.adjacency is Adjacency.REPLACE_ONE

    @property
    def length(self) -> int:
        """How many sums are released."""
        return len(self.pairs) + self.terms

    @property
    def squared_sensitivity(self) -> int:
        """The square of the L2 sensitivity of the sums."""
        p = self.terms
        unit = p * (p + 3) // 2 if self.adjacency is Adjacency.ADD_REMOVE else (p + 1) ** 2 - (p % 2 == 0)
        return int(unit * self.grain**4)

    def sums(self, marks: AxisMarks) -> NDArray[Any]:
        """Return the sums of a table of marks, exactly; the target is its last column."""
        whole = np.full((len(marks), 1), self.grain, np.int64)
        rows = np.hstack([whole, marks]) if self.intercept else marks
        products = sums_of_products(rows[:, :-1], rows, self.grain)
        return np.array([*(products[i, j] for i, j in self.pairs), *products[:, -1]], dtype=object)

    def matrices(self, sums: tuple[int, ...], people: int | None) -> tuple[Matrix, Matrix]:
        """Return Z'Z and Z'v from (noisy) sums, in units of one person's largest share."""
        unit = self.grain**2
        left, right = np.zeros((self.terms, self.terms)), np.array([s / unit for s in sums[len(self.pairs) :]])
        if self.knows_people:
            left[0, 0] = people or 0
        for (i, j), total in zip(self.pairs, sums, strict=False):
            left[i, j] = left[j, i] = total / unit
        return left, right


TermInterval: TypeAlias = tuple[float, float]
UNBOUNDED: TermInterval = (-math.inf, math.inf)

_RARELY = 0.05  # how often the noise may exceed what the ridge is made for
_RAISED = 1.5  # the least eigenvalue is raised to so many times that noise: measured to be best
_ROUNDING = 2.0**-44  # what doubles may be off, as a share of the largest entry
_USUAL = 0.95  # the confidence that is shown
_CLEAR = 2.0  # intervals are given where it is so many times that noise


@dataclass(frozen=True, repr=False)
class Fit:
    """A line or a plane fitted to noisy normal equations: all of it is computed from what was released.

    Attributes:
        coefficients: One for each feature, in units of the target per unit of the feature.
        intercept: The constant term; None if there is none.
        ridge: What was added to the diagonal, in people: above 0 where the noise might exceed the data.
        covariance: Of what the noise did to (intercept, coefficients); empty where that is not clear.
        sums: The released integers.
    """

    coefficients: tuple[float, ...]
    intercept: float | None
    ridge: float
    covariance: tuple[tuple[float, ...], ...]
    sums: tuple[int, ...]

    def interval(self, confidence: float) -> tuple[TermInterval, ...]:
        """Return, for each coefficient on its own, where least squares on the clamped data lies.

        The intervals are about the noise added for privacy, not of how well the people stand for a population.
        They are unbounded where the noisy data do not clearly determine the coefficients.
        """
        return self._intervals(confidence)[self.intercept is not None :]

    def intercept_interval(self, confidence: float) -> TermInterval | None:
        """Return where the constant term of least squares on the clamped data lies; None if there is none."""
        return None if self.intercept is None else self._intervals(confidence)[0]

    def predict(self, row: Sequence[float]) -> float:
        """Return the fitted target of one row of features."""
        return math.fsum(c * x for c, x in zip(self.coefficients, row, strict=True)) + (self.intercept or 0.0)

    def __repr__(self) -> str:
        slopes = ", ".join(map(_format_term, self.coefficients, self.interval(_USUAL)))
        span = self.intercept_interval(_USUAL)
        constant = (
            "" if self.intercept is None or span is None else f"; intercept {_format_term(self.intercept, span)}"
        )
        return f"Fit({slopes}{constant}; 95 %)"

    def _intervals(self, confidence: float) -> tuple[TermInterval, ...]:
        reach = NormalDist().inv_cdf(1 - read_miss_probability(confidence) / 2)
        all_terms = (*(() if self.intercept is None else (self.intercept,)), *self.coefficients)
        if not self.covariance:
            return (UNBOUNDED,) * len(all_terms)
        spreads = [reach * math.sqrt(row[i]) for i, row in enumerate(self.covariance)]
        return tuple((term - spread, term + spread) for term, spread in zip(all_terms, spreads, strict=True))


def _format_term(term: float, span: TermInterval) -> str:
    """Write a coefficient and half the width of its interval."""
    return f"{term:.4g} ± {(span[1] - span[0]) / 2:.2g}"


def fit(
    equations: NormalEquations,
    axes: Sequence[ColumnAxis],
    sums: tuple[int, ...],
    stddev: float,
    people: int | None,
) -> Fit:
    """Solve noisy normal equations, with as much ridge as the noise makes necessary.

    Args:
        equations: What the sums mean.
        axes: The features and, last, the target.
        sums: The noisy sums.
        stddev: Of the noise on each sum, in units of one person's largest share.
        people: How many there are, where that is public.
    """
    left, right = equations.matrices(sums, people)
    noise = stddev * math.sqrt(equations.terms * math.log(2 * equations.terms**2 / _RARELY))
    noise = max(noise, _ROUNDING * (1 + float(np.abs(left).max())))  # or hardly any noise would leave it singular
    least = float(np.linalg.eigvalsh(left)[0])
    ridge = max(0.0, _RAISED * noise - least)
    scaled: Matrix = np.linalg.solve(left + ridge * np.eye(equations.terms), right).astype(np.float64)
    constants, factors = _to_units(axes, equations.intercept)
    terms = (constants + factors @ scaled).tolist()
    spread: Matrix | None = None
    if least >= _CLEAR * noise:
        inverse = factors @ np.linalg.inv(left)
        spread = inverse @ _residual_covariance(scaled, stddev, equations.knows_people) @ inverse.T
    return Fit(
        coefficients=tuple(terms[equations.intercept :]),
        intercept=terms[0] if equations.intercept else None,
        ridge=ridge,
        covariance=() if spread is None else tuple(map(tuple, spread.tolist())),
        sums=sums,
    )


def _residual_covariance(theta: Matrix, stddev: float, knows_people: bool) -> Matrix:
    """Return the covariance of e - E theta, for noise e on Z'v and symmetric noise E on Z'Z."""
    squares = theta**2
    spread = (1 + squares.sum()) * np.eye(len(theta)) + np.outer(theta, theta) - np.diag(squares)
    if knows_people:
        spread[0, 0] -= squares[0]
    return np.asarray(stddev**2 * spread)


def _to_units(axes: Sequence[ColumnAxis], intercept: bool) -> tuple[Any, Matrix]:
    """Return (c, F) so that c + F theta are the terms in the units of the data."""
    *features, target = axes
    slopes = [float(target.half / axis.half) for axis in features]
    if not intercept:
        return np.zeros(len(slopes)), np.diag(slopes)
    factors = np.diag([float(target.half), *slopes])
    factors[0, 1:] = [-slope * float(axis.middle) for slope, axis in zip(slopes, features, strict=True)]
    constants = np.zeros(len(axes))
    constants[0] = float(target.middle)
    return constants, factors
