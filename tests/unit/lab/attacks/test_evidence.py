"""What right guesses prove, against exact enumeration and scipy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from tests.depth import deep, thinned

from jali.lab.attacks.evidence import LowerBound, ceiling, count_flips, interval, lower_bound
from jali.privacy import Adjacency

REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE


def test_the_ceiling_is_the_posterior_of_a_fair_bit() -> None:
    for epsilon, expected in ((0.1, 0.525), (1, 0.731), (math.log(3), 0.75), (10, 0.99995)):
        assert ceiling(epsilon, REPLACE) == pytest.approx(expected, abs=5e-4)
    assert ceiling(1, ADD) == pytest.approx(ceiling(2, REPLACE))
    assert (count_flips(REPLACE), count_flips(ADD)) == (1, 2)


def test_the_ceiling_of_a_biased_bit_is_bayes_rule() -> None:
    prior, epsilon = 0.8, 0.7
    says_one = math.exp(epsilon) / (1 + math.exp(epsilon))
    posterior = prior * says_one / (prior * says_one + (1 - prior) * (1 - says_one))
    assert ceiling(epsilon, REPLACE, prior) == pytest.approx(posterior)
    assert ceiling(epsilon, REPLACE, 1 - prior) == pytest.approx(posterior)


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    for right, guessed in ((0, 5), (5, 5), (37, 100), (950, 1000)):
        exact = scipy.stats.binomtest(right, guessed).proportion_ci(0.95, method="exact")
        assert interval(right, guessed) == pytest.approx((exact.low, exact.high), abs=1e-9)


@thinned(4)
@pytest.mark.parametrize("guessed", [1, 20, 120])
@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
def test_the_bound_is_true_as_often_as_it_says_for_randomized_response(guessed: int, adjacency: Adjacency) -> None:
    """Truth told with probability e^eps/(1+e^eps) is the mechanism from which most is guessed: nothing is lost."""
    bounds = [
        lower_bound(right, guessed, adjacency).epsilon * count_flips(adjacency) for right in range(guessed + 1)
    ]
    for flip_loss in (0.2, 1.0, 3.0):
        share = math.exp(flip_loss) / (1 + math.exp(flip_loss))
        masses = scipy.stats.binom.pmf(np.arange(guessed + 1), guessed, share)
        wrong = [mass for bound, mass in zip(bounds, masses, strict=True) if bound > flip_loss]
        assert sum(wrong) <= 0.05
        # And no smaller number of right guesses could have been counted as proof.
        if wrong:
            assert sum(wrong) + masses[guessed - len(wrong)] > 0.05


def test_half_of_the_bits_prove_nothing_and_all_of_them_prove_much() -> None:
    assert lower_bound(500, 1000, REPLACE).epsilon == 0
    assert lower_bound(0, 1000, REPLACE).epsilon == 0
    all_right = lower_bound(1000, 1000, REPLACE).epsilon
    share = 0.05 ** (1 / 1000)
    assert all_right == pytest.approx(math.log(share / (1 - share)), rel=1e-6)


def test_a_biased_bit_proves_less() -> None:
    """Guessing the likelier value of every bit is right in 80 % and proves nothing."""
    assert lower_bound(800, 1000, REPLACE, prior=0.8).epsilon == 0
    fair, biased = lower_bound(950, 1000, REPLACE).epsilon, lower_bound(950, 1000, REPLACE, prior=0.8).epsilon
    assert biased == pytest.approx(fair - math.log(0.8 / 0.2), abs=1e-9)


def _right_of_a_leaking_response(bits: int, epsilon: float, delta: float) -> np.ndarray:
    """Return the law of the number of right guesses for randomized response that tells all with probability delta.

    By enumeration over which answers are true: it is (epsilon, delta)-DP for a flip of one bit.
    """
    share = math.exp(epsilon) / (1 + math.exp(epsilon))
    law = np.zeros(bits + 1)
    for told in itertools.product((0, 1), repeat=bits):
        right = sum(told)
        law[right] += (1 - delta) * share**right * (1 - share) ** (bits - right)
    law[bits] += delta
    return law


@deep
@thinned(2)
@pytest.mark.parametrize("delta", [1e-3, 0.02])
def test_the_bound_stays_true_with_a_delta(delta: float) -> None:
    bits, epsilon = 10, 0.5
    law = _right_of_a_leaking_response(bits, epsilon, delta)
    wrong = sum(
        mass for right, mass in enumerate(law) if lower_bound(right, bits, REPLACE, delta=delta).epsilon > epsilon
    )
    assert wrong <= 0.05
    careless = [lower_bound(right, bits, REPLACE).epsilon for right in range(bits + 1)]
    careful = [lower_bound(right, bits, REPLACE, delta=delta).epsilon for right in range(bits + 1)]
    assert all(one <= other for one, other in zip(careful, careless, strict=True))
    assert careful[-1] < careless[-1]


@pytest.mark.parametrize("prior", [0.3, 0.8])
def test_beside_a_delta_biased_bits_prove_nothing(prior: float) -> None:
    assert lower_bound(40, 40, REPLACE, prior=prior).epsilon > 1
    assert lower_bound(40, 40, REPLACE, prior=prior, delta=1e-6) == LowerBound(0.0, REPLACE, delta=1e-6)
    assert lower_bound(40, 40, ADD, chance=0.5, delta=1e-6) == LowerBound(0.0, ADD, delta=1e-6)


def _best_guess(epsilon: float, delta: float, prior: float) -> float:
    """Return the most that any test between two laws at (epsilon, delta) guesses right, by a linear program.

    Unknown are the probabilities x and y of saying 1 where the bit is 1 and 0.
    """
    step = math.exp(epsilon)
    sides = [[1, -step], [-step, 1], [step, -1], [-1, step]]
    found = scipy.optimize.linprog(
        [-prior, 1 - prior], sides, [delta, delta, step - 1 + delta, step - 1 + delta], bounds=[(0, 1), (0, 1)]
    )
    return float(1 - prior - found.fun)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 0.05), (3.0, 0.2)])
def test_the_ceiling_beside_a_delta_is_the_best_test_of_a_fair_bit(epsilon: float, delta: float) -> None:
    assert ceiling(epsilon, REPLACE, delta=delta) == pytest.approx(_best_guess(epsilon, delta, 0.5))
    assert ceiling(epsilon, REPLACE, delta=delta) > ceiling(epsilon, REPLACE) + delta / 30
    for prior in (0.1, 0.7, 0.95):
        assert ceiling(epsilon, REPLACE, prior, delta=delta) >= _best_guess(epsilon, delta, prior) - 1e-9


def test_two_steps_beside_a_delta_are_met_by_a_chain_of_three_laws() -> None:
    """Outputs leave one law for the next until both steps are at their limit, and so is the flip."""
    epsilon, delta = 0.7, 0.01
    # The probability of a set of outputs without the row, and with either value of it.
    removed = (1 - delta) / (1 + math.exp(epsilon)) / 2
    without, one, zero = removed, math.exp(epsilon) * removed + delta, (removed - delta) / math.exp(epsilon)
    reached = one - math.exp(2 * epsilon) * zero
    assert reached == pytest.approx((1 + math.exp(epsilon)) * delta)
    assert without == pytest.approx(math.exp(epsilon) * zero + delta)
    assert ceiling(epsilon, ADD, delta=delta) == pytest.approx(ceiling(2 * epsilon, REPLACE, delta=reached))


def test_a_large_loss_or_delta_leaves_no_ceiling() -> None:
    assert ceiling(2000, ADD, delta=1e-6) == 1
    assert ceiling(20, ADD, delta=1e-6) == pytest.approx(1)
    assert ceiling(1, REPLACE, chance=0.01, delta=1e-6) == 1
