"""What a release costs, computed from what will really run and from sensitivities derived anew."""

from __future__ import annotations

from fractions import Fraction

from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner.cells import MeasuredCells, strategy_l1, strategy_squared_l2
from jali.planner.joint import block_of, block_reach
from jali.planner.part import Choice, Coordinate, Draw, Noise, Part
from jali.planner.reach import cell_reach, rank_sensitivity
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.privacy import NOTHING, Event
from jali.query.aggregation import CountRows


def paid(part: Part, index: int, changes: int) -> Event:
    """Return the loss of one release when so many bounded vectors change."""
    mechanism = part.mechanisms[index]
    if isinstance(mechanism, NoisyCounts):
        # The count is told by the noise that chose its group, which is paid for (`tell.selected`).
        return NOTHING
    if isinstance(mechanism, Coordinate):
        # Measures that leave together are paid for once, with the first of them.
        return _joint(part, mechanism, changes) if mechanism.place == 0 else NOTHING
    if isinstance(mechanism, MeasuredCells):
        return _strategy(part, mechanism, changes)
    if isinstance(mechanism, Laplace | Gaussian):
        return _noise(part, index, mechanism, changes)
    return _choice(part, part.draws[index], mechanism, changes)


def _noise(part: Part, index: int, mechanism: Noise, changes: int) -> Event:
    measure = CountRows() if part.draws else part.aggregation.measures[index]
    if isinstance(mechanism, Gaussian):
        squared = squared_l2_sensitivity(part.aggregation, measure, changes)
        return Event(None, squared / (2 * mechanism.variance))
    epsilon = l1_sensitivity(part.aggregation, measure, changes) / mechanism.scale
    return Event(epsilon, epsilon**2 / 2)


def _joint(part: Part, first: Coordinate, changes: int) -> Event:
    times = {place: coordinate.times for place, coordinate in block_of(part).items()}
    epsilon = block_reach(part.aggregation, times, changes) / first.joint.scale
    return Event(epsilon, epsilon**2 / 2)


def _strategy(part: Part, mechanism: MeasuredCells, changes: int) -> Event:
    """The sums of a strategy move as far as the columns of its matrix are long."""
    noise = mechanism.noise
    if isinstance(noise, Gaussian):
        squared = strategy_squared_l2(mechanism.strategy, part.aggregation, changes)
        return Event(None, squared / (2 * noise.variance))
    epsilon = strategy_l1(mechanism.strategy, part.aggregation, changes) / noise.scale
    return Event(epsilon, epsilon**2 / 2)


def _choice(part: Part, draw: Draw, mechanism: Choice, changes: int) -> Event:
    """The loss of a choice is proportional to how far the distances or weights that it looks at can move."""
    if isinstance(mechanism, WeightedQuantile):
        moved = rank_sensitivity(part.aggregation, draw.at, changes) / mechanism.sensitivity
    else:
        moved = cell_reach(part.aggregation, changes) / mechanism.sensitivity
        if mechanism.monotone and changes > 1:
            moved *= 2
    epsilon = mechanism.epsilon * moved
    # One after the other: sums of epsilon, and of rho.
    picks = draw.picks
    if isinstance(mechanism, PermutedWeightedQuantile | PermuteAndFlip):
        return Event(picks * epsilon, picks * epsilon**2 / 2)
    return Event(None, picks * Fraction(epsilon**2) / 8)
