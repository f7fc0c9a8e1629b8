"""Many quantiles by halving, of values or of weighted rows.

The middle quantile is drawn first, then those below and above it, each in its part of the column.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from jali.mechanisms.base import (
    LogMasses,
    Specimen,
    read_miss_probability,
    read_natural,
    read_parameter,
)
from jali.mechanisms.quantiles.quantile_halving import QuantileHalving, QuantileTurn, WeightedQuantileHalving
from jali.mechanisms.quantiles.quantile_mechanism import RangeMechanism, read_loss, read_quantiles
from jali.mechanisms.quantiles.rank_laws import bound_rank_error
from jali.mechanisms.quantiles.weighted_quantile import count_levels, find_share_sensitivity
from jali.mechanisms.quantiles.weighted_ranks import WeightedMarks, find_largest_distance, sort_marks
from jali.mechanisms.selection.piecewise_geometric import RandomDigits
from jali.numbers.rounding import round_root_down
from jali.privacy.adjacency import Adjacency
from jali.privacy.composition.compose import Composition, compose
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits

Values: TypeAlias = tuple[int | float, ...]

_AHEAD = 64
_FINE = 1 << 40


class HalvedQuantiles(RangeMechanism):
    """Many quantiles: the middle one, then on its two sides in the same way, each level at the same loss."""

    error_is_exact = False

    at: tuple[Fraction, ...]
    epsilon: Fraction

    @abstractmethod
    def rate(self, turn: QuantileTurn) -> Fraction:
        """Return what ranks are multiplied by in the exponent, for one quantile."""

    @abstractmethod
    def halving(self, value: Any) -> QuantileHalving:
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
    def turns(self) -> QuantileTurn:
        """The order in which the quantiles are drawn: a public tree."""
        return QuantileTurn.first(self.at)

    def summed_error(self, turn: QuantileTurn, failing: float, split: float) -> float:
        """Add up the errors along the worst way down, each missed with a probability of `failing`."""
        own = bound_rank_error(self.ruler.top, self.rate(turn), failing) + split
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
        digits = RandomDigits(system_bits() if bits is None else bits, ahead=_AHEAD)
        return [tuple(map(ruler.at, halving.draw(digits))) for _ in range(size)]

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[answers] for all answers on a small range."""
        ruler = self.ruler
        return {tuple(map(ruler.at, marks)): mass for marks, mass in self.halving(value).log_masses()}


@dataclass(frozen=True, repr=False)
class ApproximateQuantiles(HalvedQuantiles):
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
        In people: on each level the rank is missed by as much as a single quantile's at epsilon/h, with the
        probability of failure shared out among the quantiles, and errors of the levels add up. Where many people
        share one value, `ties=` must say how many.

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
        self._fill_lattice(low, high, step)
        self._fill(at=read_quantiles(at), epsilon=read_loss(epsilon), adjacency=Adjacency.of(adjacency))

    @classmethod
    def for_rho(cls, rho: Number, *, at: Sequence[Number], **others: Any) -> ApproximateQuantiles:
        """Return the mechanism that spends at most rho in zCDP: epsilon is sqrt(8 h rho), rounded down."""
        levels = len(read_quantiles(at)).bit_length()
        epsilon = round_root_down(8 * levels * read_parameter(rho, "rho"), _FINE)
        return cls(at=at, epsilon=epsilon, **others)

    def rate(self, turn: QuantileTurn) -> Fraction:
        """Return what ranks are multiplied by in the exponent, for one quantile."""
        level = self.epsilon / self.levels
        if self.adjacency is Adjacency.ADD_REMOVE:
            return level / (2 * turn.sensitivity)
        # A replaced person may leave one part and enter another: then two draws of a level differ.
        return level / 2 if turn is self.turns else level / (4 * turn.sensitivity)

    def error(self, confidence: float, *, ties: int = 1) -> float:
        """Return a t such that every rank is within t people of its target, with this probability.

        Args:
            confidence: The probability that this holds.
            ties: How many people share one value at most, on the marks.
        """
        shared, each = read_natural(ties, "ties"), read_miss_probability(confidence) / len(self.at)
        return self.summed_error(self.turns, each, 0.5 + (shared + 1) // 2)

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its target, in people."""
        ruler = self.ruler
        return find_largest_distance(self.at, sort_marks(ruler.marks(value)), [ruler.nearest(y) for y in output])

    def halving(self, value: Any) -> QuantileHalving:
        """Return the draws on a column."""
        ruler = self.ruler
        return QuantileHalving(sort_marks(ruler.marks(value)), ruler.top, self.turns, self.rate)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs and triples of quantiles of small columns, in both adjacencies."""
        return (
            _build_specimen(("1/3", "3/4"), Adjacency.ADD_REMOVE, (([1, 2, 4, 4], [1, 2, 4]), ([], [5]))),
            _build_specimen(("1/4", "1/2", "3/4"), Adjacency.REPLACE_ONE, (([1, 2, 4, 4], [2, 4, 4, 5]),)),
            _build_specimen(("1/10", "1/5", 1), Adjacency.REPLACE_ONE, (([0, 2, 2, 5], [2, 2, 5, 5]),)),
        )


def _build_specimen(
    at: tuple[Number, ...], adjacency: Adjacency, neighbours: tuple[tuple[list[int], list[int]], ...]
) -> Specimen:
    mechanism = ApproximateQuantiles(at=at, low=0, high=5, step=1, epsilon=3, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 2}, tight=False)


@dataclass(frozen=True, repr=False)
class WeightedQuantiles(HalvedQuantiles):
    """Release many quantiles of weighted rows: the middle one, then on its two sides in the same way.

    Every quantile is drawn as by `WeightedQuantile`, from the weight and the range between its neighbours that are
    known already. Of the weight at a released mark, half goes to each side. The answers rise. A person's weight is
    shared out among the parts of a level, and so is the loss: a level costs as much as one quantile.

    Args:
        at: Which quantiles, from 0 to 1, in rising order.
        low: The least value of the range.
        high: The largest one.
        step: The distance of the marks; if not given, there are about 2^30 of them.
        reach: What one person's rows weigh together at most, over all groups.
        changes: How many vectors of rows differ between neighbours, as for `rank_reach`.
        groups: Into how many disjoint groups the rows fall that each get quantiles of their own.
        epsilon: The loss of all of them together.
        window: The weight over which the quantile function is averaged, a public number of units.

    Guarantee:
        With m quantiles there are h = ceil(log2(m+1)) levels, each of bounded range epsilon/h over all groups; so
        the releases are epsilon-DP and (epsilon^2/(8h))-zCDP.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 6, after Kaplan, Schnapp and Stemmer 2022, Theorem 3.1.

    Error:
        In units of weight: on each level the rank is missed by as much as a single quantile's at epsilon/h, with
        the probability of failure shared out among the quantiles, and a window and a half, and half the weight of
        one mark; errors of the levels add up. `ties=` says how much one mark weighs at most.

    Example:
        >>> from jali.mechanisms.quantiles.approximate_quantiles import WeightedQuantiles
        >>> quartiles = WeightedQuantiles(
        ...     at=("1/4", "1/2", "3/4"), low=0, high=1000, step=1, reach=4, changes=1, groups=1, epsilon=1
        ... )
        >>> one, two, three = quartiles.release((range(1001), [4] * 1001))
        >>> 0 <= one <= two <= three <= 1000
        True
        >>> quartiles.loss.event.rho
        Fraction(1, 16)
    """

    at: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    step: Fraction | None
    reach: Fraction
    changes: int
    groups: int
    epsilon: Fraction
    window: int

    def __init__(
        self,
        *,
        at: Sequence[Number],
        low: Number,
        high: Number,
        step: Number | None = None,
        reach: Number,
        changes: int,
        groups: int,
        epsilon: Number,
        window: int = 1,
    ) -> None:
        self._fill_lattice(low, high, step)
        self._fill(at=read_quantiles(at), reach=read_parameter(reach, "reach"))
        self._fill(changes=read_natural(changes, "changes"), groups=read_natural(groups, "groups"))
        self._fill(epsilon=read_loss(epsilon), window=read_natural(window, "window"))

    def rate(self, turn: QuantileTurn) -> Fraction:
        """Return what ranks are multiplied by in the exponent, for one quantile."""
        alone = self.groups == 1 and turn is self.turns
        return (
            self.epsilon
            / self.levels
            / (2 * find_share_sensitivity(turn.share, self.reach, self.changes, alone=alone))
        )

    def error(self, confidence: float, *, ties: int = 1) -> float:
        """Return a t such that every rank is within t units of its target, with this probability.

        Args:
            confidence: The probability that this holds.
            ties: How many units one mark weighs at most.
        """
        shared, each = read_natural(ties, "ties"), read_miss_probability(confidence) / len(self.at)
        return self.summed_error(self.turns, each, 1.5 * self.window + (shared + 1) // 2)

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its target, in units of weight."""
        rows, marks = self.halving(value).rows, list(map(self.ruler.nearest, output))
        below, up_to = (rows.sums[rows.marks.searchsorted(marks, side)].tolist() for side in ("left", "right"))
        dues = [share * rows.total for share in self.at]
        return float(max(0, *(max(b - due, due - u) for b, u, due in zip(below, up_to, dues, strict=True))))

    def halving(self, value: Any) -> WeightedQuantileHalving:
        """Return the draws on (marks, weights)."""
        top = self.ruler.top
        rows = WeightedMarks.of(value, top)
        return WeightedQuantileHalving(
            rows.marks, top, self.turns, self.rate, rows, self.window, count_levels(top)
        )

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs and triples of quantiles of small weighted tables: one person more, one replaced."""
        more: Any = ((([1, 2, 4], [3, 3, 6]), ([1, 2, 4], [3, 5, 7])), (([], []), ([5], [3])))
        moved = ((([1, 2, 4], [4, 3, 3]), ([2, 4, 5], [5, 3, 2])), (([0, 5], [5, 4]), ([0, 5], [2, 7])))
        return (
            _build_weighted_specimen(("1/3", "3/4"), 1, 2, more),
            _build_weighted_specimen(("1/4", "1/2", "3/4"), 2, 1, moved),
        )


def _build_weighted_specimen(at: tuple[Number, ...], changes: int, window: int, neighbours: Any) -> Specimen:
    mechanism = WeightedQuantiles(
        at=at, low=0, high=5, step=1, reach=3, changes=changes, groups=1, epsilon=4, window=window
    )
    adjacency = Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 7}, tight=False)
