"""Sensitivity: how far one privacy unit can move a measure, over all groups, in integer units.

Statement:
    Let a person's rows weigh at most `max_rows * resolution` in all and let one row's lattice point lie in
    [a, b]. Then the vector of the measure over the groups has, from this person, L1 norm at most
    m = resolution * max_rows * max(|a|, |b|) and each coordinate in resolution * max_rows * [min(a,0), max(b,0)].
    Add-remove moves it by at most m in L1 and in L2. Replace-one moves it by at most 2m in L1 and by at most
    max(sqrt(2) m, width) in L2, where width = resolution * max_rows * (max(b,0) - min(a,0)); with a single
    group by at most `width` in both.
Proof:
    docs/proofs/weights.md.
"""

from __future__ import annotations

from fractions import Fraction

from jali.privacy import Adjacency
from jali.query.aggregation import Aggregation, CountPeople, Measure, SumValues


def l1_sensitivity(aggregation: Aggregation, measure: Measure) -> Fraction:
    """Return the L1 sensitivity of a measure under the adjacency of its table."""
    most, width = _reach(aggregation, measure)
    if aggregation.table.adjacency is Adjacency.ADD_REMOVE:
        return Fraction(most)
    if isinstance(measure, CountPeople):
        # Two vectors in [0, 1]^groups: twice the bound, and never more than one per group.
        return Fraction(min(2 * most, aggregation.groups * width))
    return Fraction(width if aggregation.groups == 1 else 2 * most)


def squared_l2_sensitivity(aggregation: Aggregation, measure: Measure) -> Fraction:
    """Return the square of the L2 sensitivity of a measure under the adjacency of its table."""
    if isinstance(measure, CountPeople):
        # Coordinates move by at most one resolution each, so the squares sum to at most resolution * L1.
        return aggregation.resolution(measure) * l1_sensitivity(aggregation, measure)
    most, width = _reach(aggregation, measure)
    if aggregation.table.adjacency is Adjacency.ADD_REMOVE:
        return Fraction(most**2)
    return Fraction(width**2 if aggregation.groups == 1 else max(2 * most**2, width**2))


def _reach(aggregation: Aggregation, measure: Measure) -> tuple[int, int]:
    """Return the largest L1 norm of one person's vector, and the width of one coordinate's interval."""
    resolution = aggregation.resolution(measure)
    if isinstance(measure, CountPeople):
        groups = 1 if aggregation.weights is None or aggregation.groups == 1 else aggregation.weights.max_groups
        return resolution * groups, resolution
    rows = 1 if aggregation.weights is None else aggregation.weights.max_rows
    low, high = (measure.least, measure.most) if isinstance(measure, SumValues) else (0, 1)
    # A range of one point has no sensitivity; noise of the least scale does no harm and keeps one rule for all.
    most = max(abs(low), abs(high), 1)
    return resolution * rows * most, resolution * rows * max(max(high, 0) - min(low, 0), 1)
