"""Tracing: the law of the scores, the acceptance figures, and what is left of them under a budget."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.depth import deep

from jali.errors import CatalogError
from jali.lab.attacks import Noise, Setting, Tracing
from jali.lab.attacks.oracle import spread_frequencies
from jali.lab.attacks.staging import stage
from jali.lab.attacks.tracing import Roc, ScoreLaw, weigh_attributes
from jali.privacy import Adjacency

EXACT = Noise("none")


def _pooled(attack: Tracing, n: int, noise: Noise, trials: int) -> dict[str, float]:
    result = attack.repeat(attack.opponent(Setting(n=n, noise=noise, seed=seed)) for seed in range(trials))
    return dict(result.figures) | {"right": result.fraction}


def _near(share: float, law: float, count: int) -> bool:
    """Within five standard deviations; seeded, so that it either holds or does not."""
    return bool(abs(share - law) < 5 * (max(law * (1 - law), 1 / count) / count) ** 0.5)


@pytest.mark.parametrize(("n", "stddev"), [(3, 0.0), (4, 0.7)])
def test_the_moments_of_scores_are_those_of_all_groups_there_are(n: int, stddev: float) -> None:
    shares = np.array([0.1, 0.35, 0.8])
    weight = weigh_attributes(shares, n, stddev)
    member_mean = member_variance = outsider_variance = 0.0
    for p, w in zip(shares, weight, strict=True):
        # Noise of two values has the standard deviation, and is enumerated too.
        chances, members, outsiders = [], [], []
        for bits in itertools.product([0, 1], repeat=n + 1):
            for noise in (-stddev, stddev):
                *group, other = bits
                chances.append(np.prod([p if bit else 1 - p for bit in bits]) / 2)
                lean = w * ((sum(group) + noise) / n - p)
                members.append(lean * (group[0] - p))
                outsiders.append(lean * (other - p))
        c, m, o = np.array(chances), np.array(members), np.array(outsiders)
        assert c @ o == pytest.approx(0)
        member_mean += c @ m
        member_variance += c @ m**2 - (c @ m) ** 2
        outsider_variance += c @ o**2
    law = ScoreLaw.of(shares, n, stddev)
    assert law.gap == pytest.approx(member_mean / outsider_variance**0.5)
    assert law.spread**2 == pytest.approx(member_variance / outsider_variance)


def test_no_other_weights_tell_members_apart_better() -> None:
    shares, n, stddev = spread_frequencies(50), 30, 4.0
    variances = shares * (1 - shares)
    random = np.random.default_rng(1)

    def gap(weight: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        noise = variances / n + (stddev / n) ** 2
        return float((weight @ variances) / n / np.sqrt(weight**2 @ (variances * noise)))

    best = np.asarray(weigh_attributes(shares, n, stddev), np.float64)
    assert gap(best) == pytest.approx(ScoreLaw.of(shares, n, stddev).gap)
    others = [best * random.uniform(0.8, 1.25, 50) for _ in range(20)]
    assert all(gap(other) < gap(best) for other in [*others, np.ones(50)])


def test_exact_means_have_the_gap_of_the_square_root_of_attributes_per_person() -> None:
    assert ScoreLaw.of(spread_frequencies(1000), 100, 0.0).gap == pytest.approx(10**0.5)


def test_exact_means_betray_three_quarters_of_the_members_at_one_percent() -> None:
    law = ScoreLaw.of(spread_frequencies(1000), 100, 0.0)
    found = _pooled(Tracing(), 100, EXACT, trials=40)
    assert found["true positive rate"] >= 0.75
    assert _near(found["true positive rate"], law.true_positives(0.01), 4000)
    assert _near(found["false positive rate"], 0.01, 4000)
    assert _near(found["right"], law.area, 4000)
    assert _near(found["auc"], law.area, 4000)


@pytest.mark.parametrize("noise", ["geometric:1000", "laplace:1000"])
def test_means_that_cost_epsilon_one_betray_nobody(noise: str) -> None:
    found = _pooled(Tracing(), 100, Noise.of(noise, n=100), trials=40)
    assert found["true positive rate"] <= 0.02
    assert _near(found["true positive rate"], 0.0103, 4000)
    assert _near(found["right"], 0.503, 4000)


def test_with_noisy_means_twice_the_people_take_four_times_the_attributes() -> None:
    """Dwork, Smith, Steinke, Ullman and Vadhan 2015; the noise of a mean is 0.2 throughout."""
    found, laws = [], []
    for n, attributes in ((50, 1000), (100, 4000)):
        noise = Noise("gaussian", 0.2 * n)
        laws.append(ScoreLaw.of(spread_frequencies(attributes), n, 0.2 * n))
        found.append(_pooled(Tracing(attributes), n, noise, trials=2000 // n))
    assert laws[0].gap == pytest.approx(laws[1].gap, rel=0.05)
    for one, law in zip(found, laws, strict=True):
        assert one["right"] > 0.78
        assert _near(one["right"], law.area, 2000)
        assert _near(one["true positive rate"], law.true_positives(0.01), 2000)
    # Four times the people and no more attributes: little is left.
    assert ScoreLaw.of(spread_frequencies(1000), 200, 40.0).true_positives(0.01) < 0.03


def test_the_curve_is_that_of_all_thresholds() -> None:
    random = np.random.default_rng(2)
    members, outsiders = random.integers(0, 12, 40) + 2.0, random.integers(0, 12, 30) + 0.0
    curve = Roc.of(members, outsiders)
    higher = (members[:, None] > outsiders).mean() + (members[:, None] == outsiders).mean() / 2
    assert curve.area == pytest.approx(higher)
    assert (curve.false_positives[0], curve.true_positives[0]) == (0, 0)
    assert (curve.false_positives[-1], curve.true_positives[-1]) == (1, 1)
    for threshold in (3.0, 7.5, 11.0):
        share, reached = (outsiders >= threshold).mean(), (members >= threshold).mean()
        assert curve.at(share) >= reached
    strictest = max(outsiders)
    assert curve.at(0) == pytest.approx((members > strictest).mean())


def test_the_attack_draws_its_curve_beside_the_law() -> None:
    attack = Tracing(400)
    curve = attack.roc(attack.opponent(Setting(n=40, noise=EXACT, seed=3)))
    law = ScoreLaw.of(spread_frequencies(400), 40, 0.0)
    assert abs(curve.area - law.area) < 0.05
    assert (law.true_positives(0), law.true_positives(1)) == (0, 1)
    assert law.true_positives(0.5) == pytest.approx(0.999, abs=0.001)


def test_the_first_attributes_are_as_mixed_as_all() -> None:
    every = spread_frequencies(2000)
    assert (every[:300] == spread_frequencies(300)).all()
    assert every.min() >= 0.05
    assert every.max() <= 0.95
    assert np.diff(np.sort(every[:300])).max() < 3 * 0.9 / 300


@deep
def test_under_jali_the_ledger_refuses_and_the_seats_stay_secret() -> None:
    """False alarm: all of 24 fair coins right, below 1e-6 even at the law's 0.505."""
    result = stage("tracing", n=24, against="jali", parameters={"attributes": 120}, seed=4).run()
    assert result.refusal is not None
    assert result.refusal.after == result.questions == 120
    assert (result.spent, result.adjacency) == (Fraction(1), Adjacency.REPLACE_ONE)
    assert result.noise == "geometric:120"
    assert result.right < 24
    assert result.predicted == pytest.approx(0.505, abs=0.005)


@deep
def test_without_a_ledger_the_same_group_is_laid_open() -> None:
    """A seat is right with probability 0.955: fewer than 15 of 24 are with 1e-7."""
    staged = stage("tracing", n=24, against="unledgered", epsilon=4, parameters={"attributes": 150}, seed=4)
    result = staged.run()
    assert (result.spent, result.refusal, result.questions) == (None, None, 150)
    assert result.right >= 15
    assert result.predicted == pytest.approx(0.955, abs=0.005)


def test_a_dear_question_leaves_the_attack_with_few_answers_or_none() -> None:
    few = stage("tracing", n=10, against="jali", each=Fraction(1, 4), parameters={"attributes": 30}, seed=5).run()
    assert (few.questions, few.spent, len(few.guess)) == (4, Fraction(1), 10)
    none = stage("tracing", n=10, against="jali", each=2, parameters={"attributes": 30}, seed=5).run()
    assert (none.questions, none.spent) == (0, Fraction(0))
    assert none.predicted == 0.5
    assert (none.confidence == 0).all()


def test_the_loss_may_be_paid_in_rho_and_counted_for_add_remove() -> None:
    staged = stage(
        "tracing", n=10, against="jali", delta=1e-6, adjacency="add-remove", parameters={"attributes": 8}, seed=6
    )
    result = staged.run()
    assert result.noise.startswith("gaussian:")
    assert result.adjacency is Adjacency.ADD_REMOVE
    assert result.spent is not None
    assert 0.9 < result.spent <= 1
    assert result.questions == 8


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Tracing(attributes=0), "attributes"),
        (lambda: Tracing(false_positives=1.5), "false_positives"),
        (lambda: Tracing().opponent(Setting(n=8, noise=Noise("worst", 2.0))), "worst"),
    ],
)
def test_wrong_parameters_are_named(make: object, word: str) -> None:
    assert callable(make)
    with pytest.raises(CatalogError, match=word):
        make()
