"""Against Jali with a budget of epsilon 1, no attack guesses more bits than the ceiling allows.

Noise has no seed here. A check of one attack raises a false alarm with probability below 1e-8, one of all attacks
below 1e-7, and the whole file below 1e-6.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from tests.attacks.small import ADJACENCIES, named, ran
from tests.depth import thinned

import jali
from jali.lab import attacks
from jali.lab.attacks import evidence
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Spent
from jali.lab.attacks.simple_attacks import Singletons
from jali.local.binomial import upper_tail
from jali.privacy import Adjacency

_ALARM = 1e-8
_ALARM_OF_ALL = 1e-7


def _chance_of_more(right: int, guessed: int, share: float) -> float:
    return float(upper_tail(right, guessed, share))


def _within_chance(right: int, guessed: int, share: float) -> bool:
    return (
        min(_chance_of_more(right, guessed, share), _chance_of_more(guessed - right, guessed, 1 - share)) > _ALARM
    )


@thinned(2)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_no_attack_exceeds_the_ceiling_beyond_chance(adjacency: Adjacency) -> None:
    results = [ran(name, "jali", adjacency) for name in named("jali")]
    ceiling = evidence.ceiling(1, adjacency)
    for result in results:
        assert _chance_of_more(result.right, result.guessed, ceiling) > _ALARM, result
    right, guessed = sum(result.right for result in results), sum(result.guessed for result in results)
    assert ceiling**guessed < _ALARM_OF_ALL  # were all bits recovered, it would be seen
    assert _chance_of_more(right, guessed, ceiling) > _ALARM_OF_ALL


@thinned(2)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_attacks_on_the_whole_database_stay_where_theory_sees_them(adjacency: Adjacency) -> None:
    every = [ran(name, "jali", adjacency) for name in named("jali")]
    met = [result for result in every if result.predicted is not None and result.sense != "at least"]
    assert len(met) >= 4
    for result in met:
        assert result.predicted is not None
        assert result.predicted < 0.75
        assert _within_chance(result.right, result.guessed, result.predicted), result


def test_the_hadamard_attack_learns_nothing_from_64_answers() -> None:
    result = attacks.Hadamard().run(attacks.database(n=64, seed=1))
    assert result.predicted == pytest.approx(0.5087, abs=1e-4)
    assert _within_chance(result.right, 64, 0.5087)
    assert result.spent == 1


# One question about everybody: a person who is replaced can leave one group and enter another, so that the noise
# is doubled where neighbours replace.
@pytest.mark.parametrize(("adjacency", "loss"), [(Adjacency.REPLACE_ONE, 0.5), (Adjacency.ADD_REMOVE, 1.0)])
def test_each_person_counted_alone_is_guessed_right_as_often_as_the_law_says(
    adjacency: Adjacency, loss: float
) -> None:
    result = Singletons().run(attacks.database(n=4000, adjacency=adjacency, seed=2))
    law = math.exp(loss) / (1 + math.exp(loss))
    assert result.predicted == pytest.approx(law)
    assert _within_chance(result.right, 4000, law)
    assert not _within_chance(round(4000 * (law + 0.06)), 4000, law)
    assert result.epsilon_lower_bound.epsilon < 1


def test_one_person_asked_about_with_the_whole_budget_meets_the_ceiling() -> None:
    oracle = attacks.database(n=3, seed=3)
    result = Singletons(people=1).run(oracle)
    assert oracle.noise == Noise("geometric", 1)
    assert result.predicted is not None
    assert 3 * result.predicted - 1 == pytest.approx(evidence.ceiling(1, Adjacency.REPLACE_ONE))
    assert result.spent == 1


def test_under_add_remove_a_flip_costs_twice_and_the_surest_guesses_meet_that_ceiling() -> None:
    n = 4000
    bits = np.random.default_rng(4).integers(0, 2, n)
    database = jali.connect()
    people = pa.table({"id": np.arange(n), "trait": bits})
    columns = {"id": jali.Range(0, n - 1), "trait": jali.Range(0, 1)}
    database.protect("people", people, unit=None, columns=columns, budget=jali.Budget(1), adjacency="add-remove")
    answer = database.ask(
        "SELECT id, trait, COUNT(*) FROM people GROUP BY id, trait ORDER BY id, trait", epsilon=1
    )
    without, having = np.array([row[2] for row in answer.rows]).reshape(n, 2).T
    sure = (having >= 1) != (without >= 1)
    right = int(np.count_nonzero((having >= 1)[sure] == bits[sure]))
    ceiling = evidence.ceiling(1, Adjacency.ADD_REMOVE)
    assert _within_chance(right, int(sure.sum()), ceiling)
    assert not _within_chance(right, int(sure.sum()), evidence.ceiling(1, Adjacency.REPLACE_ONE))
    assert evidence.lower_bound(right, int(sure.sum()), Adjacency.ADD_REMOVE, confidence=1 - _ALARM).epsilon < 1


def test_gaussian_noise_leaks_two_thirds_at_epsilon_10_whatever_n_is() -> None:
    oracle = attacks.database(n=32, epsilon=10, delta="1e-6", seed=5)
    result = attacks.Hadamard().run(oracle)
    assert oracle.noise.kind == "gaussian"
    assert result.predicted == pytest.approx(2 / 3, abs=0.01)
    assert _within_chance(result.right, 32, 2 / 3)
    assert (result.spent, result.delta) == (Fraction(10), Fraction(1, 10**6))
    assert result.refusal is not None
    many = attacks.Hadamard().run(
        attacks.simulator(n=2**16, noise=Noise("gaussian", oracle.noise.size * math.sqrt(2**11)), seed=5)
    )
    assert many.predicted == pytest.approx(result.predicted, abs=0.01)
    assert many.fraction == pytest.approx(many.predicted, abs=0.006)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_gaussian_noise_on_everybody_stays_below_the_ceiling_of_its_epsilon_and_delta(
    adjacency: Adjacency,
) -> None:
    n = 1000
    result = Singletons().run(attacks.database(n=n, epsilon=5, delta="1e-5", adjacency=adjacency, seed=6))
    kind, stddev = result.noise.split(":")
    assert kind == "gaussian"
    assert _within_chance(result.right, n, NormalDist().cdf(0.5 / float(stddev)))
    assert (result.spent, result.delta) == (Fraction(5), Fraction(1, 10**5))
    steps = evidence.count_flips(adjacency)
    delta = 1e-5 if steps == 1 else (1 + math.exp(5)) * 1e-5
    assert result.ceiling == pytest.approx((math.exp(5 * steps) + delta) / (math.exp(5 * steps) + 1), abs=1e-12)
    # Of 64 or 70 % right bits 527 are enough for a proof: fewer have a probability below 1e-14.
    bound = result.epsilon_lower_bound
    assert (bound.adjacency, bound.delta) == (adjacency, 1e-5)
    least = scipy.stats.beta.ppf(0.05, result.right, n - result.right + 1)
    assert 0 < bound.epsilon < math.log(least / (1 - least)) / steps < 5
    document = result.to_dict()
    assert (document["delta"], document["epsilon_lower_bound"]["delta"]) == ("1/100000", 1e-5)


def test_biased_bits_beside_a_delta_prove_nothing_and_have_a_ceiling() -> None:
    result = Singletons().run(attacks.database(n=200, epsilon=2, delta="1e-6", prior=0.8, seed=7))
    assert (result.epsilon_lower_bound.epsilon, result.epsilon_lower_bound.delta) == (0, 1e-6)
    assert result.ceiling is not None
    assert result.spent is not None
    odds = 4 * math.exp(result.spent)
    assert result.ceiling == pytest.approx((odds + 1e-6) / (odds + 1))


def test_a_loss_without_a_delta_is_told_as_one() -> None:
    result = attacks.Hadamard().run(attacks.database(n=4, seed=8))
    assert (result.delta, result.to_dict()["delta"], result.to_dict()["epsilon_spent"]) == (Fraction(0), "0", "1")
    unasked = attacks.database(n=4, delta="1e-6", seed=8)
    assert unasked.spent() == Spent(Fraction(0))
    free = attacks.Hadamard().run(attacks.unledgered(n=4, seed=8)).to_dict()
    assert (free["delta"], free["epsilon_spent"]) == (None, None)
