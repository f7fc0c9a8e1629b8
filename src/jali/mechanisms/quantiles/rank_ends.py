"""What to aim at and what to spend for a quantile, the ends of its interval, and the least and largest value."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.readers import quantile_of
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.privacy.rationals import Number

END_SHARE = Fraction(1, 8)
"""What an end of the interval gets of epsilon: the share x that makes (1/(1-2x))^3 / x least."""


def interval_shares(at: Number) -> tuple[Fraction, Fraction, Fraction]:
    """Return the shares of epsilon for the low end, the quantile itself and the high end; they sum to 1.

    Below the least value, and above the largest, one person may have been anywhere: that end of the interval is
    the end of the declared range, and free.

    Example:
        >>> [str(share) for share in interval_shares("1/2")]
        ['1/8', '3/4', '1/8']
        >>> [str(share) for share in interval_shares(1)]
        ['1/8', '7/8', '0']
    """
    share = quantile_of(at, "at")
    low, high = (END_SHARE if share != end else Fraction(0) for end in (0, 1))
    return low, 1 - low - high, high


def end_offset(mechanism: WeightedQuantile, confidence: float) -> int:
    """Return how far off its rank an end of the interval must aim, in units of weight.

    Let the mechanism be the one that draws the end, with its share of the loss. Released with the offset -r it is
    above the true quantile with a chance of at most (1 - confidence)/2, whatever the rows are, and with the offset
    r below it. The true quantile is the mean of the quantile function over the window that ends at the target.
    Where one end of the interval is free, 2 * confidence - 1 is enough for the other one.

    Guarantee:
        r is the error of the mechanism at the chance (1 - confidence)/2 of failing, and half a window.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 5.
    """
    held = math.nextafter(1 - miss(confidence) / 2, 1)
    return math.ceil(mechanism.error(held)) + -(-mechanism.window // 2)


def inner_offset(mechanism: WeightedQuantile) -> int:
    """Return how far inside the range a least or a largest value should be aimed at, in units of weight.

    With M marks it is ln(M - 1)/rate, upwards for the least value, downwards for the largest: an empty rest of the
    range weighs no more than the one best mark then. Other quantiles are aimed at as they are: 0.
    """
    inwards = math.ceil(math.log(mechanism.top) / mechanism.rate)
    if 0 < mechanism.at < 1:
        return 0
    return inwards if mechanism.at == 0 else -inwards
