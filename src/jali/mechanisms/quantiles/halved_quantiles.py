"""What many quantiles that are drawn by halving share, whatever the rows weigh."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from jali.mechanisms.mechanism import LogMasses, Mechanism
from jali.mechanisms.quantiles.rank_quantile import rank_error
from jali.mechanisms.quantiles.turns import Halving, Turn
from jali.mechanisms.ruler import Ruler
from jali.mechanisms.selection.piecewise_geometric import Digits
from jali.noise import BitSource, system_bits
from jali.privacy.composition.compose import Composition, compose
from jali.privacy.losses.bounded_range import BoundedRange

Values: TypeAlias = tuple[int | float, ...]

_AHEAD = 64


class HalvedQuantiles(Mechanism):
    """Many quantiles: the middle one, then on its two sides in the same way, each level at the same loss."""

    error_is_exact = False

    at: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction

    @cached_property
    def ruler(self) -> Ruler:
        """The marks that can be released."""
        return Ruler.of(self.low, self.high, self.step)

    @abstractmethod
    def rate(self, turn: Turn) -> Fraction:
        """Return what ranks are multiplied by in the exponent, for one quantile."""

    @abstractmethod
    def halving(self, value: Any) -> Halving:
        """Return the draws on a value."""

    @property
    def levels(self) -> int:
        """How many quantiles are drawn one after the other, on the longest way."""
        return len(self.at).bit_length()

    @property
    def loss(self) -> Composition:
        """A bounded range of epsilon/levels, on every level."""
        return compose((BoundedRange(self.epsilon / self.levels), self.levels))

    @cached_property
    def turns(self) -> Turn:
        """The order in which the quantiles are drawn: a public tree."""
        return Turn.first(self.at)

    def summed_error(self, turn: Turn, failing: float, split: float) -> float:
        """Add up the errors along the worst way down, each missed with a chance of `failing`."""
        own = rank_error(self.ruler.top, self.rate(turn), failing) + split
        return own + max((self.summed_error(part, failing, split) for part in turn.parts if part), default=0.0)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Values:
        """Return values near the quantiles, in rising order.

        Args:
            value: The column: numbers, where those outside the range count as its ends; or (marks, weights).
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        return self.sample(value, 1, bits=bits)[0]  # type: ignore[return-value]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        ruler, halving = self.ruler, self.halving(value)
        digits = Digits(system_bits() if bits is None else bits, ahead=_AHEAD)
        return [tuple(map(ruler.at, halving.draw(digits))) for _ in range(size)]

    def outcome(self, released: Values) -> Hashable:
        """Return the values themselves."""
        return released

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[answers] for all answers on a small range."""
        ruler = self.ruler
        return {tuple(map(ruler.at, marks)): mass for marks, mass in self.halving(value).log_masses()}
