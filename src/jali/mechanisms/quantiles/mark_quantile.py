"""What quantiles that are drawn as marks of a ruler share, whatever the ranks count."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, Mechanism
from jali.mechanisms.quantiles.mark_flips import MarkFlips
from jali.mechanisms.quantiles.nested import NestedLaw
from jali.mechanisms.ruler import Ruler
from jali.noise import BitSource, system_bits
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number

FEW_MARKS = 1 << 16
"""Permute-and-flip tosses a coin for each mark: a ruler has fewer marks than this."""


class MarkQuantile(Mechanism):
    """A quantile that is a mark of a public ruler, with a mass that falls with the distance of its rank."""

    error_is_exact = False
    _kind: ClassVar[type[NestedLaw] | type[MarkFlips]] = NestedLaw  # how a mark is drawn
    most_marks: ClassVar[int] = 1 << 61  # more than any ruler has
    for_more_marks: ClassVar[str] = ""  # the mechanism to take instead

    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction

    def _fill_ruler(self, low: Number, high: Number, step: Number | None) -> None:
        """Set the range and the step, or refuse a ruler of too many marks."""
        ruler = Ruler.of(low, high, step)
        self._fill(low=ruler.low, high=ruler.high, step=None if step is None else ruler.step)
        if ruler.top >= self.most_marks:
            raise MechanismError(
                "step-too-small", bits=self.most_marks.bit_length() - 1, mechanism=self.for_more_marks
            )

    @cached_property
    def ruler(self) -> Ruler:
        """The marks that can be released."""
        return Ruler.of(self.low, self.high, self.step)

    @cached_property
    def top(self) -> int:
        """The number of the last mark."""
        return self.ruler.top

    @property
    @abstractmethod
    def rate(self) -> Fraction:
        """What distances of ranks are multiplied by in the exponent."""

    @property
    def loss(self) -> Loss:
        """Epsilon, as a bounded range or pure."""
        return self._kind.loss(self.epsilon)

    @abstractmethod
    def _ranks_of(self, value: Any) -> Any:
        """Return the distances of the marks on a column."""

    def law(self, value: Any) -> NestedLaw | MarkFlips:
        """Return the law of the mark."""
        return self._kind(self._ranks_of(value), self.rate)

    def error(self, confidence: float) -> float:
        """Return a t such that the rank is within t of the best one, with this chance, for any column."""
        return self._kind.error(self.top, self.rate, confidence)

    def draws(self, value: Any, size: int, bits: BitSource) -> list[int]:
        """Draw the marks of many independent releases."""
        return self.law(value).draws(size, bits)

    def log_law(self, value: Any) -> list[float]:
        """Return ln Pr[mark] for each mark of a short ruler."""
        return self.law(value).log_law()

    def release(self, value: Any, *, bits: BitSource | None = None) -> int | float:
        """Return the value of a mark near the quantile.

        Args:
            value: The column: numbers, where those outside the range count as its ends; or (marks, weights).
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        return self.sample(value, 1, bits=bits)[0]  # type: ignore[return-value]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        ruler = self.ruler
        return [ruler.at(mark) for mark in self.draws(value, size, system_bits() if bits is None else bits)]

    def outcome(self, released: int | float) -> Hashable:
        """Return the value itself."""
        return released

    def deviation(self, value: Any, output: int | float) -> Fraction:
        """Return how much further from the target an output is than the best mark, in people or in weight."""
        ranks = self._ranks_of(value)
        distance: Fraction = ranks.distance(self.ruler.nearest(output)) - ranks.best
        return distance

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[output] for each mark of a short ruler."""
        ruler = self.ruler
        return {ruler.at(mark): mass for mark, mass in enumerate(self.log_law(value))}
