"""What a family refuses: prices of the wrong kind, and betas that no noise can hide."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible_noise import Family, Price
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.log_normal_noise import LaplaceLogNormal
from jali.mechanisms.smooth.noise_calibration import find_root_below, read_price, round_down_to_rational
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.polynomial_noise import Polynomial
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT

PURE: list[tuple[Family, Fraction]] = [
    (Cauchy(), Fraction(1)),
    (PolyPlace(), Fraction(1)),
    (StudentT(3), Fraction(1, 3)),
    (Polynomial(3), Fraction(1, 2)),
    (Polynomial("3/2"), Fraction(1)),
]
SMALL = Fraction(1, 100)


@pytest.mark.parametrize(("family", "largest"), PURE, ids=repr)
def test_a_beta_from_the_largest_on_is_refused(family: Family, largest: Fraction) -> None:
    price = Price(epsilon=Fraction(1))
    assert family.largest_beta(price) == largest
    assert family.noise(largest * Fraction(999, 1000), price).alpha > 0
    for beta in (largest, 2 * largest):
        with pytest.raises(MechanismError, match="beta") as refusal:
            family.noise(beta, price)
        assert refusal.value.remedy


@pytest.mark.parametrize("family", [SmoothLaplace(), SmoothGaussian()], ids=repr)
def test_noises_that_may_fail_admit_betas_up_to_their_largest(family: Family) -> None:
    price = read_price(1, 1e-6)
    largest = family.largest_beta(price)
    assert family.noise(largest * Fraction(99, 100), price).alpha > 0
    for beta in (largest * Fraction(101, 100), Fraction(5)):
        with pytest.raises(MechanismError, match="beta") as refusal:
            family.noise(beta, price)
        assert refusal.value.remedy


@pytest.mark.parametrize("family", [SmoothLaplace(), SmoothGaussian()], ids=repr)
@pytest.mark.parametrize("price", [Price(epsilon=Fraction(1)), Price(rho=Fraction(1))], ids=repr)
def test_noises_that_may_fail_need_a_delta(family: Family, price: Price) -> None:
    for call in (lambda: family.noise(SMALL, price), lambda: family.largest_beta(price)):
        with pytest.raises(MechanismError, match="epsilon and delta") as refusal:
            call()
        assert refusal.value.remedy


def test_laplace_log_normal_noise_needs_rho() -> None:
    with pytest.raises(MechanismError, match="rho") as refusal:
        LaplaceLogNormal().noise(SMALL, Price(epsilon=Fraction(1)))
    assert refusal.value.remedy


def test_pure_noises_take_the_root_of_twice_rho() -> None:
    half = Price(rho=Fraction(1, 2))
    for family, largest in PURE:
        assert family.largest_beta(half) == largest
        assert family.noise(SMALL, half) == family.noise(SMALL, Price(epsilon=Fraction(1)))
        assert family.noise(SMALL, half) == family.noise(SMALL, read_price(1, 1e-6))
    third = find_root_below(Fraction(2, 3))
    assert third**2 < Fraction(2, 3) < (third + Fraction(1, 10**17)) ** 2


def test_a_price_without_a_loss_is_refused() -> None:
    for family, _ in PURE:
        with pytest.raises(MechanismError, match="epsilon"):
            family.noise(SMALL, Price())


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "x", True, None])
def test_bad_parameters_are_refused_by_name(bad: Any) -> None:
    for name, call in (
        ("degrees", lambda: StudentT(bad)),
        ("gamma", lambda: Polynomial(bad)),
        ("beta", lambda: Cauchy().noise(bad, Price(epsilon=Fraction(1)))),
        ("beta", lambda: SmoothLaplace().noise(bad, read_price(1, 1e-6))),
        ("beta", lambda: SmoothGaussian().noise(bad, read_price(1, 1e-6))),
        ("epsilon", lambda: read_price(bad)),
    ):
        with pytest.raises(MechanismError, match=name):
            call()


@pytest.mark.parametrize("gamma", [1, "1.0001", "1.099", 1001, "1e300"])
def test_gamma_must_be_from_1_1_to_1000(gamma: Any) -> None:
    with pytest.raises(MechanismError, match="gamma") as refusal:
        Polynomial(gamma)
    assert refusal.value.remedy


@pytest.mark.parametrize("degrees", [1001, 10**12, 10**400])
def test_degrees_must_be_few(degrees: int) -> None:
    with pytest.raises(MechanismError, match="degrees") as refusal:
        StudentT(degrees)
    assert refusal.value.remedy


def test_degrees_must_be_whole() -> None:
    with pytest.raises(MechanismError, match="degrees"):
        StudentT(2.5)  # type: ignore[arg-type]


def test_prices_are_of_one_kind() -> None:
    for arguments in ((1, None, 1), (None, None, None), (None, 1e-6, 1), (1, 2, None)):
        with pytest.raises(MechanismError):
            read_price(*arguments)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-3", "50", "700"])
def test_extreme_prices_have_noises_too(epsilon: str) -> None:
    price = read_price(epsilon)
    for family, _ in PURE:
        for share in (Fraction(1, 10**8), Fraction(1, 2), 1 - Fraction(1, 10**9)):
            assert family.noise(family.largest_beta(price) * share, price).alpha > 0


EVERY: list[tuple[Family, Price]] = [
    *((family, read_price(1)) for family, _ in PURE),
    (SmoothLaplace(), read_price(1, 1e-6)),
    (SmoothGaussian(), read_price(1, 1e-6)),
    (LaplaceLogNormal(), read_price(rho="1/2")),
]


@pytest.mark.parametrize(("family", "price"), EVERY, ids=repr)
@pytest.mark.parametrize("beta", ["1e-330", "1e-160", "1e-110", "9e-19", "2801", "1e300", "1e400"])
def test_a_beta_beyond_the_limits_is_refused(family: Family, price: Price, beta: str) -> None:
    with pytest.raises(MechanismError, match="beta") as refusal:
        family.noise(Fraction(beta), price)
    assert refusal.value.remedy


@pytest.mark.parametrize("beta", [5000, 50000])
def test_a_beta_of_endlessly_many_digits_below_the_largest_is_refused(beta: int) -> None:
    for family, largest in PURE:
        with pytest.raises(MechanismError, match="beta"):
            family.noise(largest * (1 - Fraction(1, 10**beta)), read_price(1))


@pytest.mark.parametrize("epsilon", ["1e-330", "1e-10", "700.1", "709", "1420", "1e6", "1e20"])
def test_an_epsilon_beyond_the_limits_is_refused(epsilon: str) -> None:
    for delta in (None, "1e-6"):
        with pytest.raises(MechanismError, match="epsilon") as refusal:
            read_price(epsilon, delta)
        assert refusal.value.remedy
    for family, price in EVERY:
        asked = Price(epsilon=Fraction(epsilon), delta=price.delta)
        if price.rho is None:
            with pytest.raises(MechanismError, match="epsilon"):
                family.largest_beta(asked)


@pytest.mark.parametrize("rho", ["1e-330", "4e-19", "245001", "1e20"])
def test_a_rho_beyond_the_limits_is_refused(rho: str) -> None:
    for call in (
        lambda: read_price(rho=rho),
        lambda: LaplaceLogNormal().largest_beta(Price(rho=Fraction(rho))),
        lambda: PolyPlace().noise(SMALL, Price(rho=Fraction(rho))),
    ):
        with pytest.raises(MechanismError, match="rho") as refusal:
            call()
        assert refusal.value.remedy


@pytest.mark.parametrize("delta", ["1e-301", "1e-323", "1e-400"])
def test_a_delta_that_doubles_cannot_hold_is_refused(delta: str) -> None:
    for call in (
        lambda: read_price(1, delta),
        lambda: SmoothGaussian().noise(SMALL, Price(epsilon=Fraction(1), delta=Fraction(delta))),
        lambda: SmoothLaplace().noise(SMALL, Price(epsilon=Fraction(1), delta=Fraction(delta))),
    ):
        with pytest.raises(MechanismError, match="delta") as refusal:
            call()
        assert refusal.value.remedy


def test_a_rho_of_many_digits_has_a_root() -> None:
    for rho in (Fraction(10**5000 + 1, 10**5000), Fraction(1, 3) * (1 + Fraction(1, 10**6000))):
        epsilon = LaplaceLogNormal().largest_beta(Price(rho=rho)) / 4
        assert 2 * rho * (1 - Fraction(1, 10**16)) < epsilon**2 <= 2 * rho


def test_no_rational_is_below_a_number_that_is_not_above_zero() -> None:
    for value in ("0", "-1", "-1e300"):
        with pytest.raises(MechanismError, match="alpha"):
            round_down_to_rational(Decimal(value))
