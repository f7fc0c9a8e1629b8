"""Contenders for the slope of a line."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from jali.comparison.contender import Contender, Setting
from jali.comparison.contenders.field import Field, proposed, smooth
from jali.mechanisms.regression.adaptive import AdaptiveRegression
from jali.mechanisms.regression.slope import Slope
from jali.mechanisms.regression.theil_sen import TheilSen
from jali.privacy.convert import largest_rho

_PROPOSED = Fraction(1, 10)


def _contenders(setting: Setting) -> Iterator[Contender]:
    ends = (setting.low, setting.high)
    adaptive = AdaptiveRegression(
        features=(ends,),
        target=ends,
        rho=largest_rho(setting.epsilon, setting.delta),
        adjacency=setting.adjacency,
    )
    yield Contender("noisy sums, ridge", adaptive, lambda fitted: float(fitted.coefficients[0]), singly=True)
    robust = TheilSen(feature=ends, target=ends, epsilon=setting.epsilon)
    yield Contender("Theil-Sen", robust, lambda fitted: float(fitted.slope), singly=True)
    slope = Slope(feature=ends, target=ends, adjacency=setting.adjacency)
    yield from smooth(slope, setting)
    yield from proposed(slope, setting, _PROPOSED)


def _truth(setting: Setting, data: Any) -> float:
    """Return the slope by least squares; 0 where all values of the feature are the same."""
    across, up = np.clip(np.asarray(data, np.float64), float(setting.low), float(setting.high)).T
    spread = float(((across - across.mean()) ** 2).sum())
    return float(((across - across.mean()) * (up - up.mean())).sum() / spread) if spread else 0.0


SLOPE = Field(_truth, _contenders, columns=2, least_people=2)
