"""Losses of single mechanisms: against sums and integrals in many digits, and refusals that name the parameter."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.depth import thinned

from jali.errors import CatalogError
from jali.privacy import (
    Adjacency,
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    PrivacyLossDistribution,
    Pure,
    RandomizedResponseLoss,
    Renyi,
    SubsampledLoss,
    compose,
    replace_one,
)

ORDERS = (1.01, 1.5, 2.0, 7.0, 60.0)
POINTS = (0.0, 0.01, 0.3, 0.9, 1.7)


def rounded_up(found: float, truth: float, excess: float = 1e-9) -> bool:
    """Say whether a bound is at or above the truth, and not far above."""
    return truth * (1 - 1e-14) - 1e-30 <= found <= truth * (1 + excess) + 1e-13


@pytest.mark.parametrize("stddev", ["0.05", "0.7", "1", "30", "5000"])
@pytest.mark.parametrize("place", [0.0, 0.2, 1.0, 5.0, 12.0])
def test_gaussian_noise_has_the_analytic_profile(stddev: str, place: float) -> None:
    loss = GaussianLoss(stddev)
    with mpmath.workdps(50):
        shift = mpmath.mpf(loss.shift)
        epsilon = float(place * shift)
        up, down = shift / 2 - epsilon / shift, -shift / 2 - epsilon / shift
        truth = mpmath.ncdf(up) - mpmath.exp(epsilon) * mpmath.ncdf(down)
        assert truth <= loss.delta(epsilon) <= truth * (1 + mpmath.mpf("1e-10"))


def test_gaussian_noise_has_the_numbers_of_the_theorem_book() -> None:
    assert GaussianLoss(1).delta(1) == pytest.approx(0.1269367375, abs=1e-10)
    assert GaussianLoss(1).epsilon(1e-6) == pytest.approx(4.886554117, abs=1e-9)
    # The classical formula returns 0.5298803 for (10, 1e-6), where it is not valid: it is not private enough.
    assert GaussianLoss("0.5298803").delta(10) > 1.5e-6
    assert GaussianLoss("0.5410868319").delta(10) <= 1e-6


@thinned(4)
@pytest.mark.parametrize("scale", ["0.5", "1", "10", "7/3"])
def test_laplace_noise_has_the_profile_and_the_divergences_of_its_densities(scale: str) -> None:
    loss = LaplaceLoss(scale)
    with mpmath.workdps(30):
        b = mpmath.mpf(Fraction(scale).numerator) / Fraction(scale).denominator

        def p(x: Any) -> Any:
            return mpmath.exp(-abs(x) / b) / (2 * b)

        def q(x: Any) -> Any:
            return mpmath.exp(-abs(x - 1) / b) / (2 * b)

        cuts = [-mpmath.inf, 0, 0.5, 1, mpmath.inf]
        for epsilon in POINTS:
            edge = min(mpmath.mpf(1), max(mpmath.mpf(0), (1 - epsilon * b) / 2))
            truth = 0
            if epsilon < 1 / b:
                truth = mpmath.quad(lambda x, e=epsilon: p(x) - mpmath.exp(e) * q(x), [-mpmath.inf, 0, edge])
            assert rounded_up(loss.delta(epsilon), float(truth))
        for order in ORDERS[1:4]:
            total = mpmath.quad(lambda x, a=order: p(x) ** a * q(x) ** (1 - a), cuts)
            assert rounded_up(loss.renyi(order), float(mpmath.log(total) / (order - 1)))


def laplace_law(scale: Fraction, reach: int) -> Callable[[int], float]:
    rate = float(1 / scale)
    return lambda n: math.tanh(rate / 2) * math.exp(-rate * abs(n)) if abs(n) < reach else 0.0


def gaussian_law(variance: Fraction, reach: int) -> Callable[[int], float]:
    total = math.fsum(math.exp(-n * n / (2 * float(variance))) for n in range(-reach, reach + 1))
    return lambda n: math.exp(-n * n / (2 * float(variance))) / total


@pytest.mark.parametrize(
    ("loss", "law", "reach"),
    [
        (DiscreteLaplaceLoss("0.5"), laplace_law(Fraction(1, 2), 80), 80),
        (DiscreteLaplaceLoss(3, 2), laplace_law(Fraction(3), 300), 300),
        (DiscreteLaplaceLoss("11/2", 7), laplace_law(Fraction(11, 2), 500), 500),
        (DiscreteGaussianLoss("0.4"), gaussian_law(Fraction(2, 5), 60), 60),
        (DiscreteGaussianLoss("30.5", 4), gaussian_law(Fraction(61, 2), 300), 300),
    ],
    ids=["Laplace 1/2", "Laplace 3 by 2", "Laplace 11/2 by 7", "Gaussian 2/5", "Gaussian 61/2 by 4"],
)
def test_integer_noise_has_the_profile_and_the_divergences_of_its_masses(
    loss: DiscreteLaplaceLoss | DiscreteGaussianLoss, law: Callable[[int], float], reach: int
) -> None:
    pairs = [(law(n), law(n - loss.sensitivity)) for n in range(-reach, reach + 1)]
    for epsilon in POINTS:
        truth = math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairs)
        assert rounded_up(loss.delta(epsilon), truth)
    for order in ORDERS[1:4]:
        total = math.fsum(p * (p / q) ** (order - 1) for p, q in pairs if p > 1e-250 and q > 1e-250)
        divergence = math.log(total) / (order - 1)
        excess = 1e-9 if isinstance(loss, DiscreteLaplaceLoss) else math.inf
        assert rounded_up(loss.renyi(order), divergence, excess)


def test_integer_laplace_noise_loses_more_than_real_laplace_noise() -> None:
    """A shift by one integer is randomized response: rounding real noise would be another mechanism."""
    assert DiscreteLaplaceLoss(1).delta(0) == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert LaplaceLoss(1).delta(0) == pytest.approx(1 - math.exp(-0.5), rel=1e-12)


def test_a_law_with_too_many_atoms_is_the_worst_of_its_epsilon() -> None:
    many = DiscreteLaplaceLoss(10**9, 10**8)
    distributions = [PrivacyLossDistribution([(loss, 10)]) for loss in (many, Pure(0.1))]
    assert distributions[0].epsilon(1e-6) == pytest.approx(distributions[1].epsilon(1e-6), rel=1e-9)
    assert distributions[0].bounds(1e-6)[0] == 0


@pytest.mark.parametrize("categories", [2, 3, 20])
def test_randomized_response_has_the_profile_of_its_channel(categories: int) -> None:
    loss = RandomizedResponseLoss("1.2", categories)
    odds = math.exp(1.2)
    total = odds + categories - 1
    pairs = [(odds, 1.0), (1.0, odds), *[(1.0, 1.0)] * (categories - 2)]
    for epsilon in POINTS:
        truth = math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairs) / total
        assert rounded_up(loss.delta(epsilon), truth)


def test_a_coin_and_a_coin_is_ln_three() -> None:
    almost_random = RandomizedResponseLoss.from_truth("3/4")
    assert rounded_up(almost_random.epsilon(0), math.log(3), 1e-12)
    assert almost_random.group(1) is almost_random
    assert rounded_up(almost_random.group(2).epsilon(0), 2 * math.log(3), 1e-12)


def test_bounded_range_is_the_worst_of_all_two_point_mechanisms() -> None:
    loss = BoundedRange(1)
    for epsilon in (0.0, 0.2, 0.6, 0.95):
        best = 0.0
        for step in range(10_001):
            t = step / 10_000
            chance = (math.e - math.exp(t)) / (math.e - 1)
            best = max(best, chance * (1 - math.exp(epsilon - t)))
        assert rounded_up(loss.delta(epsilon), best, 1e-7)
    # The largest Kullback-Leibler divergence at epsilon 1, which zCDP must not be below.
    assert float(loss.event.rho) >= 0.1233016


@pytest.mark.parametrize("rate", ["0.001", "0.01", "0.3", "1"])
@pytest.mark.parametrize("base", [Pure(1), LaplaceLoss("0.8"), GaussianLoss(2), Approximate(1, "1e-3")], ids=repr)
def test_a_poisson_sample_has_the_profile_of_its_mixtures(base: Loss, rate: str) -> None:
    """H_y((1-q) Q + q P || Q) = q H_(1+(y-1)/q)(P || Q), and for adding (1 - y(1-q)) H_(yq/(1-y(1-q)))."""
    loss = SubsampledLoss(base, rate, sampling="poisson", adjacency="add-remove")
    q = float(rate)
    for epsilon in POINTS:
        y = math.exp(epsilon)
        removing = q * base.delta(math.log(1 + (y - 1) / q))
        rest = 1 - y * (1 - q)
        adding = rest * base.delta(max(0.0, math.log(y * q / rest))) if rest > 1e-15 else 0.0
        assert rounded_up(loss.delta(epsilon), max(removing, adding), 1e-8)


def test_a_sample_amplifies_as_in_the_theorem_book() -> None:
    for sampling, adjacency in (("poisson", "add-remove"), ("without-replacement", "replace-one")):
        loss = SubsampledLoss(Approximate(1, "1e-6"), "0.01", sampling=sampling, adjacency=adjacency)
        event = loss.event
        assert event.delta == Fraction(1, 10**8)
        assert event.epsilon is not None
        assert rounded_up(float(event.epsilon), math.log(1 + 0.01 * (math.e - 1)), 1e-11)
        assert loss.adjacency is Adjacency.of(adjacency)


def test_many_steps_on_samples_cost_what_the_theorem_book_says() -> None:
    step = SubsampledLoss(GaussianLoss(1), "0.01", sampling="poisson", adjacency="add-remove")
    table = compose((step, 1000)).table("1e-5")
    found = {row.theorem.name.split()[0]: getattr(row, "epsilon", None) for row in table.rows}
    assert found["Rényi"] == pytest.approx(2.101, abs=2e-3)
    assert found["the"] == pytest.approx(1.828, abs=5e-4)


@pytest.mark.parametrize(
    ("sampling", "adjacency"), [("poisson", "replace-one"), ("without-replacement", "add-remove")]
)
def test_a_sampling_that_is_not_analysed_for_an_adjacency_is_refused(sampling: str, adjacency: str) -> None:
    with pytest.raises(CatalogError, match=r"adjacency does not fit.*Use sampling="):
        SubsampledLoss(GaussianLoss(1), "0.01", sampling=sampling, adjacency=adjacency)


def test_a_sample_of_a_sample_keeps_to_one_adjacency() -> None:
    poisson = SubsampledLoss(Pure(1), "0.5", sampling="poisson", adjacency="add-remove")
    with pytest.raises(CatalogError, match="loss must have the same privacy-loss distribution in both directions"):
        SubsampledLoss(poisson, "0.5", sampling="poisson", adjacency="add-remove")
    chosen = SubsampledLoss(Pure(1), "0.5", sampling="without-replacement", adjacency="replace-one")
    with pytest.raises(CatalogError, match="adjacency does not fit"):
        SubsampledLoss(chosen, "0.5", sampling="poisson", adjacency="add-remove")


def test_replacing_is_removing_and_adding() -> None:
    added = SubsampledLoss(Pure(1), "0.1", sampling="poisson", adjacency="add-remove")
    replaced = replace_one(added)
    assert replaced.adjacency is Adjacency.REPLACE_ONE
    assert replaced.epsilon(0) == pytest.approx(2 * added.epsilon(0))
    assert replace_one(Approximate(1, "1e-6")).delta(2) == pytest.approx((1 + math.e) * 1e-6, rel=1e-9)
    chosen = SubsampledLoss(Pure(1), "0.5", sampling="without-replacement", adjacency="replace-one")
    assert compose(replaced, chosen).adjacency is Adjacency.REPLACE_ONE
    with pytest.raises(CatalogError, match="adjacency differs"):
        compose(added, chosen)
    with pytest.raises(CatalogError, match="already 'replace-one'"):
        replace_one(replaced)


BAD = [0, -1, "-1/2", math.nan, math.inf, "many", None]
CONSTRUCTORS: list[tuple[str, Callable[..., object]]] = [
    ("epsilon", Pure),
    ("epsilon", BoundedRange),
    ("epsilon", lambda value: Approximate(value, "1e-6")),
    ("epsilon", RandomizedResponseLoss),
    ("rho", Concentrated),
    ("stddev", GaussianLoss),
    ("sensitivity", lambda value: GaussianLoss(1, value)),
    ("scale", LaplaceLoss),
    ("sensitivity", lambda value: LaplaceLoss(1, value)),
    ("scale", DiscreteLaplaceLoss),
    ("sensitivity", lambda value: DiscreteLaplaceLoss(1, value)),
    ("variance", DiscreteGaussianLoss),
    ("sensitivity", lambda value: DiscreteGaussianLoss(1, value)),
    ("order", lambda value: Renyi({value: 1})),
    ("categories", lambda value: RandomizedResponseLoss(1, value)),
    ("probability", RandomizedResponseLoss.from_truth),
    ("rate", lambda value: SubsampledLoss(Pure(1), value, sampling="poisson", adjacency="add-remove")),
    ("size", lambda value: Pure(1).group(value)),
    ("size", lambda value: GaussianLoss(1).group(value)),
]


@pytest.mark.parametrize("value", BAD, ids=repr)
@pytest.mark.parametrize(("name", "make"), CONSTRUCTORS, ids=[str(i) for i in range(len(CONSTRUCTORS))])
def test_bad_input_is_refused_by_the_name_of_its_parameter(
    name: str, make: Callable[..., object], value: object
) -> None:
    with pytest.raises(CatalogError, match=rf"\b{name}\b"):
        make(value)


READINGS: list[tuple[str, Callable[[Loss, object], object], list[object]]] = [
    ("delta", lambda loss, value: loss.epsilon(value), [-0.1, 1, 1.5, math.nan, "x"]),  # type: ignore[arg-type]
    ("epsilon", lambda loss, value: loss.delta(value), [-0.1, math.nan, math.inf, "x"]),  # type: ignore[arg-type]
    ("fpr", lambda loss, value: loss.fnr(value), [-0.1, 1.1, math.nan]),  # type: ignore[arg-type]
    ("prior", lambda loss, value: loss.posterior(value), [-0.1, 1.1, math.nan]),  # type: ignore[arg-type]
    ("delta", lambda loss, value: loss.at(value), [-0.1, 1, math.nan]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("loss", [Pure(1), Approximate(1, 0.1), Concentrated(1), GaussianLoss(1), LaplaceLoss(1)])
@pytest.mark.parametrize(("name", "read", "values"), READINGS, ids=[str(i) for i in range(len(READINGS))])
def test_a_bad_question_is_refused_by_the_name_of_its_parameter(
    loss: Loss, name: str, read: Callable[[Loss, object], object], values: list[object]
) -> None:
    for value in values:
        with pytest.raises(CatalogError, match=rf"\b{name}\b"):
            read(loss, value)


def test_at_its_own_delta_a_loss_has_its_own_epsilon() -> None:
    """Deltas are compared exactly, not as doubles."""
    for delta in ("1e-6", 0.1, 1e-5, "1/3"):
        assert Approximate("0.5", delta).epsilon(delta) == 0.5
    assert Pure(0.3).delta(0.3) == 0
    assert Approximate(1, "1e-6").epsilon("0.99e-6") == math.inf


def test_a_truth_close_to_guessing_has_its_epsilon() -> None:
    for excess in (13, 17, 40):
        truth = Fraction(1, 2) + Fraction(1, 10**excess)
        loss = RandomizedResponseLoss.from_truth(truth)
        with mpmath.workdps(120):
            exact = mpmath.log(mpmath.mpf(truth.numerator) / (truth.denominator - truth.numerator))
            found = mpmath.mpf(loss.bound.numerator) / loss.bound.denominator
            assert exact <= found <= exact * (1 + mpmath.mpf("1e-13"))


@pytest.mark.parametrize("loss", [Pure("1/3"), LaplaceLoss(3), BoundedRange("1/3"), RandomizedResponseLoss("1/3")])
def test_just_below_its_epsilon_a_loss_has_a_delta(loss: Loss) -> None:
    below = Fraction(float(Fraction(1, 3)))
    assert below < Fraction(1, 3)
    assert loss.delta(below) > 0 or isinstance(loss, BoundedRange)
    assert loss.delta(Fraction(1, 3)) == 0


@pytest.mark.parametrize("kind", [Pure, BoundedRange])
def test_a_small_epsilon_left_after_a_large_delta_is_rounded_up(kind: type[Pure] | type[BoundedRange]) -> None:
    with mpmath.workdps(60):
        for step in range(1, 200):
            bound, part = Fraction(step, 23), 1 - Fraction(1, 10**6 + step)
            loss = kind(bound)
            delta = Fraction(loss.delta(0)) * part
            odds = mpmath.exp(mpmath.mpf(bound.numerator) / bound.denominator)
            d = mpmath.mpf(delta.numerator) / delta.denominator
            if kind is Pure:
                truth = mpmath.log(odds - d * (1 + odds))
            else:
                truth = 2 * mpmath.log(mpmath.sqrt(odds) - mpmath.sqrt(d * (odds - 1)))
            assert mpmath.mpf(loss.epsilon(delta)) >= truth


def test_the_trade_off_of_gaussian_noise_is_rounded_down() -> None:
    for stddev in ("0.11", "1/8", "0.5", "3"):
        loss = GaussianLoss(stddev)
        for fpr in (1e-9, 0.01, 0.1, 0.259, 0.5, 0.99):
            with mpmath.workdps(40):
                place = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(fpr)) - mpmath.mpf(loss.shift)
                truth = mpmath.ncdf(place)
                assert truth * (1 - mpmath.mpf("1e-7")) <= mpmath.mpf(loss.fnr(fpr)) <= truth


def test_extreme_noise_has_a_profile() -> None:
    assert GaussianLoss("1e160").delta(1) < 1e-300
    assert Approximate(1, 0).group(1000).epsilon(0) == 1000
