"""Uniform integers and log-concave laws, over every bit string."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import deep, thinned
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.sampling import interval_bernoulli, log_concave, uniform
from jali.sampling.cube_radius import CubeRadius, power_bounds, with_exponential
from jali.sampling.log_concave import LogConcave, _compare, _peak, _round
from jali.sampling.sum_zero_vectors import BalancedTotal
from jali.sampling.uniform import _subset, uniform_below, uniform_below_each, uniform_subsets

LAWS: list[LogConcave] = [
    CubeRadius(1, Fraction(1)),
    CubeRadius(2, Fraction(2)),
    CubeRadius(3, Fraction(1)),
    BalancedTotal(2, Fraction(1)),
    BalancedTotal(4, Fraction(3, 2)),
]


def weight(law: LogConcave, n: int) -> mpmath.mpf:
    if isinstance(law, CubeRadius):
        return mpmath.mpf(2 * n + 1) ** law.dimension * mpmath.exp(
            -n * mpmath.mpf(law.rate.numerator) / law.rate.denominator
        )
    assert isinstance(law, BalancedTotal)
    rate = mpmath.mpf(law.rate.numerator) / law.rate.denominator
    return mpmath.mpf(math.comb(n + law.cells - 1, law.cells - 1)) ** 2 * mpmath.exp(-n * rate)


@deep
@thinned(4)
@pytest.mark.parametrize(("law", "word"), [*((law, 1) for law in LAWS), *((law, 3) for law in LAWS[:2])], ids=str)
def test_what_is_kept_has_the_law_over_every_bit_string(
    law: LogConcave, word: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interval_bernoulli, "WORD", word)
    monkeypatch.setattr(log_concave, "_WORD", word)
    masses, undecided = enumerate_masses(lambda bits: tuple(_round(law, 1, bits).tolist()), 15)
    kept = {key[0]: float(mass) for key, mass in masses.items() if key}
    peak = _peak(law)
    unit = 1 / (2 * (peak.left + peak.right))
    slack = float(undecided) + 1e-12
    assert slack < 0.2
    for n in range(12):
        wanted = unit * float(weight(law, n) / weight(law, peak.mode))
        assert wanted - slack <= kept.get(n, 0.0) <= wanted + 1e-12


@pytest.mark.parametrize(
    "law", [*LAWS, CubeRadius(10**4, Fraction(1, 7)), BalancedTotal(500, Fraction(1, 3))], ids=str
)
def test_the_peak_is_the_mode_and_halves_on_both_sides(law: LogConcave) -> None:
    peak = _peak(law)
    with mpmath.workdps(60):
        top = weight(law, peak.mode)
        assert top >= weight(law, peak.mode + 1)
        assert peak.mode == 0 or top >= weight(law, peak.mode - 1)
        assert 2 * weight(law, peak.mode + peak.right) <= top
        assert peak.right == 1 or 2 * weight(law, peak.mode + peak.right - 1) > top
        assert peak.mode < peak.left or 2 * weight(law, peak.mode - peak.left) <= top


@pytest.mark.parametrize(
    "law", [*LAWS, CubeRadius(3000, Fraction(1, 7)), BalancedTotal(200, Fraction(1, 3))], ids=str
)
def test_ratios_are_enclosed_at_every_precision(law: LogConcave) -> None:
    base = _peak(law).mode
    with mpmath.workdps(250):
        for at in (0, base // 2, max(0, base - 3), base, base + 1, base + 40, 3 * base + 5):
            true = weight(law, at) / weight(law, base)
            for precision in (8, 64, 300):
                lo, hi = law.ratio(at, base, precision)
                assert lo <= true * mpmath.mpf(2) ** precision <= hi
                assert hi - lo <= 4 + true * mpmath.mpf(2) ** (precision - 8)


def test_powers_and_exponentials_round_outwards() -> None:
    assert power_bounds(1, 3, 0, 10) == (1024, 1024)
    lo, hi = power_bounds(2, 3, 5, 40)
    assert lo <= Fraction(2, 3) ** 5 * 2**40 <= hi
    assert hi - lo < 20
    assert with_exponential((1, 1), Fraction(-100), 10, 10)[0] == 0


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6])
def test_uniform_integers_are_uniform_over_every_bit_string(bound: int) -> None:
    masses, undecided = enumerate_masses(lambda bits: int(uniform_below(bound, 1, bits=bits)[0]), 16)
    assert set(masses) == set(range(bound))
    for mass in masses.values():
        assert Fraction(1, bound) - undecided <= mass <= Fraction(1, bound)
    assert undecided < Fraction(1, 50)


@thinned(4)
@pytest.mark.parametrize(("count", "among"), [(0, 3), (1, 3), (2, 4), (2, 3), (2, 2)])
def test_subsets_are_uniform_over_every_bit_string(count: int, among: int) -> None:
    masses, undecided = enumerate_masses(
        lambda bits: tuple(uniform_subsets(count, among, 1, bits=bits)[0].tolist()), 16
    )
    number = math.comb(among, count)
    assert len(masses) == number
    for mass in masses.values():
        assert Fraction(1, number) - undecided <= mass <= Fraction(1, number)
    assert undecided < Fraction(1, 7)


@pytest.mark.parametrize(("count", "among"), [(1, 4), (2, 4), (3, 4)])
def test_subsets_completed_by_what_is_missing_are_uniform_too(count: int, among: int) -> None:
    masses, undecided = enumerate_masses(lambda bits: tuple(_subset(count, among, bits).tolist()), 16)
    number = math.comb(among, count)
    assert len(masses) == number
    for mass in masses.values():
        assert Fraction(1, number) - undecided <= mass <= Fraction(1, number)
    assert undecided < Fraction(1, 50)


def test_wide_bounds_give_python_integers() -> None:
    drawn = [int(x) for x in uniform_below(3 << 80, 400, bits=SeededBits(3))]
    assert all(0 <= x < 3 << 80 for x in drawn)
    assert {x >> 80 for x in drawn} == {0, 1, 2}
    assert len(set(drawn)) == 400
    with pytest.raises(JaliError, match="bound"):
        uniform_below(0, 1)


def test_large_subsets_are_drawn_by_what_is_missing() -> None:
    for count in (300, 900, 1000):
        row = uniform_subsets(count, 1000, 1, bits=SeededBits(4))[0]
        assert len(set(row.tolist())) == count
        assert row.tolist() == sorted(row.tolist())


@pytest.mark.parametrize(
    ("law", "at", "base"),
    [
        (CubeRadius(3, Fraction(10**5)), 1, 0),
        (CubeRadius(500, Fraction(800)), 2, 0),
        (CubeRadius(2000, Fraction(7, 3)), 900, 850),
        (CubeRadius(200, Fraction(1, 3)), 100, 299),
        (CubeRadius(5, Fraction(1, 1000)), 10**6, 2000),
        (BalancedTotal(5, Fraction(10**9)), 3, 0),
        (BalancedTotal(400, Fraction(6)), 40, 3),
        (BalancedTotal(30, Fraction(1, 5)), 900, 40),
        (BalancedTotal(30, Fraction(1, 5)), 40, 300),
    ],
    ids=str,
)
def test_ratios_are_enclosed_tightly_at_any_rate(law: LogConcave, at: int, base: int) -> None:
    for precision in (64, 96, 300):
        lo, hi = law.ratio(at, base, precision)
        with mpmath.workdps(2000):
            true = weight(law, at) / weight(law, base) * mpmath.mpf(2) ** precision
            assert lo <= true <= hi
            assert hi - lo <= 2 + true * mpmath.mpf(2) ** -(precision - 8)


class Slow(CubeRadius):
    """The same law without doubles: every coin is settled by integers."""

    ratio_doubles = LogConcave.ratio_doubles


FAST = [
    (1, Fraction(1, 3)),
    (2, Fraction(1, 2**32)),
    (6, Fraction(7, 10**6)),
    (300, Fraction(1, 50)),
    (3000, Fraction(1, 2**60)),
    (2, Fraction(100)),
]


@pytest.mark.parametrize(("dimension", "rate"), FAST)
def test_doubles_decide_as_integers_do(dimension: int, rate: Fraction) -> None:
    """On the same bits both draw the same; a coin that 64 bits leave open has a chance of 2^-62."""
    fast = CubeRadius(dimension, rate).sample(150, bits=SeededBits(dimension))
    assert fast == Slow(dimension, rate).sample(150, bits=SeededBits(dimension))
    assert dimension < 2 or rate > 1 or len(set(fast)) > 20


@pytest.mark.parametrize(("dimension", "rate"), [*FAST, (40_000, Fraction(1, 9))])
def test_ratios_in_double_are_within_the_error_that_is_said(dimension: int, rate: Fraction) -> None:
    law = CubeRadius(dimension, rate)
    peak = _peak(law)
    places = {max(0, peak.mode + k * peak.right // 7) for k in range(-40, 80)} | {0, peak.mode}
    ratios, error = law.ratio_doubles(np.array(sorted(places), object), peak.mode)
    assert error == dimension * 2.0**-44
    known = 0
    with mpmath.workdps(80):
        top = weight(law, peak.mode)
        for place, ratio in zip(sorted(places), ratios.tolist(), strict=True):
            if not math.isnan(ratio):
                assert abs(ratio * top / weight(law, place) - 1) <= error / 2
                known += 1
    assert known >= (1 if rate > 45 * dimension else len(places) / 2)


def test_a_comparison_decides_only_outside_its_margin() -> None:
    """Words one below and one above each edge of the zone in which doubles do not decide."""
    chance, margin = 0.3, 2.0**-40
    low, high = (math.floor(chance * (1 + side * margin) * 2.0**64) for side in (-1, 1))
    words = np.array([low - 2**14, low + 2**14, int(chance * 2**64), high - 2**14, high + 2**14], np.uint64)
    coins, doubtful = _compare(words, np.full(5, chance), margin)
    assert coins.tolist() == [True, False, False, False, False]
    assert doubtful.tolist() == [False, True, True, True, False]
    assert _compare(words, np.full(5, np.nan), margin)[1].all()


def test_more_dimensions_than_doubles_can_tell_are_left_to_integers() -> None:
    ratios, _ = CubeRadius(1 << 31, Fraction(1)).ratio_doubles(np.array([5, 6]), 5)
    assert np.isnan(ratios).all()


@pytest.mark.parametrize("bounds", [[1], [2], [3], [5], [7], [3, 2], [9]])
def test_uniform_integers_below_many_bounds_are_uniform_over_every_bit_string(
    bounds: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of 5 bits; a bound of 9 is too wide for them and is drawn alone."""
    monkeypatch.setattr(uniform, "_WORD", 5)
    limits = np.array(bounds)
    masses, undecided = enumerate_masses(
        lambda bits: tuple(int(x) for x in uniform_below_each(limits, bits=bits)), 16
    )
    count = math.prod(bounds)
    assert len(masses) == count
    for mass in masses.values():
        assert Fraction(1, count) - undecided <= mass <= Fraction(1, count)
    assert undecided < Fraction(1, 25)


def test_wide_and_narrow_bounds_are_drawn_together() -> None:
    drawn = uniform_below_each(np.array([3, 5 << 80, 1], object), bits=SeededBits(5))
    assert 0 <= drawn[0] < 3
    assert 0 <= drawn[1] < 5 << 80
    assert drawn[2] == 0
    assert uniform_below_each(np.zeros(0, np.int64)).tolist() == []
    top = uniform_below_each(np.full(300, 2**62), bits=SeededBits(6))
    assert 0 <= top.min() < 2**57 < 2**62 - 2**57 < top.max() < 2**62
    with pytest.raises(JaliError, match="bounds"):
        uniform_below_each(np.array([2, 0]))
