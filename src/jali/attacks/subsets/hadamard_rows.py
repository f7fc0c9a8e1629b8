"""The subsets of Dwork and Yekhanin: the rows of a Hadamard matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jali.attacks.arrays import Doubles, Members
from jali.attacks.decoding.transform import hadamard
from jali.attacks.subsets.subsets import Subsets
from jali.errors import CatalogError

_ODD = (0x9E3779B1, 0x85EBCA6B, 0x9E3779B1)


@dataclass(frozen=True)
class HadamardRows(Subsets):
    """A question counts the people j who share an even number of ones with its row i of H: H[i, j] = +1.

    With H the Hadamard matrix of order n in Sylvester's form the matrix is (1 + H) / 2, and products with it take
    n log n steps. Row 0, which is everybody, comes first, and person 0 is in every row. The others come in a fixed
    order that looks random: the first 2**k rows of Sylvester's own order do not tell j from j + 2**k, so an
    attacker who is refused half of them learns no more than sums of pairs.
    """

    people: int
    questions: int | None = None

    def __post_init__(self) -> None:
        if self.people < 1 or self.people & (self.people - 1):
            below = 1 << max(0, self.people.bit_length() - 1)
            raise CatalogError(
                "attack-hadamard-size-wrong", people=self.people, below=below, above=2 * below, name="n"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        return self.people if self.questions is None else self.questions, self.people

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rows of H in the order in which they are asked."""
        return _scattered(np.arange(len(self)), self.people)

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return np.asarray((x.sum() + hadamard(x)[self.order]) / 2)

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        return np.asarray((y.sum() + self.contrast(y)) / 2)

    def contrast(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in less that over the others."""
        placed = np.zeros(self.people)
        placed[self.order] = y
        return hadamard(placed)

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        row = int(_scattered(np.array([index]), self.people)[0])
        return np.asarray(np.bitwise_count(np.arange(self.people) & row) % 2 == 0)

    def first(self, count: int) -> HadamardRows:
        """Return the first questions."""
        return self if count == len(self) else HadamardRows(self.people, count)


def _scattered(indices: NDArray[np.int64], people: int) -> NDArray[np.int64]:
    """Permute the numbers below a power of two, and leave 0 where it is.

    Products with odd numbers, and sums with one's own upper bits, are one to one.
    """
    numbers = indices.astype(np.uint32)
    for odd in _ODD:
        numbers *= np.uint32(odd)
        numbers &= np.uint32(people - 1)
        numbers ^= numbers >> np.uint32(people.bit_length() // 2)
    return numbers.astype(np.int64)
