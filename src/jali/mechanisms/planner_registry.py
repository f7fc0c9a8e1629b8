"""Register the measurements that a plan may choose, one entry for each.

Each rule asks every class of its kind for a measurement at the loss and takes the one of the least forecast
error, the first of equal ones; classes that do not serve a loss return None. What is listed here can be stored
in a plan.
"""

from __future__ import annotations

from typing import Any

from jali.mechanisms.additive.gaussian_mechanism import Gaussian
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.measurement import MeasurementSensitivity, NoiseMeasurement
from jali.mechanisms.partition_selection.gaussian_threshold import GaussianThreshold
from jali.mechanisms.partition_selection.group_selection import GroupSelection
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.selection.selection_mechanism import SelectionByWeight
from jali.mechanisms.workloads.cell_strategies import CellStrategy, MeasuredCells, RootOfCells, TreeOfCells
from jali.privacy.loss import Loss

# Noise on measures and on cells.
NOISES: tuple[type[NoiseMeasurement], ...] = (Laplace, Gaussian)
# Measures that leave together.
JOINT: tuple[type[JointNoiseCoordinate], ...] = (JointNoiseCoordinate,)
# Sums of cells, and the strategies that say which.
CELLS: tuple[type[MeasuredCells], ...] = (MeasuredCells,)
STRATEGIES: tuple[type[CellStrategy], ...] = (TreeOfCells, RootOfCells)
# Quantiles, and the heaviest cells.
QUANTILES: tuple[type[WeightedQuantile], ...] = (WeightedQuantile, PermutedWeightedQuantile)
HEAVIEST: tuple[type[SelectionByWeight], ...] = (PermuteAndFlip, Exponential)
# Which groups are shown: by a draw for each group, or by a noisy count that may be released.
KEY_SELECTIONS: tuple[type[GroupSelection], ...] = (OptimalKeys,)
THRESHOLDS: tuple[type[ThresholdedCounts], ...] = (LaplaceThreshold, GaussianThreshold)


def choose_least_noise(sensitivity: MeasurementSensitivity, loss: Loss) -> NoiseMeasurement:
    """Return the noise of the least standard deviation for a loss."""
    made = [noise for kind in NOISES if (noise := kind.calibrate(sensitivity, loss)) is not None]
    return made[0] if len(made) == 1 else min(made, key=lambda noise: noise.law.stddev)


def list_stored_measurements() -> tuple[type[Any], ...]:
    """Return every class that a stored plan may hold."""
    return (*NOISES, *JOINT, *CELLS, *STRATEGIES, *QUANTILES, *HEAVIEST, *KEY_SELECTIONS, *THRESHOLDS)
