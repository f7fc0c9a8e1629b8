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
    Where rows are weighed by the L2 norm of their numbers over the groups, the vector has L2 norm at most m; one
    in place of another moves the measure by at most resolution * max_rows * sqrt(2 (min(a,0)^2 + max(b,0)^2)). It
    has no L1 bound then, and asking for one stops.
Proof:
    docs/proofs/weights.md, docs/proofs/per_group.md.
"""

from __future__ import annotations

from fractions import Fraction

from jali.errors import JaliError
from jali.query.aggregation import Aggregation, CountPeople, CountRows, CountValues, Measure, SumValues


def l1_sensitivity(aggregation: Aggregation, measure: Measure, changes: int) -> Fraction:
    """Return the L1 sensitivity of a measure when so many bounded vectors change."""
    if by_length(aggregation, measure):
        raise JaliError("plan-norm-mismatch")
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
    both = Fraction(width**2) if aggregation.one_group else _replaced(aggregation, measure, most, width)
    # By the triangle inequality two vectors are at most twice as far apart as one is long.
    return (changes // 2) ** 2 * min(both, 4 * one)


def _replaced(aggregation: Aggregation, measure: Measure, most: int, width: int) -> Fraction:
    """Return the square of how far apart two people's vectors over several groups are."""
    if not by_length(aggregation, measure):
        return max(2 * Fraction(most**2), Fraction(width**2))
    low, high = _span(measure)
    return Fraction(max(2 * _weight(aggregation) ** 2 * (low**2 + high**2), width**2))


def _span(measure: Measure) -> tuple[int, int]:
    """Return the least and largest points of one row, or 0 where it is beyond them: rows can be missing."""
    return (min(measure.least, 0), max(measure.most, 0)) if isinstance(measure, SumValues) else (0, 1)


def _weight(aggregation: Aggregation) -> int:
    """Return what one person's rows weigh at most, in the norm of the weights."""
    return 1 if aggregation.weights is None else aggregation.weights.resolution * aggregation.weights.max_rows


def by_length(aggregation: Aggregation, measure: Measure) -> bool:
    """Say whether a measure sums rows that are weighed by the L2 norm of their numbers over the groups."""
    weights = aggregation.weights
    return weights is not None and weights.norm != "l1" and isinstance(measure, CountRows | SumValues)


def _one_squared(aggregation: Aggregation, most: int) -> Fraction:
    """Return the square of the largest L2 norm of one person's vector.

    It is the square of the L1 norm, all in one group; unless each of the `max_rows` is in a group of its own.
    """
    weights = aggregation.weights
    spread = weights is not None and weights.norm == "l1" and aggregation.one_row_per_group
    rows = weights.max_rows if weights is not None and spread else 1
    return Fraction(most**2, rows)


def reach(aggregation: Aggregation, measure: Measure) -> tuple[int, int]:
    """Return the largest norm of one person's vector, L1 or L2, and the width of one coordinate's interval."""
    weights = aggregation.weights
    if isinstance(measure, CountPeople):
        resolution = aggregation.resolution(measure)
        groups = 1 if weights is None or aggregation.one_group else weights.max_groups
        return resolution * groups, resolution
    if isinstance(measure, CountValues):
        rows = 1 if weights is None else weights.max_rows
        return rows, rows
    low, high = _span(measure)
    # A range of one point has no sensitivity; noise of the least scale does no harm and keeps one rule for all.
    return _weight(aggregation) * max(-low, high, 1), _weight(aggregation) * max(high - low, 1)
