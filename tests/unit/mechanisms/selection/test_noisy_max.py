"""Noisy max: three noises, their laws, their loss, and the race digit by digit."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any, get_args

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH, deep, thinned
from tests.seeded import SeededBits, enumerate_masses

from jali.errors import JaliError
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.noisy_max import (
    NoiseRace,
    NoisyMax,
    RealNoise,
    compute_laplace_miss_probability,
    compute_laplace_race_law,
)
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip, compute_permute_and_flip_law
from jali.mechanisms.selection.scores import Exponents
from jali.sampling import Geometric
from jali.sampling.guide_table import BitWidths

HISTOGRAM = (3, 1, 2, 0, 0, 3, 1, 0)
NOISES: tuple[RealNoise, ...] = get_args(RealNoise)
every_noise = pytest.mark.parametrize("noise", NOISES)


def make(noise: RealNoise, epsilon: Any = 1, **options: Any) -> NoisyMax:
    return NoisyMax(sensitivity=1, epsilon=epsilon, noise=noise, **options)


def integrated(x: list[float], place: int, noise: RealNoise) -> float:
    """Return ln of the chance to win, from densities and distribution functions, in many digits."""
    density, distribution = {
        "laplace": (_laplace_density, _laplace_distribution),
        "gumbel": (lambda y: mpmath.exp(-y - mpmath.exp(-y)), lambda y: mpmath.exp(-mpmath.exp(-y))),
        "exponential": (lambda y: mpmath.exp(-y) if y > 0 else 0, lambda y: 1 - mpmath.exp(-y) if y > 0 else 0),
    }[noise]
    with mpmath.workdps(30):
        own, rest = mpmath.mpf(x[place]), [mpmath.mpf(each) for other, each in enumerate(x) if other != place]

        def wins(v: Any) -> Any:  # scaled, for quad measures errors against 1
            return mpmath.exp(own) * density(v + own) * mpmath.fprod(distribution(v + each) for each in rest)

        kinks = sorted({-mpmath.mpf(each) for each in x})
        cuts = [kinks[0] - 60, kinks[0] - 10, kinks[0] - 3]
        for start, end in zip(kinks, [*kinks[1:], kinks[-1]], strict=True):
            parts = max(1, math.ceil((end - start) / 2))
            cuts += [start + (end - start) * part / parts for part in range(parts)]
        cuts += [kinks[-1] + further for further in (0, 1, 2, 4, 8, 16, 32, 80)]
        return float(mpmath.log(mpmath.quad(wins, cuts, method="gauss-legendre")) - own)


def _laplace_density(y: Any) -> Any:
    return mpmath.exp(-abs(y)) / 2


def _laplace_distribution(y: Any) -> Any:
    return mpmath.exp(y) / 2 if y < 0 else 1 - mpmath.exp(-y) / 2


def test_the_lecture_histogram_has_the_known_error() -> None:
    assert make("laplace").expected_error(HISTOGRAM) == pytest.approx(0.9394011, abs=5e-8)
    assert make("exponential").expected_error(HISTOGRAM) == pytest.approx(0.9171538, abs=5e-8)
    assert make("gumbel").expected_error(HISTOGRAM) == pytest.approx(1.0185807, abs=5e-8)
    assert make("laplace").probabilities([1, 0])[0] == pytest.approx(0.62091834, abs=5e-9)
    assert make("laplace").probabilities([1, 0])[1] == pytest.approx(math.exp(-0.5) / 2 * (1 + 1 / 4), rel=1e-13)


@thinned(4)
@every_noise
@pytest.mark.parametrize("x", [[0.0, 0.5], [0.0, 0.25, 3.0, 30.0, 3.0]])
def test_probabilities_are_the_integrals_of_their_definition(noise: RealNoise, x: list[float]) -> None:
    """For exponential and Gumbel noise this is the theorem that they are permute-and-flip and softmax."""
    logs = make(noise, 2).log_law(np.array(x))
    for place in {0, 1, len(x) - 1}:
        assert logs[place] == pytest.approx(integrated(x, place, noise), abs=1e-12, rel=1e-12)


def test_far_gaps_and_many_candidates_keep_their_laplace_law() -> None:
    far = compute_laplace_race_law(np.array([0.0, 200.0, 3.0]))
    assert far[1] == pytest.approx(integrated([0.0, 200.0, 3.0], 1, "laplace"), rel=1e-13)
    assert compute_laplace_race_law(np.array([0.0, 1e30]))[1] == pytest.approx(-1e30, rel=1e-14)
    two = compute_laplace_race_law(np.array([0.0, 500.0]))
    assert two[1] == pytest.approx(math.log(1 + 250) - 500 - math.log(2), rel=1e-13)
    for gaps in ([0.0] * 40 + [1.5] * 30, [0.0, *np.linspace(0, 300, 60)], [0.0] * 2000):
        law = np.exp(compute_laplace_race_law(np.array(gaps)))
        assert law.sum() == pytest.approx(1, abs=1e-12)
        assert law[-1] > 0
    assert compute_laplace_race_law(np.zeros(2000)) == pytest.approx(np.full(2000, -math.log(2000)), abs=1e-12)


@pytest.mark.parametrize(("gap", "candidates"), [(0.0, 1), (0.0, 2), (0.3, 2), (3.0, 100), (12.5, 10**5)])
def test_the_chance_to_miss_agrees_with_the_whole_law(gap: float, candidates: int) -> None:
    law = compute_laplace_race_law(np.array([0.0, *[gap] * (candidates - 1)]))
    assert compute_laplace_miss_probability(gap, candidates) == pytest.approx(-math.expm1(law[0]), abs=1e-13)


@deep
def test_many_different_scores_keep_their_laplace_law() -> None:
    x = [0.0, 0.001, 0.3, 0.31, 1.0, 2.5, 7.0, 7.1, 12.0, 40.0]
    law = compute_laplace_race_law(np.array(x))
    for place in (0, 3, 6, 9):
        assert law[place] == pytest.approx(integrated(x, place, "laplace"), abs=1e-12, rel=1e-12)
    many = np.append(0, np.sort(np.random.default_rng(8).exponential(10, 2000)))
    law = compute_laplace_race_law(many)
    assert math.fsum(np.exp(law)) == pytest.approx(1, abs=1e-12)
    assert (np.diff(law) < 0).all()


@thinned(4)
@pytest.mark.parametrize("others", [1, 4, 99])
@pytest.mark.parametrize("confidence", [0.9, 1 - 1e-10, 1 - 1e-14, 1 - 2**-52, 1 - 2**-53])
@every_noise
def test_errors_hold_up_to_confidences_next_to_one(noise: RealNoise, confidence: float, others: int) -> None:
    """The chance to be further off, in many digits, is what was allowed, and not above it."""
    error = make(noise, 2).error(confidence, candidates=others + 1)
    with mpmath.workdps(90):
        allowed = 1 - mpmath.mpf(confidence)
        reached = worst_tail(mpmath.mpf(error), others, noise)
        assert 1 - 1e-9 <= reached / allowed <= 1


def worst_tail(x: Any, others: int, noise: RealNoise) -> Any:
    """Return the chance to miss the best if all others are x below it."""
    p = mpmath.exp(-x)
    if noise == "gumbel":
        return others * p / (1 + others * p)
    if noise == "exponential":
        return 1 - (1 - (1 - p) ** (others + 1)) / ((others + 1) * p)

    def tail(v: Any) -> Any:
        return _laplace_density(v) * (1 - _laplace_distribution(v + x) ** others)

    cuts = [-x - 250, -x - 60, -x - 10, *(-x + x * i / 20 for i in range(21)), 1, 4, 16, 60, 250]
    with mpmath.workdps(40):
        return mpmath.quad(tail, cuts, method="gauss-legendre")


@thinned(4)
@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("x", [(0, "1/2"), (0, 2)])
def test_every_bit_string_ends_the_race_as_the_law_says(two_sided: bool, x: tuple[Any, ...]) -> None:
    """All strings of so many bits; digits come one at a time, so that most races need several of them."""
    length, left = (14, 0.35) if DEPTH > 1 else (11, 0.55)
    race = NoiseRace(two_sided, precision=0, digits=1, plan=BitWidths(0, 0, 2, 2), word_bits=1)
    exponents = Exponents.from_list([Fraction(each) for each in x])
    masses, undecided = enumerate_masses(lambda bits: int(race.draw(exponents, 1, bits)[0]), length)
    law = (compute_laplace_race_law if two_sided else compute_permute_and_flip_law)(exponents.doubles)
    assert undecided < left
    for place, wanted in enumerate(np.exp(law)):
        assert masses[place] - 1e-12 <= wanted <= masses[place] + undecided + 1e-12


@every_noise
def test_draws_have_the_law(noise: RealNoise) -> None:
    """Chi-square with 7 degrees of freedom: beyond 45 with a chance below 2e-7."""
    mechanism, size = make(noise), 50_000 * DEPTH
    law = mechanism.probabilities(HISTOGRAM)
    counts = np.bincount(mechanism.sample(HISTOGRAM, size, bits=SeededBits(13)), minlength=8)  # type: ignore[arg-type]
    assert (((counts - size * law) ** 2) / (size * law)).sum() < 45


@pytest.mark.parametrize("precision", [0, 3])
def test_coarse_first_digits_leave_the_law_as_it_is(precision: int) -> None:
    """Nearly all races go on to further digits; chi-square with 2 degrees of freedom, beyond 31 with 2e-7."""
    exponents = Exponents.from_list([Fraction(0), Fraction(1, 3), Fraction(2)])
    size = 4_000 * DEPTH
    chosen = NoiseRace(two_sided=True, precision=precision, digits=3).draw(exponents, size, SeededBits(14))
    law = np.exp(compute_laplace_race_law(exponents.doubles))
    assert (((np.bincount(chosen, minlength=3) - size * law) ** 2) / (size * law)).sum() < 31


@thinned(4)
@every_noise
@pytest.mark.parametrize("monotone", [False, True])
def test_no_neighbours_are_told_apart_by_more_than_epsilon(noise: RealNoise, monotone: bool) -> None:
    mechanism = make(noise, monotone=monotone, adjacency="add-remove" if monotone else None)
    moves = (0, 1) if monotone else (-1, 0, 1)
    for a in ((0, 0, 0), (2, 1, 0), (9, 0, 1)):
        for move in product(moves, repeat=3):
            b = np.add(a, move)
            losses = np.abs(mechanism.log_probabilities(a) - mechanism.log_probabilities(b))
            assert losses.max() <= 1 + 1e-12


def test_laplace_noise_is_not_of_bounded_range_from_three_candidates_on() -> None:
    """Losses range over more than epsilon, and the divergence is above epsilon^2/8; two candidates hide it."""
    mechanism = make("laplace")

    def pair(a: tuple[Any, ...], move: tuple[int, ...]) -> tuple[float, float]:
        p, q = mechanism.log_probabilities(a), mechanism.log_probabilities(np.add(a, move).tolist())
        return np.ptp(p - q), float(np.exp(p) @ (p - q))

    two = [pair((Fraction(gap, 10), 0), (-1, 1)) for gap in range(-30, 31)]
    assert max(two)[0] < 1
    assert max(divergence for _, divergence in two) < 0.125
    widest, _ = pair((2, 0, 1), (-1, 1, -1))
    assert widest == pytest.approx(1.12042, abs=1e-4)
    assert pair((Fraction(84, 100), Fraction(79, 100), 0), (-1, 1, 1))[0] > 1.1
    assert max(pair((Fraction(gap, 10), 0, 0), (-1, 1, 1))[1] for gap in range(30)) > 0.14


def test_laplace_noise_nears_its_loss_far_away() -> None:
    """Two candidates at gap x lose epsilon - 2 ln((1 + x/2)/(1 + x'/2)) or so: the claim cannot be improved."""
    mechanism = make("laplace")
    near, far = (
        abs(mechanism.log_probabilities([gap, 0])[1] - mechanism.log_probabilities([gap - 1, 1])[1])
        for gap in (10, 10**7)
    )
    assert near < 0.95
    assert 1 - 1e-6 < far <= 1


@thinned(3)
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.999])
def test_no_scores_do_worse_than_the_bounds_of_laplace_noise(confidence: float) -> None:
    random, mechanism = np.random.default_rng(6), make("laplace")
    error, mean = mechanism.error(confidence, candidates=5), mechanism.worst_expected_error(5)
    reached = 1 - mechanism.probabilities([Fraction(error), 0, 0, 0, 0])[0]
    assert reached == pytest.approx(1 - confidence, rel=1e-9)
    for _ in range(20):
        scores = [Fraction(int(score)) for score in random.exponential(5, 5).round()]
        law = mechanism.probabilities(scores)
        gaps = np.array([float(max(scores) - score) for score in scores])
        assert law[gaps <= error].sum() >= confidence
        assert mechanism.expected_error(scores) <= mean


def test_two_candidates_have_the_exact_worst_expected_error() -> None:
    mechanism = make("laplace")
    wanted = max(x / 1000 * math.exp(-x / 1000) * (1 + x / 2000) for x in range(1, 6000))
    assert mechanism.worst_expected_error(2) == pytest.approx(wanted, rel=1e-6)
    assert mechanism.worst_expected_error(2) < mechanism.worst_expected_error(3)


@pytest.mark.parametrize("noise", ["exponential", "gumbel"])
def test_errors_and_losses_are_those_of_the_mechanism_with_the_same_law(noise: RealNoise) -> None:
    twin = {"exponential": PermuteAndFlip, "gumbel": Exponential}[noise](sensitivity=1, epsilon=1)
    mechanism = make(noise)
    assert mechanism.loss == twin.loss
    assert mechanism.error(0.9, candidates=30) == twin.error(0.9, candidates=30)
    assert mechanism.worst_expected_error(30) == twin.worst_expected_error(30)


def test_the_largest_of_d_exponential_noises_has_the_harmonic_expectation() -> None:
    """E[z*] = scale * H_d: exactly, and for the noises that a race draws, within 6 sigma."""
    harmonic = sum(1 / k for k in range(1, 9))
    exact = mpmath.quad(lambda z: 1 - (1 - mpmath.exp(-z)) ** 8, [0, 1, 2, 4, 8, 16, 40])
    assert float(exact) == pytest.approx(harmonic, rel=1e-12)
    assert harmonic == pytest.approx(2.7178571, abs=5e-8)
    draws = Geometric(Fraction(1 << 20)).sample(80_000, bits=SeededBits(15)).reshape(-1, 8) / 2.0**20
    assert abs(draws.max(axis=1).mean() - harmonic) < 6 * math.sqrt(math.pi**2 / 6 / 10_000)


@every_noise
def test_huge_gaps_and_many_candidates_are_no_trouble(noise: RealNoise) -> None:
    mechanism = make(noise)
    assert mechanism.release([0, 10**30, -(10**300)]) == 1
    assert mechanism.release(np.r_[np.zeros(10**5, np.int64), 10**6]) == 10**5
    assert mechanism.release([5]) == 0
    assert NoisyMax(sensitivity="1e-200", epsilon="1e200", noise=noise).release([1, 0]) == 0


@pytest.mark.parametrize("bad", ["Gauss", None, 1, True])
def test_an_unknown_noise_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(JaliError, match="noise"):
        make(bad)
