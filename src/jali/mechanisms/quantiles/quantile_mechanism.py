"""The base class of mechanisms that release a quantile on a public range, and the readers of their parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.base import LogMasses, Mechanism, read_natural, read_parameter
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.quantiles.rank_laws import NestedIntervalLaw, PermuteAndFlipLaw
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, rational, share
from jali.sampling import BitSource, system_bits

_FINEST = 10**6
# Beyond these, errors would be no doubles; nobody means such losses.
_LEAST, _MOST = Fraction(1, 10**100), 10**100


def read_quantile(value: Number, name: str) -> Fraction:
    """Read a quantile: the fraction of denominator at most 10^6 that is nearest to a number from 0 to 1.

    Ranks and noise are on a lattice of 1/denominator people; nobody means more digits, and 1 - 0.99 has sixteen.
    """
    return _read_as(share, value, name).limit_denominator(_FINEST)


def read_quantiles(at: Any) -> tuple[Fraction, ...]:
    """Read quantiles from 0 to 1, each above the one before it, or refuse them by name."""
    if isinstance(at, str | bytes) or not isinstance(at, Sequence | np.ndarray) or not len(at):
        raise MechanismError("quantiles-malformed")
    found = tuple(read_quantile(one, "at") for one in at)
    if any(one >= other for one, other in pairwise(found)):
        raise MechanismError("quantiles-not-rising")
    return found


def read_loss(epsilon: Number, *, most: int = _MOST) -> Fraction:
    """Read a loss, from 1e-100 to 1e100 or less."""
    loss = read_parameter(epsilon, "epsilon")
    if not _LEAST <= loss <= most:
        raise MechanismError("quantile-epsilon-out-of-range", least=float(_LEAST), most=most)
    return loss


def read_low(low: Number | None) -> Fraction | None:
    """Read the known end of an open range."""
    return None if low is None else _read_as(rational, low, "low")


def read_reach(reach: Number | None) -> Fraction | None:
    """Read how far an open range goes."""
    return None if reach is None else read_parameter(reach, "reach")


def read_spare(spare: int) -> int:
    """Read how many people may be left out."""
    return read_natural(spare, "spare", least=0)


def _read_as(reader: Callable[[Number, str], Fraction], value: Number, name: str) -> Fraction:
    try:
        return reader(value, name)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None


FEW_MARKS = 1 << 16
"""Permute-and-flip draws a Boolean for each mark: a lattice has fewer marks than this."""


class RangeMechanism(Mechanism):
    """A mechanism that releases points of a bounded lattice on a public range."""

    low: Fraction
    high: Fraction
    step: Fraction | None

    def _fill_lattice(self, low: Number, high: Number, step: Number | None) -> None:
        """Set the range and the step."""
        ruler = BoundedLattice.of(low, high, step)
        self._fill(low=ruler.low, high=ruler.high, step=None if step is None else ruler.step)

    @cached_property
    def ruler(self) -> BoundedLattice:
        """The lattice of the values that can be released."""
        return BoundedLattice.of(self.low, self.high, self.step)


class QuantileMechanism(RangeMechanism):
    """A quantile that is a mark of a public lattice, with a mass that falls with the distance of its rank."""

    error_is_exact = False
    _kind: ClassVar[type[NestedIntervalLaw] | type[PermuteAndFlipLaw]] = NestedIntervalLaw  # how a mark is drawn

    most_marks: ClassVar[int] = 1 << 61  # more than any lattice has
    for_more_marks: ClassVar[str] = ""  # the mechanism to take instead

    epsilon: Fraction

    def _fill_lattice(self, low: Number, high: Number, step: Number | None) -> None:
        """Set the range and the step, or refuse a lattice of too many points."""
        super()._fill_lattice(low, high, step)
        if self.ruler.top >= self.most_marks:
            raise MechanismError(
                "step-too-small", bits=self.most_marks.bit_length() - 1, mechanism=self.for_more_marks
            )

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

    def law(self, value: Any) -> NestedIntervalLaw | PermuteAndFlipLaw:
        """Return the law of the mark."""
        return self._kind(self._ranks_of(value), self.rate)

    def error(self, confidence: float) -> float:
        """Return a t such that the rank is within t of the best one, with this probability, for any column."""
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

    def deviation(self, value: Any, output: int | float) -> Fraction:
        """Return how much further from the target an output is than the best mark, in people or in weight."""
        ranks = self._ranks_of(value)
        distance: Fraction = ranks.distance(self.ruler.nearest(output)) - ranks.best
        return distance

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[output] for each mark of a short ruler."""
        ruler = self.ruler
        return {ruler.at(mark): mass for mark, mass in enumerate(self.log_law(value))}
