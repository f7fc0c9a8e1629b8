"""Subsets that are listed in a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.attacks.arrays import Doubles, Members
from jali.attacks.subsets.subsets import Subsets
from jali.errors import CatalogError


@dataclass(frozen=True, eq=False)
class Listed(Subsets):
    """Subsets as the rows of a matrix of zeros and ones.

    The matrix is kept in single precision: counts of fewer than 2**24 people are exact in it, and products with
    it run at the speed of the memory.

    Example:
        >>> Listed.of([[1, 1, 0], [0, 1, 1]]).matvec(np.array([1.0, 0.0, 1.0])).tolist()
        [1.0, 1.0]
    """

    matrix: NDArray[np.float32]

    @classmethod
    def of(cls, rows: object) -> Listed:
        """List subsets, given as anything that is like a matrix of zeros and ones."""
        try:
            matrix = np.asarray(rows, np.float32)
        except (TypeError, ValueError):
            raise _unlike(f"not {type(rows).__name__}") from None
        if matrix.ndim != 2:
            raise _unlike(f"not an array of {matrix.ndim} dimensions")
        if not ((matrix == 0) | (matrix == 1)).all():
            raise _unlike("without other numbers")
        return cls(np.ascontiguousarray(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        questions, people = self.matrix.shape
        return questions, people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return self.matrix @ np.asarray(x, np.float32)

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        return np.asarray(y, np.float32) @ self.matrix

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        return np.asarray(self.matrix[index] != 0)

    def first(self, count: int) -> Listed:
        """Return the first questions."""
        return Listed(self.matrix[:count])


def listed(questions: Subsets | ArrayLike, people: int) -> Subsets:
    """Return questions as an oracle takes them: subsets as they are, and a matrix of zeros and ones as a list."""
    subsets = questions if isinstance(questions, Subsets) else Listed.of(questions)
    if subsets.shape[1] != people:
        raise CatalogError("attack-questions-width-wrong", width=subsets.shape[1], people=people)
    return subsets


def _unlike(how: str) -> CatalogError:
    return CatalogError("attack-questions-malformed", reason=how)


def random_subsets(questions: int, people: int, *, seed: int | None = None) -> Listed:
    """Draw subsets that hold every person with probability 1/2."""
    # A child of the seed: the secret may come from the same one.
    (random,) = np.random.default_rng(seed).spawn(1)
    bits = np.frombuffer(random.bytes(-(-questions * people // 8)), np.uint8)
    rows = np.unpackbits(bits, count=questions * people).reshape(questions, people)
    return Listed(np.ascontiguousarray(rows, np.float32))
