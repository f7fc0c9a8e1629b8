"""The price of every admissible noise at the ends of what is accepted, in as many digits as it takes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from tests.depth import deep, thinned

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible_noise import Family, Price
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.log_normal_noise import LaplaceLogNormal
from jali.mechanisms.smooth.noise_calibration import LEAST_BETA, read_pure_loss
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.polynomial_noise import Polynomial
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT

Depth = Callable[[mp.mpf], mp.mpf]
LARGEST_SHARE = 1 - Fraction(1, 10**12)


def exact(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def student(degrees: int) -> Callable[[mp.mpf], Depth]:
    return lambda _a: lambda z: mp.mpf(degrees + 1) / 2 * mp.log(1 + z * z / degrees)


def power(gamma: str) -> Callable[[mp.mpf], Depth]:
    return lambda _a: lambda z: mp.log(1 + abs(z) ** mp.mpf(gamma))


def place(a: mp.mpf) -> Depth:
    log_k = (a - 1) * mp.log(1 - 1 / a) + (a + 1) * mp.log(1 + 1 / a)
    return lambda z: -(a - 1) * mp.log(1 - abs(z)) if abs(z) <= 1 / a else (a + 1) * mp.log(1 + abs(z)) - log_k


PURE: list[tuple[Family, Callable[[mp.mpf], Depth]]] = [
    (Cauchy(), student(1)),
    (StudentT(3), student(3)),
    (StudentT(1000), student(1000)),
    (Polynomial("1.1"), power("1.1")),
    (Polynomial(3), power("3")),
    (Polynomial(1000), power("1000")),
    (PolyPlace(), place),
]


def largest_loss(depth: Depth, alpha: mp.mpf, beta: mp.mpf) -> mp.mpf:
    """Return the largest log-ratio over a few shifts and stretches and places of every size."""
    sizes = [mp.mpf(10) ** i for i in range(-20, 20)] + [mp.mpf(i) / 10 for i in (3, 5, 7, 9, 11, 15, 30)]
    worst = mp.mpf(0)
    for shift, stretch in ((alpha, beta), (alpha, 0), (-alpha, beta / 2), (0, beta)):
        scale = max(abs(shift), mp.exp(stretch), 1)
        shrink = mp.exp(-stretch)
        for size in sizes:
            for z in (size, scale * size, shift + size, shift - size, shift + scale * size, shift * (1 + size)):
                worst = max(worst, abs(stretch + depth((z - shift) * shrink) - depth(z)))
    return worst


@thinned(4)
@pytest.mark.parametrize(
    ("family", "depth_of"), PURE, ids=lambda case: repr(case) if isinstance(case, Family) else ""
)
@pytest.mark.parametrize("epsilon", ["1e-9", "8", "700"])
@pytest.mark.parametrize(
    "share", [Fraction(1, 10**6), Fraction(9, 10), LARGEST_SHARE], ids=["low", "high", "most"]
)
def test_a_pure_noise_keeps_every_epsilon_that_is_accepted(
    family: Family, depth_of: Callable[[mp.mpf], Depth], epsilon: str, share: Fraction
) -> None:
    price = Price(epsilon=Fraction(epsilon))
    beta = family.largest_beta(price) * share
    noise = family.noise(beta, price)
    with mp.workdps(60):
        limit, stretch = exact(Fraction(epsilon)), exact(beta)
        worst = largest_loss(depth_of(limit / stretch), exact(noise.alpha), stretch)
        assert limit / 2 < worst <= limit * (1 + mp.mpf(10) ** -40)


@thinned(4)
@pytest.mark.parametrize(
    ("family", "depth_of"), PURE, ids=lambda case: repr(case) if isinstance(case, Family) else ""
)
def test_a_pure_noise_has_the_least_beta(family: Family, depth_of: Callable[[mp.mpf], Depth]) -> None:
    for epsilon in (Fraction(1, 10**9), Fraction(700)):
        noise = family.noise(LEAST_BETA, Price(epsilon=epsilon))
        with mp.workdps(60):
            depth = depth_of(exact(epsilon / LEAST_BETA))
            assert largest_loss(depth, exact(noise.alpha), exact(LEAST_BETA)) <= exact(epsilon)


PRICES = [
    ("1", "1e-12"),
    ("8", "1e-10"),
    ("8", "0.5"),
    ("40", "1e-30"),
    ("50", "1e-300"),
    ("100", "1e-281"),
    ("500", "1e-106"),
    ("700", "1e-18"),
    ("700", "1e-300"),
    ("1e-9", "1e-12"),
    ("1e-9", "1e-300"),
]
SHARES = [Fraction(1, 10**5), Fraction(1, 4), Fraction(99, 100)]


def laplace_deltas(shift: mp.mpf, stretch: mp.mpf, epsilon: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """Return the largest loss of the narrower law, and delta of the wider one against it, from both its tails."""
    shrink = mp.exp(-stretch)
    narrow = stretch + shift * shrink  # at its own centre
    if stretch == 0:
        return narrow, mp.mpf(0)
    right = (epsilon + stretch - shift * shrink) / (1 - shrink)
    left = (epsilon + stretch + shift * shrink) / (1 - shrink)
    wide = mp.exp(-(right - shift) * shrink) + mp.exp(-(left + shift) * shrink)
    return narrow, (wide - mp.exp(epsilon) * (mp.exp(-right) + mp.exp(-left))) / 2


@pytest.mark.parametrize(("epsilon", "delta"), PRICES)
@pytest.mark.parametrize("share", SHARES, ids=["low", "middle", "high"])
def test_laplace_noise_keeps_every_delta_that_is_accepted(epsilon: str, delta: str, share: Fraction) -> None:
    price = Price(epsilon=Fraction(epsilon), delta=Fraction(delta))
    beta = SmoothLaplace().largest_beta(price) * share
    alpha = SmoothLaplace().noise(beta, price).alpha
    with mp.workdps(400):
        limit, shift = exact(Fraction(epsilon)), exact(alpha)
        for part in (0, mp.mpf(1) / 2, 1):
            loss, found = laplace_deltas(shift, part * exact(beta), limit)
            assert loss <= limit
            assert found <= exact(Fraction(delta))


def gaussian_delta(shift: mp.mpf, stretch: mp.mpf, epsilon: mp.mpf) -> mp.mpf:
    """Return the larger delta of N(0, 1) and N(shift, e^2stretch), both ways, from the roots of the loss."""
    if stretch == 0:
        return _upper(epsilon / shift - shift / 2) - mp.exp(epsilon) * _upper(epsilon / shift + shift / 2)
    shrink = mp.exp(-2 * stretch)
    # ln q/p = bend x^2 + lean x - rest
    bend, lean, rest = (1 - shrink) / 2, shift * shrink, shift**2 * shrink / 2 + stretch
    root = mp.sqrt(lean**2 + 4 * bend * (epsilon + rest))
    low, high, scale = (-lean - root) / (2 * bend), (-lean + root) / (2 * bend), mp.exp(stretch)
    wide = _upper((shift - low) / scale) + _upper((high - shift) / scale)
    found = wide - mp.exp(epsilon) * (_upper(-low) + _upper(high))
    inside = lean**2 + 4 * bend * (rest - epsilon)
    if inside <= 0:
        return found
    low, high = (-lean - mp.sqrt(inside)) / (2 * bend), (-lean + mp.sqrt(inside)) / (2 * bend)
    other = _upper(-high) - _upper(-low)
    return max(found, other - mp.exp(epsilon) * (_upper((shift - high) / scale) - _upper((shift - low) / scale)))


def _upper(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x / mp.sqrt(2)) / 2 if x < 1000 else mp.mpf(0)


@thinned(4)
@pytest.mark.parametrize(("epsilon", "delta"), PRICES)
@pytest.mark.parametrize("share", SHARES, ids=["low", "middle", "high"])
def test_gaussian_noise_keeps_every_delta_that_is_accepted(epsilon: str, delta: str, share: Fraction) -> None:
    price = Price(epsilon=Fraction(epsilon), delta=Fraction(delta))
    beta = SmoothGaussian().largest_beta(price) * share
    alpha = SmoothGaussian().noise(beta, price).alpha
    with mp.workdps(400):
        limit, shift = exact(Fraction(epsilon)), exact(alpha)
        for part in (0, mp.mpf(1) / 2, 1):
            assert gaussian_delta(shift, part * exact(beta), limit) <= exact(Fraction(delta))


@pytest.mark.parametrize("family", [SmoothLaplace(), SmoothGaussian()], ids=repr)
def test_noises_that_may_fail_have_the_least_beta(family: Family) -> None:
    for epsilon, delta in PRICES:
        limit, failing = Fraction(epsilon), Fraction(delta)
        alpha = family.noise(LEAST_BETA, Price(epsilon=limit, delta=failing)).alpha
        with mp.workdps(400):
            if isinstance(family, SmoothLaplace):
                assert alpha <= limit
            else:
                assert gaussian_delta(exact(alpha), mp.mpf(0), exact(limit)) <= exact(failing)


@pytest.mark.parametrize(
    ("rho", "share"),
    [("5000", "1"), ("1250", "1"), ("961/2", "2"), ("50", "3.996"), ("245000", "3.999"), ("5e-19", "1")],
)
@pytest.mark.parametrize("more", ["0", "1e-17", "1e-25", "1e-5"])
def test_laplace_log_normal_noise_keeps_its_inequalities_at_every_beta(rho: str, share: str, more: str) -> None:
    price = Price(rho=Fraction(rho))
    epsilon = read_pure_loss(price)
    beta = epsilon * Fraction(share) * (1 + Fraction(more))
    _check_log_normal(beta, price)


@pytest.mark.parametrize("rho", ["5e-19", "1/2", "245000"])
def test_laplace_log_normal_noise_has_the_least_beta_and_a_small_one(rho: str) -> None:
    for beta in (LEAST_BETA, Fraction(1, 10**12), Fraction(1, 10**10)):
        _check_log_normal(beta, Price(rho=Fraction(rho)))


def _check_log_normal(beta: Fraction, price: Price) -> None:
    noise = LaplaceLogNormal().noise(beta, price)
    epsilon = read_pure_loss(price)
    assert noise.sigma > beta / epsilon
    assert noise.alpha > 0
    assert price.rho is not None
    assert epsilon**2 / 2 <= price.rho
    with mp.workdps(60):
        slope = exact(noise.alpha) * mp.exp(3 * exact(noise.sigma) ** 2 / 2)
        assert slope <= exact(epsilon)
        assert slope <= mp.exp(exact(beta)) * exact(epsilon - beta / noise.sigma)


@deep
@thinned(2)
@pytest.mark.parametrize(
    ("rho", "beta", "orders"), [("32", "5", (1.05, 1.5, 2)), ("18", "1/2", (1.05, 1.5, 2, 4))]
)
def test_laplace_log_normal_noise_keeps_a_large_rho(rho: str, beta: str, orders: tuple[float, ...]) -> None:
    noise = LaplaceLogNormal().noise(Fraction(beta), Price(rho=Fraction(rho)))
    with mp.workdps(25):
        alpha, sigma, stretch = exact(noise.alpha), exact(noise.sigma), exact(Fraction(beta))
        # The trapezoidal rule in Y loses next to nothing on a Gaussian integrand.
        step = mp.mpf(2) / 5
        nodes = [(mp.exp(-sigma * y), mp.exp(-y * y / 2 - sigma * y)) for y in (i * step for i in range(-35, 31))]

        def density(z: mp.mpf) -> mp.mpf:
            return mp.fsum(weight * mp.exp(-abs(z) * rate) for rate, weight in nodes) * step / mp.sqrt(8 * mp.pi)

        for shift, t in ((alpha, stretch), (alpha, mp.mpf(0)), (mp.mpf(0), stretch)):
            places = sorted({sign * g + s for sign in (-1, 1) for g in _ladder() for s in (0, shift)})
            ends = [(density(z), density((z - shift) * mp.exp(-t)) * mp.exp(-t)) for z in places]
            for order in orders:
                for one, two in ((0, 1), (1, 0)):
                    values = [pair[one] ** order * pair[two] ** (1 - order) for pair in ends]
                    total = mp.fsum(
                        (values[i] + values[i + 1]) / 2 * (places[i + 1] - places[i])
                        for i in range(len(places) - 1)
                    )
                    assert mp.log(total) / (order - 1) <= exact(Fraction(rho)) * order


def _ladder() -> list[mp.mpf]:
    """Places from 0 outwards, ever farther apart."""
    return [mp.sinh(mp.mpf(i) / 10) / 10 for i in range(100)]


def test_an_alpha_that_is_not_above_zero_is_never_a_noise() -> None:
    made = Cauchy().noise(Fraction(1, 6), Price(epsilon=Fraction(1)))
    for alpha in (Fraction(0), Fraction(-1), 1.0, float("nan")):
        with pytest.raises(MechanismError, match="alpha"):
            type(made)(alpha)  # type: ignore[arg-type]
