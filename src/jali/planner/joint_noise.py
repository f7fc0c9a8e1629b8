"""Joint noise: release the measures of one group together, with one noise of the L-infinity norm.

Statement:
    Measures j of integers x_gj, over groups g, are multiplied by whole numbers t_j; then noise z_g of mass
    proportional to exp(-max_j |z_gj| / scale) is added in each group. One unit spends at most reach/scale, where
    reach = max_j t_j s_j and s_j is the L1 sensitivity of measure j by itself: for counts and sums of rows over
    any groups, and for all measures where there is one group.
    In units of s_j and of the loss of d measures together, each has the variance (d+1)(d+2)/3, up to the rounding
    of t_j; Laplace noise with a part of the loss for each has 2 d^2.
Proof:
    docs/proofs/joint_noise.md, after Hardt and Talwar 2010, Theorem 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from jali.ir.aggregates import Aggregation, CountRows, Measure, SumValues
from jali.mechanisms import LInfinity
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.additive.noise_laws import Floats
from jali.planner.measured_query import MeasuredQuery
from jali.planner.query_sensitivity import QuerySensitivity

# Noise is sampled up to scale 2^60, and a radius is a few times its scale: so much is used of it.
_SCALE = 1 << 56
# Multipliers are whole numbers: so much may be lost by that.
_WASTE = Fraction(1, 1000)
_FINEST = 1024
# So many measures or fewer are compared one by one, as they were before there were many.
_MANY = 24


def block_variance(dimension: int) -> Fraction:
    """Return the variance of one of so many measures that leave together, in units of (reach / loss) squared.

    Example:
        >>> [str(block_variance(dimension)) for dimension in (1, 2, 3)]
        ['2', '4', '20/3']
    """
    return Fraction((dimension + 1) * (dimension + 2), 3)


def may_join(aggregation: Aggregation, measure: Measure) -> bool:
    """Say whether a measure may leave together with others: those of rows may, in a single group all."""
    return isinstance(measure, CountRows | SumValues) or aggregation.one_group


def best_block(importance: Sequence[float], able: Sequence[int], power: float) -> tuple[int, ...]:
    """Return which measures should leave together so that the forecast error is least; none or at least two.

    The error of d measures together is that of one measure whose importance is the sum of theirs, times
    (d+1)(d+2)/6: the split of the loss sees one release. A best block is a run of the ranking by importance: of
    three measures, two of them in the block, the forecast is concave in the importance of the one left out.
    """
    ranked = sorted(able, key=lambda place: -importance[place])
    weights = [0.0, *accumulate(importance[place] for place in ranked)]
    apart = [0.0, *accumulate(importance[place] ** power for place in ranked)]

    if len(ranked) > _MANY:
        return _best_run(ranked, np.array(weights), np.array(apart), power)

    def measure_saving(run: tuple[int, int]) -> float:
        first, end = run
        together = float(block_variance(end - first)) / 2 * (weights[end] - weights[first])
        return float(apart[end] - apart[first] - together**power)

    runs = [(first, end) for first in range(len(ranked)) for end in range(first + 2, len(ranked) + 1)]
    first, end = max(runs, key=measure_saving, default=(0, 0))
    return tuple(sorted(ranked[first:end])) if runs and measure_saving((first, end)) > 0 else ()


def _best_run(ranked: Sequence[int], weights: Floats, apart: Floats, power: float) -> tuple[int, ...]:
    """Compare all runs of many measures at once."""
    lengths = np.arange(len(ranked) + 1) - np.arange(len(ranked))[:, None]
    scale = np.maximum(lengths, 0.0)
    together = (scale + 1) * (scale + 2) / 6 * np.maximum(weights - weights[:-1, None], 0.0)
    saved = np.where(lengths >= 2, apart - apart[:-1, None] - together**power, 0.0)
    first, end = divmod(int(saved.argmax()), saved.shape[1])
    return tuple(sorted(ranked[first:end])) if saved[first, end] > 0 else ()


def list_split_weights(importance: Sequence[float], block: Sequence[int]) -> list[float]:
    """Return the weights in the split of the loss: first of the block, where there is one, then of all others."""
    inside = frozenset(block)
    alone = [weight for place, weight in enumerate(importance) if place not in inside]
    if not block:
        return alone
    return [float(block_variance(len(block))) / 2 * sum(importance[place] for place in block), *alone]


def choose_multipliers(reaches: Sequence[Fraction], epsilon: Fraction) -> tuple[int, ...]:
    """Return whole numbers that make all reaches nearly equal, as small as the waste allows.

    Example:
        >>> choose_multipliers([Fraction(4), Fraction(1)], Fraction(1))
        (1, 4)
        >>> choose_multipliers([Fraction(3), Fraction(2)], Fraction(1))
        (2, 3)
    """
    largest, finest = max(reaches), 1
    while (
        finest < _FINEST
        and _wastes_too_much(reaches, finest * largest)
        and 2 * finest * largest <= _SCALE * epsilon
    ):
        finest *= 2
    return tuple(int(finest * largest // reach) for reach in reaches)


def _wastes_too_much(reaches: Sequence[Fraction], common: Fraction) -> bool:
    return any(common // reach * reach < (1 - _WASTE) * common for reach in reaches)


def build_coordinates(
    aggregation: Aggregation, times: Mapping[int, int], epsilon: Fraction, changes: int
) -> dict[int, JointNoiseCoordinate]:
    """Return the noise of measures that leave together, by their places."""
    reach = QuerySensitivity(aggregation, changes, times=times).joint
    joint = LInfinity(sensitivity=reach, epsilon=epsilon, dimension=len(times))
    return JointNoiseCoordinate.build_all(joint, times)


def find_block(part: MeasuredQuery) -> dict[int, Any]:
    """Return the measures of a part that leave together, by their places."""
    return part.block


def may_leave_together(part: MeasuredQuery) -> bool:
    """Say whether the measures of the block of a part, if it has one, are such as may leave together."""
    block = find_block(part)
    measures = [part.aggregation.measures[place] for place in block] if not part.draws else []
    return not block or (bool(measures) and all(may_join(part.aggregation, measure) for measure in measures))


def is_whole_block(part: MeasuredQuery) -> bool:
    """Say whether the block of a part, if it has one, holds all that share its noise, each once, in order."""
    block = tuple(find_block(part).values())
    return not block or block[0].completes(block)
