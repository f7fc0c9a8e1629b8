"""Privacy-loss distributions: both bounds around the truth where it is known, and close to each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf  # type: ignore[import-untyped]
from tests.depth import DEPTH, deep, thinned

from jali.errors import CatalogError
from jali.privacy import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    Finite,
    GaussianLoss,
    LaplaceLoss,
    Largest,
    Loss,
    PrivacyLossDistribution,
    Pure,
    RandomizedResponseLoss,
    Renyi,
    SubsampledLoss,
    replace_one,
)

POISSON = SubsampledLoss(GaussianLoss(1), 0.01, sampling="poisson", adjacency="add-remove")
CHOSEN = SubsampledLoss(GaussianLoss(1), 0.01, sampling="without-replacement", adjacency="replace-one")
FAR = SubsampledLoss(GaussianLoss(1, 40), "0.1", sampling="without-replacement", adjacency="replace-one")
CLOSE = 1e-3


def responses(epsilon: mpf, count: int, at: mpf) -> mpf:
    """Delta of a k-fold randomized response, summed over the number of lies, in many digits."""
    odds = mp.exp(epsilon)
    lies = int(mp.ceil((count - at / epsilon) / 2)) - 1
    mass = mp.binomial(count, lies) * odds ** (count - lies) / (1 + odds) ** count
    total = mpf(0)
    while lies >= 0 and (total == 0 or mass > total * mpf("1e-40")):
        total += mass * (1 - mp.exp(at - (count - 2 * lies) * epsilon))
        mass *= odds * lies / (count - lies + 1)
        lies -= 1
    return total


@thinned(4)
@pytest.mark.parametrize(
    ("parts", "truth"),
    [
        ([(GaussianLoss(30), 1_000)], GaussianLoss("900", sensitivity="948.683298050513799599668063")),
        ([(GaussianLoss(300), 100_000)], GaussianLoss("900", sensitivity="948.683298050513799599668063")),
        ([(GaussianLoss(10), 1), (GaussianLoss(5), 7)], GaussianLoss("1", sensitivity="0.538516480713450403125")),
    ],
)
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-15, 1e-60])
def test_sums_of_gaussian_losses_enclose_the_gaussian_of_the_sum(
    parts: list[tuple[Loss, int]], truth: Loss, delta: float
) -> None:
    low, high = PrivacyLossDistribution(parts).bounds(delta)
    exact = truth.epsilon(delta)
    assert low <= exact * (1 + 1e-9)
    assert exact <= high * (1 + 1e-9)
    assert high - low <= 2e-5 * high


@pytest.mark.parametrize(("epsilon", "count"), [("0.1", 1), ("0.1", 10), ("0.1", 100), ("1", 30), ("0.01", 1_000)])
def test_sums_of_responses_enclose_the_optimal_composition(epsilon: str, count: int) -> None:
    with mp.workdps(50):
        batch = PrivacyLossDistribution([(Pure(epsilon), count)])
        for part in ("0", "0.05", "0.3", "0.7", "0.95"):
            at = mpf(part) * mpf(epsilon) * count
            low, high = batch.delta_bounds(str(at))
            truth = responses(mpf(epsilon), count, at)
            assert low <= truth * (1 + mpf("1e-15"))
            assert truth <= high * (1 + mpf("1e-15"))
            assert high - low <= 1e-8 * high


def test_a_hundred_thousand_responses_enclose_the_optimal_composition() -> None:
    batch = PrivacyLossDistribution([(Pure("0.003"), 100_000)])
    low, high = batch.bounds(1e-6)
    with mp.workdps(30):
        assert responses(mpf("0.003"), 100_000, mpf(low) * (1 - mpf("1e-9"))) > mpf("1e-6")
        assert responses(mpf("0.003"), 100_000, mpf(high)) <= mpf("1e-6")
    assert high - low <= 1e-7 * high


@thinned(4)
@pytest.mark.parametrize(
    ("parts", "delta"),
    [
        ([(LaplaceLoss(30), 1_000)], 1e-6),
        ([(LaplaceLoss(300), 100_000)], 1e-6),
        ([(LaplaceLoss(30), 500), (GaussianLoss(30), 500)], 1e-6),
        ([(LaplaceLoss(300), 50_000), (GaussianLoss(300), 50_000)], 1e-6),
        ([(LaplaceLoss(300), 50_000), (GaussianLoss(300), 50_000)], 1e-20),
        ([(POISSON, 10_000)], 1e-6),
        ([(DiscreteLaplaceLoss(10, 3), 200), (DiscreteGaussianLoss(400), 100)], 1e-8),
        ([(RandomizedResponseLoss(0.5, 5), 40)], 1e-6),
        ([(Approximate(0.1, 1e-9), 100)], 1e-6),
        ([(Pure("0.1"), 20), (Pure("0.07"), 30), (LaplaceLoss(11), 40)], 1e-6),
    ],
    ids=repr,
)
def test_the_two_bounds_are_within_a_thousandth(parts: list[tuple[Loss, int]], delta: float) -> None:
    low, high = PrivacyLossDistribution(parts).bounds(delta)
    assert 0 < low <= high
    assert high - low <= CLOSE * high


def test_the_numbers_of_the_theorem_book_are_reproduced() -> None:
    assert PrivacyLossDistribution([(LaplaceLoss(10), 100)]).epsilon(1e-6) == pytest.approx(4.69267, abs=5e-6)
    assert PrivacyLossDistribution([(Pure(0.1), 100)]).epsilon(1e-6) == pytest.approx(4.774567588, abs=1e-9)
    assert PrivacyLossDistribution([(Pure(0.1), 10)]).epsilon(1e-6) == pytest.approx(0.9993709057, abs=1e-10)
    assert PrivacyLossDistribution([(POISSON, 1_000)]).epsilon(1e-5) == pytest.approx(1.828, abs=5e-4)
    assert PrivacyLossDistribution([GaussianLoss(1)]).epsilon(1e-6) == pytest.approx(4.886554117, rel=1e-6)


@thinned(2)
@pytest.mark.parametrize(
    "loss",
    [
        GaussianLoss(2),
        LaplaceLoss("0.7"),
        Pure(1),
        Approximate(0.5, 0.01),
        BoundedRange(1.5),
        DiscreteLaplaceLoss("2.5", 4),
        DiscreteGaussianLoss("7.3", 2),
        RandomizedResponseLoss(1, 4),
        POISSON,
        CHOSEN,
        SubsampledLoss(LaplaceLoss(1), 0.3, sampling="poisson", adjacency="add-remove"),
        SubsampledLoss(Approximate(1, 1e-3), 0.3, sampling="poisson", adjacency="add-remove"),
        SubsampledLoss(Approximate(1, 1e-3), 0.3, sampling="without-replacement", adjacency="replace-one"),
        SubsampledLoss(LaplaceLoss(1), 0.3, sampling="without-replacement", adjacency="replace-one"),
        SubsampledLoss(
            RandomizedResponseLoss(1, 3), "0.2", sampling="without-replacement", adjacency="replace-one"
        ),
    ],
    ids=repr,
)
def test_one_release_has_the_profile_of_its_loss(loss: Loss) -> None:
    single = PrivacyLossDistribution([loss])
    for epsilon in (0.0, 0.01, 0.35, 1.2):
        exact = loss.delta(epsilon)
        low, high = single.delta_bounds(epsilon)
        assert exact <= high * (1 + 1e-9) + 1e-13
        assert high <= exact * (1 + 1e-3) + 1e-9
        assert low <= exact * (1 + 1e-9) + 1e-13


@st.composite
def mixed_responses(draw: st.DrawFn) -> list[tuple[str, int]]:
    epsilons = draw(
        st.lists(st.sampled_from(["0.05", "0.1", "0.3", "1", "0.123", "2"]), min_size=1, max_size=3, unique=True)
    )
    return [(epsilon, draw(st.integers(1, 3))) for epsilon in epsilons]


@settings(max_examples=25 * DEPTH, deadline=None)
@given(mixed_responses(), st.sampled_from([0.0, 0.02, 0.4, 1.1]))
def test_mixed_responses_enclose_the_sum_over_all_outcomes(parts: list[tuple[str, int]], at: float) -> None:
    singles = [float(epsilon) for epsilon, count in parts for _ in range(count)]
    truth = 0.0
    for signs in itertools.product((1, -1), repeat=len(singles)):
        loss = math.fsum(sign * epsilon for sign, epsilon in zip(signs, singles, strict=True))
        mass = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, singles, strict=True))
        truth += mass * max(0.0, -math.expm1(at - loss))
    low, high = PrivacyLossDistribution([(Pure(e), k) for e, k in parts]).delta_bounds(at)
    assert low <= truth * (1 + 1e-9) + 1e-15
    assert truth <= high * (1 + 1e-9) + 1e-15


def test_two_laplace_losses_agree_with_an_integral() -> None:
    with mp.workdps(15):
        b = mpf(1)

        def density(x: mpf, y: mpf) -> mpf:
            loss = abs(x - 1) - abs(x) + abs(y - 1) - abs(y)
            return mp.exp(-abs(x) - abs(y)) / 4 * max(mpf(0), 1 - mp.exp(mpf("0.5") - loss)) * b

        # The loss is above 1/2 only where both are below 1; it is constant below 0.
        grid = [mpf(0), mpf("0.75"), mpf(1)]
        inner = mp.quad(lambda x: mp.quad(lambda y: density(x, y), _cuts(x, grid)), grid)
        edge = 2 * mp.quad(lambda x: density(x, mpf(-1)) * mp.exp(1), grid)
        corner = mpf(1) / 4 * (1 - mp.exp(mpf("-1.5")))
        truth = float(inner + edge + corner)
    low, high = PrivacyLossDistribution([(LaplaceLoss(1), 2)]).delta_bounds(0.5)
    assert low <= truth + 1e-9
    assert truth - 1e-9 <= high
    assert high - low < 1e-5


def _cuts(x: mpf, grid: list[mpf]) -> list[mpf]:
    """The points where the integrand has a kink in y, for a given x."""
    kink = mpf("0.75") - x
    return sorted({*grid, kink}) if 0 < kink < 1 else grid


def test_the_profile_falls_and_agrees_with_single_points() -> None:
    batch = PrivacyLossDistribution([(LaplaceLoss(10), 40), (GaussianLoss(12), 20)])
    profile = batch.profile([0.0, 0.5, 1.0, 2.0, 4.0])
    assert list(profile.deltas) == sorted(profile.deltas, reverse=True)
    for epsilon, delta in zip(profile.epsilons, profile.deltas, strict=True):
        assert delta == pytest.approx(batch.delta(epsilon), rel=1e-3)


def test_the_order_and_the_grouping_of_parts_do_not_matter() -> None:
    one = PrivacyLossDistribution([(Pure(0.1), 2), LaplaceLoss(5), (Pure(0.1), 3)])
    other = PrivacyLossDistribution([LaplaceLoss(5), PrivacyLossDistribution([(Pure(0.1), 5)])])
    assert one == other
    assert one.epsilon(1e-3) == other.epsilon(1e-3)


def test_the_renyi_divergence_of_a_subsampled_gaussian_is_that_of_its_binomial_sum() -> None:
    q, order = 0.01, 8
    total = sum(
        math.comb(order, j) * (1 - q) ** (order - j) * q**j * math.exp((j * j - j) / 2) for j in range(order + 1)
    )
    assert POISSON.renyi(order) == pytest.approx(math.log(total) / (order - 1), rel=1e-8)
    assert POISSON.renyi(order) >= math.log(total) / (order - 1)


def test_an_order_beyond_the_nodes_falls_back_on_the_loss_without_sampling() -> None:
    assert POISSON.renyi(500) == pytest.approx(250)


def test_without_delta_epsilon_is_the_largest_loss() -> None:
    assert PrivacyLossDistribution([(LaplaceLoss(10), 3), Pure(1)]).epsilon(0) == pytest.approx(1.3)
    assert PrivacyLossDistribution([GaussianLoss(1)]).epsilon(0) == math.inf
    assert PrivacyLossDistribution([(Approximate(1, 0.01), 2)]).epsilon(0.0199001) == pytest.approx(2, rel=1e-4)
    assert PrivacyLossDistribution([(Approximate(1, 0.01), 2)]).epsilon(0.019) == math.inf


def test_a_distribution_refuses_to_act_as_a_filter_and_offers_a_fixed_point() -> None:
    batch = PrivacyLossDistribution([(LaplaceLoss(10), 100)])
    with pytest.raises(CatalogError, match="cannot act as a filter"):
        _ = batch.event
    charge = batch.at(1e-6).event
    assert charge.epsilon is not None
    assert float(charge.epsilon) == pytest.approx(4.69267, abs=5e-6)
    assert charge.epsilon >= batch.epsilon(1e-6)


@pytest.mark.parametrize("loss", [Concentrated(0.1), Renyi({2: 0.1})])
def test_a_loss_without_a_distribution_is_refused_by_name(loss: Loss) -> None:
    with pytest.raises(CatalogError, match="has no privacy-loss distribution"):
        PrivacyLossDistribution([loss])


def test_bad_parts_are_refused_by_name() -> None:
    with pytest.raises(CatalogError, match="parts is empty"):
        PrivacyLossDistribution([])
    with pytest.raises(CatalogError, match="count must be"):
        PrivacyLossDistribution([(Pure(1), 0)])
    with pytest.raises(CatalogError, match="adjacency differs"):
        PrivacyLossDistribution([POISSON, CHOSEN])


def twice(loss: Loss, epsilon: float) -> float:
    """Delta of two releases of a subsampled Gaussian, by integrating the second's profile over the first's law."""
    assert isinstance(loss, SubsampledLoss)
    assert isinstance(loss.loss, GaussianLoss)
    q, shift = mpf(loss.rate.numerator) / loss.rate.denominator, mpf(loss.loss.shift)

    def single(e: mpf) -> mpf:
        """H_y((1-q) Q + q P || Q) at any real e = ln y."""
        y = mp.exp(e)
        if y <= 1 - q:
            return 1 - y
        inner = mp.log((y - 1 + q) / q)
        return q * (mp.ncdf(shift / 2 - inner / shift) - mp.exp(inner) * mp.ncdf(-shift / 2 - inner / shift))

    def integrand(x: mpf, centre: mpf) -> mpf:
        return mp.npdf(x - centre) * single(epsilon - mp.log(1 - q + q * mp.exp(shift * x - shift**2 / 2)))

    total = mpf(0)
    for weight, centre in ((1 - q, mpf(0)), (q, shift)):
        total += weight * mp.quad(lambda x, c=centre: integrand(x, c), [centre + i for i in range(-12, 13, 2)])
    return float(total)


@deep
@thinned(4)
@pytest.mark.parametrize("shift", [0.5, 3, 20, 36, 50, 300])
def test_samples_of_laws_that_are_far_apart_keep_all_of_their_mass(shift: float) -> None:
    loss = SubsampledLoss(GaussianLoss(1, shift), "0.1", sampling="poisson", adjacency="add-remove")
    low, high = PrivacyLossDistribution([(loss, 2)]).delta_bounds(1)
    with mp.workdps(15):
        truth = twice(loss, 1)
    assert low <= truth * (1 + 1e-7)
    assert truth <= high * (1 + 1e-7)
    assert high <= truth * (1 + 1e-3)


def test_a_sample_of_a_far_discrete_gaussian_keeps_all_of_its_mass() -> None:
    loss = SubsampledLoss(DiscreteGaussianLoss(1, 100), "0.1", sampling="poisson", adjacency="add-remove")
    assert PrivacyLossDistribution([(loss, 2)]).delta(1) == pytest.approx(0.19, rel=1e-6)


def test_what_is_too_light_for_a_double_still_counts() -> None:
    rare = Fraction(1, 10**300)
    loss = Finite.from_pair([rare, 1 - rare], [rare * 9, 1 - rare * 9])
    assert PrivacyLossDistribution([(loss, 2)]).epsilon(0) >= 2 * math.log(9)


def test_the_bound_from_below_is_attained_without_replacement() -> None:
    """Two steps on samples of Pure(3) at rate 0.2: the best adaptive pair of mechanisms reaches 0.18613 at 1."""
    loss = SubsampledLoss(Pure(3), "0.2", sampling="without-replacement", adjacency="replace-one")
    low, high = PrivacyLossDistribution([(loss, 2)]).delta_bounds(1)
    assert low <= 0.18614
    assert high >= 0.18613


@pytest.mark.parametrize("wrap", [lambda loss: loss, replace_one, lambda loss: Largest([loss])])
def test_what_a_mechanism_attains_passes_through_every_wrapper(wrap: Callable[[Loss], Loss]) -> None:
    loss = wrap(BoundedRange(3))
    low, _ = PrivacyLossDistribution([(loss, 3)]).delta_bounds(1)
    size = 6 if wrap is replace_one else 3
    truth = PrivacyLossDistribution([(Pure(Fraction(size, 2)), 3)]).delta(1)
    assert low == pytest.approx(truth, rel=1e-6)


@thinned(4)
@pytest.mark.parametrize(
    ("parts", "delta"),
    [
        ([(Approximate(1, "1e-6"), 2)], "1.9999990000001999999e-6"),
        ([(Approximate(1, "1e-6"), 10), (GaussianLoss(10), 5)], "9.999955000221e-6"),
        ([(Pure(10**6), 2)], "1e-6"),
        ([(LaplaceLoss("1e-6"), 2)], "1e-6"),
        ([(SubsampledLoss(Pure(10**4), "0.1", sampling="poisson", adjacency="add-remove"), 2)], "1e-6"),
        ([(FAR, 2)], "0.01"),
        ([(Pure("1e-8"), 10**6)], "1e-6"),
        ([(GaussianLoss("1e160"), 3)], "1e-6"),
    ],
    ids=str,
)
def test_extreme_losses_have_bounds_without_a_warning(parts: list[tuple[Loss, int]], delta: str) -> None:
    low, high = PrivacyLossDistribution(parts).bounds(delta)
    assert 0 <= low <= high


@pytest.mark.parametrize("count", [1, 2, 10])
def test_the_bound_from_below_is_close_also_near_the_largest_loss(count: int) -> None:
    low, high = PrivacyLossDistribution([(Pure(1), count)]).bounds("1e-6")
    assert low >= high * (1 - 1e-6)


def test_many_steps_without_replacement_lie_between_what_is_attained_and_what_is_proved() -> None:
    """The law that dominates every replacement at once is attained by no mechanism: the bounds are apart."""
    low, high = PrivacyLossDistribution([(CHOSEN, 10_000)]).bounds(1e-6)
    removing = PrivacyLossDistribution([(POISSON, 10_000)]).epsilon(1e-6)
    assert low == pytest.approx(removing, rel=1e-4)
    assert high == pytest.approx(8.9384, abs=1e-3)
