"""What a private mean tells: its value, the bounds it was clipped to, and an interval."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.mechanisms.combined import Form, ratio_interval
from jali.mechanisms.laws import DiscreteLaplaceLaw
from jali.mechanisms.ruler import Ruler
from jali.privacy.rounding import float_above, float_below


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

    ruler: Ruler
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
            noise of the sums, whatever the bounds came out as. How far clipping moved the mean is not told.
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
        sides = Form([1.0, 0.0], 0.0), Form([1.0, 1.0], 0.0)
        low, high = ratio_interval(*sides, [law, law], values, confidence=confidence, bounds=(0.0, 1.0))
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
