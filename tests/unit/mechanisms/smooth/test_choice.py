"""The chooser: the least error from public numbers alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from tests.depth import thinned

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible import Price
from jali.mechanisms.smooth.choice import (
    PURE,
    best_beta,
    best_noise,
    compare_noises,
    evenly_spread,
    families_for,
)
from jali.mechanisms.smooth.families.cauchy import Cauchy
from jali.mechanisms.smooth.families.gaussian import SmoothGaussian
from jali.mechanisms.smooth.families.laplace import SmoothLaplace
from jali.mechanisms.smooth.families.laplace_log_normal import LaplaceLogNormal
from jali.mechanisms.smooth.families.poly_place import PolyPlace
from jali.mechanisms.smooth.families.price import price_of
from jali.mechanisms.smooth.families.student_t import StudentT


def test_the_kinds_of_noise_follow_the_kind_of_price() -> None:
    assert families_for(price_of(1)) == PURE
    assert set(families_for(price_of(1, 1e-6))) == {*PURE, SmoothLaplace(), SmoothGaussian()}
    assert set(families_for(price_of(rho=1))) == {*PURE, LaplaceLogNormal()}


def test_the_noise_of_least_error_comes_first() -> None:
    table = compare_noises(beta="0.05", epsilon=1)
    errors = [noise.error for noise in table.noises]
    assert errors == sorted(errors)
    assert table.family == best_noise(beta="0.05", epsilon=1) == PolyPlace()
    assert len(table.noises) == len(PURE)


def test_families_without_a_noise_at_this_beta_are_left_out() -> None:
    families = {noise.family for noise in compare_noises(beta="0.6", epsilon=1).noises}
    assert families == {PolyPlace(), Cauchy()}


def test_cauchy_noise_is_best_for_a_large_epsilon() -> None:
    assert best_noise(beta="1/2", epsilon=10) == Cauchy()


def test_the_errors_are_quantiles_over_alpha() -> None:
    for found in compare_noises(beta="1/50", epsilon=1, delta="1e-6", confidence=0.9).noises:
        noise = found.family.noise(Fraction(1, 50), price_of(1, "1e-6"))
        alpha = float(noise.alpha)
        assert 2 * noise.survival(found.error * alpha) == pytest.approx(0.1, rel=1e-9)
        assert 2 * noise.survival(found.median * alpha) == pytest.approx(0.5, rel=1e-9)
        assert found.stddev == pytest.approx(math.sqrt(noise.variance) / alpha)


def test_the_table_is_printed_in_columns() -> None:
    lines = repr(compare_noises(beta="1/6", epsilon=1)).splitlines()
    assert lines[0].split() == ["noise,", "per", "unit", "of", "S", "median", "95", "%", "stddev"]
    assert lines[1].split()[0] == "PolyPlace()"
    assert len({len(line) for line in lines}) == 1


def test_no_beta_is_better_on_the_reference() -> None:
    price = price_of(1)
    choice = best_beta(price, people=100)
    smooth = evenly_spread(100)
    for family in PURE:
        for i in range(1, 60):
            beta = family.largest_beta(price) * Fraction(i, 60)
            noise = family.noise(beta, price)
            error = noise.quantile(0.95) / float(noise.alpha) * smooth(float(beta))
            assert choice.error <= error * 1.002


def test_the_reference_is_the_largest_term_of_evenly_spread_numbers() -> None:
    for people in (1, 2, 7, 1000):
        for beta in (1e-5, 0.003, 0.1, 0.37, 1.0, 3.0):
            exact = max(math.exp(-beta * k) * min(1, (k + 1) / people) for k in range(2 * people))
            assert evenly_spread(people)(beta) == pytest.approx(exact, rel=1e-13)


def test_beta_is_found_for_one_family_and_the_family_for_one_beta() -> None:
    price = price_of(1)
    alone = best_beta(price, families=(StudentT(3),), people=100)
    assert alone.family == StudentT(3)
    assert alone.beta < Fraction(1, 3)
    given = best_beta(price, beta=Fraction(1, 6))
    assert given.family == PolyPlace()
    assert given.beta == Fraction(1, 6)


@thinned(4)
@pytest.mark.parametrize(
    "price", [price_of(1), price_of("1/10", "1e-9"), price_of(rho="1/8"), price_of(20)], ids=repr
)
def test_what_is_chosen_is_admissible(price: Price) -> None:
    for families in (None, *((family,) for family in families_for(price))):
        choice = best_beta(price, families=families, people=50)
        assert choice.family.noise(choice.beta, price).alpha > 0
        assert 0 < choice.error < math.inf


def test_a_reference_of_ones_own_decides() -> None:
    flat = best_beta(price_of(1), reference=lambda beta: 1.0)
    steep = best_beta(price_of(1), reference=lambda beta: math.exp(-10 * beta))
    assert flat.beta < Fraction(1, 100) < Fraction(1, 2) < steep.beta


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(MechanismError, match="beta") as refusal:
        best_noise(beta=1, epsilon=1)
    assert refusal.value.remedy
    with pytest.raises(MechanismError, match="beta"):
        best_beta(price_of(1), beta=Fraction(2))
    with pytest.raises(MechanismError, match="confidence"):
        best_noise(beta="0.1", epsilon=1, confidence=1.0)
    for people in (0, 10**15 + 1, 10**400, 10**5000):
        with pytest.raises(MechanismError, match="people"):
            best_beta(price_of(1), people=people)
    with pytest.raises(MechanismError, match="epsilon or rho"):
        best_noise(beta="0.1")
    with pytest.raises(MechanismError, match="delta"):
        best_noise(beta="0.1", rho=1, delta="1e-6")


@pytest.mark.parametrize("families", [(), [], ["x"], "x", 5, (PolyPlace(), None)])
def test_families_that_are_none_are_refused(families: Any) -> None:
    for beta in (None, Fraction(1, 2)):
        with pytest.raises(MechanismError, match="families") as refusal:
            best_beta(price_of(1), families=families, beta=beta)
        assert refusal.value.remedy


@thinned(4)
@pytest.mark.parametrize(
    "given",
    [
        *({"epsilon": epsilon} for epsilon in ("1e-9", 50, 700)),
        *({"epsilon": "1e-9", "delta": delta} for delta in ("1e-300", "0.999999")),
        *({"epsilon": 700, "delta": delta} for delta in ("1e-300", "1e-6")),
        *({"rho": rho} for rho in ("5e-19", 1250, 5000, 245000)),
    ],
    ids=str,
)
def test_there_is_a_choice_at_every_price_that_is_accepted(given: Any) -> None:
    price = price_of(**given)
    choice = best_beta(price)
    assert choice.family.noise(choice.beta, price).alpha > 0
    assert 0 < choice.error < math.inf


@pytest.mark.parametrize("beta", ["1e-330", "1e-19", "2801", "1e300"])
def test_a_beta_beyond_the_limits_is_refused(beta: str) -> None:
    with pytest.raises(MechanismError, match="beta"):
        best_noise(beta=beta, epsilon=1)
    with pytest.raises(MechanismError, match="beta"):
        best_beta(price_of(1), beta=Fraction(beta))
