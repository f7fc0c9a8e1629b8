"""Draw random subsets, and store them as a matrix, as bits (eight people to a byte), or as a sparse matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles, Members, import_scipy
from jali.lab.attacks.subsets.subset_operators import Subsets


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
            raise _refuse_questions(f"not {type(rows).__name__}") from None
        if matrix.ndim != 2:
            raise _refuse_questions(f"not an array of {matrix.ndim} dimensions")
        if not ((matrix == 0) | (matrix == 1)).all():
            raise _refuse_questions("without other numbers")
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


def read_subsets(questions: Subsets | ArrayLike, people: int) -> Subsets:
    """Return questions as an oracle takes them: subsets as they are, and a matrix of zeros and ones as a list."""
    subsets = questions if isinstance(questions, Subsets) else Listed.of(questions)
    if subsets.shape[1] != people:
        raise CatalogError("attack-questions-width-wrong", width=subsets.shape[1], people=people)
    return subsets


def _refuse_questions(how: str) -> CatalogError:
    return CatalogError("attack-questions-malformed", reason=how)


def random_subsets(questions: int, people: int, *, seed: int | None = None) -> Listed:
    """Draw subsets that hold every person with probability 1/2."""
    # A child of the seed: the secret may come from the same one.
    (random,) = np.random.default_rng(seed).spawn(1)
    bits = np.frombuffer(random.bytes(-(-questions * people // 8)), np.uint8)
    rows = np.unpackbits(bits, count=questions * people).reshape(questions, people)
    return Listed(np.ascontiguousarray(rows, np.float32))


# All subsets of eight people, the first of whom is the highest bit.
_SUBSETS_OF_EIGHT = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Packed(Subsets):
    """Subsets as bits: the byte at [g, i] says which of the people 8 g to 8 g + 7 are in subset i.

    A sum over a subset is a sum over its bytes of one of 256 numbers, which are looked up (the method of the four
    Russians: Arlazarov, Dinic, Kronrod and Faradzev 1970). For 40,000 subsets of 10,000 people a product reads
    50 MB where a matrix in single precision has 1.6 GB, and is faster for it.

    Example:
        >>> Packed.of([[1, 1, 0], [0, 1, 1]]).matvec(np.array([1.0, 0.0, 1.0])).tolist()
        [1.0, 1.0]
    """

    bits: NDArray[np.uint8]
    people: int

    @classmethod
    def of(cls, rows: object) -> Packed:
        """Pack subsets, given as anything that is like a matrix of zeros and ones."""
        matrix = np.asarray(rows, np.bool_)
        return cls(np.ascontiguousarray(np.packbits(matrix, axis=1).T), matrix.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        return self.bits.shape[1], self.people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        padded = np.zeros(8 * len(self.bits))
        padded[: self.people] = x
        total = np.zeros(len(self))
        for sums, bits in zip(padded.reshape(-1, 8) @ _SUBSETS_OF_EIGHT.T, self.bits, strict=True):
            total += sums.take(bits)
        return total

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        sums = np.empty((len(self.bits), 256))
        for each, bits in zip(sums, self.bits, strict=True):
            each[:] = np.bincount(bits, y, 256)
        return np.asarray((sums @ _SUBSETS_OF_EIGHT).reshape(-1)[: self.people])

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        return np.unpackbits(self.bits[:, index], count=self.people).astype(np.bool_)

    def first(self, count: int) -> Packed:
        """Return the first questions."""
        return Packed(self.bits[:, :count], self.people)


def draw_packed_subsets(questions: int, people: int, *, seed: int | None = None) -> Packed:
    """Draw subsets that hold every person with probability 1/2."""
    groups = -(-people // 8)
    # A child of the seed: the secret may come from the same one.
    (random,) = np.random.default_rng(seed).spawn(1)
    words = random.bit_generator.random_raw(-(-groups * questions // 8))
    return Packed(np.asarray(words).view(np.uint8)[: groups * questions].reshape(groups, questions), people)


@dataclass(frozen=True, eq=False)
class Sparse(Subsets):
    """Subsets as the rows of a sparse matrix of scipy, which is compressed by rows."""

    matrix: Any

    @classmethod
    def of(cls, rows: object) -> Sparse:
        """List subsets, given as anything that is like a matrix of zeros and ones."""
        return cls(import_scipy("sparse").csr_array(np.asarray(rows, np.float64)))

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


def draw_sparse_subsets(questions: int, people: int, members: int, *, seed: int | None = None) -> Sparse:
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
        import_scipy("sparse").csr_array(
            (np.ones(len(inside)), inside, starts.astype(np.int32)), shape=(questions, people)
        )
    )
