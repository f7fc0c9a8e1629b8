"""Contenders for order statistics: median, quantile, minimum and maximum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from jali.comparison.contender import Contender, Setting
from jali.comparison.contenders.field import Field, proposed, smooth, true_value, with_global_sensitivity
from jali.mechanisms.quantiles.mark_quantile import FEW_MARKS
from jali.mechanisms.quantiles.rank_quantile import PermutedQuantile, PiecewiseLaplace, QuantileExponential
from jali.mechanisms.quantiles.unbounded_quantile import UnboundedQuantile
from jali.mechanisms.ruler import Ruler
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.smooth.statistics.extremes import Maximum, Minimum
from jali.mechanisms.smooth.statistics.quantile import Median, Quantile

Make = Callable[[Setting], Statistic]


def _contenders(make: Make, at: Fraction | None, setting: Setting) -> Iterator[Contender]:
    wanted = setting.at if at is None else at
    ruler = Ruler.of(setting.low, setting.high, setting.step)
    given: Any = {**setting.column, "at": wanted, "epsilon": setting.epsilon}
    if ruler.top < FEW_MARKS:
        yield Contender("permute-and-flip", PermutedQuantile(**given))
    yield Contender("piecewise Laplace", PiecewiseLaplace(**given))
    yield Contender("exponential", QuantileExponential(**given))
    yield Contender("unknown range", _unbounded(wanted, ruler, setting))
    yield from smooth(make(setting), setting)
    yield from proposed(make(setting), setting)
    yield from with_global_sensitivity(make(setting), setting)


def _unbounded(at: Fraction, ruler: Ruler, setting: Setting) -> UnboundedQuantile:
    return UnboundedQuantile(at=at, step=ruler.step, epsilon=setting.epsilon, adjacency=setting.adjacency)


def _quantile(setting: Setting) -> Quantile:
    return Quantile(at=setting.at, **setting.column)


def _field(make: Make, at: Fraction | None) -> Field:
    return Field(lambda setting, data: true_value(make(setting), data), partial(_contenders, make, at))


MEDIAN = _field(lambda setting: Median(**setting.column), Fraction(1, 2))
QUANTILE = _field(_quantile, None)
MINIMUM = _field(lambda setting: Minimum(**setting.column), Fraction(0))
MAXIMUM = _field(lambda setting: Maximum(**setting.column), Fraction(1))
