"""One call for a private quantile or median of a column."""

from __future__ import annotations

from typing import Any

from jali.mechanisms.quantiles.mark_quantile import FEW_MARKS
from jali.mechanisms.quantiles.rank_quantile import PermutedQuantile, PiecewiseLaplace, RankQuantile
from jali.mechanisms.ruler import Ruler
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


def private_quantile(
    column: Any,
    at: Number,
    low: Number,
    high: Number,
    step: Number | None = None,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> int | float:
    """Release a quantile of a column: by `PermutedQuantile` on few marks, by `PiecewiseLaplace` on many.

    Args:
        column: A list or an array of numbers; those outside the range count as its ends.
        at: Which quantile, from 0 to 1.
        low: The least value, a public fact.
        high: The largest one, a public fact.
        step: The distance of the values that can be released; fine if not given.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.mechanisms import private_quantile
        >>> wages = list(range(2000))
        >>> 1600 < private_quantile(wages, "9/10", 0, 2000, epsilon=1, adjacency="add-remove") < 2000
        True
    """
    few = Ruler.of(low, high, step).top < FEW_MARKS  # a public fact
    kind: type[RankQuantile] = PermutedQuantile if few else PiecewiseLaplace
    mechanism = kind(at=at, low=low, high=high, step=step, epsilon=epsilon, adjacency=adjacency)
    return mechanism.release(column, bits=bits)


def private_median(
    column: Any,
    low: Number,
    high: Number,
    step: Number | None = None,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> int | float:
    """Release the median of a column: `private_quantile` at 1/2.

    Example:
        >>> from jali.mechanisms import private_median
        >>> private_median([37] * 500, 0, 120, 1, epsilon=1, adjacency="replace-one")
        37
    """
    return private_quantile(column, "1/2", low, high, step, epsilon=epsilon, adjacency=adjacency, bits=bits)
