"""Sensitivity: how far one privacy unit can move a measure, over all groups, in integer units.

Statement:
    Let a person's rows weigh at most `max_rows * resolution` in all and let one row's lattice point lie in
    [a, b]. Then the vector of the measure over the groups has, from this person, L1 norm at most
    m = resolution * max_rows * max(|a|, |b|) and each coordinate in resolution * max_rows * [min(a,0), max(b,0)].
    When one such vector is added or taken away (`changes` is 1), the measure moves by at most m in L1 and in L2.
    When one is replaced by another (2), it moves by at most 2m in L1 and by at most max(sqrt(2) m, width) in L2,
    where width = resolution * max_rows * (max(b,0) - min(a,0)); with a single group by at most `width` in both.
    Two replacements (4) move it at most twice as far as one. `query.ownership` says how many changes there are.
    Where a person has one row at most in each group, the vector has L2 norm at most m / sqrt(max_rows).
Proof:
    docs/proofs/weights.md, docs/proofs/per_group.md.
"""

from __future__ import annotations

from fractions import Fraction

from jali.query.aggregation import Aggregation, CountPeople, CountValues, Measure, SumValues


def l1_sensitivity(aggregation: Aggregation, measure: Measure, changes: int) -> Fraction:
    """Return the L1 sensitivity of a measure when so many bounded vectors change."""
    most, width = reach(aggregation, measure)
    if changes == 1:
        return Fraction(most)
    if isinstance(measure, CountPeople | CountValues):
        # Vectors in [0, 1]^groups: never more than one per group and replacement, where the groups are known.
        return Fraction(changes * most if aggregation.selecting else _capped(aggregation, measure, changes, most))
    return changes // 2 * Fraction(width if aggregation.one_group else 2 * most)


def _capped(aggregation: Aggregation, measure: Measure, changes: int, most: int) -> int:
    if isinstance(measure, CountValues):
        return changes * most
    return min(changes * most, changes // 2 * aggregation.groups * aggregation.resolution(measure))


def squared_l2_sensitivity(aggregation: Aggregation, measure: Measure, changes: int) -> Fraction:
    """Return the square of the L2 sensitivity of a measure when so many bounded vectors change."""
    most, width = reach(aggregation, measure)
    if isinstance(measure, CountPeople):
        # A replacement moves a coordinate by at most one resolution, two replacements by two of them.
        step = aggregation.resolution(measure) * max(1, changes // 2)
        return step * l1_sensitivity(aggregation, measure, changes)
    if isinstance(measure, CountValues):
        return l1_sensitivity(aggregation, measure, changes) ** 2
    one = _one_squared(aggregation, most)
    if changes == 1:
        return one
    both = Fraction(width**2) if aggregation.one_group else max(2 * Fraction(most**2), Fraction(width**2))
    # By the triangle inequality two vectors are at most twice as far apart as one is long.
    return (changes // 2) ** 2 * min(both, 4 * one)


def _one_squared(aggregation: Aggregation, most: int) -> Fraction:
    """Return the square of the largest L2 norm of one person's vector.

    It is the square of the L1 norm, all in one group; unless each of the `max_rows` is in a group of its own.
    """
    spread = aggregation.weights is not None and aggregation.one_row_per_group
    rows = aggregation.weights.max_rows if aggregation.weights is not None and spread else 1
    return Fraction(most**2, rows)


def reach(aggregation: Aggregation, measure: Measure) -> tuple[int, int]:
    """Return the largest L1 norm of one person's vector, and the width of one coordinate's interval."""
    resolution, weights = aggregation.resolution(measure), aggregation.weights
    if isinstance(measure, CountPeople):
        groups = 1 if weights is None or aggregation.one_group else weights.max_groups
        return resolution * groups, resolution
    rows = 1 if weights is None else weights.max_rows
    if isinstance(measure, CountValues):
        return rows, rows
    low, high = (measure.least, measure.most) if isinstance(measure, SumValues) else (0, 1)
    # A range of one point has no sensitivity; noise of the least scale does no harm and keeps one rule for all.
    most = max(abs(low), abs(high), 1)
    return resolution * rows * most, resolution * rows * max(max(high, 0) - min(low, 0), 1)
