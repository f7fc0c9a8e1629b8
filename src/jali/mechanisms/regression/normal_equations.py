"""The normal equations of a linear regression, as integer sums of which each person moves a little."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.regression.axis import Marks, sums_of_products
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

    def sums(self, marks: Marks) -> NDArray[Any]:
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
