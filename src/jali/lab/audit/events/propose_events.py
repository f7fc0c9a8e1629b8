"""Propose events that distinguish two inputs: intervals of single numbers, repeated outputs, and high scores.

A score is a sum of weights that many numbers of the output earn.
Scores are learned by logistic regression on the cells into which the numbers of the output fall. The log-odds of
the two inputs are fitted as a sum of weights, one for each cell of each feature. Where the numbers are
independent that form is right; where they are not, it is the nearest of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.events.event_rates import EventAim
from jali.lab.audit.events.output_event import Atom, Between, OutputEvent, Threshold, hash_rows
from jali.lab.audit.subject import Outputs

Floats: TypeAlias = NDArray[np.float64]

# So few distinct numbers are all distinguished; otherwise these quantiles are.
_FEW = 40
_TAILS = 0.5 ** np.arange(5, 13)
_QUANTILES = np.sort(np.concatenate([_TAILS, 1 - _TAILS, np.arange(1, 16) / 16]))
_LOOKED_AT = 1 << 16
# Many intervals are compared on one sample, and what looks best there was lucky too: the more so, the rarer it is.
# Several degrees of caution propose; another sample decides.
CAUTIONS = (1.0, 2.0, 3.5, 6.0)


def propose_intervals(first: Outputs, second: Outputs, aim: EventAim, most: int) -> list[OutputEvent]:
    """Return the intervals, of different numbers, that promise most to be likelier under the first input."""
    varying = np.flatnonzero(~is_constant(np.concatenate([first, second]))).tolist()
    found = [_choose_intervals(first[:, column], second[:, column], column, aim) for column in varying]
    ranked = sorted((one for one in found if one), key=lambda one: -one[-1][0])
    return [event for one in ranked[:most] for _, event in one]


def is_constant(outputs: Outputs) -> NDArray[np.bool_]:
    """Return which numbers are the same in all outputs: they tell nothing."""
    return np.asarray((outputs == outputs[:1]).all(axis=0))


def _choose_intervals(
    first: Floats, second: Floats, column: int, aim: EventAim
) -> list[tuple[float, OutputEvent]]:
    """Try all intervals that end at marks, and return the best with each degree of caution."""
    marks = place_marks(np.concatenate([first, second]))
    if not len(marks):
        return []
    hits, others = (np.concatenate([[0], np.cumsum(_count_cells(values, marks))]) for values in (first, second))
    start, end = np.triu_indices(len(marks) + 2, 1)
    found: dict[int, float] = {}
    for caution in CAUTIONS:
        promise = aim.promise(hits[end] - hits[start], others[end] - others[start], len(first), caution)
        best = int(promise.argmax())
        found[best] = float(promise[best])
    return [(promise, _make_event(column, marks, int(start[k]), int(end[k]))) for k, promise in found.items()]


def _count_cells(values: Floats, marks: Floats) -> NDArray[np.intp]:
    """Return how many values are in each cell: up to the first mark, and behind each."""
    return np.bincount(np.searchsorted(marks, values[~np.isnan(values)]), minlength=len(marks) + 1)


def _make_event(column: int, marks: Floats, start: int, end: int) -> OutputEvent:
    low = float(np.nextafter(marks[start - 1], np.inf)) if start else None
    high = float(marks[end - 1]) if end <= len(marks) else None
    if low is None:
        return Threshold(column, float(np.finfo(np.float64).max) if high is None else high, above=False)
    return Threshold(column, low) if high is None else Between(column, low, high)


def place_marks(values: Floats, quantiles: Floats = _QUANTILES, few: int = _FEW) -> Floats:
    """Return marks that divide numbers into cells: each of few, or quantiles of many."""
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    finite = np.sort(some[np.isfinite(some)])
    if not len(finite):
        return finite
    distinct = finite[np.flatnonzero(np.diff(finite, prepend=np.nan))]
    if len(distinct) <= few:
        return distinct[:-1] if len(distinct) > 1 else distinct
    return _separate_ties(finite, quantiles)


def _separate_ties(ordered: Floats, quantiles: Floats) -> Floats:
    """Return quantiles; a number that is several of them is put into a cell of its own."""
    marks = ordered[(quantiles * (len(ordered) - 1)).astype(np.intp)]
    heavy = [one for one, other in pairwise(marks) if one == other]
    return np.unique(np.concatenate([marks, np.nextafter(heavy, -np.inf)])) if heavy else np.unique(marks)


# Outputs that occur less often say nothing yet; and a set has at most this many.
_LEAST, _MOST = 10, 1000
_ROWS_LOOKED_AT = 1 << 17


def propose_repeated_outputs(first: Outputs, second: Outputs, aim: EventAim) -> list[OutputEvent]:
    """Return sets of repeated outputs that promise most to be likelier under the first input, if there are any.

    By Neyman and Pearson 1933 the best sets hold all outputs whose ratio of probabilities exceeds some number;
    among those, the size decides.
    """
    first, second = first[:_ROWS_LOOKED_AT], second[:_ROWS_LOOKED_AT]
    keys, start, where = np.unique(
        hash_rows(np.concatenate([first, second])), return_index=True, return_inverse=True
    )
    hits = np.bincount(where[: len(first)], minlength=len(keys))
    others = np.bincount(where[len(first) :], minlength=len(keys))
    often = np.flatnonzero(hits + others >= _LEAST)
    if not len(often):
        return []
    # One more of each keeps rare outputs from looking certain.
    order = often[np.argsort(-(hits[often] + 0.5) / (others[often] + 0.5))][:_MOST]
    sums = np.cumsum(hits[order]), np.cumsum(others[order])
    sizes = {int(aim.promise(*sums, len(first), caution).argmax()) + 1 for caution in CAUTIONS}
    rows = np.concatenate([first, second])
    return [Atom(tuple(tuple(row) for row in rows[start[order[:size]]].tolist())) for size in sorted(sizes)]


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
