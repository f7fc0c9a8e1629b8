"""Scores that are learned: logistic regression on the cells into which the numbers of the output fall.

The log-odds of the two inputs are fitted as a sum of weights, one for each cell of each feature. Where the numbers
are independent that form is right; where they are not, it is the nearest of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.intervals import grid
from jali.audit.events.score import Feature, Part, cells
from jali.audit.subject import Outputs

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_MOST_FEATURES = 48
# The curvature of the likelihood changes little; a part of the sample tells it.
_FOR_CURVATURE = 1 << 15
_STEPS = 12
_CLOSE = 1e-4


@dataclass(frozen=True)
class Shape:
    """What a score is made of.

    Attributes:
        cells: How many cells a feature is divided into.
        columns: Whether the numbers themselves are features.
        differences: Whether the differences of neighbouring numbers are.
        even: Whether all weights get one size, so that only their signs are learned: the least noisy of all.
    """

    cells: int
    columns: bool = True
    differences: bool = False
    even: bool = False


SHAPES = (
    Shape(2, even=True),
    Shape(2),
    Shape(8),
    Shape(16),
    Shape(2, columns=False, differences=True, even=True),
    Shape(8, columns=False, differences=True),
    Shape(8, differences=True),
)


def fit(shape: Shape, first: Outputs, second: Outputs) -> tuple[Part, ...]:
    """Return the parts of a score that is high under the first input; none where nothing varies."""
    both = np.concatenate([first, second])
    divided = list(_divided(shape, both))
    if not divided:
        return ()
    signs = np.repeat([1.0, -1.0], [len(first), len(second)])
    weights = _regressed([codes for _, _, codes in divided], [len(edges) + 2 for _, edges, _ in divided], signs)
    parts = (
        Part(feature, edges, tuple((_even(each) if shape.even else each).tolist()))
        for (feature, edges, _), each in zip(divided, weights, strict=True)
    )
    return tuple(parts)


def _divided(shape: Shape, outputs: Outputs) -> Iterable[tuple[Feature, tuple[float, ...], Codes]]:
    """Yield features that vary, with the edges of their cells, and the cell of each output."""
    quantiles = np.arange(1, shape.cells) / shape.cells
    for feature in _features(shape, outputs.shape[1])[:_MOST_FEATURES]:
        values = feature.of(outputs)
        edges = tuple(grid(values, quantiles, shape.cells).tolist())
        codes = cells(values, edges)
        if codes.min() < codes.max():
            yield feature, edges, codes


def _features(shape: Shape, width: int) -> list[Feature]:
    columns = [Feature(column) for column in range(width)] if shape.columns else []
    # The first number is the difference to nothing.
    start = [] if shape.columns else [Feature(0)]
    return columns + (start + [Feature(k, k - 1) for k in range(1, width)] if shape.differences else [])


def _even(weights: Floats) -> Floats:
    return np.sign(weights)


def _regressed(codes: Sequence[Codes], sizes: Sequence[int], signs: Floats) -> list[Floats]:
    """Return the weights of a logistic regression on cells, shrunk by what one run in each cell would weigh.

    Each step minimises a quadratic function that lies above minus the likelihood, as its curvature is at most that
    with all probabilities at 1/2 (Böhning and Lindsay 1988).
    """
    ends = np.cumsum(sizes)
    curvature = _gram(codes, sizes) * (len(signs) / 4) + np.eye(int(ends[-1]))
    inverse = np.linalg.inv(curvature)
    weights = np.zeros(int(ends[-1]))
    for _ in range(_STEPS):
        split = np.split(weights, ends[:-1])
        scores = sum((one[code] for one, code in zip(split, codes, strict=True)), np.zeros(len(signs)))
        with np.errstate(over="ignore"):
            pull = signs / (1 + np.exp(signs * scores))
        gradient = np.concatenate([np.bincount(code, pull, size) for code, size in zip(codes, sizes, strict=True)])
        step = inverse @ (gradient - weights)
        weights += step
        if np.abs(step).max() < _CLOSE * np.abs(weights).max():
            break
    return np.split(weights, ends[:-1])


def _gram(codes: Sequence[Codes], sizes: Sequence[int]) -> Floats:
    """Return how large a share of outputs is in each two cells at once."""
    every = max(1, len(codes[0]) // _FOR_CURVATURE)
    ends = np.cumsum([0, *sizes])
    table = np.zeros((len(codes[0][::every]), int(ends[-1])), np.float32)
    rows = np.arange(len(table))
    for code, start in zip(codes, ends[:-1], strict=True):
        table[rows, start + code[::every]] = 1
    return np.asarray(table.T @ table, np.float64) / len(table)
