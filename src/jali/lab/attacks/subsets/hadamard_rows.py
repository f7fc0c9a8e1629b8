"""Ask the subsets of Dwork and Yekhanin, the rows of a Hadamard matrix, by the Walsh-Hadamard transform."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles, Members
from jali.lab.attacks.subsets.subset_operators import Subsets

# Factors of at most 2**5: four passes for a million numbers. Products of 128 columns stay in the cache, and are
# too small for BLAS to wake its threads, which wait longer for one another than the products take.
_EXPONENT = 5
_COLUMNS = 128


def transform_hadamard(x: Doubles) -> Doubles:
    """Return H x for the Hadamard matrix of order len(x), a power of two, in Sylvester's form.

    Sylvester's matrix of order a b is the Kronecker product of those of orders a and b, so H x is a pass over x
    for each factor of its order. Single precision stays single; everything else is computed in double.

    Example:
        >>> transform_hadamard(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
        [2.0, 0.0, 0.0, 2.0]
    """
    kind = np.float32 if x.dtype == np.float32 else np.float64
    source: Doubles = np.asarray(x, kind)
    spare: list[Doubles] = [np.empty(len(x), kind), np.empty(len(x), kind)]
    width = 1
    for order in _split_order(len(x)):
        target = spare.pop()
        _multiply_axis(source, target, build_sylvester(order).astype(kind), width)
        if width > 1:
            spare.append(source)
        source, width = target, width * order
    return source.copy() if source is x else source


@cache
def build_sylvester(order: int) -> Doubles:
    """Return the matrix itself, for a small order: +1 where row and column share an even number of ones.

    Example:
        >>> build_sylvester(2).tolist()
        [[1.0, 1.0], [1.0, -1.0]]
    """
    numbers = np.arange(order)
    odd = np.bitwise_count(numbers[:, None] & numbers) & 1
    return np.asarray(1.0 - 2.0 * odd)


def _split_order(order: int) -> list[int]:
    """Split an order into few factors of about the same size."""
    exponent = order.bit_length() - 1
    passes = -(-exponent // _EXPONENT)
    return [1 << ((exponent + index) // passes) for index in range(passes)]


def _multiply_axis(source: Doubles, target: Doubles, matrix: Doubles, width: int) -> None:
    """Multiply along one axis: that of numbers which are `width` apart."""
    order = len(matrix)
    if width == 1:
        shape = (-1, min(_COLUMNS, len(source) // order), order)
        np.matmul(source.reshape(shape), matrix, out=target.reshape(shape))
    else:
        columns = min(_COLUMNS, width)
        blocks = (-1, order, width // columns, columns)
        np.matmul(matrix, source.reshape(blocks).swapaxes(1, 2), out=target.reshape(blocks).swapaxes(1, 2))


_ODD_FACTORS = (0x9E3779B1, 0x85EBCA6B, 0x9E3779B1)


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
        return _scatter(np.arange(len(self)), self.people)

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return np.asarray((x.sum() + transform_hadamard(x)[self.order]) / 2)

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        return np.asarray((y.sum() + self.contrast(y)) / 2)

    def contrast(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in less that over the others."""
        placed = np.zeros(self.people)
        placed[self.order] = y
        return transform_hadamard(placed)

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        row = int(_scatter(np.array([index]), self.people)[0])
        return np.asarray(np.bitwise_count(np.arange(self.people) & row) % 2 == 0)

    def first(self, count: int) -> HadamardRows:
        """Return the first questions."""
        return self if count == len(self) else HadamardRows(self.people, count)


def _scatter(indices: NDArray[np.int64], people: int) -> NDArray[np.int64]:
    """Permute the numbers below a power of two, and leave 0 where it is.

    Products with odd numbers, and sums with one's own upper bits, are one to one.
    """
    numbers = indices.astype(np.uint32)
    for odd in _ODD_FACTORS:
        numbers *= np.uint32(odd)
        numbers &= np.uint32(people - 1)
        numbers ^= numbers >> np.uint32(people.bit_length() // 2)
    return numbers.astype(np.int64)
