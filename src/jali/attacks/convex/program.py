"""Linear programs over bits, solved by HiGHS (Huangfu and Hall 2018) in scipy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.solvers import scipy
from jali.attacks.subsets.listed import Listed


@dataclass(frozen=True, eq=False)
class Program:
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
        return scipy("optimize").linprog(
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


def chebyshev(subsets: Listed, answers: Doubles) -> Program:
    """Minimise the largest |A x - a|. In the dual the weights of all answers sum to 1."""
    sparse, people = scipy("sparse"), subsets.shape[1]
    rows, offsets = _rows(subsets), _offsets(subsets, answers)
    ones = sparse.csr_array(np.ones((2 * len(answers), 1)))
    questions = sparse.hstack([sparse.vstack([rows, -rows]), ones], format="csr")
    edges = sparse.hstack([_edges(people), sparse.csr_array((2 * people, 1))], format="csr")
    return Program(
        np.concatenate([offsets, -offsets, np.full(2 * people, 0.5)]),
        sparse.vstack([questions, edges], format="csr").T,
        np.append(np.zeros(people), 1.0),
        _bounds((2 * len(answers), 0.0, np.inf), (2 * people, 0.0, np.inf)),
    )


def absolute(subsets: Listed, answers: Doubles) -> Program:
    """Minimise the sum of |A x - a|. In the dual the weight of an answer is between -1 and 1."""
    people = subsets.shape[1]
    return Program(
        np.append(_offsets(subsets, answers), np.full(2 * people, 0.5)),
        scipy("sparse").vstack([_rows(subsets), _edges(people)], format="csr").T,
        np.zeros(people),
        _bounds((len(answers), -1.0, 1.0), (2 * people, 0.0, np.inf)),
    )


def feasible(subsets: Listed, answers: Doubles, bound: float, direction: Doubles) -> Program:
    """Of all x with |A x - a| <= bound find the one farthest in a direction."""
    rows, offsets, people = _rows(subsets), _offsets(subsets, answers), subsets.shape[1]
    return Program(
        np.concatenate([bound + offsets, bound - offsets, np.full(2 * people, 0.5)]),
        scipy("sparse").vstack([rows, -rows, _edges(people)], format="csr").T,
        direction,
        _bounds((2 * len(answers), 0.0, np.inf), (2 * people, 0.0, np.inf)),
    )


def _rows(subsets: Listed) -> Any:
    """Return the subsets as sparse rows."""
    members = subsets.matrix != 0
    ends = np.append(0, np.cumsum(np.count_nonzero(members, axis=1)))
    people = np.nonzero(members)[1].astype(np.int32)
    return scipy("sparse").csr_array((np.ones(len(people)), people, ends.astype(np.int32)), shape=subsets.shape)


def _offsets(subsets: Listed, answers: Doubles) -> Doubles:
    """Return by how much answers exceed half of those asked about: what they say of z = x - 1/2."""
    return np.asarray(answers - subsets.matrix.sum(axis=1, dtype=np.float64) / 2)


def _edges(people: int) -> Any:
    """Return the sparse rows of z <= 1/2 and -z <= 1/2."""
    eye = scipy("sparse").eye_array(people, format="csr")
    return scipy("sparse").vstack([eye, -eye], format="csr")


def _bounds(*parts: tuple[int, float, float]) -> Doubles:
    return np.concatenate([np.tile([[low, high]], (count, 1)) for count, low, high in parts])
