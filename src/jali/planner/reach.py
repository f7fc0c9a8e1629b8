"""How far one privacy unit can move what is picked along an axis, in integer units of weight."""

from __future__ import annotations

from fractions import Fraction

from jali.mechanisms.quantiles.weighted_quantile import rank_reach
from jali.query.aggregation import Aggregation


def weight_reach(aggregation: Aggregation) -> int:
    """Return what one person's rows weigh together at most."""
    weights = aggregation.weights
    return 1 if weights is None else weights.resolution * weights.max_rows


def many_groups(aggregation: Aggregation) -> int:
    """Return the number of groups, or 2 where it is not known: all that matters is whether there are several."""
    return 2 if aggregation.selecting else max(1, aggregation.groups)


def rank_sensitivity(aggregation: Aggregation, at: Fraction, changes: int) -> Fraction:
    """Return how far the distances of a quantile move, over all groups together."""
    return rank_reach(at, weight_reach(aggregation), changes, groups=many_groups(aggregation))


def cell_reach(aggregation: Aggregation, changes: int) -> Fraction:
    """Return how far the weight of a cell moves, over all groups together.

    In one group a vector that replaces another moves a cell by at most one reach; over several groups one of
    them may lose a reach and another gain one.
    """
    reach = Fraction(weight_reach(aggregation))
    if changes == 1:
        return reach
    return reach * (changes if many_groups(aggregation) > 1 else changes // 2)
