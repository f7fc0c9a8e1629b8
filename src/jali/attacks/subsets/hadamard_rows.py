"""The subsets of Dwork and Yekhanin: the rows of a Hadamard matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles, Members
from jali.attacks.subsets.subsets import Subsets
from jali.attacks.transform import hadamard
from jali.errors import CatalogError


@dataclass(frozen=True)
class HadamardRows(Subsets):
    """Question i counts the people whose number j has an even number of ones in common with i: H[i, j] = +1.

    With H the Hadamard matrix of order n in Sylvester's form the matrix is (1 + H) / 2, and products with it take
    n log n steps. Row 0 is everybody.
    """

    people: int
    questions: int | None = None

    def __post_init__(self) -> None:
        if self.people < 1 or self.people & (self.people - 1):
            below = 1 << max(0, self.people.bit_length() - 1)
            raise CatalogError(
                f"n must be a power of two for Hadamard's questions, not {self.people}.",
                remedy=f"Take {below} or {2 * below}.",
            )

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        return self.people if self.questions is None else self.questions, self.people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return np.asarray((x.sum() + hadamard(x))[: len(self)] / 2)

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        padded = np.zeros(self.people)
        padded[: len(self)] = y
        return np.asarray((y.sum() + hadamard(padded)) / 2)

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        return np.asarray(np.bitwise_count(np.arange(self.people) & index) % 2 == 0)

    def first(self, count: int) -> HadamardRows:
        """Return the first questions."""
        return HadamardRows(self.people, count)
