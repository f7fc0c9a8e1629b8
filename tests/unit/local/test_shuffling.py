"""Shuffling against exact rationals: all answers of the others, all histograms, both directions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import DEPTH, deep, thinned

from jali.errors import JaliError
from jali.local import (
    AlmostRandom,
    HadamardResponse,
    KaryResponse,
    ShuffledLoss,
    UnaryEncoding,
    Warner,
    shuffled,
    shuffled_bound,
)
from jali.local.shuffle_bounds import Clones, HypothesisWeights, ShuffledCount, count_clones, delta_of_clones
from jali.privacy import Adjacency

Histogram = tuple[int, ...]


def sum_of(laws: Sequence[dict[Histogram, Fraction]]) -> dict[Histogram, Fraction]:
    def add(one: dict[Histogram, Fraction], other: dict[Histogram, Fraction]) -> dict[Histogram, Fraction]:
        found: dict[Histogram, Fraction] = {}
        for a, p in one.items():
            for b, q in other.items():
                key = tuple(x + y for x, y in zip(a, b, strict=True))
                found[key] = found.get(key, Fraction(0)) + p * q
        return found

    return reduce(add, laws)


def report_law(value: int, categories: int, truth: Fraction) -> dict[Histogram, Fraction]:
    lie = (1 - truth) / (categories - 1)
    return {
        tuple(int(i == report) for i in range(categories)): truth if report == value else lie
        for report in range(categories)
    }


def crowds(people: int, categories: int) -> Iterator[list[int]]:
    """Yield every multiset of answers of so many people."""
    if categories == 1:
        yield [0] * people
        return
    for last in range(people + 1):
        for rest in crowds(people - last, categories - 1):
            yield rest + [categories - 1] * last


def exact_delta(others: Sequence[int], categories: int, truth: Fraction, power: Fraction) -> Fraction:
    """The hockey-stick between a person who answers 0 and one who answers 1, by full enumeration."""
    laws = [report_law(value, categories, truth) for value in others]
    p, q = (sum_of([*laws, report_law(value, categories, truth)]) for value in (0, 1))
    one = sum((max(Fraction(0), p[h] - power * q.get(h, 0)) for h in p), Fraction(0))
    two = sum((max(Fraction(0), q[h] - power * p.get(h, 0)) for h in q), Fraction(0))
    return max(one, two)


def test_the_number_of_the_theory() -> None:
    """THEORY section 3: 1,000 people, epsilon 1, delta 1e-6: 0.1266145, and 0.5662 by the closed form."""
    loss = shuffled(Warner(epsilon=1), people=1000, delta="1e-6")
    assert round(float(loss.bound), 7) == 0.1266145
    assert (loss.method, loss.adjacency, loss.failure) == ("count", Adjacency.REPLACE_ONE, Fraction(1, 10**6))
    closed = shuffled_bound(epsilon=1, people=1000, delta=1e-6)
    assert round(float(closed.bound), 4) == 0.5662
    assert closed.bound > loss.bound


@pytest.mark.parametrize("people", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("power", ["21/20", "3/2", "5/2"])
def test_the_count_is_exact_for_every_answer_of_the_others(people: int, power: str) -> None:
    """Truth 3/4, e^epsilon rational: full enumeration in rationals."""
    counted = ShuffledCount(math.log(3), people - 1, 1e-9)
    epsilon = math.log(Fraction(power))
    for yes in range(people):
        others = [0] * (people - 1 - yes) + [1] * yes
        exact = float(exact_delta(others, 2, Fraction(3, 4), Fraction(power)))
        found = max(counted.delta(epsilon, yes), counted.delta(epsilon, people - 1 - yes))
        assert found == pytest.approx(exact, rel=1e-8, abs=1e-15)


def test_others_who_all_answer_alike_are_not_always_the_worst() -> None:
    """Three people, truth 3/4, e^epsilon 1.1: a yes and a no hide a person less than two of a kind."""
    found = {crowd: exact_delta(crowd, 2, Fraction(3, 4), Fraction(11, 10)) for crowd in ((0, 0), (0, 1), (1, 1))}
    assert found[0, 1] == Fraction(89, 320)
    assert found[0, 0] == found[1, 1] == Fraction(171, 640)
    loss = shuffled(AlmostRandom(), people=3, delta=Fraction(89, 320))
    assert float(loss.bound) == pytest.approx(math.log(1.1), rel=1e-6)


@pytest.mark.parametrize("people", [2, 3, 4, 7])
@pytest.mark.parametrize("power", ["21/20", "3/2", "2"])
def test_the_epsilon_found_is_the_worst_over_all_crowds(people: int, power: str) -> None:
    exact = max(exact_delta(crowd, 2, Fraction(3, 4), Fraction(power)) for crowd in crowds(people - 1, 2))
    loss = shuffled(AlmostRandom(), people=people, delta=exact)
    assert float(loss.bound) == pytest.approx(math.log(Fraction(power)), rel=1e-6)


@pytest.mark.parametrize("people", [30, 200])
def test_halving_finds_the_same_maximum_as_trying_every_number_of_yes(people: int) -> None:
    counted = ShuffledCount(1.0, people - 1, 1e-4)
    epsilon, exact = counted.epsilon()
    assert exact
    assert max(counted.delta(epsilon, yes) for yes in range(people)) <= 1e-4
    assert max(counted.delta(epsilon * (1 - 1e-7), yes) for yes in range(people)) > 1e-4


@pytest.mark.parametrize(("categories", "people"), [(2, 6), (3, 4), (3, 6), (4, 4)])
@pytest.mark.parametrize("power", ["6/5", "2"])
def test_clones_bound_the_exact_loss_of_every_crowd(categories: int, people: int, power: str) -> None:
    """Odds 3 against each other category; all multisets of the others' answers, exactly."""
    truth = Fraction(3, 3 + categories - 1)
    worst = max(exact_delta(crowd, categories, truth, Fraction(power)) for crowd in crowds(people - 1, categories))
    first, epsilon = math.log(3), math.log(Fraction(power))
    lie = float((1 - truth) / (categories - 1))
    own = Clones(first, people - 1, 2 * lie, float(truth) + lie).delta(epsilon, 1e-9)
    any_ = Clones(first, people - 1, 1 / 3).delta(epsilon, 1e-9)
    assert min(own, any_) >= float(worst)


def pair_delta(loss: int, categories: int, epsilon: Fraction) -> mpmath.mpf:
    """The hockey-stick of two people, the other in a third category, at a loss whose power is no double."""
    power = mpmath.exp(loss)
    law = [[power if i == v else 1 for i in range(categories)] for v in range(3)]
    total = (power + categories - 1) ** 2

    def histograms(value: int) -> dict[tuple[int, ...], mpmath.mpf]:
        found: dict[tuple[int, ...], mpmath.mpf] = {}
        for i, one in enumerate(law[value]):
            for j, other in enumerate(law[2]):
                key = tuple(sorted((i, j)))
                found[key] = found.get(key, 0) + one * other / total
        return found

    p, q = histograms(0), histograms(1)
    factor = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    return sum(max(mpmath.mpf(0), p[h] - factor * q[h]) for h in p)


@thinned(4)
@pytest.mark.parametrize("loss", [5, 20, 30, 36, 37, 38, 40])
@pytest.mark.parametrize("delta", ["1/10", "1e-6", "1e-9", "1e-12"])
def test_at_a_large_loss_two_people_are_not_claimed_to_hide_one_another(loss: int, delta: str) -> None:
    """From a loss of 36.7 on, cost/(gain+cost) is 1 in doubles; the one term that is left must stay."""
    found = shuffled(KaryResponse(categories=3, epsilon=loss), people=2, delta=delta)
    with mpmath.workdps(60):
        assert pair_delta(loss, 3, found.bound) <= mpmath.mpf(float(Fraction(delta)))


@thinned(4)
@pytest.mark.parametrize("loss", [1.0, 10.0, 30.0, 40.0, 300.0])
def test_what_clones_leave_to_tell_apart_is_summed_exactly(loss: float) -> None:
    """All terms of the definition in 400 digits, for up to 40 clones and epsilons from 0 to nearly the loss."""
    for share in (0.0, 1e-9, 0.3, 0.9, 1 - 1e-6, 1 - 1e-12):
        epsilon = loss * share
        found = delta_of_clones(HypothesisWeights.at(loss, epsilon), np.arange(41.0))
        with mpmath.workdps(400):
            first, power = mpmath.exp(mpmath.mpf(loss)), mpmath.exp(mpmath.mpf(epsilon))
            gain, cost = (first - power) / (1 + first), (power * first - 1) / (1 + first)
            for m, value in enumerate(found.tolist()):
                law = [mpmath.mpf(math.comb(m, c)) / 2**m for c in range(m + 1)]
                terms = [gain * b - cost * a for b, a in zip([0, *law], [*law, 0], strict=True)]
                exact = sum(max(mpmath.mpf(0), term) for term in terms)
                # Near the loss, epsilon - loss itself is known to a unit of the last place only.
                slack = 1e-12 if share < 0.95 else 4e-16 * loss / (loss - epsilon)
                assert value == pytest.approx(float(exact), rel=slack + 1e-12)


@pytest.mark.parametrize("others", [5, 3000, 10**6])
def test_clones_in_blocks_lose_no_mass_and_count_at_their_least_number(others: int) -> None:
    clones, masses = count_clones(others, 0.3, 1e-14)
    assert len(clones) <= 2048
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    mean, width = float(masses @ clones), float(np.diff(clones, append=clones[-1] + 1).max())
    assert 0.3 * others - width <= mean <= 0.3 * others + 1e-6


def test_clones_of_a_few_people_are_summed_exactly() -> None:
    """Chance 1/3, four others, in rationals: a mixture over the number of clones."""
    power, first = Fraction(3, 2), Fraction(3)
    gain, cost = (first - power) / (1 + first), (power * first - 1) / (1 + first)
    total = Fraction(0)
    for m in range(5):
        mass = math.comb(4, m) * Fraction(1, 3) ** m * Fraction(2, 3) ** (4 - m)
        law = [Fraction(math.comb(m, c), 2**m) for c in range(m + 1)]
        terms = [gain * b - cost * a for b, a in zip([Fraction(0), *law], [*law, Fraction(0)], strict=True)]
        total += mass * sum((max(Fraction(0), term) for term in terms), Fraction(0))
    found = Clones(math.log(3), 4, 1 / 3).delta(math.log(1.5), 1e-9)
    assert found == pytest.approx(float(total), rel=1e-7)


@thinned(4)
@pytest.mark.parametrize("epsilon", ["1/2", "1", "2"])
@pytest.mark.parametrize("people", [10_000, 100_000])
def test_the_closed_form_is_never_below_the_clones_it_simplifies(epsilon: str, people: int) -> None:
    closed = shuffled_bound(epsilon=epsilon, people=people, delta=1e-8)
    clones = shuffled(UnaryEncoding(categories=4, epsilon=epsilon), people=people, delta=1e-8)
    assert clones.method == "clones"
    assert clones.bound < closed.bound


def test_more_people_hide_better_and_never_less_than_alone() -> None:
    losses = [shuffled(Warner(epsilon=2), people=n, delta=1e-6).bound for n in (1, 2, 30, 300, 3000)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == 2
    assert shuffled(Warner(epsilon=2), people=1, delta=1e-6).method == "alone"
    assert shuffled(Warner(epsilon=60), people=100, delta=1e-6).method == "alone"


@pytest.mark.parametrize(("loss", "people"), [(37, 100), (40, 100), (40, 2), (38, 5000)])
def test_the_count_is_found_where_the_truth_is_one_in_doubles(loss: int, people: int) -> None:
    """If all others say no, the count is 0 or 1 but for e^-loss: delta is (E - e^epsilon)/(1 + E), nearly."""
    found = shuffled(Warner(epsilon=loss), people=people, delta="1e-6")
    assert found.method == "count"
    assert float(loss - found.bound) == pytest.approx(1e-6, rel=0.1)


@deep
def test_millions_of_people_and_tiny_deltas_take_no_time_and_hide_at_least_as_well() -> None:
    kary = KaryResponse(categories=5, epsilon=1)
    # At ten millions it takes a second or two.
    most = 10**6 if DEPTH == 1 else 10**7
    losses = [shuffled(kary, people=n, delta="1e-6") for n in (10**5, most, 10**9, 10**12)]
    assert [loss.method for loss in losses] == ["clones", "clones", "closed form", "closed form"]
    assert [loss.bound for loss in losses] == sorted((loss.bound for loss in losses), reverse=True)
    assert losses[2].bound == shuffled_bound(epsilon=1, people=10**9, delta="1e-6").bound
    for mechanism in (kary, Warner(epsilon=1)):
        assert shuffled(mechanism, people=100, delta="1e-300").method == "alone"
        assert shuffled(mechanism, people=20_000, delta="1e-300").bound < Fraction(1, 2)


def test_blocks_of_clones_change_the_bound_by_next_to_nothing() -> None:
    """100,000 people: 0.0152820624 when every number of clones is taken by itself."""
    found = float(shuffled(KaryResponse(categories=5, epsilon=1), people=100_000, delta="1e-6").bound)
    assert 0.0152820624 <= found <= 0.0152820624 * (1 + 2e-5)


@deep
def test_a_small_loss_of_many_people_is_rounded_up_a_little() -> None:
    """10,000 people at 1/100: 0.000193853559 by trying all numbers of yes."""
    loss = shuffled(Warner(epsilon="1/100"), people=10_000, delta="1e-6")
    assert loss.method == "count, rounded up"
    assert 0.000193853559 <= float(loss.bound) <= 0.000193853560 * 1.001


def test_a_loss_next_to_nothing_is_no_trouble() -> None:
    for mechanism in (KaryResponse(categories=3, epsilon="1e-17"), Warner(epsilon="1e-17")):
        assert shuffled(mechanism, people=100, delta="1e-6").bound <= Fraction(1, 10**12)


@pytest.mark.parametrize("kind", [KaryResponse, UnaryEncoding, HadamardResponse])
def test_every_randomizer_can_be_shuffled(kind: Any) -> None:
    loss = shuffled(kind(categories=5, epsilon=1), people=2000, delta=1e-6)
    assert isinstance(loss, ShuffledLoss)
    assert 0.05 < loss.bound < 0.2
    assert loss.epsilon("1e-6") == pytest.approx(float(loss.bound))


def test_two_categories_are_yes_and_no() -> None:
    two = shuffled(KaryResponse(categories=2, epsilon=1), people=500, delta=1e-6)
    assert two == shuffled(Warner(epsilon=1), people=500, delta=1e-6)
    assert two.method == "count"


def test_the_closed_form_is_refused_outside_of_its_range_by_name() -> None:
    with pytest.raises(JaliError, match=r"epsilon must be at most .* for this bound"):
        shuffled_bound(epsilon=3, people=1000, delta=1e-6)
    with pytest.raises(JaliError, match="epsilon"):
        shuffled_bound(epsilon="1/10", people=10, delta=1e-6)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("people", {"people": 0}),
        ("people", {"people": 1.5}),
        ("delta", {"delta": 0}),
        ("delta", {"delta": 1}),
        ("delta", {"delta": "x"}),
        ("delta", {"delta": Fraction(1, 10**301)}),
        ("people", {"people": 10**16}),
        ("mechanism", {"mechanism": "Warner"}),
    ],
)
def test_bad_arguments_are_refused_by_name(name: str, given: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"mechanism": Warner(epsilon=1), "people": 10, "delta": 1e-6} | given
    with pytest.raises(JaliError, match=name):
        shuffled(**arguments)
