"""What only tests may do: switch the noise off, and make small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from jali.mechanisms import LInfinity
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner import Plan
from jali.sampling import DiscreteGaussian, DiscreteLaplace


def _silence(self: Any, size: int, **_: Any) -> np.ndarray:
    return np.zeros(size, dtype=np.int64)


def _joint_silence(self: Any, rows: int, columns: int, **_: Any) -> np.ndarray:
    return np.zeros((rows, columns), dtype=np.int64)


def _best_mark(self: WeightedQuantile, value: Any, size: int, bits: Any) -> list[int]:
    """The mark nearest to the quantile itself: without noise nothing is moved in or out."""
    del bits
    ranks = replace(self, offset=Fraction(0)).ranks(value)
    return [round(ranks.at(ranks.target))] * size


def _best_place(self: Any, exponents: Any, size: int, bits: Any) -> np.ndarray:
    """The heaviest; of several the first."""
    del self, bits
    best = min(range(len(exponents)), key=exponents.exact)
    return np.full(size, best, dtype=np.int64)


def _likely(self: OptimalKeys, counts: np.ndarray, **_: Any) -> np.ndarray:
    """The keys that are released more often than not."""
    return np.array([self.chance(int(count)) >= 0.5 for count in counts], dtype=np.bool_)


def _reached(self: ThresholdedCounts, noisy: Any, _bits: Any) -> Any:
    """Tell what reaches the threshold, and nothing by the coin one below it."""
    return np.asarray(noisy >= self.threshold, np.bool_)


_QUIET: tuple[tuple[type, str, Any], ...] = (
    (DiscreteLaplace, "sample", _silence),
    (DiscreteGaussian, "sample", _silence),
    (LInfinity, "noise", _joint_silence),
    (WeightedQuantile, "draws", _best_mark),
    (PermutedWeightedQuantile, "draws", _best_mark),
    (PermuteAndFlip, "draw", _best_place),
    (Exponential, "draw", _best_place),
    (OptimalKeys, "choose", _likely),
    (ThresholdedCounts, "_choose_passing", _reached),
)


@contextmanager
def noise_off() -> Iterator[None]:
    """Make every release exact and every choice the best. This switch lives here and nowhere in the package."""
    with ExitStack() as patched:
        for kind, name, quiet in _QUIET:
            patched.enter_context(patch.object(kind, name, quiet))
        yield


def in_measures(plan: Plan, noisy: Sequence[Sequence[int]], level: int = 0) -> list[list[Fraction]]:
    """What was released of each measure, in integer units of the measure: joint noise is added to multiples."""
    times = [plan.levels[level].times(place) for place in range(len(noisy))]
    return [[Fraction(value, factor) for value in column] for column, factor in zip(noisy, times, strict=True)]
