"""The exponential adversary against a search through all candidates, and its theorem from both sides."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from scipy import stats
from tests.depth import DEPTH, thinned

from jali.errors import CatalogError
from jali.lab.attacks import Exponential, Facts, Noise, simulator
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.exponential_attack import decode_bits, find_survivors
from jali.lab.attacks.oracles.simulator import DecoySimulator, Simulator
from jali.lab.attacks.staging import attacks, stage
from jali.lab.attacks.subsets.subset_operators import AllSubsets


def candidates(people: int) -> Doubles:
    return np.array(list(itertools.product((0.0, 1.0), repeat=people)))[:, ::-1]


def searched(answers: Doubles, people: int, bound: float) -> Bits:
    """Try every candidate on every answer."""
    everything = candidates(people)
    errors = np.abs(everything @ everything[: len(answers)].T - answers)
    return np.asarray(everything[(errors <= bound + 1e-9).all(axis=1)], np.int8)


def errors_of(kind: str, bound: float, counts: Doubles, random: np.random.Generator) -> Doubles:
    match kind:
        case "uniform":
            return random.uniform(-bound, bound, len(counts))
        case "extreme":
            return random.choice([-bound, bound], len(counts))
        case "steered":  # towards another candidate
            people = int(math.log2(len(counts)))
            other = candidates(people) @ random.integers(0, 2, people)
            return np.asarray(np.clip(other - counts, -bound, bound))
        case _:  # as little as can be said
            return np.asarray(np.clip(counts.mean() - counts, -bound, bound))


@dataclass(frozen=True, eq=False)
class Told(Simulator):
    """Gives fixed answers, and stops after some of them."""

    answers: Doubles = field(default_factory=lambda: np.zeros(0))

    def ask(self, _: object) -> Doubles:
        return self.answers


def told(answers: Doubles, people: int, noise: str) -> Told:
    plain = simulator(n=people, noise=noise, seed=1)
    return Told(plain.secret, plain.noise, plain.random, answers)


@thinned(4)
@pytest.mark.parametrize("bound", [0, 0.3, 0.5, 1, 1.7, 2.5])
@pytest.mark.parametrize("kind", ["uniform", "extreme", "steered", "flat"])
def test_no_consistent_candidate_is_farther_than_4e_and_the_guess_is_one_of_them(kind: str, bound: float) -> None:
    random = np.random.default_rng([len(kind), int(10 * bound)])
    for people in [*range(1, 10), *[7] * 5 * DEPTH]:
        secret = random.integers(0, 2, people)
        counts = candidates(people) @ secret
        answers = counts + errors_of(kind, bound, counts, random)
        found = searched(answers, people, bound)
        assert np.abs(found - secret).sum(axis=1).max() <= min(4 * bound, 2 * math.floor(2 * bound))
        assert decode_bits(find_survivors(answers, bound), people).tolist() == found.tolist()
        guess = Exponential(bound).guess(told(answers, people, "none"))
        assert guess.bits.tolist() in found.tolist()
        assert guess.figures["survivors"] == len(found)
        assert guess.figures["consistent"] == 1
        assert guess.figures["wrong at most"] == np.abs(found - guess.bits).sum(axis=1).max()


def test_the_theorem_holds_for_twelve_people_too() -> None:
    random = np.random.default_rng(12)
    secret = random.integers(0, 2, 12)
    counts = candidates(12) @ secret
    answers = counts + errors_of("steered", 1.5, counts, random)
    found = searched(answers, 12, 1.5)
    assert len(found) > 1
    assert np.abs(found - secret).sum(axis=1).max() <= 6
    assert decode_bits(find_survivors(answers, 1.5), 12).tolist() == found.tolist()


def test_the_sieve_finds_the_same_one_branch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = candidates(8) @ np.array([1, 0, 1, 1, 0, 0, 1, 0]) + np.random.default_rng(3).uniform(-2, 2, 256)
    at_once = find_survivors(answers, 3.0)
    for size in (0, 4):
        monkeypatch.setattr("jali.lab.attacks.exponential_attack._SIEVED_AT_ONCE", size)
        assert find_survivors(answers, 3.0).tolist() == at_once.tolist()
    assert decode_bits(at_once, 8).tolist() == sorted(
        searched(answers, 8, 3.0).tolist(), key=lambda row: row[::-1]
    )


def test_random_errors_leave_about_as_many_steps_as_there_are_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first person two halves of the answers are looked at, then two quarters: 2^(n+1) numbers in all."""
    looked: list[int] = []

    def largest(values: Doubles) -> Doubles:
        looked.append(values.size)
        return np.asarray(values.max(axis=0))

    monkeypatch.setattr("jali.lab.attacks.exponential_attack._largest", largest)
    for seed in range(3):
        looked.clear()
        found = find_survivors(simulator(n=17, noise="uniform:2", seed=seed).ask(AllSubsets(17)), 2)
        assert len(found) == 1
        assert sum(looked) < 1.02 * 2**18
        looked.clear()
        assert len(find_survivors(np.full(2**10, 5.0), 5)) == 2**10
        assert sum(looked) == 10 * 2**10


@pytest.mark.parametrize("bound", [0.5, 1, 2, 3])
def test_decoys_leave_all_their_halves_and_the_farthest_is_at_exactly_4e(bound: float) -> None:
    place = DecoySimulator.of(n=16, noise=Noise("worst", bound), seed=5)
    answers = place.ask(AllSubsets(16))
    counts = AllSubsets(16).matvec(place.secret.bits.astype(float))
    assert np.abs(answers - counts).max() == bound
    found = decode_bits(find_survivors(answers, bound), 16)
    differs = np.abs(found - place.secret.bits)
    four = int(4 * bound)
    assert len(found) == math.comb(four, four // 2)
    assert differs.sum(axis=1).max() == four
    assert differs[:, ~place.decoys].sum() == 0
    assert (differs.sum(axis=1) == four).sum() == 1


@pytest.mark.parametrize("bound", [0.2, 0.75, 1, 1.99, 2])
def test_decoys_are_what_a_search_finds_for_any_bound(bound: float) -> None:
    place = DecoySimulator.of(n=9, noise=Noise("worst", bound), seed=2)
    decoys = 2 * math.floor(2 * bound)
    found = searched(place.ask(AllSubsets(9)), 9, bound)
    assert place.decoys.sum() == decoys
    assert len(found) == math.comb(decoys, decoys // 2)
    assert place.secret.bits.tolist() in found.tolist()


def test_decoys_are_an_even_number_of_people_however_large_the_errors_may_be() -> None:
    place = DecoySimulator.of(n=9, noise=Noise("worst", 50), seed=2)
    assert place.decoys.sum() == 8
    assert place.secret.bits[place.decoys].tolist() == [0] * 4 + [1] * 4


@pytest.mark.parametrize(("size", "right"), [(1, 10), (2, 6), (3.5, 0), (50, 0)])
def test_in_the_lab_the_decoys_mislead_the_attack_as_far_as_the_law_allows(size: float, right: int) -> None:
    result = stage("exponential", n=14, noise=f"worst:{size}", seed=3).run()
    assert result.right == right
    assert result.predicted == pytest.approx(right / 14)
    assert not result.law_is_exact
    assert result.figures["wrong at most"] == 14 - right
    assert np.count_nonzero(result.confidence < 1e-9) >= 14 - right


def test_twenty_people_are_reconstructed_from_a_million_answers() -> None:
    result = stage("exponential", n=20, noise="uniform:2", seed=20).run()
    assert result.right == 20
    assert result.questions == 2**20
    assert result.predicted == pytest.approx(1 - 4 * 2 / 20)
    assert result.figures["survivors"] == 1
    assert result.confidence.tolist() == [1.0] * 20


@pytest.mark.parametrize(
    "noise", ["none", "uniform:1", "rounding:2", "gaussian:0.3", "laplace:0.2", "geometric:0.2"]
)
def test_every_kind_of_noise_is_met_with_a_bound_and_the_certificate_is_true(noise: str) -> None:
    result = stage("exponential", n=10, noise=noise, trials=5, seed=4).run()
    assert result.figures["consistent"] == 1
    assert result.fraction >= 0.9
    for seed in range(5):
        place = simulator(n=10, noise=noise, seed=seed)
        guess = Exponential().guess(place)
        assert 10 - place.mark(guess.bits) <= guess.figures["wrong at most"]


def test_the_exhibit_runs_and_is_registered() -> None:
    assert attacks()["exponential"] is Exponential
    result = stage("exponential", seed=1).run()
    assert result.fraction == 1.0
    assert "4E" in result.law


@pytest.mark.parametrize("answered", range(0, 65, 3))
def test_after_a_refusal_it_goes_on_with_the_answers_it_has(answered: int) -> None:
    random = np.random.default_rng(answered)
    answers = (candidates(6) @ random.integers(0, 2, 6) + random.uniform(-0.8, 0.8, 64))[:answered]
    place = told(answers, 6, "uniform:0.8")
    guess = Exponential().guess(place)
    found = searched(answers, 6, 0.8)
    asked = candidates(6)[:answered].any(axis=0)
    assert guess.questions == answered
    assert guess.figures["survivors"] == len(found)
    assert guess.figures["wrong at most"] == np.abs(found - guess.bits).sum(axis=1).max()
    assert guess.bits.tolist() in found.tolist()
    assert not guess.confidence[~asked].any()
    assert guess.confidence == pytest.approx(np.abs(2 * found.mean(axis=0) - 1))
    assert Exponential().run(place).questions == answered


@pytest.mark.parametrize("answered", [0, 1, 2, 5, 31, 32, 33, 63, 64])
def test_the_law_leaves_out_people_whose_subsets_were_not_all_answered(answered: int) -> None:
    prediction = Exponential().predict(Facts(6, Noise("uniform", 0.5), answered))
    whole = max((k for k in range(7) if 2**k <= answered), default=0)
    assert prediction is not None
    assert prediction.fraction == pytest.approx(max(0, whole - 2) / 6)


def test_a_likely_trait_is_guessed_where_nothing_was_answered() -> None:
    place = told(np.zeros(0), 4, "none")
    likely = replace(place, secret=replace(place.secret, prior=0.9))
    assert Exponential().guess(likely).bits.tolist() == [1, 1, 1, 1]
    assert Exponential().guess(place).bits.tolist() == [0, 0, 0, 0]


def test_a_bound_that_is_too_small_is_doubled_and_that_is_said() -> None:
    place = simulator(n=9, noise="uniform:3", seed=6)
    guess = Exponential(0.25).guess(place)
    assert guess.figures["consistent"] == 0
    assert guess.figures["bound"] in {0.5, 1, 2, 4}
    again = simulator(n=9, noise="uniform:3", seed=6).ask(AllSubsets(9))
    assert len(searched(again, 9, guess.figures["bound"])) == guess.figures["survivors"]
    assert len(searched(again, 9, guess.figures["bound"] / 2)) == 0


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "geometric"])
def test_without_a_bound_the_largest_error_exceeds_the_assumed_one_with_probability_one_percent(kind: str) -> None:
    bound = Exponential().assumed(Facts(10, Noise(kind, 3.0), 1024))
    laws = {"gaussian": stats.norm(scale=3), "laplace": stats.laplace(scale=3), "geometric": stats.dlaplace(1 / 3)}
    exceeded = 1 - (1 - 2 * laws[kind].sf(bound)) ** 1024
    assert 0.004 <= exceeded <= 0.01


def test_of_several_candidates_the_one_with_the_least_squares_is_taken() -> None:
    random = np.random.default_rng(8)
    everything = candidates(7)
    answers = everything @ random.integers(0, 2, 7) + random.normal(0, 5, 128)
    squares = ((everything @ everything.T - answers) ** 2).sum(axis=1)
    guess = Exponential(100).guess(told(answers, 7, "gaussian:5"))
    assert guess.figures["survivors"] == 128
    assert guess.bits.tolist() == everything[squares.argmin()].tolist()
    likelihood = np.exp((squares.min() - squares) / 50)
    posterior = likelihood @ everything / likelihood.sum()
    assert guess.confidence == pytest.approx(np.abs(2 * posterior - 1))
    assert 0 < guess.confidence.min() < guess.confidence.max() < 1


@pytest.mark.parametrize("bound", [-1.0, math.nan, math.inf])
def test_a_bound_that_is_none_is_refused(bound: float) -> None:
    with pytest.raises(CatalogError, match="bound must be 0 or more"):
        Exponential(bound)


def test_too_many_people_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(CatalogError, match="n must be at most 25") as error:
        Exponential().run(told(np.zeros(0), 26, "none"))
    assert "smaller n" in str(error.value)


def test_a_database_is_asked_about_few_people() -> None:
    assert stage("exponential", against="unledgered").setting.n == 8
    with pytest.raises(CatalogError, match="n must be at most 12"):
        stage("exponential", against="jali", n=13).run()


def test_a_bound_that_errors_exceed_promises_nothing() -> None:
    facts = Facts(10, Noise("uniform", 2.0), 1 << 10)
    assert Exponential(bound=1.9).predict(facts) is None
    assert Exponential(bound=2.0).predict(facts) == Exponential().predict(facts)
    wide = Exponential(bound=2.5).predict(facts)
    assert wide is not None
    assert wide.fraction == 0
    assert Exponential(bound=1.0).predict(Facts(10, Noise("gaussian", 2.0), 1 << 10)) is None


def test_candidates_are_told_in_words() -> None:
    decoys = stage("exponential", n=12, noise="worst:1", seed=1).run()
    assert decoys.notes["candidates"] == (
        "6 agree with all answers within 1, and differ from the guess in up to 4 bits"
    )
    widened = stage("exponential", n=8, noise="worst:1", parameters={"bound": 0.5}, seed=1).run()
    assert widened.notes["candidates"].startswith("none agrees with all answers within 0.5; ")
    assert widened.predicted is None
