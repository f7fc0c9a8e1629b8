"""Numbers that agree: the cells whose sums are nearest to what was released, none below 0 where they are counts.

Statement:
    Released are y_b = G_b P_b x + noise, where P_b sums cells into the numbers of release b. The cells x minimise
    the sum over b of |y_b - G_b P_b x|^2 / v_b, v_b being the variance of the noise. The steps of the search are
    x_c - gradient_c / m_c with m = |A|' V^-1 |A| 1: diag(m) is above the matrix of the quadratic form, so that no
    step increases it; Nesterov's acceleration starts again whenever it would.
Proof:
    docs/proofs/batches.md, Theorem 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
_STEPS = 3000
_ENOUGH = 1e-6
# The search runs after payment: it may take so much work, in cells of releases, and takes so many steps at least.
_WORK, _FEWEST = 1 << 30, 50
# Several releases are looked at as one matrix of up to so many numbers.
_FEW, _DENSE = 8, 1 << 22
# Sums of cells must be exact in doubles, so that totals equal sums to the last digit.
_BITS = 52
_FINEST = 20


@dataclass(frozen=True)
class Block:
    """One release as a linear form of the cells.

    Attributes:
        places: In which of its numbers each cell counts; -1 for none.
        values: What was released: one row for each group.
        variance: That of the noise of each number.
        matrix: What was measured of the numbers of a group; None for the numbers themselves.
        size: How many numbers there are.
    """

    places: NDArray[np.int64]
    values: Floats
    variance: float
    matrix: Floats | None
    size: int

    def sums(self, cells: NDArray[Any]) -> Floats:
        """Return the numbers of the cells; exact where all sums of them are whole numbers below 2^53."""
        return np.asarray(np.bincount(self.places + 1, weights=cells, minlength=self.size + 1)[1:], np.float64)

    def forward(self, cells: Floats) -> Floats:
        """Return what would be released without noise."""
        sums = self.sums(cells)
        return sums if self.matrix is None else (sums.reshape(-1, self.matrix.shape[1]) @ self.matrix.T).ravel()

    def back(self, residuals: Floats, matrix: Floats | None) -> Floats:
        """Return the transpose of `forward` at residuals, over the variance."""
        each = residuals if matrix is None else (residuals.reshape(-1, matrix.shape[0]) @ matrix).ravel()
        return np.where(self.places >= 0, each[self.places], 0.0) / self.variance


def fitted(
    blocks: Sequence[Block],
    allowed: NDArray[np.bool_],
    *,
    positive: bool,
    start: Floats | None = None,
    steps: int = _STEPS,
) -> Floats:
    """Return the cells of least squares; those that are not allowed are 0."""
    scale, slope = _steps(blocks, allowed.size), _slope(blocks, allowed.size)
    cells = np.zeros(allowed.size) if start is None else start
    ahead, momentum = cells, 1.0
    for _ in range(min(steps, max(_FEWEST, _WORK // (len(blocks) * allowed.size)))):
        moved = np.where(allowed, ahead - slope(ahead) / scale, 0.0)
        found = np.maximum(moved, 0.0) if positive else moved
        change = found - cells
        if np.sum((ahead - found) * scale * change) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = found + (momentum - 1) / following * change
        cells, momentum = found, following
        if np.max(np.abs(change) * np.sqrt(scale), initial=0.0) < _ENOUGH:
            break
    return cells


def _steps(blocks: Sequence[Block], size: int) -> Floats:
    found = np.full(size, 1e-300)
    for block in blocks:
        inside = np.abs(block.matrix) if block.matrix is not None else None
        ones = Block(block.places, block.values, block.variance, inside, block.size)
        found += ones.back(ones.forward(np.ones(size)), inside)
    return found


def _slope(blocks: Sequence[Block], size: int) -> Callable[[Floats], Floats]:
    """Return the gradient as a function of the cells: by one matrix of all releases where it is small enough."""
    if len(blocks) < _FEW or size * sum(block.values.size for block in blocks) > _DENSE:
        return lambda cells: gradient(blocks, cells)
    weights = np.concatenate([np.full(block.values.size, block.variance**-0.5) for block in blocks])
    matrix = np.concatenate([_rows(block) for block in blocks]) * weights[:, None]
    values = np.concatenate([block.values for block in blocks]) * weights
    return lambda cells: np.asarray((matrix @ cells - values) @ matrix, np.float64)


def _rows(block: Block) -> Floats:
    """Return a release as the rows of a matrix over the cells."""
    sums: Floats = (block.places == np.arange(block.size)[:, None]).astype(np.float64)
    if block.matrix is None:
        return sums
    groups = sums.reshape(-1, block.matrix.shape[1], sums.shape[1])
    return np.asarray(np.einsum("ij,gjc->gic", block.matrix, groups).reshape(-1, sums.shape[1]), np.float64)


def gradient(blocks: Sequence[Block], cells: Floats) -> Floats:
    """Return half of the gradient of the sum of squares."""
    found = np.zeros(cells.size)
    for block in blocks:
        found += block.back(block.forward(cells) - block.values, block.matrix)
    return found


def distance(blocks: Sequence[Block], cells: Floats) -> float:
    """Return the sum of squares, in units of the variances."""
    return float(sum(np.sum((b.forward(cells) - b.values) ** 2) / b.variance for b in blocks))


def on_lattice(cells: Floats) -> tuple[Floats, int]:
    """Return whole numbers of a power of two that sum without rounding, and how many bits that is below 1."""
    whole = float(np.abs(cells).sum()) + 1
    bits = min(_FINEST, _BITS - int(np.ceil(np.log2(whole))))
    return np.asarray(np.round(np.ldexp(cells, bits)), np.float64), bits
