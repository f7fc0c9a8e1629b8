"""Contenders for the mean and the variance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from jali.comparison.contender import Contender, Setting
from jali.comparison.contenders.field import Field, proposed, smooth, true_value, with_global_sensitivity
from jali.mechanisms.laplace import Laplace
from jali.mechanisms.quantiles.clipped_mean import ClippedMean
from jali.mechanisms.ruler import Ruler
from jali.mechanisms.smooth.smooth_sensitivity import SmoothSensitivity
from jali.mechanisms.smooth.statistics.mean import Mean
from jali.mechanisms.smooth.statistics.trimmed_mean import TrimmedMean
from jali.mechanisms.smooth.statistics.variance import Variance
from jali.mechanisms.smooth.statistics.winsorised_mean import WinsorisedMean
from jali.privacy.adjacency import Adjacency

_TRIM = Fraction(1, 10)
# A mean is never far from its global sensitivity, and nothing below that can be proposed; a variance often is.
_PROPOSED = Fraction(1, 2)


def _means(setting: Setting) -> Iterator[Contender]:
    mean = Mean(**setting.column)
    if setting.adjacency is Adjacency.ADD_REMOVE:
        yield _noisy_sums(setting)
    yield from with_global_sensitivity(mean, setting)
    yield from smooth(mean, setting)
    robust = {"trimmed": TrimmedMean, "winsorised": WinsorisedMean}
    for name, kind in robust.items():
        statistic = kind(trim=_TRIM, **setting.column)
        yield Contender(f"smooth, {name}", SmoothSensitivity(statistic=statistic, epsilon=setting.epsilon))
    yield _clipped(setting)


def _noisy_sums(setting: Setting) -> Contender:
    """Add noise to the sums of the distances from both ends: one person moves the two by one range in all."""
    ruler = Ruler.of(setting.low, setting.high, setting.step)

    def sums(data: Any) -> list[int]:
        marks = ruler.marks(data)
        above = sum(marks.tolist())
        return [above, ruler.top * len(marks) - above]

    def mean(noisy: tuple[int, int]) -> float:
        place = min(max(noisy[0] / sum(noisy), 0.0), 1.0) if sum(noisy) > 0 else 0.5
        return float((ruler.first + place * ruler.top) * float(ruler.step))

    return Contender("noisy sums", Laplace(sensitivity=ruler.top, epsilon=setting.epsilon), mean, sums)


def _clipped(setting: Setting) -> Contender:
    ruler = Ruler.of(setting.low, setting.high, setting.step)
    mechanism = ClippedMean(step=ruler.step, epsilon=setting.epsilon, adjacency=setting.adjacency)
    return Contender("bought clipping bounds", mechanism, lambda released: float(released.value), singly=True)


def _variances(setting: Setting) -> Iterator[Contender]:
    variance = Variance(**setting.column)
    yield from with_global_sensitivity(variance, setting)
    yield from smooth(variance, setting)
    yield from proposed(variance, setting, _PROPOSED)


def _true_mean(setting: Setting, data: Any) -> float:
    return true_value(Mean(**setting.column), data)


def _true_variance(setting: Setting, data: Any) -> float:
    return true_value(Variance(**setting.column), data)


MEAN = Field(_true_mean, _means)
VARIANCE = Field(_true_variance, _variances, least_people=2)
