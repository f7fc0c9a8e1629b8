"""The measurements that a plan may choose: one entry registers one of them.

Each rule asks every class of its kind for a measurement at the loss and takes the one of the least forecast error,
the first of equal ones; classes that do not serve a loss return None. What is listed here can be stored in a plan.
"""

from __future__ import annotations

from typing import Any

from jali.mechanisms.gaussian import Gaussian
from jali.mechanisms.joint_measure import Coordinate
from jali.mechanisms.keys.gaussian_threshold import GaussianThreshold
from jali.mechanisms.keys.group_selection import GroupSelection
from jali.mechanisms.keys.laplace_threshold import LaplaceThreshold
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.keys.optimal_keys import OptimalKeys
from jali.mechanisms.laplace import Laplace
from jali.mechanisms.measurement import Noise, Reach
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.selection.picks import PickByWeight
from jali.mechanisms.workloads.cell_strategies import CellStrategy, RootOfCells, TreeOfCells
from jali.mechanisms.workloads.measured_cells import MeasuredCells
from jali.privacy.loss import Loss

# Noise on measures and on cells.
NOISES: tuple[type[Noise], ...] = (Laplace, Gaussian)
# Measures that leave together.
JOINT: tuple[type[Coordinate], ...] = (Coordinate,)
# Sums of cells, and the strategies that say which.
CELLS: tuple[type[MeasuredCells], ...] = (MeasuredCells,)
STRATEGIES: tuple[type[CellStrategy], ...] = (TreeOfCells, RootOfCells)
# Quantiles, and the heaviest cells.
QUANTILES: tuple[type[WeightedQuantile], ...] = (WeightedQuantile, PermutedWeightedQuantile)
HEAVIEST: tuple[type[PickByWeight], ...] = (PermuteAndFlip, Exponential)
# Which groups are shown: by coins, or by a noisy count that may be told.
COINS: tuple[type[GroupSelection], ...] = (OptimalKeys,)
THRESHOLDS: tuple[type[NoisyCounts], ...] = (LaplaceThreshold, GaussianThreshold)


def least_noise(reach: Reach, loss: Loss) -> Noise:
    """Return the noise of the least standard deviation for a loss."""
    made = [noise for kind in NOISES if (noise := kind.calibrate(reach, loss)) is not None]
    return made[0] if len(made) == 1 else min(made, key=lambda noise: noise.law.stddev)


def stored_measurements() -> tuple[type[Any], ...]:
    """Return every class that a stored plan may hold."""
    return (*NOISES, *JOINT, *CELLS, *STRATEGIES, *QUANTILES, *HEAVIEST, *COINS, *THRESHOLDS)
