"""What every statistic refuses, by the same name and with the same error."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.smooth.means import Mean
from jali.mechanisms.smooth.most_frequent_value import Winner
from jali.mechanisms.smooth.order_statistics import Maximum, Median, Minimum, Quantile
from jali.mechanisms.smooth.statistic import SmoothBound, Statistic
from jali.mechanisms.smooth.trimmed_mean import TrimmedMean
from jali.mechanisms.smooth.variance import Variance
from jali.mechanisms.smooth.winsorised_mean import WinsorisedMean

STATISTICS: list[Statistic] = [
    *(kind(low=0, high=5, step=1, adjacency="add-remove") for kind in (Minimum, Median, Maximum, Mean, Winner)),
    Quantile(at="1/3", low=0, high=5, step=1, adjacency="replace-one"),
    *(kind(low=0, high=5, step=1, trim="1/5", adjacency="replace-one") for kind in (TrimmedMean, WinsorisedMean)),
    Variance(low=0, high=5, step=1, mesh=1, adjacency="replace-one"),
]


@pytest.mark.parametrize("bad", [0, -1, Fraction(-1, 2), float("nan"), "x", True, None])
def test_a_bad_beta_is_refused_by_name(bad: object) -> None:
    for statistic in STATISTICS:
        with pytest.raises(MechanismError, match="beta"):
            statistic.smooth(statistic.read([1, 2, 2]), bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1, 1.5, True, "a", None])
def test_a_bad_distance_is_refused_by_name(bad: object) -> None:
    for statistic in STATISTICS:
        with pytest.raises(MechanismError, match="changes"):
            statistic.at_distance(statistic.read([1, 2, 2]), bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["near", None, 1])
def test_a_bad_adjacency_is_refused_alike(bad: object) -> None:
    for statistic in STATISTICS:
        with pytest.raises(CatalogError, match="adjacency"):
            replace(statistic, adjacency=bad)  # type: ignore[type-var]


@pytest.mark.parametrize("bad", [0, -1])
def test_no_bound_has_a_beta_of_0(bad: int) -> None:
    with pytest.raises(MechanismError, match="beta"):
        SmoothBound(Fraction(bad), ((0, Fraction(1)),))
