"""Answer thresholds and other intervals from correlated measurements with Gaussian noise: matrix factorizations.

A strategy says which integer combinations of the cells are measured. Integer series are convolved exactly, by one
multiplication of very long numbers: the standard library's decimal numbers are multiplied with number-theoretic
transforms, integers only, no rounding, in time n log n. A trap makes sure that no digit is ever lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen, read_natural, read_parameter
from jali.mechanisms.workloads.linear_release import (
    LinearRelease,
    WorkloadAnswers,
    convert_to_doubles,
    read_public_total,
)
from jali.mechanisms.workloads.workload import Floats, IntervalWorkload, Places, Thresholds, read_interval_workload
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

# Python writes integers of at most 4300 digits; wider ones are multiplied one by one.
_WIDEST = 4000
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation])


def convolve(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the convolution of two integer vectors, exactly: int64 where all of it fits, else Python ints.

    Example:
        >>> convolve(np.array([1, 2]), np.array([10, -1]))
        array([10, 19, -2])
    """
    parts = [sign * _convolve_nonnegative(a, b) for sign, a, b in _convolve_signed(one, other)]
    total = sum(parts, np.zeros(len(one) + len(other) - 1, dtype=object))
    most = max(abs(total.min()), abs(total.max()))
    return total.astype(np.int64) if most < 1 << 62 else total


def _convolve_signed(one: NDArray[Any], other: NDArray[Any]) -> list[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Split a product of signed vectors into products of nonnegative ones."""
    ones, others = _split_signs(one), _split_signs(other)
    return [(s * t, a, b) for s, a in ones for t, b in others]


def _split_signs(vector: NDArray[Any]) -> list[tuple[int, NDArray[Any]]]:
    if vector.dtype != object and int(vector.min()) == -(1 << 63):
        vector = vector.astype(object)  # int64 has no number to take for minus its least
    plus, minus = np.maximum(vector, 0), np.maximum(-vector, 0)
    return [(sign, part) for sign, part in ((1, plus), (-1, minus)) if part.any()]


def _convolve_nonnegative(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the convolution of nonnegative vectors, as Python ints."""
    most = int(one.max()) * int(other.max()) * min(len(one), len(other))
    width = most.bit_length() * 302 // 1000 + 1
    if width > _WIDEST:
        return np.convolve(one.astype(object), other.astype(object))
    digits = str(_EXACT.multiply(_write_as_number(one, width), _write_as_number(other, width)))
    count = len(one) + len(other) - 1
    digits = digits.zfill(width * count)
    # The last coefficient is written first: a number begins with its highest digits.
    slots = [int(digits[i : i + width]) for i in range(0, width * count, width)]
    return np.array(slots[::-1], dtype=object)


def _write_as_number(vector: NDArray[Any], width: int) -> Decimal:
    """Write the entries side by side, `width` digits each."""
    written = "".join([str(item).zfill(width) for item in vector.tolist()[::-1]])
    return _EXACT.create_decimal(written)


_ROUNDS = 200
_SETTLED = 1e-9


class MatrixStrategy(ABC):
    """An invertible integer matrix G; the measurements are G x."""

    @abstractmethod
    def apply(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return G x, exactly."""

    @abstractmethod
    def distance_squared(self, adjacency: Adjacency) -> int:
        """Return the largest squared L2 distance of G x between neighbours, exactly."""

    @abstractmethod
    def solve(self, measurements: Floats) -> Floats:
        """Return the solution x of G x = y, in doubles."""

    @abstractmethod
    def rows(self, workload: IntervalWorkload, answer: int) -> Floats:
        """Return the row of W G^-1 that belongs to an answer: how the measurements enter it."""

    @property
    @abstractmethod
    def total(self) -> Floats:
        """The vector u with u y = 1 x for y = G x: how the measurements enter the total."""

    @abstractmethod
    def variances(self, workload: IntervalWorkload, pinned: bool) -> Floats:
        """Return the variances of all answers for noise of variance 1, with or without a public total."""


@dataclass(frozen=True, eq=False)
class DenseStrategy(MatrixStrategy):
    """A matrix written out, for few cells."""

    matrix: Places

    def apply(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Multiply in int64, or in Python integers where a sum could overflow."""
        most = max(abs(int(cells.min())), abs(int(cells.max())), 1)
        largest = int(np.abs(self.matrix).max())
        roomy = cells.dtype != object and most * largest * len(cells) < 1 << 62
        return np.asarray(self.matrix @ cells if roomy else self.matrix.astype(object) @ cells.astype(object))

    def distance_squared(self, adjacency: Adjacency) -> int:
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

    def rows(self, workload: IntervalWorkload, answer: int) -> Floats:
        """Return a row of W G^-1."""
        return np.asarray(workload.weights(answer) @ self._inverse)

    @property
    def total(self) -> Floats:
        """The sums of the columns of the inverse."""
        return np.asarray(self._inverse.sum(axis=0))

    def variances(self, workload: IntervalWorkload, pinned: bool) -> Floats:
        """Return the squared lengths of the rows of W G^-1."""
        rows = workload.matrix() @ self._inverse
        lost = (rows @ self.total) ** 2 / (self.total @ self.total) if pinned else 0.0
        return np.asarray(np.maximum(np.einsum("ij,ij->i", rows, rows) - lost, 0.0))


@dataclass(frozen=True, eq=False)
class ToeplitzStrategy(MatrixStrategy):
    """A lower triangular matrix with constant diagonals g_0 > g_1 > ... >= 0, for the thresholds of many cells."""

    first: Places

    def apply(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Convolve, exactly."""
        return convolve(self.first, cells)[: len(self.first)] if cells.any() else np.zeros_like(self.first)

    def distance_squared(self, adjacency: Adjacency) -> int:
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
        return invert_series(steps)

    def solve(self, measurements: Floats) -> Floats:
        """Return the differences of the thresholds b * y."""
        return np.diff(_convolve_doubles(self.back, measurements), prepend=0.0)

    def rows(self, workload: IntervalWorkload, answer: int) -> Floats:  # noqa: ARG002 - thresholds only
        """Return a row of M G^-1: b backwards."""
        row = np.zeros(len(self.first))
        row[: answer + 1] = self.back[answer::-1]
        return row

    @property
    def total(self) -> Floats:
        """The last row of M G^-1."""
        return self.back[::-1]

    def variances(self, workload: IntervalWorkload, pinned: bool) -> Floats:  # noqa: ARG002 - thresholds only
        """Return sums of squares of b."""
        lengths = np.cumsum(self.back**2)
        if not pinned:
            return np.asarray(lengths)
        overlaps = _convolve_doubles(self.back[::-1], self.back)
        return np.asarray(np.maximum(lengths - overlaps**2 / lengths[-1], 0.0))


def find_optimal_strategy(workload: IntervalWorkload, grain: int) -> DenseStrategy:
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
        root = _compute_matrix_root(np.sqrt(scale)[:, None] * gram * np.sqrt(scale))
        half, change = np.sqrt(scale), np.diagonal(root) / scale
        # The map takes c v to sqrt(c) times its value at v: a double step settles the scale at once.
        scale = scale * change**2
        if np.abs(change - 1).max() <= _SETTLED:
            break
    factor = np.linalg.cholesky(root / half[:, None] / half).T
    return DenseStrategy(np.rint(grain * factor / np.linalg.norm(factor, axis=0)).astype(np.int64))


def compute_square_root(cells: int, grain: int) -> ToeplitzStrategy:
    """Return the square root of the matrix of ones below the diagonal: f_0 = 1, f_k = f_{k-1} (1 - 1/(2k))."""
    k = np.arange(1, cells)
    ideal = np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * k))])
    return ToeplitzStrategy(np.rint(grain * ideal).astype(np.int64))


def invert_series(series: Floats) -> Floats:
    """Return the power series 1 / series, by Newton's iteration with fast transforms."""
    inverse = np.array([1 / series[0]])
    while len(inverse) < len(series):
        length = min(2 * len(inverse), len(series))
        longer = np.concatenate([inverse, np.zeros(length - len(inverse))])
        error = -_convolve_doubles(series[:length], longer)
        error[0] += 2
        inverse = _convolve_doubles(longer, error)
    return inverse


def _convolve_doubles(one: Floats, other: Floats) -> Floats:
    """Return the first terms of a convolution, in doubles."""
    size = 1 << (2 * len(one) - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)
    return np.asarray(product[: len(one)])


def _compute_matrix_root(matrix: Floats) -> Floats:
    """Return the square root of a symmetric matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


OPTIMAL = "optimal"
SQUARE_ROOT = "square-root"
# Up to so many cells the optimal strategy is found in about a second.
_FEW_CELLS = 128
_MOST_CELLS = 1024
_FINEST = 1 << 24


@dataclass(frozen=True, repr=False)
class Factorization(LinearRelease):
    """Measure integer combinations G x of the cells with Gaussian noise, and answer with W G^-1.

    Args:
        workload: What is asked: Thresholds; or, with the optimal strategy, a Histogram or Ranges.
        rho: The loss, in zCDP.
        adjacency: When two histograms are neighbours.
        strategy: "optimal" (least total variance under add-remove, up to 1024 cells) or "square-root" (thresholds
            of any number of cells); by default optimal for at most 128 cells or if it is the only one.
        grain: How many integer steps stand for 1 in the strategy, which is rounded to them. A fine grain
            costs nothing but longer integers.
        total: The number of people, where it is public (replace-one).

    Guarantee:
        The release is rho-zCDP: G x is computed in integers, and the noise is calibrated to the largest distance
        of two columns of G itself, in exact arithmetic.
    Proof:
        docs/proofs/factorization.md, after Denisov, McMahan, Rush, Smith and Thakurta 2022, Theorem 3.2.

    Error:
        The variance of every answer is the squared length of its row of W G^-1 times the noise's variance;
        `error` bounds the quantile of the answer with the largest variance, or of a given one.

    Example:
        >>> from jali.mechanisms import Factorization
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = Factorization(workload=Thresholds(16), rho="1/2", adjacency="add-remove")
        >>> round(mechanism.rms, 4)
        1.6894
        >>> len(mechanism.release([5] * 16).answers)
        16
    """

    workload: IntervalWorkload
    rho: Fraction
    adjacency: Adjacency
    strategy: str
    grain: int
    total: int | None

    epsilon = None

    def __init__(
        self,
        *,
        workload: IntervalWorkload,
        rho: Number,
        adjacency: str | Adjacency,
        strategy: str | None = None,
        grain: int = 1 << 20,
        total: int | None = None,
    ) -> None:
        self._fill(
            workload=read_interval_workload(workload),
            rho=read_parameter(rho, "rho"),
            adjacency=Adjacency.of(adjacency),
        )
        self._fill(total=read_public_total(total, self.adjacency), grain=_read_grain(grain))
        self._fill(strategy=_choose_strategy(strategy, workload))
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def measured(self) -> MatrixStrategy:
        """The integer matrix that is measured."""
        if self.strategy == OPTIMAL:
            return find_optimal_strategy(self.workload, self.grain)
        return compute_square_root(self.workload.cells, self.grain)

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """The squared L2 distance, exactly; the L1 distance is of no use here."""
        squared = Fraction(self.measured.distance_squared(self.adjacency))
        return squared, squared

    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return G x, exactly."""
        return self.measured.apply(histogram)

    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Solve for the cells; a public total corrects the measurements along u first."""
        noisy = convert_to_doubles(measurements)
        if self.total is not None:
            u = self.measured.total
            noisy = noisy + u * ((self.total - u @ noisy) / (u @ u))
        return WorkloadAnswers(self.workload, measurements, self.measured.solve(noisy))

    def influence(self, answer: int) -> Floats:
        """Return the coefficients of the noises in an answer."""
        row = self.measured.rows(self.workload, answer)
        if self.total is None:
            return row
        u = self.measured.total
        return np.asarray(row - u * ((row @ u) / (u @ u)))

    def variances(self) -> Floats:
        """Return the variance of every answer."""
        return self.measured.variances(self.workload, self.total is not None) * self.law.stddev**2

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two cells on a coarse lattice, with both strategies and in both adjacencies."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        joined, moved = (((3, 1), (4, 1)),), (((2, 1), (1, 2)),)
        root = cls(workload=two, rho=1, adjacency=add, strategy=SQUARE_ROOT, grain=2)
        best = cls(workload=two, rho=2, adjacency=replace, strategy=OPTIMAL, grain=4, total=3)
        return Specimen(root, add, joined), Specimen(best, replace, moved)


def _read_grain(grain: int) -> int:
    if read_natural(grain, "grain") > _FINEST:
        raise MechanismError("parameter-too-large", most=_FINEST, value=grain, name="grain")
    return int(grain)


def _choose_strategy(strategy: str | None, workload: IntervalWorkload) -> str:
    """Choose or check a strategy, from the workload alone."""
    toeplitz, small = isinstance(workload, Thresholds), workload.cells <= _MOST_CELLS
    if strategy is None:
        strategy = SQUARE_ROOT if toeplitz and workload.cells > _FEW_CELLS else OPTIMAL
    if strategy not in {OPTIMAL, SQUARE_ROOT}:
        raise MechanismError("strategy-unknown", strategy=strategy)
    if strategy == SQUARE_ROOT and not toeplitz:
        raise MechanismError("strategy-for-thresholds")
    if strategy == OPTIMAL and not small:
        raise MechanismError("strategy-too-many-cells", most=_MOST_CELLS)
    return strategy
