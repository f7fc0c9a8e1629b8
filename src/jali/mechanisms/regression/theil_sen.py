"""The private Theil-Sen line, from medians of the lines through random pairs of people."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import (
    LogMasses,
    PureMechanism,
    Specimen,
    read_miss_probability,
    read_natural,
    read_parameter,
)
from jali.mechanisms.regression.below_median import BelowMedian
from jali.mechanisms.regression.column_axes import (
    GRAIN,
    AxisMarks,
    ColumnAxis,
    ColumnRange,
    read_grain,
    read_range,
    read_table,
)
from jali.mechanisms.regression.normal_equations import TermInterval
from jali.mechanisms.selection.interval_exponential import IntervalExponential
from jali.mechanisms.selection.piecewise_scores import Piecewise
from jali.numbers.rounding import float_above, float_below
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits

OrderIndices: TypeAlias = NDArray[np.intp]
PersonPairs: TypeAlias = tuple[tuple[int, int], ...]


def random_orders(rows: int, people: int, bits: BitSource) -> OrderIndices:
    """Return independent uniform random orders of 0 .. people - 1, one in each row.

    An order is that of random words, all of which are drawn again if any two of a row are equal.

    Guarantee:
        Every order has the same probability, and so has every matching that `sides_of` makes of it.
    Proof:
        docs/proofs/theil_sen.md, Lemma 1.
    """
    while True:
        words = bits.words(rows * people).reshape(rows, people)
        orders = np.argsort(words, axis=1)
        ranked = np.take_along_axis(words, orders, axis=1)
        if not (ranked[:, 1:] == ranked[:, :-1]).any():
            return orders


def sides_of(orders: OrderIndices) -> tuple[OrderIndices, OrderIndices]:
    """Return the left and right sides of all pairs: the first half of each order with the second, in turn.

    The last person is left out where the number is odd.
    """
    half = orders.shape[1] // 2
    return orders[:, :half].ravel(), orders[:, half : 2 * half].ravel()


def all_matchings(people: tuple[int, ...]) -> Iterator[PersonPairs]:
    """Yield each matching of floor(n/2) pairs once: for few people."""
    if len(people) < 2:
        yield ()
        return
    first, rest = people[0], people[1:]
    for partner in rest:
        left = tuple(other for other in rest if other != partner)
        yield from (((first, partner), *pairs) for pairs in all_matchings(left))
    if len(people) % 2:
        yield from all_matchings(rest)


Band: TypeAlias = tuple[int, int]
Bands: TypeAlias = tuple[Band, Band]


def intervals_of(
    axes: tuple[ColumnAxis, ColumnAxis], marks: tuple[int, int], bands: Bands
) -> tuple[TermInterval, TermInterval]:
    """Return the intervals of slope and intercept, both of them linear in the heights; the line is within.

    Args:
        axes: The feature and the target.
        marks: The marks of the line at a quarter and at three quarters of the feature's range.
        bands: The marks below and above at the same places.
    """
    across, up = axes
    heights = [
        (up.at(min(low, mark)), up.at(max(high, mark))) for mark, (low, high) in zip(marks, bands, strict=True)
    ]
    per_height, aside = 1 / across.half, across.middle / across.half - Fraction(1, 2)
    return _sum(heights, (-per_height, per_height)), _sum(heights, (1 + aside, -aside))


def _sum(heights: list[tuple[Fraction, Fraction]], factors: tuple[Fraction, Fraction]) -> TermInterval:
    """Return the least and the largest sum of factors times heights, rounded outwards."""
    parts = [sorted((low * factor, high * factor)) for (low, high), factor in zip(heights, factors, strict=True)]
    (low, high), (other_low, other_high) = parts
    return float_below(low + other_low), float_above(high + other_high)


HeightRelease: TypeAlias = tuple[IntervalExponential, Piecewise, int]
Heights: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

_MOST_MATCHINGS = 1000
_LINE = Fraction(2, 3)  # what the line itself may spend, where intervals are bought too


@dataclass(frozen=True, repr=False)
class Line:
    """A line through two released points.

    Attributes:
        slope: In units of the target per unit of the feature.
        intercept: The target where the feature is 0.
        points: The two points, at a quarter and at three quarters of the feature's range.
        marks: The released marks of the target at these.
        bands: The released marks below and above the line at these, where a confidence was asked for.
        intervals: Of the slope and of the intercept, likewise.
    """

    slope: float
    intercept: float
    points: tuple[tuple[float, float], tuple[float, float]]
    marks: tuple[int, int]
    bands: Bands | None = None
    intervals: tuple[TermInterval, TermInterval] | None = None

    def predict(self, x: float) -> float:
        """Return the target of the line at a value of the feature."""
        return self.slope * x + self.intercept

    def __repr__(self) -> str:
        if self.intervals is None:
            return f"Line(slope {self.slope:.4g}, intercept {self.intercept:.4g})"
        (low, high), (least, most) = self.intervals
        slope = f"slope {self.slope:.4g} in [{low:.4g}, {high:.4g}]"
        return f"Line({slope}, intercept {self.intercept:.4g} in [{least:.4g}, {most:.4g}])"

    def interval(self) -> tuple[TermInterval, TermInterval] | None:
        """Return where slope and intercept of the line without noise lie; None if no confidence was asked for.

        With the confidence of the mechanism both hold at once, for the line through the medians of all pairs that
        were drawn, on the lattice and in the range of the target. They are about the noise added for privacy, not
        of the randomness of the matchings, nor of how well the people stand for a population.
        """
        return self.intervals


@dataclass(frozen=True, repr=False)
class TheilSen(PureMechanism):
    """Fit a line to one feature, little moved by outliers: medians of the lines through random pairs of people.

    People are matched in pairs at random, `matchings` times. Each pair has a line; the median of the
    heights of these lines is released at a quarter and at three quarters of the feature's range. Pairs of equal
    features have no line and are left out.

    Args:
        feature: The public range (low, high) of the feature; values outside count as its ends.
        target: The public range of the target; the released heights lie in it.
        epsilon: The loss.
        matchings: How often people are matched: the noise, as a share of all pairs, does not depend on it, and the
            randomness of the matchings matters less the more there are.
        grain: How many marks of the lattice there are from the middle of a range to its ends.
        confidence: If given, a third of epsilon buys a mark below and one above each of the two medians, and
            `Line.interval` gives intervals of slope and intercept that hold with this confidence.

    A table has one row per person: the feature and the target.

    Guarantee:
        The release is epsilon-DP under add-remove, and under replace-one. With a `confidence`, for every table and
        every choice of the pairs, the medians of the pairs' heights are within the released marks, both at once,
        with at least that probability.
    Proof:
        docs/proofs/theil_sen.md, after Alabi, McMillan, Sarathy, Smith and Vadhan 2020 (DPTheilSenkMatch).

    Error:
        For each released height, the numbers of pairs whose line passes above it and below it differ by at most 2t
        more than at the median, except with probability 4 grain exp(-epsilon t / (4 matchings)) for both heights
        together; with a `confidence`, 2/3 epsilon stand for epsilon.

    Example:
        >>> from jali.mechanisms import TheilSen
        >>> mechanism = TheilSen(feature=(0, 10), target=(0, 100), epsilon=1)
        >>> table = [(x % 11, 7 * (x % 11) + 5) for x in range(5000)] + [(10, 0)] * 500
        >>> abs(mechanism.release(table).slope - 7) < 0.5
        True
        >>> wide = TheilSen(feature=(0, 10), target=(0, 100), epsilon=4, grain=100, confidence=0.95)
        >>> (low, high), _ = wide.release(table).interval()
        >>> low <= 7 <= high
        True
    """

    loss_power = None
    error_is_exact = False

    feature: ColumnRange
    target: ColumnRange
    epsilon: Fraction
    matchings: int
    grain: int
    confidence: Fraction | None

    def __init__(
        self,
        *,
        feature: Sequence[Number],
        target: Sequence[Number],
        epsilon: Number,
        matchings: int = 8,
        grain: int = GRAIN,
        confidence: Number | None = None,
    ) -> None:
        self._fill(feature=read_range(feature, "feature"), target=read_range(target, "target"))
        self._fill(epsilon=read_parameter(epsilon, "epsilon"), grain=read_grain(grain))
        self._fill(
            matchings=_read_matchings(matchings),
            confidence=None if confidence is None else _read_confidence(confidence),
        )

    @cached_property
    def axes(self) -> tuple[ColumnAxis, ColumnAxis]:
        """The feature and the target."""
        return ColumnAxis(*self.feature, self.grain), ColumnAxis(*self.target, self.grain)

    @cached_property
    def median(self) -> IntervalExponential:
        """What releases each of the two heights, by how unlike the pairs below and above it are."""
        return IntervalExponential(
            low=-self.grain, high=self.grain, step=1, sensitivity=2 * self.matchings, epsilon=self._for_medians / 2
        )

    @cached_property
    def below(self) -> BelowMedian | None:
        """What releases marks below the medians, and, of heights upside down, above them; None if none is."""
        if self.confidence is None:
            return None
        left = self.epsilon - self._for_medians
        return BelowMedian(self.grain, self.matchings, left / 4, (1 - self.confidence) / 4)

    @property
    def _for_medians(self) -> Fraction:
        return self.epsilon if self.confidence is None else self.epsilon * _LINE

    def error(self, confidence: float) -> float:
        """Return a t with Pr[both heights are within t pairs of the best median] >= confidence, for any table."""
        allowed = math.log(4 * self.grain) - math.log(read_miss_probability(confidence))
        return allowed * float_above(4 * self.matchings / self._for_medians) * (1 + 1e-12)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Line:
        """Return the line."""
        source = system_bits() if bits is None else bits
        heights = self._draw_heights(read_table(value, self.axes), source)
        drawn = [sign * int(one.release(score, bits=source)) for one, score, sign in self._list_releases(heights)]
        half = len(drawn) // 2
        first, second = drawn[:half], drawn[half:]
        bands = None if self.below is None else ((first[1], first[2]), (second[1], second[2]))
        return self._line((first[0], second[0]), bands)

    def outcome(self, released: Line) -> Hashable:
        """Return all released marks, of which the line is a function: of the first height, then of the second."""
        if released.bands is None:
            return released.marks
        return sum(((mark, *band) for mark, band in zip(released.marks, released.bands, strict=True)), ())

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases; those with the same pairs together."""
        source, marks = system_bits() if bits is None else bits, read_table(value, self.axes)
        orders = random_orders(size * self.matchings, len(marks), source).reshape(size, self.matchings, len(marks))
        kinds, counts = np.unique(orders, axis=0, return_counts=True)
        drawn: Counter[tuple[tuple[int, ...], ...]] = Counter()
        for kind, count in zip(kinds, counts.tolist(), strict=True):
            drawn[_key(self._heights(marks, *sides_of(kind)))] += count
        return [outcome for key, count in drawn.items() for outcome in self._outcomes(key, count, source)]

    def _outcomes(self, key: tuple[tuple[int, ...], ...], count: int, bits: BitSource) -> list[Hashable]:
        columns = [
            [sign * int(mark) for mark in one.sample(score, count, bits=bits)]  # type: ignore[call-overload]
            for one, score, sign in self._list_releases(_heights_of(key))
        ]
        return list(zip(*columns, strict=True))

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[marks], over all matchings: for few people and a coarse grain."""
        cases = Counter(_key(heights) for heights in self._all_heights(read_table(value, self.axes)))
        masses: dict[tuple[int, ...], float] = {}
        for key, count in cases.items():
            laws = [
                [(sign * int(mark), log) for mark, log in one.log_masses(score).items()]
                for one, score, sign in self._list_releases(_heights_of(key))
            ]
            for drawn in itertools.product(*laws):
                place = tuple(mark for mark, _ in drawn)
                share = math.exp(math.fsum(log for _, log in drawn)) * count / cases.total()
                masses[place] = masses.get(place, 0.0) + share
        return {place: math.log(mass) for place, mass in masses.items()}

    def deviation(self, value: Any, output: tuple[int, ...]) -> float:
        """Return how many pairs the worse of the two heights is off; at best, over the matchings there may be."""
        medians = output[:: len(output) // 2]
        return (
            min(
                max(
                    float(self.median.deviation(_below(pairs), Fraction(mark)))
                    for pairs, mark in zip(heights, medians, strict=True)
                )
                for heights in self._all_heights(read_table(value, self.axes))
            )
            / 2
        )

    def _list_releases(self, heights: Heights) -> list[HeightRelease]:
        """Return what is bought at both heights: a mechanism, a score, and the sign of the mark it releases."""
        return [purchase for pairs in heights for purchase in self._at(pairs)]

    def _at(self, pairs: NDArray[np.int64]) -> list[HeightRelease]:
        median: HeightRelease = (self.median, _below(pairs), 1)
        if self.below is None:
            return [median]
        outer = self.below
        return [median, (outer.mechanism, outer.score(pairs), 1), (outer.mechanism, outer.score(-pairs), -1)]

    def _draw_heights(self, marks: AxisMarks, bits: BitSource) -> Heights:
        """Match people, and return where the lines of all pairs pass."""
        return self._heights(marks, *sides_of(random_orders(self.matchings, len(marks), bits)))

    def _all_heights(self, marks: AxisMarks) -> Iterator[Heights]:
        matchings = list(all_matchings(tuple(range(len(marks)))))
        for chosen in itertools.product(matchings, repeat=self.matchings):
            pairs = np.array([pair for matching in chosen for pair in matching], np.intp).reshape(-1, 2)
            yield self._heights(marks, pairs[:, 0], pairs[:, 1])

    def _heights(self, marks: AxisMarks, left: OrderIndices, right: OrderIndices) -> Heights:
        """Return the marks nearest to the lines of these pairs, at both quarters: rounded down from halves up."""
        lines = [_height(marks[left], marks[right], quarter) for quarter in (-self.grain, self.grain)]
        first, second = (np.sort(np.clip(line, -self.grain, self.grain)) for line in lines)
        return first, second

    def _line(self, marks: tuple[int, int], bands: Bands | None) -> Line:
        across, up = self.axes
        near, far = across.middle - across.half / 2, across.middle + across.half / 2
        low, high = (up.at(mark) for mark in marks)
        slope = (high - low) / across.half
        return Line(
            slope=float(slope),
            intercept=float(low - slope * near),
            points=((float(near), float(low)), (float(far), float(high))),
            marks=marks,
            bands=bands,
            intervals=None if bands is None else intervals_of(self.axes, marks, bands),
        )

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return a few people on a coarse lattice: replaced, added, matched twice, and with intervals."""
        one = cls(feature=(-1, 1), target=(-1, 1), epsilon=8, matchings=1, grain=1)
        two = cls(feature=(-1, 1), target=(-1, 1), epsilon=16, matchings=2, grain=1)
        sure = cls(feature=(-1, 1), target=(-1, 1), epsilon=24, matchings=1, grain=1, confidence="1/2")
        four = [(-1, -1), (-1, -1), (1, -1), (1, -1)]
        return (
            Specimen(one, Adjacency.REPLACE_ONE, ((four, [*four[:3], (1, 1)]),), tight=False),
            Specimen(one, Adjacency.ADD_REMOVE, ((four, [*four, (1, 1)]), (four[:3], four)), tight=False),
            Specimen(two, Adjacency.REPLACE_ONE, ((four, [*four[:3], (1, 1)]),), tight=False),
            Specimen(sure, Adjacency.REPLACE_ONE, ((four, [*four[:3], (1, 1)]),), tight=False),
        )


def _height(one: AxisMarks, other: AxisMarks, quarter: int) -> NDArray[np.int64]:
    """Return floor(h + 1/2) for the height h, at quarter/2, of the line through each pair of distinct features."""
    across = other[:, 0] - one[:, 0]
    kept = across != 0
    (x, y), width = one[kept].T, across[kept]
    rise = other[kept, 1] - y
    above = 2 * y * width + rise * (quarter - 2 * x)  # h = above / (2 width)
    sign = np.sign(width)
    return np.asarray((above + width) * sign // (2 * width * sign), np.int64)


def _below(pairs: NDArray[np.int64]) -> Piecewise:
    """Return the score -|#{pairs < y} + #{pairs <= y} - #pairs| of a height y.

    Were pairs that pass through y itself counted on one side, many equal ones would have no median at all.
    """
    breaks = np.sort(np.concatenate([pairs - 1, pairs]))
    return Piecewise(breaks=breaks, scores=-np.abs(np.arange(len(breaks) + 1) - len(pairs)), closed="right")


def _key(heights: Heights) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(pairs.tolist()) for pairs in heights)


def _heights_of(key: tuple[tuple[int, ...], ...]) -> Heights:
    first, second = (np.array(pairs, np.int64) for pairs in key)
    return first, second


def _read_confidence(confidence: Number) -> Fraction:
    level = read_parameter(confidence, "confidence")
    if level >= 1:
        raise MechanismError("parameter-not-a-share", value=confidence, name="confidence")
    return level


def _read_matchings(matchings: int) -> int:
    count = read_natural(matchings, "matchings")
    if count > _MOST_MATCHINGS:
        raise MechanismError("parameter-too-large", most=_MOST_MATCHINGS, value=count, name="matchings")
    return count
