"""Price a digital good: choose the price that would have earned the most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Mechanism, read_miss_probability, read_parameter
from jali.mechanisms.selection.generalised_exponential import GeneralisedExponential
from jali.mechanisms.selection.interval_exponential import IntervalExponential
from jali.mechanisms.selection.largest_counts import Choice, SelectionTask, find_selection, read_collection
from jali.mechanisms.selection.piecewise_geometric import Whole, narrow
from jali.mechanisms.selection.piecewise_scores import Piecewise, read_if_any
from jali.mechanisms.selection.scores import Scores, read_scores
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational
from jali.sampling import BitSource

_PRICE_ASSUMPTIONS = (
    "The prices are public: they do not depend on the data.",
    "Each unit has one valuation and buys one item if the price is at most that.",
    "The error is in revenue, against the best of the prices offered.",
)


@dataclass(frozen=True)
class PriceRange:
    """All multiples of `step`, counted from `low`, up to `high`: as fine as one likes.

    Example:
        >>> PriceRange(low=1, high=100, step="1/100").highest
        Fraction(100, 1)
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __init__(self, *, low: Number, high: Number, step: Number) -> None:
        for name, value in (("low", low), ("high", high), ("step", step)):
            object.__setattr__(self, name, read_parameter(value, name))
        if self.high < self.low:
            raise MechanismError("high-below-low")

    @property
    def highest(self) -> Fraction:
        """The highest price."""
        return self.low + (self.high - self.low) // self.step * self.step


def best_price(
    valuations: Sequence[Any] | NDArray[Any],
    prices: Sequence[Number] | PriceRange,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    method: str | None = None,
    step: Number | None = None,
    confidence: float = 0.99,
    bits: BitSource | None = None,
) -> Choice:
    """Return a price p whose revenue p * #{valuations >= p} is high.

    Args:
        valuations: What each unit would pay: integers or Fractions; floats and Decimals with `step`. What is
            refused is refused for its type, which is public; an empty list is a table like any other.
        prices: The prices to choose from, such as `geometric_prices` lists, or a `PriceRange`. They are public.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        method: For listed prices `permute-and-flip`, which is usual, `exponential`, or `generalised`, whose error
            grows with the best price rather than with the highest one; for a `PriceRange` `exponential` alone.
        step: Round float valuations to multiples of this.
        confidence: The probability that the error holds.
        bits: Where the random bits come from; the thread's own stream if not given.

    Error:
        With prices up to P, the revenue is at most (P/epsilon)(ln(number of prices) + t) below the best with a
        probability of 1 - e^-t, under add-remove and under replace-one alike; `error` is smaller than that.
        docs/proofs/best_price.md has the proof.

    Example:
        >>> from decimal import Decimal
        >>> from jali.mechanisms import best_price, geometric_prices
        >>> prices = geometric_prices(low=1, high=100, ratio="1.1", step="0.01")
        >>> paid = [12, 15, Decimal("19.99"), 40, 45]
        >>> found = best_price(paid, prices, epsilon=1, adjacency="replace-one", step="0.01")
        >>> found.choice in prices
        True
    """
    task = build_price_task(
        valuations, prices, epsilon=epsilon, adjacency=adjacency, method=method, step=step, confidence=confidence
    )
    return task.choose(confidence, bits)


def build_price_task(
    valuations: Sequence[Any] | NDArray[Any],
    prices: Sequence[Number] | PriceRange,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    method: str | None = None,
    step: Number | None = None,
    confidence: float = 0.99,
) -> SelectionTask:
    """Return the choice of a price, not yet made."""
    read_miss_probability(confidence)
    neighbours = Adjacency.of(adjacency)
    sorted_valuations = _sort_valuations(valuations, None if step is None else read_parameter(step, "step"))
    if not isinstance(prices, PriceRange):
        chosen = "permute-and-flip" if method is None else method
        return _build_list_task(sorted_valuations, prices, epsilon, neighbours, chosen, confidence)
    if method not in (None, "exponential"):
        raise MechanismError("price-range-method-wrong", method=method)
    return _build_range_task(sorted_valuations, prices, epsilon, neighbours)


def _build_list_task(
    valuations: Scores | None,
    prices: Sequence[Number],
    epsilon: Number,
    adjacency: Adjacency,
    method: str,
    confidence: float,
) -> SelectionTask:
    offered = _read_prices(prices)
    units = read_scores(offered)
    mechanism: Mechanism
    shape = {}
    if method == "generalised":
        failure = 1 - rational(confidence, "confidence")
        each = [int(price) for price in units.integers]
        mechanism = GeneralisedExponential(sensitivities=each, epsilon=epsilon, failure=failure)
    else:
        highest = half_spread(int(units.integers.max()))
        mechanism = find_selection(method)(sensitivity=highest, epsilon=epsilon, adjacency=adjacency)
        shape = {"candidates": len(offered)}
    value = revenues(valuations, units)
    return SelectionTask(
        mechanism, adjacency, value, offered.__getitem__, _PRICE_ASSUMPTIONS, shape, float_above(units.unit)
    )


def _read_prices(prices: Sequence[Number]) -> list[Fraction]:
    """Return different prices above 0, in their order."""
    kind = getattr(getattr(prices, "dtype", None), "kind", "O")
    if isinstance(prices, Mapping | np.ma.MaskedArray) or kind in "mM":
        raise MechanismError("prices-not-a-list")
    offered = list(dict.fromkeys(read_parameter(price, "prices") for price in read_collection(prices, "prices")))
    if not offered:
        raise MechanismError("prices-empty")
    return offered


def _build_range_task(
    valuations: Scores | None, prices: PriceRange, epsilon: Number, adjacency: Adjacency
) -> SelectionTask:
    mechanism = IntervalExponential(
        low=prices.low,
        high=prices.high,
        step=prices.step,
        sensitivity=half_spread(prices.highest),
        epsilon=epsilon,
        adjacency=adjacency,
    )
    return SelectionTask(mechanism, adjacency, revenue_curve(valuations), lambda price: price, _PRICE_ASSUMPTIONS)


def half_spread(highest: Fraction | int) -> Fraction:
    """Return the sensitivity of revenues in a selection, which looks at differences of scores only.

    Between neighbours all revenues rise, by at most the highest price, or all fall. Less half of it for all of
    them, which no selection notices, each moves by half of the highest price at most.
    """
    return Fraction(highest) / 2


def revenues(valuations: Scores | None, prices: Scores) -> Whole:
    """Return price * #{valuations >= price} for each price, in units of the prices."""
    if valuations is None:
        return np.zeros(len(prices), np.int64)
    thresholds = [-(-int(price) * prices.unit // valuations.unit) for price in prices.integers]
    held = valuations.integers
    reach = [min(max(threshold, int(held[0])), int(held[-1]) + 1) for threshold in thresholds]
    below = np.searchsorted(held, np.array(reach, held.dtype), "left")
    return np.asarray(narrow(prices.integers, len(held)) * (len(held) - below))


def revenue_curve(valuations: Scores | None) -> Piecewise:
    """Return the revenue of every price: linear between valuations, with a fall just above each of them."""
    if valuations is None:
        return Piecewise(breaks=[], scores=[0])
    count = len(valuations)
    return Piecewise(
        breaks=valuations, scores=np.zeros(count + 1, np.int64), slopes=np.arange(count, -1, -1), closed="right"
    )


def geometric_prices(*, low: Number, high: Number, ratio: Number, step: Number) -> list[Fraction]:
    """List multiples of `step` from low to high, each at most `ratio` times the one before, or one step above it.

    Error:
        The best listed price earns at least 1/ratio of what the best multiple of `step` in the range earns: the
        listed price at or just below that one sells no fewer items and costs at least 1/ratio as much.

    Example:
        >>> [str(price) for price in geometric_prices(low=1, high=4, ratio="1.5", step="0.1")]
        ['1', '3/2', '11/5', '33/10']
    """
    within = PriceRange(low=low, high=high, step=step)
    factor = read_parameter(ratio, "ratio")
    if factor <= 1:
        raise MechanismError("parameter-not-above-one", value=ratio, name="ratio")
    return list(_climb(within, factor))


def _climb(within: PriceRange, ratio: Fraction) -> Iterator[Fraction]:
    price = -(-within.low // within.step) * within.step
    while price <= within.high:
        yield price
        price = max(price + within.step, price * ratio // within.step * within.step)


def _sort_valuations(valuations: Sequence[Any] | NDArray[Any], step: Fraction | None) -> Scores | None:
    """Read valuations in rising order; None if there are none, which is no reason to refuse."""
    scores = read_if_any(valuations, step, name="valuations")
    return None if scores is None else Scores(np.sort(scores.integers), scores.unit)
