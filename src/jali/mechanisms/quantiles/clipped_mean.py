"""The mean of a column without a declared range: bounds bought from the data, two noisy sums, and an interval."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.base import (
    LogMasses,
    PureMechanism,
    Specimen,
    read_miss_probability,
    read_natural,
    read_parameter,
)
from jali.mechanisms.intervals.linear_forms import AffineForm, find_ratio_interval
from jali.mechanisms.lattice import BoundedLattice, Marks
from jali.mechanisms.quantiles.clipping_bounds import ClippingBounds, MarkPair, group_places
from jali.mechanisms.quantiles.quantile_mechanism import read_loss
from jali.numbers.rounding import float_above, float_below
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource, DiscreteLaplace


@dataclass(frozen=True)
class NoisyMean:
    """The mean of a column that was clipped to bounds, with noise. All of it is released: intervals cost nothing.

    Attributes:
        ruler: The public marks.
        marks: The bounds, as marks of the ruler.
        sums: The noisy sum of the distances of all values from the low bound, in steps; and, where the number of
            people is not public, that of their distances from the high bound.
        people: The number of people, where it is public.
        epsilon: The loss of the sums; each has noise of scale (high mark - low mark) / epsilon.
    """

    ruler: BoundedLattice
    marks: tuple[int, int]
    sums: tuple[int, ...]
    people: int | None
    epsilon: Fraction

    @property
    def low(self) -> int | float:
        """The low bound."""
        return self.ruler.at(self.marks[0])

    @property
    def high(self) -> int | float:
        """The high bound."""
        return self.ruler.at(self.marks[1])

    @property
    def value(self) -> float:
        """The noisy mean, between the bounds; their midpoint where the noise leaves nobody to average over."""
        return float(self._at(self.place))

    @property
    def place(self) -> Fraction:
        """Where the mean lies between the bounds, from 0 to 1."""
        return (
            min(max(self.sums[0] / self._total, Fraction(0)), Fraction(1)) if self._total > 0 else Fraction(1, 2)
        )

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return bounds on the mean of the clipped column.

        Guarantee:
            The mean of the column as it was clipped lies between them with at least this probability, over the
            noise of the sums, whatever the bounds came out as. How far clipping moved the mean is not released.
        Proof:
            docs/proofs/clipped_mean.md, Theorem 3.
        """
        law = DiscreteLaplaceLaw(self._width / self.epsilon)
        low, high = self._by_ratio(law, confidence) if self.people is None else self._by_sum(law, confidence)
        if self._total <= 0:  # nothing is known of a mean of nobody
            low, high = Fraction(0), Fraction(1)
        return float_below(self._at(low)), float_above(self._at(high))

    def _by_sum(self, law: DiscreteLaplaceLaw, confidence: float) -> tuple[Fraction, Fraction]:
        off = law.quantile(confidence)
        ends = ((self.sums[0] + side * off) / max(self._total, Fraction(1)) for side in (-1, 1))
        low, high = (min(max(end, Fraction(0)), Fraction(1)) for end in ends)
        return low, high

    def _by_ratio(self, law: DiscreteLaplaceLaw, confidence: float) -> tuple[Fraction, Fraction]:
        values = [np.array([float(item)]) for item in self.sums]
        sides = AffineForm([1.0, 0.0], 0.0), AffineForm([1.0, 1.0], 0.0)
        low, high = find_ratio_interval(*sides, [law, law], values, confidence=confidence, bounds=(0.0, 1.0))
        return Fraction(float(low[0])), Fraction(float(high[0]))

    @property
    def _width(self) -> Fraction:
        return Fraction(self.marks[1] - self.marks[0])

    @property
    def _total(self) -> Fraction:
        """The number of people, noisy or not, times the width."""
        return Fraction(sum(self.sums)) if self.people is None else self.people * self._width

    def _at(self, place: Fraction) -> Fraction:
        return (self.ruler.first + self.marks[0] + place * self._width) * self.ruler.step

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"NoisyMean({self.value:.6g}, from {low:.6g} to {high:.6g} at 95%, clipped to {self.low}..{self.high})"
        )


# What a window of the law of the sums may leave out.
_LEFT_OUT = 1e-12
_HALF = (1 << 32) - 1


@dataclass(frozen=True, repr=False)
class ClippedMean(PureMechanism):
    """Release the mean of numbers without a declared range: buy bounds, clip, add up.

    A share of epsilon buys `ClippingBounds`; values are clipped to them. The rest is for the sum of their
    distances from the low bound and, unless the number of people is public, for the sum of their distances from
    the high bound. One person adds t to the one and width - t to the other, so that both have the noise of one sum
    at the full rest; their total is the width times the number of people.

    Args:
        low: The least value that a column may have, which is then the low bound itself; None if it may have any.
        reach: How far from `low`, or from 0, bounds may lie; 2**50 steps if not given. A declared range that is
            far too wide is `low` and its width here.
        step: The smallest difference that matters; values are rounded to multiples of it.
        growth: The factor between the distances of neighbouring candidates for a bound.
        lower: The quantile that the low bound aims at, from 0 to 1.
        upper: The quantile that the high bound aims at.
        spare: How many people fewer each bound aims at; if not given, 6 over the loss of that bound.
        share: The part of epsilon for the bounds, above 0 and below 1: a public choice. One half did best, or
            nearly, on normal, skewed and heavy-tailed columns of 300 to 20,000 people at epsilon 1: what clips
            too much costs more than noise does. With tens of thousands of people a smaller share does as well.
        epsilon: The loss of all of it.
        adjacency: When two tables are neighbours. The number of values is public under replace-one only.

    Guarantee:
        The release is epsilon-DP under the adjacency: bounds and sums are one purchase. No value can make it fail.
    Proof:
        docs/proofs/clipped_mean.md, Theorem 2.

    Error:
        `error(c, people=n, width=w)` bounds the distance from the mean of the clipped column, where n people were
        asked and the bounds came out at most w apart: with r the loss of the sums and l = ln(1/(1-sqrt(c)))/r,
        (w l + step/2) / (n - 2l - 1), or w if that is less; under replace-one, l = ln(1/(1-c))/r and the
        denominator is n. What clipping takes from the mean depends on the data and is not in it.

    Example:
        >>> from jali.mechanisms import ClippedMean
        >>> mechanism = ClippedMean(low=0, step=1, epsilon=1, adjacency="add-remove")
        >>> mean = mechanism.release(range(10_000))
        >>> 4500 < mean.value < 5500
        True
        >>> low, high = mean.interval(0.95)
        >>> low <= mean.value <= high
        True
    """

    loss_power = None
    error_is_exact = False

    lower: Fraction
    upper: Fraction
    low: Fraction | None
    reach: Fraction | None
    step: Fraction
    growth: Fraction
    spare: int | None
    share: Fraction
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        step: Number,
        epsilon: Number,
        adjacency: str | Adjacency,
        low: Number | None = None,
        reach: Number | None = None,
        growth: Number = "1.01",
        lower: Number = 0,
        upper: Number = 1,
        spare: int | None = None,
        share: Number = "1/2",
    ) -> None:
        self._fill(share=read_parameter(share, "share"), epsilon=read_loss(epsilon))
        if self.share >= 1:
            raise MechanismError("parameter-not-strictly-between-zero-and-one", value=share, name="share")
        bounds = ClippingBounds(
            step=step,
            epsilon=self.share * self.epsilon,
            adjacency=adjacency,
            low=low,
            reach=reach,
            growth=growth,
            lower=lower,
            upper=upper,
            spare=spare,
        )
        self._fill(**{name: getattr(bounds, name) for name in _TAKEN})
        # Refuse, before anything is released, noise that cannot be sampled.
        DiscreteLaplace(bounds.ruler.top / self.rest)

    @property
    def rest(self) -> Fraction:
        """The loss of the sums."""
        return self.epsilon - self.share * self.epsilon

    @cached_property
    def bounds(self) -> ClippingBounds:
        """The mechanism that buys the bounds."""
        taken = {name: getattr(self, name) for name in _TAKEN}
        return ClippingBounds(epsilon=self.share * self.epsilon, **taken)

    @property
    def _counts_people(self) -> bool:
        return self.adjacency is Adjacency.ADD_REMOVE

    def error(self, confidence: float, *, people: int = 1, width: Number | None = None) -> float:
        """Return a bound on the distance from the mean of the clipped column, with this confidence.

        Args:
            confidence: Strictly between 0 and 1.
            people: How many values there are.
            width: How far apart the bounds come out at most; the whole range if not given.
        """
        failing, asked = read_miss_probability(confidence), read_natural(people, "people")
        ruler = self.bounds.ruler
        wide = float(ruler.top * ruler.step if width is None else read_parameter(width, "width"))
        each = -math.expm1(math.log1p(-failing) / 2) if self._counts_people else failing
        noise = -math.log(each) / float(self.rest)
        left = asked - 2 * noise - 1 if self._counts_people else asked
        return min(wide, (wide * noise + float(self.step) / 2) / left * (1 + 1e-12)) if left > 0 else wide

    def release(self, value: Any, *, bits: BitSource | None = None) -> NoisyMean:
        """Return the noisy mean of a column of numbers, with its bounds and intervals."""
        bounds = self.bounds
        column = bounds.column(value)
        pair = bounds.draw(column, 1, bits)[0]
        sums = self._noisy(column, pair, 1, bits)[0]
        people = None if self._counts_people else len(column)
        return NoisyMean(bounds.ruler, pair, sums, people, self.rest)

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        bounds = self.bounds
        column = bounds.column(value)
        outcomes: list[Hashable] = [None] * size
        for pair, places in group_places(bounds.draw(column, size, bits)).items():
            for place, sums in zip(places, self._noisy(column, pair, len(places), bits), strict=True):
                outcomes[place] = (*pair, *sums)
        return outcomes

    def outcome(self, released: NoisyMean) -> Hashable:
        """Return the marks of the bounds and the noisy sums."""
        return (*released.marks, *released.sums)

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[marks and sums], for small tables and short reaches, but for 1e-12 of the mass."""
        bounds = self.bounds
        column = bounds.column(value)
        masses: dict[Hashable, float] = {}
        for pair, log in bounds.mark_masses(column).items():
            columns = [self._column(exact, pair, len(column)) for exact in self._sums(column, pair)]
            for cell in itertools.product(*columns):
                masses[(*pair, *(answer for answer, _ in cell))] = log + math.fsum(part for _, part in cell)
        return masses

    def deviation(self, value: Any, output: tuple[int, ...]) -> float:
        """Return the distance of a noisy mean from the mean of the column clipped to its bounds."""
        ruler = self.bounds.ruler
        column, pair = ruler.marks(value), (output[0], output[1])
        if not len(column):
            return 0.0
        people = None if self._counts_people else len(column)
        place = NoisyMean(ruler, pair, output[2:], people, self.rest).place
        width = pair[1] - pair[0]
        return float(abs(place - Fraction(self._sums(column, pair)[0], width * len(column))) * width * self.step)

    def _sums(self, column: Marks, pair: MarkPair) -> tuple[int, ...]:
        """Return the sum of the distances from the low bound, and of those from the high one if it is needed."""
        low, high = pair
        above = exact_sum(np.clip(column, low, high) - low)
        return (above, (high - low) * len(column) - above) if self._counts_people else (above,)

    def _noisy(self, column: Marks, pair: MarkPair, size: int, bits: BitSource | None) -> list[tuple[int, ...]]:
        sums = self._sums(column, pair)
        noise = DiscreteLaplace((pair[1] - pair[0]) / self.rest).sample(size * len(sums), bits=bits)
        rows = noise.reshape(size, len(sums)).tolist()
        return [tuple(exact + off for exact, off in zip(sums, row, strict=True)) for row in rows]

    def _column(self, exact: int, pair: MarkPair, people: int) -> list[tuple[int, float]]:
        """List the noisy values of a sum, in a window that one person more or less does not leave."""
        width = pair[1] - pair[0]
        law = DiscreteLaplaceLaw(width / self.rest)
        reach = law.bound_tail(_LEFT_OUT / 2)
        window = range(-reach, width * (people + 1) + reach + 1)
        return [(answer, law.log_mass(answer - exact)) for answer in window]

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return means of a few numbers on tiny ladders, at losses so large that windows are small."""
        few: dict[str, Any] = {"reach": 3, "step": 1, "growth": 2, "spare": 1}
        counted = cls(low=0, epsilon=16, share="1/4", adjacency="add-remove", **few)
        both = cls(epsilon=12, adjacency="replace-one", **few)
        row = cls(low=0, reach=14, step=1, growth="1.0001", spare=5, epsilon=12, adjacency="replace-one")
        added = (((1, 2, 3), (1, 2, 3, 3)), ((1, 1, 2), (1, 1)))
        three, four = {"people": 3, "width": 6}, {"people": 4, "width": 14}
        return (
            Specimen(counted, Adjacency.ADD_REMOVE, added, three, tight=False),
            Specimen(both, Adjacency.REPLACE_ONE, (((-1, 2, 3), (-1, 2, -3)),), three, tight=False),
            Specimen(row, Adjacency.REPLACE_ONE, (((13,), (0,)),), four, (0, 2, 9, 13)),
        )


_TAKEN = ("lower", "upper", "low", "reach", "step", "growth", "spare", "adjacency")


def exact_sum(marks: Marks) -> int:
    """Return the sum of marks, of up to 2^60 each and 2^31 of them, as a Python int: int64 would wrap."""
    return (int((marks >> 32).sum()) << 32) + int((marks & _HALF).sum())
