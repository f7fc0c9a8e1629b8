"""Many quantiles by halving: the middle one first, then those below and above it in their parts of the column."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, Mechanism, Specimen, miss, natural, parameter
from jali.mechanisms.quantiles.nested import NestedLaw
from jali.mechanisms.quantiles.quantile import fraction_of, log_law, rank_error
from jali.mechanisms.quantiles.ranks import LinearRanks, StepRanks, sorted_marks, usual_target
from jali.mechanisms.ruler import Marks, Ruler
from jali.mechanisms.selection.piecewise_geometric import Digits
from jali.noise import BitSource, system_bits
from jali.privacy.adjacency import Adjacency
from jali.privacy.composition.compose import Composition, compose
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.rationals import Number

Values: TypeAlias = tuple[int | float, ...]

_AHEAD = 64
_FINE = 1 << 40


@dataclass(frozen=True, repr=False)
class ApproximateQuantiles(Mechanism):
    """Release many quantiles: the middle one of the column, then on its two sides in the same way.

    Every quantile is drawn as by `PiecewiseLaplace`, from the values and the range between its neighbours that
    are known already. Of the values equal to a released one, half go to each side. The answers rise.

    Args:
        at: Which quantiles, from 0 to 1, in rising order.
        low: The least value of the column; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of the marks; if not given, there are about 2^30 of them.
        epsilon: The loss of all of them together.
        adjacency: When two tables are neighbours; the number of values is private under "add-remove" only.

    Guarantee:
        With m quantiles there are h = ceil(log2(m+1)) levels, each of bounded range epsilon/h under the given
        adjacency; so the release is epsilon-DP and (epsilon^2/(8h))-zCDP.
    Proof:
        docs/proofs/many_quantiles.md, after Kaplan, Schnapp and Stemmer 2022, Theorem 3.1.

    Error:
        In people: on each level the rank is missed by as much as a single quantile's at epsilon/h, with the chance
        of failure shared out among the quantiles, and errors of the levels add up. Where many people share one
        value, `ties=` must tell how many.

    Example:
        >>> from jali.mechanisms import ApproximateQuantiles
        >>> quartiles = ApproximateQuantiles(
        ...     at=("1/4", "1/2", "3/4"), low=0, high=1000, step=1, epsilon=1, adjacency="add-remove"
        ... )
        >>> one, two, three = quartiles.release(range(1001))
        >>> 0 <= one <= two <= three <= 1000
        True
        >>> quartiles.loss.event.rho
        Fraction(1, 16)
    """

    error_is_exact = False

    at: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        at: Sequence[Number],
        low: Number,
        high: Number,
        step: Number | None = None,
        epsilon: Number,
        adjacency: str | Adjacency,
    ) -> None:
        ruler = Ruler.of(low, high, step)
        self._fill(at=rising_fractions(at), low=ruler.low, high=ruler.high)
        self._fill(step=None if step is None else ruler.step, epsilon=parameter(epsilon, "epsilon"))
        self._fill(adjacency=Adjacency.of(adjacency))

    @classmethod
    def for_rho(cls, rho: Number, *, at: Sequence[Number], **others: Any) -> ApproximateQuantiles:
        """Return the mechanism that spends at most rho in zCDP: epsilon is sqrt(8 h rho), rounded down."""
        levels = len(rising_fractions(at)).bit_length()
        square = 8 * levels * parameter(rho, "rho") * _FINE**2
        return cls(at=at, epsilon=Fraction(math.isqrt(math.floor(square)), _FINE), **others)

    @property
    def ruler(self) -> Ruler:
        """The marks that can be released."""
        return Ruler.of(self.low, self.high, self.step)

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
        tree = _turns(self.at, 0, len(self.at), Fraction(0), Fraction(1))
        assert tree is not None
        return tree

    def rate(self, turn: Turn) -> Fraction:
        """Return what ranks are multiplied by in the exponent, for one quantile."""
        level = self.epsilon / self.levels
        if self.adjacency is Adjacency.ADD_REMOVE:
            return level / (2 * turn.sensitivity)
        # A replaced person may leave one part and enter another: then two draws of a level differ.
        return level / 2 if turn is self.turns else level / (4 * turn.sensitivity)

    def error(self, confidence: float, *, ties: int = 1) -> float:
        """Return a t such that every rank is within t people of its due, with this chance.

        Args:
            confidence: The chance that this holds.
            ties: How many people share one value at most, on the marks.
        """
        shared, each = natural(ties, "ties"), miss(confidence) / len(self.at)
        return self._error(self.turns, each, 0.5 + (shared + 1) // 2)

    def _error(self, turn: Turn, failing: float, split: float) -> float:
        """Add up the errors along the worst way down."""
        own = rank_error(self.ruler.top, self.rate(turn), failing) + split
        return own + max((self._error(part, failing, split) for part in turn.parts if part), default=0.0)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Values:
        """Return values near the quantiles of a column, in rising order.

        Args:
            value: The column: a list or an array of numbers; those outside the range count as its ends.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        return self._recursion(value).values(Digits(system_bits() if bits is None else bits))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        recursion = self._recursion(value)
        digits = Digits(system_bits() if bits is None else bits, ahead=_AHEAD)
        return [recursion.values(digits) for _ in range(size)]

    def outcome(self, released: Values) -> Hashable:
        """Return the values themselves."""
        return released

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its due, in people."""
        ruler = self.ruler
        return largest_distance(self.at, sorted_marks(ruler.marks(value)), [ruler.nearest(y) for y in output])

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[answers] for all answers on a small range."""
        ruler, recursion = self.ruler, self._recursion(value)
        return {tuple(map(ruler.at, marks)): mass for marks, mass in recursion.masses(self.turns, recursion.all)}

    def _recursion(self, value: Any) -> _Recursion:
        ruler = self.ruler
        return _Recursion(self, ruler, sorted_marks(ruler.marks(value)))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs and triples of quantiles of small columns, in both adjacencies."""
        return (
            _specimen(("1/3", "3/4"), Adjacency.ADD_REMOVE, (([1, 2, 4, 4], [1, 2, 4]), ([], [5]))),
            _specimen(("1/4", "1/2", "3/4"), Adjacency.REPLACE_ONE, (([1, 2, 4, 4], [2, 4, 4, 5]),)),
            _specimen(("1/10", "1/5", 1), Adjacency.REPLACE_ONE, (([0, 2, 2, 5], [2, 2, 5, 5]),)),
        )


@dataclass(frozen=True)
class Turn:
    """A quantile, and those that are drawn below and above it.

    Attributes:
        place: Which of the quantiles.
        share: Where it lies between the two that are known already, from 0 to 1.
        parts: The next turns, below and above.
    """

    place: int
    share: Fraction
    parts: tuple[Turn | None, Turn | None]

    @property
    def sensitivity(self) -> Fraction:
        """How far one person more or less moves the distance of a mark's rank."""
        return max(self.share, 1 - self.share)


def _turns(at: tuple[Fraction, ...], start: int, stop: int, low: Fraction, high: Fraction) -> Turn | None:
    if start == stop:
        return None
    place = (start + stop) // 2
    here = at[place]
    share = (here - low) / (high - low)
    return Turn(place, share, (_turns(at, start, place, low, here), _turns(at, place + 1, stop, here, high)))


@dataclass(frozen=True)
class _Part:
    """Values number `start` to `stop` of a sorted column, on the marks `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class _Recursion:
    """The draws on one column."""

    mechanism: ApproximateQuantiles
    ruler: Ruler
    column: Marks

    @cached_property
    def all(self) -> _Part:
        return _Part(0, len(self.column), 0, self.ruler.top)

    @cached_property
    def _laws(self) -> dict[tuple[int, _Part], NestedLaw]:
        return {}

    def values(self, digits: Digits) -> Values:
        found: dict[int, int] = {}
        waiting: list[tuple[Turn | None, _Part]] = [(self.mechanism.turns, self.all)]
        while waiting:
            turn, part = waiting.pop()
            if turn is not None:
                mark = found[turn.place] = self.law(turn, part).draw(digits)
                waiting += zip(turn.parts, self.split(part, mark), strict=True)
        return tuple(self.ruler.at(found[place]) for place in range(len(found)))

    def masses(self, turn: Turn | None, part: _Part) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield the answers of a turn and all below it, with the logarithms of their probabilities."""
        if turn is None:
            yield (), 0.0
            return
        for mark, here in enumerate(log_law(self.law(turn, part)), part.first):
            below, above = self.split(part, mark)
            uppers = list(self.masses(turn.parts[1], above))
            for left, one in self.masses(turn.parts[0], below):
                for right, other in uppers:
                    yield (*left, mark, *right), here + one + other

    def law(self, turn: Turn, part: _Part) -> NestedLaw:
        """Return the law of one draw; a few are kept for the next release."""
        if (turn.place, part) not in self._laws:
            values = self.column[part.start : part.stop]
            ranks = LinearRanks(values, part.first, part.last, usual_target(turn.share, len(values)))
            self._laws[turn.place, part] = NestedLaw(ranks, self.mechanism.rate(turn))
        return self._laws[turn.place, part]

    def split(self, part: _Part, mark: int) -> tuple[_Part, _Part]:
        """Cut a part at a mark; half of the values at the mark, rounded down, stay below."""
        values = self.column[part.start : part.stop]
        below, up_to = (part.start + int(values.searchsorted(mark, side)) for side in ("left", "right"))
        cut = below + (up_to - below) // 2
        return _Part(part.start, cut, part.first, mark), _Part(cut, part.stop, mark, part.last)


def rising_fractions(at: Any) -> tuple[Fraction, ...]:
    """Read quantiles from 0 to 1, each above the one before it, or refuse them by name."""
    if isinstance(at, str | bytes) or not isinstance(at, Sequence | np.ndarray) or not len(at):
        raise MechanismError("at must be a list of quantiles from 0 to 1.", remedy="Give at=(0.25, 0.5, 0.75).")
    found = tuple(map(fraction_of, at))
    if any(one >= other for one, other in pairwise(found)):
        raise MechanismError("at must be in rising order, without repetitions.")
    return found


def largest_distance(at: tuple[Fraction, ...], column: Marks, marks: Sequence[int]) -> float:
    """Return the largest distance of at*n from the ranks #{x < mark} to #{x <= mark}."""
    last = max((*marks, 0))
    ranks = (StepRanks(column, 0, last, share * len(column)) for share in at)
    return float(max(rank.distance(mark) for rank, mark in zip(ranks, marks, strict=True)))


def _specimen(
    at: tuple[Number, ...], adjacency: Adjacency, neighbours: tuple[tuple[list[int], list[int]], ...]
) -> Specimen:
    mechanism = ApproximateQuantiles(at=at, low=0, high=5, step=1, epsilon=3, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 2}, tight=False)
