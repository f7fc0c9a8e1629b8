"""Strategies for factorizations: which integer combinations of the cells are measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.workloads.convolution import convolve
from jali.mechanisms.workloads.workload import Floats, Intervals, Places
from jali.privacy.adjacency import Adjacency

_ROUNDS = 200
_SETTLED = 1e-9


class Strategy(ABC):
    """An invertible integer matrix G; the measurements are G x."""

    @abstractmethod
    def apply(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return G x, exactly."""

    @abstractmethod
    def squared_distance(self, adjacency: Adjacency) -> int:
        """Return the largest squared L2 distance of G x between neighbours, exactly."""

    @abstractmethod
    def solve(self, measurements: Floats) -> Floats:
        """Return the solution x of G x = y, in doubles."""

    @abstractmethod
    def rows(self, workload: Intervals, answer: int) -> Floats:
        """Return the row of W G^-1 that belongs to an answer: how the measurements enter it."""

    @property
    @abstractmethod
    def total(self) -> Floats:
        """The vector u with u y = 1 x for y = G x: how the measurements enter the total."""

    @abstractmethod
    def variances(self, workload: Intervals, pinned: bool) -> Floats:
        """Return the variances of all answers for noise of variance 1, with or without a public total."""


@dataclass(frozen=True, eq=False)
class Dense(Strategy):
    """A matrix written out, for few cells."""

    matrix: Places

    def apply(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Multiply in int64, or in Python integers where a sum could overflow."""
        most = max(abs(int(cells.min())), abs(int(cells.max())), 1)
        largest = int(np.abs(self.matrix).max())
        roomy = cells.dtype != object and most * largest * len(cells) < 1 << 62
        return np.asarray(self.matrix @ cells if roomy else self.matrix.astype(object) @ cells.astype(object))

    def squared_distance(self, adjacency: Adjacency) -> int:
        """Read the distances from G'G; columns are about `grain` <= 2^24 long."""
        # Every partial sum is an integer of at most |G e_i| |G e_j| < 2^51, so that doubles add them exactly.
        whole = self.matrix.astype(np.float64)
        gram = np.rint(whole.T @ whole).astype(np.int64)
        lengths = np.diagonal(gram)
        if adjacency is Adjacency.ADD_REMOVE:
            return int(lengths.max())
        return max(1, int((lengths[:, None] + lengths[None, :] - 2 * gram).max()))

    @cached_property
    def _inverse(self) -> Floats:
        try:
            return np.asarray(np.linalg.inv(self.matrix.astype(np.float64)))
        except np.linalg.LinAlgError:
            raise MechanismError("grain-too-coarse") from None

    def solve(self, measurements: Floats) -> Floats:
        """Multiply by the inverse."""
        return np.asarray(self._inverse @ measurements)

    def rows(self, workload: Intervals, answer: int) -> Floats:
        """Return a row of W G^-1."""
        return np.asarray(workload.weights(answer) @ self._inverse)

    @property
    def total(self) -> Floats:
        """The sums of the columns of the inverse."""
        return np.asarray(self._inverse.sum(axis=0))

    def variances(self, workload: Intervals, pinned: bool) -> Floats:
        """Return the squared lengths of the rows of W G^-1."""
        rows = workload.matrix() @ self._inverse
        lost = (rows @ self.total) ** 2 / (self.total @ self.total) if pinned else 0.0
        return np.asarray(np.maximum(np.einsum("ij,ij->i", rows, rows) - lost, 0.0))


@dataclass(frozen=True, eq=False)
class Toeplitz(Strategy):
    """A lower triangular matrix with constant diagonals g_0 > g_1 > ... >= 0, for the thresholds of many cells."""

    first: Places

    def apply(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Convolve, exactly."""
        return convolve(self.first, cells)[: len(self.first)] if cells.any() else np.zeros_like(self.first)

    def squared_distance(self, adjacency: Adjacency) -> int:
        """The first column is the longest; the first and another are furthest apart at some lag.

        Proof:
            docs/proofs/factorization.md, Lemma 2.
        """
        g = self.first
        lengths = np.cumsum(g.astype(object) ** 2)
        if adjacency is Adjacency.ADD_REMOVE or len(g) == 1:
            return int(lengths[-1])
        overlaps = convolve(g, g[::-1])[len(g) :]
        return int((lengths[-1] + lengths[-2::-1] - 2 * overlaps.astype(object)).max())

    @cached_property
    def back(self) -> Floats:
        """The first column b of M G^-1, where M sums: the series 1 / ((1-x) g(x))."""
        steps = np.diff(self.first.astype(np.float64), prepend=0.0)
        return inverse_series(steps)

    def solve(self, measurements: Floats) -> Floats:
        """Return the differences of the thresholds b * y."""
        return np.diff(_filter(self.back, measurements), prepend=0.0)

    def rows(self, workload: Intervals, answer: int) -> Floats:  # noqa: ARG002 - thresholds only
        """Return a row of M G^-1: b backwards."""
        row = np.zeros(len(self.first))
        row[: answer + 1] = self.back[answer::-1]
        return row

    @property
    def total(self) -> Floats:
        """The last row of M G^-1."""
        return self.back[::-1]

    def variances(self, workload: Intervals, pinned: bool) -> Floats:  # noqa: ARG002 - thresholds only
        """Return sums of squares of b."""
        lengths = np.cumsum(self.back**2)
        if not pinned:
            return np.asarray(lengths)
        overlaps = _filter(self.back[::-1], self.back)
        return np.asarray(np.maximum(lengths - overlaps**2 / lengths[-1], 0.0))


def optimal(workload: Intervals, grain: int) -> Dense:
    """Return the strategy with the least total variance for a workload W, under unit columns.

    Guarantee:
        With v the fixed point of v = diag((D^½ W'W D^½)^½), D = diag(v), the Gram matrix
        X = D^-½ (D^½ W'W D^½)^½ D^-½ has a unit diagonal and minimises tr(W X^-1 W') (Denisov et al. 2022).
        The matrix is only a good choice: privacy and error are computed from what it was rounded to.
    """
    queries = workload.matrix().astype(np.float64)
    gram = queries.T @ queries
    scale = np.sqrt(np.diagonal(gram))
    for _ in range(_ROUNDS):
        root = _root(np.sqrt(scale)[:, None] * gram * np.sqrt(scale))
        half, change = np.sqrt(scale), np.diagonal(root) / scale
        # The map takes c v to sqrt(c) times its value at v: a double step settles the scale at once.
        scale = scale * change**2
        if np.abs(change - 1).max() <= _SETTLED:
            break
    factor = np.linalg.cholesky(root / half[:, None] / half).T
    return Dense(np.rint(grain * factor / np.linalg.norm(factor, axis=0)).astype(np.int64))


def square_root(cells: int, grain: int) -> Toeplitz:
    """Return the square root of the matrix of ones below the diagonal: f_0 = 1, f_k = f_{k-1} (1 - 1/(2k))."""
    k = np.arange(1, cells)
    ideal = np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * k))])
    return Toeplitz(np.rint(grain * ideal).astype(np.int64))


def inverse_series(series: Floats) -> Floats:
    """Return the power series 1 / series, by Newton's iteration with fast transforms."""
    inverse = np.array([1 / series[0]])
    while len(inverse) < len(series):
        length = min(2 * len(inverse), len(series))
        longer = np.concatenate([inverse, np.zeros(length - len(inverse))])
        error = -_filter(series[:length], longer)
        error[0] += 2
        inverse = _filter(longer, error)
    return inverse


def _filter(one: Floats, other: Floats) -> Floats:
    """Return the first terms of a convolution, in doubles."""
    size = 1 << (2 * len(one) - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)
    return np.asarray(product[: len(one)])


def _root(matrix: Floats) -> Floats:
    """Return the square root of a symmetric matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
