"""Scores on a line that are constant or linear between breaks, and their values on a lattice."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.selection.piecewise_geometric import Whole, narrow
from jali.mechanisms.selection.scores import Scores, read_scores

Closed: TypeAlias = Literal["left", "right"]
_NO_LISTS = (str, bytes, Mapping, Set)
_NONE = Scores(np.empty(0, np.int64), Fraction(1))


class Piecewise:
    """A score on a line: scores[i] + slopes[i] * y between break i-1 and break i.

    Args:
        breaks: Where the score changes, in rising order; two that are equal enclose an empty piece. They may
            depend on the data: breaks outside the interval, or out of order, move to its ends or to the
            largest one before them.
        scores: One more than there are breaks.
        slopes: Likewise; 0 everywhere if not given.
        closed: Which end belongs to a piece: `left` for [break, next break), `right` for (break, next break].

    All numbers are exact: integers or Fractions.

    Example:
        >>> count_below = Piecewise(breaks=[3, 3, 8], scores=[0, 1, 2, 3], closed="right")
        >>> count_below.at(3), count_below.at(4)
        (Fraction(0, 1), Fraction(2, 1))
    """

    def __init__(
        self,
        *,
        breaks: Sequence[Any] | NDArray[Any] | Scores,
        scores: Sequence[Any] | NDArray[Any],
        slopes: Sequence[Any] | NDArray[Any] | None = None,
        closed: Closed = "left",
    ) -> None:
        self.breaks = _read_breaks(breaks)
        self.scores = read_scores(scores)
        self.slopes = None if slopes is None else read_scores(slopes, name="slopes")
        self.closed = closed
        if closed not in get_args(Closed):
            raise MechanismError("closed-side-unknown", closed=closed)
        for name, values in (("scores", self.scores), ("slopes", self.slopes)):
            if values is not None and len(values) != len(self.breaks) + 1:
                raise MechanismError("piecewise-entries-wrong", name=name)

    def __repr__(self) -> str:
        return f"Piecewise({len(self.scores)} pieces)"

    def at(self, y: Fraction | int) -> Fraction:
        """Return the score of a point."""
        find = bisect_right if self.closed == "left" else bisect_left
        place = find(self._exact_breaks, y)
        score = int(self.scores.integers[place]) * self.scores.unit
        return score if self.slopes is None else score + int(self.slopes.integers[place]) * self.slopes.unit * y

    @cached_property
    def _exact_breaks(self) -> list[Fraction]:
        rising = np.maximum.accumulate(self.breaks.integers)
        return [item * self.breaks.unit for item in rising.tolist()]


def _read_breaks(breaks: Sequence[Any] | NDArray[Any] | Scores) -> Scores:
    if isinstance(breaks, Scores):
        return breaks
    return read_if_any(breaks, name="breaks") or _NONE


def read_if_any(values: Any, step: Fraction | None = None, *, name: str) -> Scores | None:
    """Read a list or an array of numbers as `read_scores` does, but return None if it is empty."""
    is_array = hasattr(values, "__array__")
    if not is_array and (isinstance(values, _NO_LISTS) or not isinstance(values, Collection)):
        raise MechanismError("parameter-not-a-list-of-numbers", name=name, kind=type(values).__name__)
    shape = np.shape(values) if is_array else (len(values),)
    return None if shape == (0,) else read_scores(values, step, name=name)


@dataclass(frozen=True, eq=False)
class PiecewiseOnLattice:
    """A piecewise score on the points low + i step, i = 0 .. count - 1, in integers.

    Attributes:
        starts: The first i of each piece that has points.
        ends: One after the last i of each.
        bases: The score of point i of a piece is (base + rise i) * unit.
        rises: Likewise.
        unit: A rational above 0.
        places: Which piece of the score each one is.
    """

    starts: Whole
    ends: Whole
    bases: Whole
    rises: Whole
    unit: Fraction
    places: Whole

    @classmethod
    def of(cls, score: Piecewise, low: Fraction, step: Fraction, count: int) -> PiecewiseOnLattice:
        """Put a score on a lattice."""
        first = _find_first_points(score, low, step, count)
        starts, ends = np.append(np.zeros(1, np.int64), first), np.append(first, np.int64(count))
        bases, rises, unit = _read_lines(score, low, step, count)
        kept = np.flatnonzero(ends > starts)
        return cls(starts[kept], ends[kept], bases[kept], rises[kept], unit, kept)

    @cached_property
    def lengths(self) -> Whole:
        """How many points each piece has."""
        return np.asarray(self.ends - self.starts)

    @cached_property
    def tops(self) -> Whole:
        """The best score of each piece, in units."""
        return np.asarray(self.bases + self.rises * np.where(self.rises > 0, self.ends - 1, self.starts))

    def index(self, piece: int, offset: int) -> int:
        """Return the point that lies `offset` points from the best end of a piece."""
        rising = int(self.rises[piece]) > 0
        return int(self.ends[piece]) - 1 - offset if rising else int(self.starts[piece]) + offset


def _find_first_points(score: Piecewise, low: Fraction, step: Fraction, count: int) -> Whole:
    """Return, for each break, the first point beyond it: at or above it if pieces are closed on the left."""
    each, start = score.breaks.unit / step, low / step
    common = math.lcm(each.denominator, start.denominator)
    factor, shift = int(each * common), int(start * common)
    scaled = narrow(narrow(score.breaks.integers, factor) * factor, 2)
    if abs(shift) >= 1 << 61 or common >= 1 << 61:
        scaled = scaled.astype(object)
    beyond = -((shift - scaled) // common) if score.closed == "left" else (scaled - shift) // common + 1
    return np.maximum.accumulate(np.clip(beyond, 0, count)).astype(np.int64)


def _read_lines(score: Piecewise, low: Fraction, step: Fraction, count: int) -> tuple[Whole, Whole, Fraction]:
    """Return (bases, rises, unit): the score of point i is (base + rise i) * unit."""
    scores, slopes = score.scores, score.slopes
    if slopes is None:
        return scores.integers, np.zeros(len(scores), np.int64), scores.unit
    parts = scores.unit, slopes.unit * low, slopes.unit * step
    common = math.lcm(*(part.denominator for part in parts))
    one, at_low, per_point = (int(part * common) for part in parts)
    largest = _find_size(scores) * one + _find_size(slopes) * (abs(at_low) + per_point * count)
    kind = np.int64 if largest < 1 << 61 else object
    heights, slants = scores.integers.astype(kind), slopes.integers.astype(kind)
    return heights * one + slants * at_low, slants * per_point, Fraction(1, common)


def _find_size(scores: Scores) -> int:
    """Return the largest integer in size; at least 1, so that a factor fits if its product does."""
    return max(1, abs(int(scores.integers.min())), abs(int(scores.integers.max())))
