"""Subsets of a few people each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.attacks.arrays import Doubles, Members
from jali.attacks.solvers import scipy
from jali.attacks.subsets.subsets import Subsets


@dataclass(frozen=True, eq=False)
class Sparse(Subsets):
    """Subsets as the rows of a sparse matrix of scipy, which is compressed by rows."""

    matrix: Any

    @classmethod
    def of(cls, rows: object) -> Sparse:
        """List subsets, given as anything that is like a matrix of zeros and ones."""
        return cls(scipy("sparse").csr_array(np.asarray(rows, np.float64)))

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        questions, people = self.matrix.shape
        return questions, people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return np.asarray(self.matrix @ np.asarray(x, np.float64))

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        return np.asarray(self.matrix.T @ np.asarray(y, np.float64))

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        start, stop = self.matrix.indptr[index : index + 2]
        members = np.zeros(self.shape[1], np.bool_)
        members[self.matrix.indices[start:stop]] = True
        return members

    def first(self, count: int) -> Sparse:
        """Return the first questions."""
        return Sparse(self.matrix[:count])


def parted_subsets(questions: int, people: int, members: int, *, seed: int | None = None) -> Sparse:
    """Part the people at random into groups of equal size, or one less, again and again; each group is a subset.

    So everybody is in equally many subsets, and no subset holds a person twice.
    """
    groups = -(-people // members)
    rounds = -(-questions // groups)
    # A child of the seed: the secret may come from the same one.
    (random,) = np.random.default_rng(seed).spawn(1)
    order = np.concatenate([random.permutation(people).astype(np.int32) for _ in range(rounds)])
    edges = np.arange(groups) * people // groups
    starts = np.append((people * np.arange(rounds)[:, None] + edges).reshape(-1), rounds * people)[: questions + 1]
    inside = order[: starts[-1]]
    return Sparse(
        scipy("sparse").csr_array(
            (np.ones(len(inside)), inside, starts.astype(np.int32)), shape=(questions, people)
        )
    )
