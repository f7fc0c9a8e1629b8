"""The release with smooth sensitivity: its loss on all small neighbours, its law, its clamp and its choices."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms import (
    Cauchy,
    LaplaceLogNormal,
    Maximum,
    Mean,
    Median,
    Polynomial,
    PolyPlace,
    SmoothGaussian,
    SmoothLaplace,
    SmoothSensitivity,
    Statistic,
    StudentT,
    TrimmedMean,
    Variance,
    Winner,
    WinsorisedMean,
)
from jali.mechanisms.smooth.admissible_noise import Family

TOP = 3
RULER: dict[str, Any] = {"low": 0, "high": TOP, "step": 1}
PURE: tuple[Family, ...] = (PolyPlace(), Cauchy(), StudentT(degrees=3), Polynomial(gamma=3))
ADJACENCIES = ("replace-one", "add-remove")
STATISTICS: dict[str, Any] = {
    "median": Median,
    "maximum": Maximum,
    "winner": Winner,
    "mean": Mean,
    "trimmed": lambda **given: TrimmedMean(trim="1/4", **given),
    "winsorised": lambda **given: WinsorisedMean(trim="1/4", **given),
    "variance": Variance,
}


def neighbours(adjacency: str, most: int = 4) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All ordered pairs of neighbouring tables of up to `most` values."""
    tables = [t for n in range(most + 1) for t in itertools.combinations_with_replacement(range(TOP + 1), n)]
    return [pair for pair in itertools.permutations(tables, 2) if _one_change(*pair, adjacency)]


def _one_change(one: tuple[int, ...], other: tuple[int, ...], adjacency: str) -> bool:
    apart = Counter(one)
    apart.subtract(Counter(other))
    changes = sorted(change for change in apart.values() if change)
    return changes == [-1, 1] if adjacency == "replace-one" else changes in ([1], [-1])


def median(adjacency: str = "replace-one", **others: Any) -> Median:
    return Median(**RULER | others, adjacency=adjacency)


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("family", PURE, ids=repr)
@pytest.mark.parametrize("epsilon", ["1/2", 3])
def test_pure_noises_keep_epsilon_on_every_pair_of_small_neighbours(
    adjacency: str, family: Family, epsilon: Any
) -> None:
    mechanism = SmoothSensitivity(statistic=median(adjacency), epsilon=epsilon, noise=family)
    assert _largest_ratio(mechanism, adjacency) <= float(Fraction(epsilon)) * (1 + 1e-9)


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", STATISTICS)
def test_every_statistic_keeps_epsilon_on_every_pair_of_small_neighbours(adjacency: str, name: str) -> None:
    statistic: Statistic = STATISTICS[name](**RULER, adjacency=adjacency)
    mechanism = SmoothSensitivity(statistic=statistic, epsilon=2)
    found = _largest_ratio(mechanism, adjacency, most=3)
    assert 0.2 < found <= 2 * (1 + 1e-9)


def _largest_ratio(mechanism: SmoothSensitivity, adjacency: str, most: int = 4) -> float:
    laws: dict[Any, Any] = {}
    worst = 0.0
    for pair in neighbours(adjacency, most):
        one, other = (laws.setdefault(table, mechanism.log_masses(table)) for table in pair)
        assert one.keys() == other.keys()
        worst = max(worst, *(abs(one[output] - other[output]) for output in one))
    return worst


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("family", [SmoothLaplace(), SmoothGaussian()], ids=repr)
def test_noises_with_delta_keep_it_on_every_pair_of_small_neighbours(adjacency: str, family: Family) -> None:
    mechanism = SmoothSensitivity(statistic=median(adjacency), epsilon=1, delta="1/20", noise=family)
    for pair in neighbours(adjacency):
        one, other = (_masses(mechanism, table) for table in pair)
        beyond = math.fsum(max(0.0, one[output] - math.e * other.get(output, 0.0)) for output in one)
        assert beyond <= 0.05 * (1 + 1e-9)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_laplace_log_normal_noise_keeps_rho_on_every_pair_of_small_neighbours(adjacency: str) -> None:
    mechanism = SmoothSensitivity(statistic=median(adjacency), rho="1/2", noise=LaplaceLogNormal())
    for pair in neighbours(adjacency, most=3):
        one, other = (_masses(mechanism, table) for table in pair)
        for order in (1.5, 2, 4, 16):
            moment = math.fsum(p**order * other[output] ** (1 - order) for output, p in one.items())
            assert math.log(moment) / (order - 1) <= order / 2 * (1 + 1e-9)


def _masses(mechanism: SmoothSensitivity, table: Any) -> dict[Any, float]:
    return {output: math.exp(log) for output, log in mechanism.log_masses(table).items()}


def test_what_lies_beyond_the_range_is_its_ends() -> None:
    mechanism = SmoothSensitivity(statistic=median(), epsilon="1/100", noise=Cauchy())
    released = mechanism.sample([0, 1, 3], 2000, bits=SeededBits(1))
    assert set(released) <= set(range(TOP + 1))
    assert released.count(0) > 500 < released.count(TOP)


def test_a_table_of_nobody_and_one_of_a_million_equal_people_are_released() -> None:
    for adjacency in ADJACENCIES:
        mechanism = SmoothSensitivity(statistic=median(adjacency, high=100, step=None), epsilon=1)
        assert 0 <= mechanism.release([], bits=SeededBits(1)) <= 100
        assert mechanism.release(np.full(10**6, 37.0), bits=SeededBits(2)) == 37


def test_under_replace_one_nobody_can_be_replaced_in_an_empty_table() -> None:
    mechanism = SmoothSensitivity(statistic=median(), epsilon=1)
    assert mechanism.log_masses([]) == {0: 0.0}


def test_the_noise_shrinks_where_the_data_are_dense() -> None:
    """The point of it all: on a thousand evenly spread ages the error is a small part of the global one."""
    ages = np.linspace(0, 100, 1001)
    statistic = median(high=100, step=None)
    mechanism = SmoothSensitivity(statistic=statistic, epsilon=1)
    errors = [abs(value - 50) for value in mechanism.sample(ages, 4000, bits=SeededBits(3))]  # type: ignore[operator]
    promised = mechanism.error(0.95, smooth=Fraction(mechanism.smooth(ages)))
    assert np.quantile(errors, 0.95) == pytest.approx(promised, rel=0.15)
    assert promised < 1
    assert mechanism.error(0.95) == 100


def test_family_and_beta_do_not_depend_on_the_table() -> None:
    def noise_after(table: list[int]) -> Any:
        mechanism = SmoothSensitivity(statistic=median(high=100), epsilon=1)
        mechanism.release(table)
        return mechanism.admissible, mechanism.error(0.9, smooth=1)

    assert noise_after([0, 50, 100]) == noise_after([50] * 1000) == noise_after([])


def test_a_range_that_ends_between_two_marks_is_part_of_the_error() -> None:
    """The variance of people at both ends is 56.25, and the last mark is 40."""
    spread = Variance(low=0, high=15, step=20, mesh=1, adjacency="replace-one")
    mechanism = SmoothSensitivity(statistic=spread, epsilon=1)
    table = [0] * 5000 + [15] * 5000
    promised = mechanism.error(0.95, smooth=Fraction(mechanism.smooth(table)))
    assert mechanism.deviation(table, mechanism.release(table)) == 16.25 <= promised


def test_a_table_that_nobody_can_move_has_the_error_of_rounding_alone() -> None:
    mechanism = SmoothSensitivity(statistic=median(), epsilon=1)
    assert mechanism.error(0.95, smooth=0) == 0.5
    with pytest.raises(MechanismError, match="smooth"):
        mechanism.error(0.95, smooth=-1)
    with pytest.raises(MechanismError, match="size"):
        mechanism.sample([1], -1)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"epsilon": 1, "rho": 1}, "epsilon or rho"),
        ({}, "epsilon or rho"),
        ({"rho": 1, "delta": "1/10"}, "delta"),
        ({"epsilon": 1, "delta": 1}, "delta"),
        ({"epsilon": 1, "beta": 2, "noise": PolyPlace()}, "beta"),
        ({"epsilon": 1, "beta": 2}, "beta"),
        ({"epsilon": 1, "noise": SmoothGaussian()}, "delta"),
        ({"epsilon": 1, "noise": LaplaceLogNormal()}, "rho"),
        ({"epsilon": 1, "noise": "Cauchy"}, "noise"),
        ({"epsilon": 1, "statistic": "median"}, "statistic"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(given: dict[str, Any], match: str) -> None:
    with pytest.raises(MechanismError, match=match):
        SmoothSensitivity(**{"statistic": median()} | given)
