"""The formulas of the harness against brute force: sums over all outputs of small cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from random import Random

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.loss import laws
from tests.loss.chosen import Threshold, any_of, decimal, hockey_stick
from tests.loss.laws import Loss
from tests.loss.marks import Aim, MarkRanks
from tests.loss.together import delta_of_rho, delta_of_sum

from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile

REACH = 80


def renyi(p: np.ndarray, q: np.ndarray, order: float) -> float:
    return math.log(float(np.sum(p * np.exp((order - 1) * (np.log(p) - np.log(q)))))) / (order - 1)


def check_loss(p: np.ndarray, q: np.ndarray, loss: Loss, *, tight: float = 0.0) -> None:
    """Fail if two laws lose more than a loss says, or less than a part of it."""
    ratio = float(np.max(np.abs(np.log(p) - np.log(q))))
    assert tight * float(loss.epsilon) <= ratio <= float(loss.epsilon) * (1 + 1e-9)
    for order in (1.001, 1.5, 2, 5, 30):
        for one, other in ((p, q), (q, p)):
            assert renyi(one, other, order) <= order * float(loss.rho) + 1e-9


def shifted(mass: Callable[[np.ndarray], np.ndarray], by: int) -> tuple[np.ndarray, np.ndarray]:
    places = np.arange(-REACH, REACH + 1)
    p, q = mass(places), mass(places - by)
    return p / p.sum(), q / p.sum()


@pytest.mark.parametrize("move", [1, 3, -2])
def test_laplace_noise_loses_what_the_formula_says(move: int) -> None:
    p, q = shifted(lambda z: np.exp(-np.abs(z) / 2.5), move)
    check_loss(p, q, laws.laplace([move], Fraction(5, 2)), tight=1 - 1e-9)


def test_losses_of_coordinates_add() -> None:
    both = laws.laplace([1, -3], Fraction(5, 2))
    assert both == laws.laplace([1], Fraction(5, 2)) + laws.laplace([3], Fraction(5, 2))
    assert both.epsilon == Fraction(8, 5)


@pytest.mark.parametrize("move", [1, 3])
def test_gaussian_noise_is_as_concentrated_as_the_formula_says(move: int) -> None:
    p, q = shifted(lambda z: np.exp(-(z**2) / (2 * 6.0)), move)
    loss = laws.gaussian([move], Fraction(6))
    for order in (1.001, 2, 5):
        assert renyi(p, q, order) <= order * float(loss.rho) + 1e-9
    assert renyi(p, q, 2) == pytest.approx(2 * float(loss.rho), rel=1e-6)
    assert loss.epsilon == math.inf
    assert laws.gaussian([0, 0], Fraction(6)).epsilon == 0


def test_joint_noise_loses_what_the_formula_says() -> None:
    places = np.arange(-30, 31)
    one, other = np.meshgrid(places, places)

    def mass(a: int, b: int) -> np.ndarray:
        found = np.exp(-0.7 * np.maximum(np.abs(one - a), np.abs(other - b))).ravel()
        return np.asarray(found / np.exp(-0.7 * np.maximum(np.abs(one), np.abs(other))).sum())

    check_loss(mass(0, 0), mass(2, -1), laws.cube([(2, -1)], Fraction(7, 10)), tight=0.999)


def by_orders(exponents: Sequence[Fraction]) -> np.ndarray:
    """Permute-and-flip as it is told: in a random order, take the first candidate that is accepted."""
    p = [math.exp(-float(x - min(exponents))) for x in exponents]
    found = np.zeros(len(p))
    for order in permutations(range(len(p))):
        left = 1 / math.factorial(len(p))
        for place in order:
            found[place] += left * p[place]
            left *= 1 - p[place]
    return found


def exponents(chance: Random, size: int) -> list[Fraction]:
    return [Fraction(chance.randint(0, 12), 4) for _ in range(size)]


def test_permute_and_flip_has_the_law_of_its_orders_and_loses_what_the_formula_says() -> None:
    chance = Random(1)
    for _ in range(20):
        size = chance.randint(2, 6)
        one, other = exponents(chance, size), exponents(chance, size)
        assert np.exp(laws.flips_law(tuple(one))) == pytest.approx(by_orders(one), rel=1e-12)
        exact = laws.flips(one, other)
        check_loss(by_orders(one), by_orders(other), exact, tight=1 - 1e-9)
        moves = [b - a for a, b in zip(one, other, strict=True)]
        assert float(exact.epsilon) <= float(max(moves) - min(moves)) * (1 + 1e-12)


def test_the_exponential_mechanism_loses_what_the_formula_says() -> None:
    chance = Random(2)
    for _ in range(20):
        one, other = exponents(chance, 5), exponents(chance, 5)
        p, q = (np.exp(laws.exponential_law(x)) for x in (one, other))
        assert p.sum() == pytest.approx(1)
        check_loss(p, q, laws.picks("exponential", one, other, 1))


@pytest.mark.parametrize(("kind", "law"), [("flips", laws.flips_law), ("exponential", laws.exponential_law)])
def test_picks_lose_at_most_what_the_formula_says(
    kind: str, law: Callable[[tuple[Fraction, ...]], np.ndarray]
) -> None:
    chance = Random(3)
    for _ in range(10):
        sides = [exponents(chance, 4) for _ in range(2)]
        pairs = []
        for x in sides:
            first = np.exp(law(tuple(x)))
            rest = [np.exp(law(tuple(x[:i] + x[i + 1 :]))) for i in range(4)]
            pairs.append(np.concatenate([first[i] * rest[i] for i in range(4)]))
        check_loss(pairs[0], pairs[1], laws.picks(kind, sides[0], sides[1], 2))


def test_a_choice_of_groups_fails_as_often_as_all_sets_say() -> None:
    chance = Random(4)
    for _ in range(20):
        pairs = [(Decimal(chance.randint(1, 9)) / 10, Decimal(chance.randint(1, 9)) / 10) for _ in range(4)]
        pairs[1] = pairs[0]
        epsilon = chance.choice((0.0, 0.3, 1.0))
        found = [0.0, 0.0]
        for shown in product((True, False), repeat=4):
            p, q = (
                math.prod(float(c[i] if s else 1 - c[i]) for c, s in zip(pairs, shown, strict=True))
                for i in (0, 1)
            )
            found[0] += max(0.0, p - math.exp(epsilon) * q)
            found[1] += max(0.0, q - math.exp(epsilon) * p)
        assert float(hockey_stick(pairs, decimal(epsilon))) == pytest.approx(max(found), abs=1e-12)
    assert hockey_stick([(Decimal(0), Decimal(1))], Decimal(9)) == 1
    assert float(any_of([Decimal("0.5"), Decimal("0.5")])) == 0.75


@pytest.mark.parametrize(("kind", "width"), [("laplace", Fraction(3)), ("gaussian", Fraction(7))])
def test_a_noisy_count_passes_as_often_as_all_noises_say(kind: str, width: Fraction) -> None:
    z = np.arange(-400, 401)
    mass = np.exp(-np.abs(z) / 3.0) if kind == "laplace" else np.exp(-(z**2) / 14.0)
    mass /= mass.sum()
    rule = Threshold(kind, width, 9, Fraction(1, 4))
    for people in (1, 5, 8, 9, 20):
        told = float(mass[people + z >= 9].sum() + mass[people + z == 8].sum() / 4)
        assert float(rule.shown(people)) == pytest.approx(told, rel=1e-11)


def random_column(chance: Random, top: int, most: int) -> tuple[tuple[int, int], ...]:
    size = chance.choice((0, 1, 2, 5))
    return tuple(sorted((chance.randint(0, top), chance.randint(0, most)) for _ in range(size)))


def aims(chance: Random) -> tuple[Aim, WeightedQuantile]:
    at, offset = Fraction(chance.randint(0, 4), 4), Fraction(chance.randint(-20, 20), 3)
    window, top = chance.choice((1, 2, 7)), chance.choice((1, 4, 25))
    own = WeightedQuantile(at=at, low=0, high=top, step=1, sensitivity=3, epsilon=1, offset=offset, window=window)
    return Aim(at, offset, window, 0, top), own


def test_ranks_of_marks_are_those_of_the_sampler() -> None:
    chance = Random(5)
    for _ in range(150 * DEPTH):
        aim, quantile = aims(chance)
        column = random_column(chance, aim.last, 9)
        marks, weights = [mark for mark, _ in column], [weight for _, weight in column]
        ranks, own = quantile.ranks((marks, weights)), MarkRanks(column, aim)
        assert [own.distance(m) for m in range(aim.last + 1)] == [ranks.distance(m) for m in range(aim.last + 1)]


def test_differences_of_distances_are_largest_at_the_marks_that_are_looked_at() -> None:
    chance = Random(6)
    for _ in range(150 * DEPTH):
        aim, _ = aims(chance)
        one, other = (MarkRanks(random_column(chance, aim.last, 9), aim) for _ in range(2))
        every = [one.distance(mark) - other.distance(mark) for mark in range(aim.last + 1)]
        some = [one.distance(mark) - other.distance(mark) for mark in one.telling() | other.telling()]
        assert (max(some), min(some)) == (max(every), min(every))


def test_composed_losses_fail_about_as_often_as_all_noises_say_and_no_less() -> None:
    z = np.arange(-60, 61)
    pairs = []
    for move, scale in ((3, 2.0), (1, 4.0)):
        p, q = np.exp(-np.abs(z) / scale), np.exp(-np.abs(z - move) / scale)
        pairs.append((p / p.sum(), q / q.sum()))
    pairs.append((np.array([0.3, 0.7]), np.array([0.7, 0.3])))
    p, q = (np.einsum("i,j,k->ijk", *(pair[i] for pair in pairs)).ravel() for i in (0, 1))
    for epsilon in (0.5, 1.0, 2.0):
        true = float(np.maximum(0, p - math.exp(epsilon) * q).sum())
        found = delta_of_sum([(Fraction(3), Fraction(2)), (Fraction(1), Fraction(4))], [math.log(7 / 3)], epsilon)
        assert true * (1 - 1e-9) <= found <= true * (1 + 1e-5)


def test_concentrated_losses_fail_no_less_often_than_gaussian_noise() -> None:
    for rho, epsilon in ((0.1, 1.0), (0.5, 2.0), (0.01, 0.5)):
        mean, spread = rho, math.sqrt(2 * rho)
        x = np.linspace(epsilon, mean + 40 * spread, 200_001)
        density = np.exp(-((x - mean) ** 2) / (4 * rho)) / (spread * math.sqrt(2 * math.pi))
        true = float(np.sum(density * -np.expm1(epsilon - x)) * (x[1] - x[0]))
        assert true <= delta_of_rho(rho, epsilon) <= 10 * true
    assert delta_of_rho(0.0, 1.0) == 0
