"""The best probabilities of release: the theorem book's numbers, what makes them private and best, exact coins."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.errors import MechanismError
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys, compute_by_recursion
from jali.mechanisms.partition_selection.release_probabilities import ReleaseProbabilities, draw_by_kind

CASES = [
    (Fraction(1), Fraction(1, 10**5)),
    (Fraction(1, 10), Fraction(1, 10**6)),
    (Fraction(1, 50), Fraction(1, 10)),
    (Fraction(5), Fraction(1, 1000)),
    (Fraction(30), Fraction(1, 10**20)),
    (Fraction(1), Fraction(1, 2)),
    (Fraction(7, 3), Fraction(99, 100)),
]
cases = pytest.mark.parametrize(("epsilon", "delta"), CASES)


def recursion(epsilon: Fraction, delta: Fraction, people: int) -> list[mpmath.mpf]:
    """p(0), ..., p(people) by the recursion, at the working precision."""
    y = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    d = mpmath.mpf(delta.numerator) / delta.denominator
    found = [mpmath.mpf(0)]
    for _ in range(people):
        p = found[-1]
        found.append(min(y * p + d, 1 - (1 - p - d) / y, mpmath.mpf(1)))
    return found


def test_the_numbers_of_the_theorem_book() -> None:
    mechanism = OptimalKeys(epsilon=1, delta=1e-5, adjacency="add-remove")
    assert [f"{mechanism.chance(n):.6f}" for n in (10, 12, 22)] == ["0.128183", "0.760311", "0.999995"]
    assert (mechanism.chance(0), mechanism.chance(1), mechanism.chance(23)) == (0, 1e-5, 1)
    assert (mechanism.chances.turn, mechanism.chances.sure) == (11, 23)


@cases
def test_bounds_enclose_the_recursion_at_every_precision(epsilon: Fraction, delta: Fraction) -> None:
    chances = ReleaseProbabilities(epsilon, delta)
    with mpmath.workdps(150):
        for people, p in enumerate(recursion(epsilon, delta, chances.sure + 2)):
            for precision in (1, 8, 64, 200):
                low, high = chances.bounds(people, precision)
                # The recursion itself is exact to 1e-100 here.
                assert low <= p * 2**precision + mpmath.mpf("1e-30")
                assert p * 2**precision <= high + mpmath.mpf("1e-30")
                assert high - low <= 2


@cases
def test_the_closed_forms_of_the_theorem_book_agree_with_the_recursion(epsilon: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(60):
        e, d = (mpmath.mpf(x.numerator) / x.denominator for x in (epsilon, delta))
        y = mpmath.exp(e)
        first = 1 + int(mpmath.floor(mpmath.log((y + 2 * d - 1) / (d * (y + 1))) / e))
        start = d * (y**first - 1) / (y - 1)
        second = first + int(mpmath.floor(mpmath.log(1 + (y - 1) * (1 - start) / d) / e))
        chances = ReleaseProbabilities(epsilon, delta)
        assert chances.turn == first
        # At delta 1/2 the second person is sure in the closed form; bounds tell so for the third.
        assert chances.sure == second + 1 or (delta == Fraction(1, 2) and chances.sure - second <= 1)
        for people, p in enumerate(recursion(epsilon, delta, second + 1)):
            m = people - first
            closed = d * (y**people - 1) / (y - 1) if m <= 0 else (1 - y**-m) * (1 + d / (y - 1)) + y**-m * start
            assert mpmath.almosteq(p, closed if people <= second else 1, rel_eps=mpmath.mpf("1e-40"))
            assert chances.near(people) == pytest.approx(float(p), abs=1e-16)


@cases
def test_neighbouring_numbers_of_people_are_epsilon_delta_close_and_one_bound_is_met(
    epsilon: Fraction, delta: Fraction
) -> None:
    y, d, chances = math.exp(epsilon), float(delta), ReleaseProbabilities(epsilon, delta)
    for n in range(chances.sure):
        p, q = chances.near(n), chances.near(n + 1)
        slack = [y * p + d - q, y * (1 - q) + d - (1 - p), y * q + d - p, y * (1 - p) + d - (1 - q)]
        assert min(slack) >= -1e-13 * y
        assert q == 1 or min(slack[:2]) <= 1e-13 * y


def test_no_threshold_on_noise_releases_a_key_more_often() -> None:
    best = OptimalKeys(epsilon=1, delta=1e-5, adjacency="add-remove")
    noisy = LaplaceThreshold(epsilon=1, delta=1e-5, adjacency="add-remove")
    for people in range(1, 40):
        least = noisy.threshold - people
        released = math.fsum(math.exp(noisy.law.log_mass(x)) for x in range(least, 200))
        by_coin = float(noisy.coin) * math.exp(noisy.law.log_mass(least - 1))
        assert best.chance(people) >= released + by_coin - 1e-13
    assert best.error(0.9) < noisy.error(0.9)


def test_a_tiny_epsilon_is_no_trouble() -> None:
    chances = ReleaseProbabilities(Fraction(1, 10**9), Fraction(1, 10**9))
    assert chances.turn == 405465108
    low, high = chances.bounds(chances.turn, 64)
    assert high - low <= 2


def test_the_recursion_in_doubles_keeps_small_complements() -> None:
    with mpmath.workdps(60):
        exact = recursion(Fraction(1), Fraction(1, 10**5), 22)
        told, lost = compute_by_recursion(1.0, 1e-5, 22)
        assert told == pytest.approx(float(exact[22]), abs=1e-15)
        assert lost == pytest.approx(float(1 - exact[22]), rel=1e-10)


@pytest.mark.parametrize("keys", [1, 30])
@pytest.mark.parametrize("confidence", [1e-6, 0.5, 0.95, 0.999999])
def test_error_is_the_least_number_of_people_that_is_released_so_often(keys: int, confidence: float) -> None:
    mechanism = OptimalKeys(epsilon=1, delta=1e-5, max_keys=2, adjacency="replace-one")
    with mpmath.workdps(40):
        p = recursion(mechanism.chances.epsilon, mechanism.chances.delta, mechanism.chances.sure)
        wanted = next(n for n in range(len(p)) if p[n] ** keys >= confidence)
    assert mechanism.error(confidence, keys=keys) == wanted


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1/10", "1e-17"), ("1", "1e-20"), ("1/4", "1e-15"), ("3", "1e-25")]
)
@pytest.mark.parametrize(("confidence", "keys"), [(1 - 1e-12, 10**6), (1 - 1e-15, 1), (1 - 1e-10, 1000)])
def test_error_keeps_the_digits_of_losses_far_below_those_of_doubles(
    epsilon: str, delta: str, confidence: float, keys: int
) -> None:
    """1 - p(n) down to 1e-18, from the recursion in 80 digits."""
    mechanism = OptimalKeys(epsilon=epsilon, delta=delta, adjacency="add-remove")
    with mpmath.workdps(80):
        p = recursion(mechanism.epsilon, mechanism.delta, mechanism.chances.sure)
        wanted = next(n for n in range(len(p)) if keys * mpmath.log(p[n] or 1e-99) >= mpmath.log(confidence))
    assert mechanism.error(confidence, keys=keys) == wanted


@pytest.mark.parametrize("people", [1.5, -1, "3", None, True])
def test_a_number_of_people_that_is_none_is_refused(people: object) -> None:
    with pytest.raises(MechanismError, match="people"):
        OptimalKeys(epsilon=1, delta=1e-5, adjacency="add-remove").chance(people)  # type: ignore[arg-type]


def test_a_delta_beyond_reason_is_refused_and_a_tiny_one_is_no_trouble() -> None:
    with pytest.raises(MechanismError, match="delta must be at least"):
        OptimalKeys(epsilon=1, delta=Fraction(1, 10**3000), adjacency="add-remove")
    mechanism = OptimalKeys(epsilon=1, delta="1e-300", adjacency="add-remove")
    assert mechanism.release({"a": 10, "b": 2000}) == ("b",)


def test_each_key_spends_its_share() -> None:
    one = OptimalKeys(epsilon=3, delta="3/4", max_keys=2, adjacency="add-remove").chances
    assert one.epsilon == Fraction(3, 2)
    assert float(one.delta) == pytest.approx(0.5, abs=1e-15)
    assert OptimalKeys(epsilon=3, delta="3/4", max_keys=2, adjacency="replace-one").chances.epsilon == Fraction(
        3, 4
    )


@pytest.mark.parametrize("epsilon", ["1e-13", 1000])
def test_an_epsilon_beyond_reason_is_refused(epsilon: str | int) -> None:
    with pytest.raises(MechanismError, match="epsilon"):
        OptimalKeys(epsilon=epsilon, delta=1e-5, adjacency="add-remove")


CHANCES = ReleaseProbabilities(Fraction(1), Fraction(1, 20))


@thinned(4)
@pytest.mark.parametrize("people", range(1, 7))
@pytest.mark.parametrize("word_bits", [1, 2, 3])
def test_the_masses_of_all_bit_strings_enclose_the_chance(people: int, word_bits: int) -> None:
    def run(bits: ScriptedBits) -> bool:
        kinds = np.zeros(1, np.intp)
        return bool(draw_by_kind(kinds, lambda _, n: CHANCES.bounds(people, n), bits, word_bits=word_bits)[0])

    masses, undecided = enumerate_masses(run, 42)
    low, high = CHANCES.bounds(people, 200)
    assert undecided < Fraction(1, 10**11)
    assert masses.get(True, Fraction(0)) <= Fraction(high, 1 << 200)
    assert masses.get(True, Fraction(0)) + undecided >= Fraction(low, 1 << 200)


def test_coins_of_several_kinds_follow_their_own_chances() -> None:
    """Six standard deviations at most, for six kinds: a false alarm is less likely than 2e-8."""
    size = 60_000
    kinds = np.arange(size, dtype=np.intp) % 6
    coins = draw_by_kind(kinds, lambda kind, n: CHANCES.bounds(kind + 1, n), SeededBits(8))
    for kind in range(6):
        p, shown = CHANCES.near(kind + 1), coins[kinds == kind]
        assert abs(shown.mean() - p) <= 6 * (p * (1 - p) / len(shown)) ** 0.5 + 1e-12


def test_no_coins_are_no_trouble() -> None:
    assert draw_by_kind(np.zeros(0, np.intp), lambda _, n: CHANCES.bounds(1, n), SeededBits(0)).tolist() == []
