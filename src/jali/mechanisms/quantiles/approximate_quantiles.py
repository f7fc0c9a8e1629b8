"""Many quantiles by halving: the middle one first, then those below and above it in their parts of the column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import Specimen, miss, natural, parameter
from jali.mechanisms.quantiles.halved_quantiles import HalvedQuantiles, Values
from jali.mechanisms.quantiles.ranks import largest_distance, sorted_marks
from jali.mechanisms.quantiles.readers import loss_of, rising_quantiles
from jali.mechanisms.quantiles.turns import Halving, Turn
from jali.mechanisms.ruler import Ruler
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_FINE = 1 << 40


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
        self._fill(at=rising_quantiles(at), low=ruler.low, high=ruler.high)
        self._fill(step=None if step is None else ruler.step, epsilon=loss_of(epsilon))
        self._fill(adjacency=Adjacency.of(adjacency))

    @classmethod
    def for_rho(cls, rho: Number, *, at: Sequence[Number], **others: Any) -> ApproximateQuantiles:
        """Return the mechanism that spends at most rho in zCDP: epsilon is sqrt(8 h rho), rounded down."""
        levels = len(rising_quantiles(at)).bit_length()
        square = 8 * levels * parameter(rho, "rho") * _FINE**2
        return cls(at=at, epsilon=Fraction(math.isqrt(math.floor(square)), _FINE), **others)

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
        return self.summed_error(self.turns, each, 0.5 + (shared + 1) // 2)

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its due, in people."""
        ruler = self.ruler
        return largest_distance(self.at, sorted_marks(ruler.marks(value)), [ruler.nearest(y) for y in output])

    def halving(self, value: Any) -> Halving:
        """Return the draws on a column."""
        ruler = self.ruler
        return Halving(sorted_marks(ruler.marks(value)), ruler.top, self.turns, self.rate)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs and triples of quantiles of small columns, in both adjacencies."""
        return (
            _specimen(("1/3", "3/4"), Adjacency.ADD_REMOVE, (([1, 2, 4, 4], [1, 2, 4]), ([], [5]))),
            _specimen(("1/4", "1/2", "3/4"), Adjacency.REPLACE_ONE, (([1, 2, 4, 4], [2, 4, 4, 5]),)),
            _specimen(("1/10", "1/5", 1), Adjacency.REPLACE_ONE, (([0, 2, 2, 5], [2, 2, 5, 5]),)),
        )


def _specimen(
    at: tuple[Number, ...], adjacency: Adjacency, neighbours: tuple[tuple[list[int], list[int]], ...]
) -> Specimen:
    mechanism = ApproximateQuantiles(at=at, low=0, high=5, step=1, epsilon=3, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 2}, tight=False)
