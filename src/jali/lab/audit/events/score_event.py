"""Outputs with a high score: a sum of weights that many numbers of the output earn.

Scores are learned by logistic regression on the cells into which the numbers of the output fall.

The log-odds of the two inputs are fitted as a sum of weights, one for each cell of each feature. Where the numbers
are independent that form is right; where they are not, it is the nearest of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.events.output_event import OutputEvent
from jali.lab.audit.events.propose_events import place_marks
from jali.lab.audit.subject import Outputs

# This many rows at a time stay in the processor's cache.
_ROWS = 1 << 14
# More features than this are counted and not named.
_SPELLED = 3


@dataclass(frozen=True)
class Feature:
    """A number of the output, or the difference of two.

    Attributes:
        column: Which number.
        minus: Which number is taken from it; None: none.
    """

    column: int
    minus: int | None = None

    def __str__(self) -> str:
        own = f"number {self.column + 1} of the output"
        return own if self.minus is None else f"{own} minus number {self.minus + 1} of the output"

    def of(self, outputs: Outputs) -> NDArray[np.float64]:
        """Return its values."""
        if self.minus is None:
            return outputs[:, self.column]
        with np.errstate(invalid="ignore"):
            return np.asarray(outputs[:, self.column] - outputs[:, self.minus])


@dataclass(frozen=True)
class ScorePart:
    """The weight that one feature earns, by the cell it falls into.

    Attributes:
        feature: The feature.
        edges: The upper ends of all cells but the last, which is open.
        weights: One for each cell, and one for NaN.
    """

    feature: Feature
    edges: tuple[float, ...]
    weights: tuple[float, ...]

    def of(self, outputs: Outputs) -> NDArray[np.float64]:
        """Return the weights."""
        return np.asarray(self.weights)[find_cells(self.feature.of(outputs), self.edges)]


@dataclass(frozen=True)
class Score(OutputEvent):
    """A sum of weights is at least a threshold.

    Weights that are the logarithms of ratios of probabilities make it the best test for independent numbers
    (Neyman and Pearson 1933).

    Attributes:
        parts: What earns weights.
        at: The threshold.
    """

    kind: ClassVar[str] = "score"

    parts: tuple[ScorePart, ...]
    at: float

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        return sum_weights(self.parts, outputs) >= self.at

    def __str__(self) -> str:
        return f"a learned score of {self._describe_parts} is at least {self.at:.4g}"

    @property
    def _describe_parts(self) -> str:
        """Say which numbers it is made of, or how many."""
        if len(self.parts) <= _SPELLED:
            return " and ".join(str(part.feature) for part in self.parts)
        plain = sum(part.feature.minus is None for part in self.parts)
        counted = ((plain, "number"), (len(self.parts) - plain, "difference"))
        said = " and ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in counted if count)
        return f"{said} of numbers of the output" if plain < len(self.parts) else f"{said} of the output"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"kind": self.kind, "at": self.at, "parts": [_part_to_dict(part) for part in self.parts]}

    @classmethod
    def of_dict(cls, made: dict[str, Any]) -> Self:
        """Make it again of what `to_dict` returned."""
        return cls(tuple(_part_of_dict(part) for part in made["parts"]), float(made["at"]))


def find_cells(values: NDArray[np.float64], edges: tuple[float, ...]) -> NDArray[np.intp]:
    """Return the cell of each value; that of NaN is beyond the last one.

    Example:
        >>> find_cells(np.array([0.0, 1.0, 5.0, np.inf, np.nan]), (0.0, 2.0)).tolist()
        [0, 1, 2, 2, 3]
    """
    # NaN sorts behind infinity.
    return np.searchsorted(np.array((*edges, np.inf)), values)


def sum_weights(parts: tuple[ScorePart, ...], outputs: Outputs) -> NDArray[np.float64]:
    """Return the sums of weights."""
    total = np.zeros(len(outputs))
    for start in range(0, len(outputs), _ROWS):
        rows = slice(start, start + _ROWS)
        for part in parts:
            total[rows] += part.of(outputs[rows])
    return total


def _part_to_dict(part: ScorePart) -> dict[str, Any]:
    feature = part.feature
    return {
        "column": feature.column,
        "minus": feature.minus,
        "edges": list(part.edges),
        "weights": list(part.weights),
    }


def _part_of_dict(made: dict[str, Any]) -> ScorePart:
    feature = Feature(made["column"], made["minus"])
    return ScorePart(feature, tuple(map(float, made["edges"])), tuple(map(float, made["weights"])))


Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]

_MOST_FEATURES = 48
# The curvature of the likelihood changes little; a part of the sample tells it.
_FOR_CURVATURE = 1 << 15
_STEPS = 12
_CLOSE = 1e-4


@dataclass(frozen=True)
class ScoreShape:
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


SCORE_SHAPES = (
    ScoreShape(2, even=True),
    ScoreShape(2),
    ScoreShape(8),
    ScoreShape(16),
    ScoreShape(2, columns=False, differences=True, even=True),
    ScoreShape(8, columns=False, differences=True),
    ScoreShape(8, differences=True),
)


def fit_score(shape: ScoreShape, first: Outputs, second: Outputs) -> tuple[ScorePart, ...]:
    """Return the parts of a score that is high under the first input; none where nothing varies."""
    both = np.concatenate([first, second])
    divided = list(_divide_features(shape, both))
    if not divided:
        return ()
    signs = np.repeat([1.0, -1.0], [len(first), len(second)])
    weights = _regress([codes for _, _, codes in divided], [len(edges) + 2 for _, edges, _ in divided], signs)
    parts = (
        ScorePart(feature, edges, tuple((_make_even(each) if shape.even else each).tolist()))
        for (feature, edges, _), each in zip(divided, weights, strict=True)
    )
    return tuple(parts)


def _divide_features(shape: ScoreShape, outputs: Outputs) -> Iterable[tuple[Feature, tuple[float, ...], Codes]]:
    """Yield features that vary, with the edges of their cells, and the cell of each output."""
    quantiles = np.arange(1, shape.cells) / shape.cells
    for feature in _list_features(shape, outputs.shape[1])[:_MOST_FEATURES]:
        values = feature.of(outputs)
        edges = tuple(place_marks(values, quantiles, shape.cells).tolist())
        codes = find_cells(values, edges)
        if codes.min() < codes.max():
            yield feature, edges, codes


def _list_features(shape: ScoreShape, width: int) -> list[Feature]:
    columns = [Feature(column) for column in range(width)] if shape.columns else []
    # The first number is the difference to nothing.
    start = [] if shape.columns else [Feature(0)]
    return columns + (start + [Feature(k, k - 1) for k in range(1, width)] if shape.differences else [])


def _make_even(weights: Floats) -> Floats:
    return np.sign(weights)


def _regress(codes: Sequence[Codes], sizes: Sequence[int], signs: Floats) -> list[Floats]:
    """Return the weights of a logistic regression on cells, shrunk by what one run in each cell would weigh.

    Each step minimises a quadratic function that lies above minus the likelihood, as its curvature is at most that
    with all probabilities at 1/2 (Böhning and Lindsay 1988).
    """
    ends = np.cumsum(sizes)
    curvature = _compute_gram(codes, sizes) * (len(signs) / 4) + np.eye(int(ends[-1]))
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


def _compute_gram(codes: Sequence[Codes], sizes: Sequence[int]) -> Floats:
    """Return how large a share of outputs is in each two cells at once."""
    every = max(1, len(codes[0]) // _FOR_CURVATURE)
    ends = np.cumsum([0, *sizes])
    table = np.zeros((len(codes[0][::every]), int(ends[-1])), np.float32)
    rows = np.arange(len(table))
    for code, start in zip(codes, ends[:-1], strict=True):
        table[rows, start + code[::every]] = 1
    return np.asarray(table.T @ table, np.float64) / len(table)
