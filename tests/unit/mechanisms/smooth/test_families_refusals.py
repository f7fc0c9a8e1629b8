"""What a family refuses: prices of the wrong kind, and betas that no noise can hide."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible import Family, Price
from jali.mechanisms.smooth.families.cauchy import Cauchy
from jali.mechanisms.smooth.families.gaussian import SmoothGaussian
from jali.mechanisms.smooth.families.laplace import SmoothLaplace
from jali.mechanisms.smooth.families.laplace_log_normal import LaplaceLogNormal
from jali.mechanisms.smooth.families.poly_place import PolyPlace
from jali.mechanisms.smooth.families.polynomial import Polynomial
from jali.mechanisms.smooth.families.price import price_of, root_below
from jali.mechanisms.smooth.families.student_t import StudentT

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
    price = price_of(1, 1e-6)
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
        assert family.noise(SMALL, half) == family.noise(SMALL, price_of(1, 1e-6))
    third = root_below(Fraction(2, 3))
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
        ("beta", lambda: SmoothLaplace().noise(bad, price_of(1, 1e-6))),
        ("beta", lambda: SmoothGaussian().noise(bad, price_of(1, 1e-6))),
        ("epsilon", lambda: price_of(bad)),
    ):
        with pytest.raises(MechanismError, match=name):
            call()


def test_gamma_must_be_above_one_and_degrees_whole() -> None:
    with pytest.raises(MechanismError, match="gamma"):
        Polynomial(1)
    with pytest.raises(MechanismError, match="degrees"):
        StudentT(2.5)  # type: ignore[arg-type]


def test_prices_are_of_one_kind() -> None:
    for arguments in ((1, None, 1), (None, None, None), (None, 1e-6, 1), (1, 2, None)):
        with pytest.raises(MechanismError):
            price_of(*arguments)


@pytest.mark.parametrize("epsilon", ["1e-12", "1e-3", "50", "700"])
def test_extreme_prices_have_noises_too(epsilon: str) -> None:
    price = price_of(epsilon)
    for family, _ in PURE:
        for share in (Fraction(1, 10**9), Fraction(1, 2), 1 - Fraction(1, 10**9)):
            assert family.noise(family.largest_beta(price) * share, price).alpha > 0
