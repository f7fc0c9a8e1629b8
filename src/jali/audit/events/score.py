"""Outputs with a high score: a sum of weights that many numbers of the output earn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.event import Event
from jali.audit.subject import Outputs

# So many rows at a time stay in the processor's cache.
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
class Part:
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
        return np.asarray(self.weights)[cells(self.feature.of(outputs), self.edges)]


@dataclass(frozen=True)
class Score(Event):
    """A sum of weights is at least a threshold.

    Weights that are the logarithms of ratios of probabilities make it the best test for independent numbers
    (Neyman and Pearson 1933).

    Attributes:
        parts: What earns weights.
        at: The threshold.
    """

    kind: ClassVar[str] = "score"

    parts: tuple[Part, ...]
    at: float

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        return score(self.parts, outputs) >= self.at

    def __str__(self) -> str:
        return f"a learned score of {self._made_of} is at least {self.at:.4g}"

    @property
    def _made_of(self) -> str:
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


def cells(values: NDArray[np.float64], edges: tuple[float, ...]) -> NDArray[np.intp]:
    """Return the cell of each value; that of NaN is beyond the last one.

    Example:
        >>> cells(np.array([0.0, 1.0, 5.0, np.inf, np.nan]), (0.0, 2.0)).tolist()
        [0, 1, 2, 2, 3]
    """
    # NaN sorts behind infinity.
    return np.searchsorted(np.array((*edges, np.inf)), values)


def score(parts: tuple[Part, ...], outputs: Outputs) -> NDArray[np.float64]:
    """Return the sums of weights."""
    total = np.zeros(len(outputs))
    for start in range(0, len(outputs), _ROWS):
        rows = slice(start, start + _ROWS)
        for part in parts:
            total[rows] += part.of(outputs[rows])
    return total


def _part_to_dict(part: Part) -> dict[str, Any]:
    feature = part.feature
    return {
        "column": feature.column,
        "minus": feature.minus,
        "edges": list(part.edges),
        "weights": list(part.weights),
    }


def _part_of_dict(made: dict[str, Any]) -> Part:
    feature = Feature(made["column"], made["minus"])
    return Part(feature, tuple(map(float, made["edges"])), tuple(map(float, made["weights"])))
