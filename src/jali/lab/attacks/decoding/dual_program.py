"""Build linear programs over bits, solved by HiGHS (Huangfu and Hall 2018) in scipy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.lab.attacks.arrays import Doubles, import_scipy
from jali.lab.attacks.subsets.random_subsets import Listed


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
