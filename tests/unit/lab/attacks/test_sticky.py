"""The attack on sticky noise: which layers cancel, the law of the test, and what Jali leaves of it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats
from tests.depth import deep

from jali.errors import CatalogError
from jali.lab.attacks import Facts, Noise, Setting, Sticky, simulator
from jali.lab.attacks.oracle import Condition
from jali.lab.attacks.oracles.simulator import StickyLayers
from jali.lab.attacks.staging import stage
from jali.lab.attacks.sticky import LayerLaw, compute_noncentral_cdf, predict_sum
from jali.lab.attacks.subsets.random_subsets import Listed, random_subsets
from jali.privacy import Adjacency

ONE = Noise("layers", 1.0)
Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _differences(place: StickyLayers, splits: int) -> Matrix:
    """Return the differences of all pairs, a row for each victim, by the attack's words and not by its code."""
    rows = []
    for victim in place.victim_columns:
        known = [Condition(column, int(value)) for column, value in enumerate(victim)]
        row = []
        for split in range(splits):
            common = (*known[:split], *known[split + 1 :], Condition(splits, 1))
            other = Condition(split, int(victim[split]), equal=False)
            row.append(float(np.subtract(*place.ask([common, (*common, other)]))))
        rows.append(row)
    return np.array(rows)


def _distance(sample: Matrix, law: NormalDist) -> float:
    """Return sqrt(n) times the Kolmogorov-Smirnov distance; above 2.3 with probability 5e-5."""
    steps = np.array([law.cdf(x) for x in np.sort(sample)])
    count = len(steps)
    return float(max(np.abs(steps - np.arange(count) / count).max(), 1 / count) * count**0.5)


def test_without_noise_counts_are_those_of_the_table() -> None:
    place = StickyLayers.of(n=6, columns=3, noise=Noise("layers", 0.0), seed=1)
    rows = place.crowd.rows
    for kinds in itertools.product([True, False], repeat=3):
        conditions = tuple(Condition(column, 2, equal=equal) for column, equal in enumerate(kinds))
        meets = np.all((rows[:, :3] == 2) == kinds, axis=1)
        counts = place.ask([conditions, (*conditions, Condition(3, 1))])
        assert counts.tolist() == [meets.sum(), (meets & (rows[:, 3] == 1)).sum()]


def test_victims_are_alone_with_what_is_known_and_in_company_without_any_of_it() -> None:
    place = StickyLayers.of(n=5, columns=3, noise=Noise("layers", 0.0), seed=2)
    for victim in place.victim_columns:
        known = tuple(Condition(column, int(value)) for column, value in enumerate(victim))
        assert place.ask([known]).tolist() == [1]
        assert all(count > 10 for count in place.ask([tuple(c for c in known if c != one) for one in known]))


def test_asking_again_gives_the_same_answer_so_that_averaging_learns_nothing() -> None:
    place = StickyLayers.of(n=4, columns=3, noise=ONE, seed=3)
    question = (Condition(0, 1), Condition(3, 1))
    answers = place.ask([question] * 100)
    assert len(set(answers.tolist())) == 1
    assert place.ask([(Condition(1, 2),), question])[1] == answers[0]
    exact = StickyLayers(place.crowd, Noise("layers", 0.0), place.salt).ask([question])[0]
    assert abs(answers.mean() - exact) > 0.1
    assert StickyLayers(place.crowd, ONE, b"another salt").ask([question])[0] != answers[0]


@pytest.mark.parametrize("splits", [2, 5])
def test_differences_have_the_two_laws(splits: int) -> None:
    place = StickyLayers.of(n=600, columns=splits, noise=Noise("layers", 0.7), seed=4)
    found = _differences(place, splits)
    with_trait = place.crowd.secret.bits == 1
    law = LayerLaw(splits, 0.7)
    assert (law.without, law.beside) == pytest.approx((2 * 0.49, (2 * splits + 2) * 0.49))
    assert _distance(found[~with_trait].ravel(), NormalDist(0, law.without**0.5)) < 2.3
    assert _distance(found[with_trait].ravel(), NormalDist(1, law.beside**0.5)) < 2.3
    # It can fail: the laws of each other are far away.
    assert _distance(found[~with_trait].ravel(), NormalDist(1, law.beside**0.5)) > 5
    for group in (found[~with_trait], found[with_trait]):
        correlation = np.corrcoef(group.T)[np.triu_indices(splits, 1)]
        assert np.abs(correlation).max() < 4.5 / len(group) ** 0.5


@deep
def test_five_splits_tell_nine_victims_in_ten() -> None:
    result = stage("sticky", n=1000, seed=5).run()
    assert result.fraction >= 0.89
    assert result.predicted == pytest.approx(0.9212, abs=1e-4)
    assert abs(result.fraction - 0.9212) < 5 * (0.9212 * 0.0788 / 1000) ** 0.5
    assert result.questions == 10_000
    assert result.epsilon_lower_bound.epsilon > 1.9


def test_one_difference_is_read_by_two_roots() -> None:
    """By hand: the ratio exceeds 1 outside an interval, whose ends are the roots of a quadratic."""
    law = LayerLaw(common=3, stddev=0.8)
    none, some = NormalDist(0, law.without**0.5), NormalDist(1, law.beside**0.5)
    a = 1 / law.without - 1 / law.beside
    b, c = 2 / law.beside, -1 / law.beside - np.log(law.beside / law.without)
    low, high = ((-b + sign * (b * b - 4 * a * c) ** 0.5) / (2 * a) for sign in (-1, 1))
    inside = none.cdf(high) - none.cdf(low), some.cdf(high) - some.cdf(low)
    assert law.right(1) == pytest.approx((inside[0] + 1 - inside[1]) / 2, abs=1e-12)
    points = np.array([-3.0, low, 0.0, 1.0, high, 4.0])
    odds = [np.log(some.pdf(x) / none.pdf(x)) for x in points]
    assert law.log_odds(points) == pytest.approx(odds, abs=1e-12)


@pytest.mark.parametrize(("common", "splits", "stddev"), [(5, 5, 1.0), (5, 3, 0.5), (8, 8, 1.5)])
def test_the_law_of_the_test_is_that_of_drawn_differences(common: int, splits: int, stddev: float) -> None:
    law, random, count = LayerLaw(common, stddev), np.random.default_rng(6), 40_000
    none = random.normal(0, law.without**0.5, (count, splits))
    some = random.normal(1, law.beside**0.5, (count, splits))
    ratio = [np.sum(law.log_odds(sample), axis=1) > 0 for sample in (none, some)]
    found = (1 - ratio[0].mean() + ratio[1].mean()) / 2
    assert abs(found - law.right(splits)) < 5 * (0.25 / (2 * count)) ** 0.5


def test_the_noncentral_law_is_that_of_one_two_and_many_squares() -> None:
    normal = NormalDist()

    def one(x: float, shift: float) -> float:
        return normal.cdf(x**0.5 - shift) - normal.cdf(-(x**0.5) - shift)

    for x, shift in itertools.product((0.3, 2.0, 9.0), (0.0, 0.8, 3.0)):
        assert compute_noncentral_cdf(x, 1, shift**2) == pytest.approx(one(x, shift), abs=1e-13)
        # Two squares: the first has the whole shift, the second what is left of x.
        edge = x**0.5 * np.sin(np.linspace(-np.pi / 2, np.pi / 2, 1001))
        density = np.array([normal.pdf(z - shift) * one(max(0.0, x - z * z), 0.0) for z in edge])
        assert compute_noncentral_cdf(x, 2, shift**2) == pytest.approx(
            float(np.trapezoid(density, edge)), abs=1e-5
        )
    for x, degrees, noncentrality in itertools.product((1.0, 12.0, 60.0), (3, 8, 25), (0.4, 30.0)):
        expected = scipy.stats.ncx2.cdf(x, degrees, noncentrality)
        assert compute_noncentral_cdf(x, degrees, noncentrality) == pytest.approx(expected, abs=1e-12)
    assert compute_noncentral_cdf(0.0, 3, 1.0) == 0
    for x in (198_000.0, 200_000.0, 201_000.0):
        assert compute_noncentral_cdf(x, 5, 200_000.0) == pytest.approx(
            scipy.stats.ncx2.cdf(x, 5, 200_000.0), abs=1e-3
        )
    assert LayerLaw(5, 1e-4).right(5) == 1


@pytest.mark.parametrize(("scale", "splits"), [(0.6, 1), (1.0, 2), (2.5, 3)])
def test_sums_of_independent_noise_have_the_law_of_their_convolution(scale: float, splits: int) -> None:
    reach = np.arange(-200, 201)
    single = np.exp(-np.abs(reach) / scale)
    single /= single.sum()
    law = np.array([1.0])
    for _ in range(2 * splits):
        law = np.convolve(law, single)
    place = np.arange(len(law)) - len(law) // 2
    right = (law[place <= splits / 2].sum() + law[place + splits > splits / 2].sum()) / 2
    assert predict_sum(Noise("geometric", scale), splits) == pytest.approx(right, abs=1e-10)


def test_independent_noise_of_other_laws_is_predicted_or_left_open() -> None:
    assert predict_sum(Noise("gaussian", 2.0), 4) == pytest.approx(NormalDist().cdf(2 / (2 * 8**0.5)))
    assert predict_sum(Noise("none"), 3) == 1
    assert predict_sum(Noise("geometric", 5.0), 0) == 0.5
    assert predict_sum(Noise("garbage", 0.2), 3) is None


def test_the_prediction_counts_only_victims_who_were_asked_about() -> None:
    attack, law = Sticky(splits=4), LayerLaw(4, 1.0)
    # Two victims in full, one with a pair, and two with nothing; the odd answer is of no use.
    found = attack.predict(Facts(5, ONE, 19))
    assert found is not None
    assert found.fraction == pytest.approx((2 * law.right(4) + law.right(1) + 2 * 0.5) / 5)
    every = attack.predict(Facts(5, ONE, 40))
    assert every is not None
    assert every.fraction == pytest.approx(law.right(4))
    assert attack.predict(Facts(5, Noise("garbage", 0.1), 40)) is None


def test_without_noise_every_trait_is_read() -> None:
    result = stage("sticky", n=20, noise="layers:0", seed=7).run()
    assert (result.fraction, result.predicted) == (1, 1)
    assert (result.confidence == 1).all()


def test_jali_draws_noise_anew_and_the_ledger_ends_it() -> None:
    """False alarm: all of 24 nearly fair coins right, below 1e-6."""
    result = stage("sticky", n=24, against="jali", parameters={"splits": 2}, seed=8).run()
    assert result.refusal is not None
    assert (result.refusal.after, result.questions, result.spent) == (96, 96, Fraction(1))
    assert (result.noise, result.adjacency) == ("geometric:96", Adjacency.REPLACE_ONE)
    assert result.right < 24
    assert result.predicted == pytest.approx(0.5, abs=0.01)


def test_jali_keeps_answers_to_itself_once_the_budget_is_spent() -> None:
    result = stage("sticky", n=6, against="jali", each=Fraction(1, 5), parameters={"splits": 2}, seed=9).run()
    assert (result.questions, result.spent, len(result.guess)) == (5, Fraction(1), 6)
    assert (result.confidence[2:] == 0).all()


def test_a_simulator_of_counts_is_sticky_too() -> None:
    """Two layers for each subset: repeats agree, and other subsets have noise of variance 2."""
    place = simulator(n=40, noise="layers:3", seed=10)
    subsets = random_subsets(2000, 40, seed=11)
    first, again = place.ask(subsets), place.ask(subsets)
    assert (first == again).all()
    exact = subsets.matvec(place.secret.bits.astype(np.float64))
    errors = np.asarray(first - exact, np.float64)
    assert place.noise.stddev == pytest.approx(3 * 2**0.5)
    assert _distance(errors, NormalDist(0, 3 * 2**0.5)) < 2.3
    assert (place.ask(Listed.of(subsets.matrix[::-1]))[::-1] == first).all()


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Sticky(splits=0), "splits"),
        (lambda: Sticky().opponent(Setting(n=4, noise=Noise("gaussian", 1.0))), "layers"),
    ],
)
def test_wrong_parameters_are_named(make: object, word: str) -> None:
    assert callable(make)
    with pytest.raises(CatalogError, match=word):
        make()
