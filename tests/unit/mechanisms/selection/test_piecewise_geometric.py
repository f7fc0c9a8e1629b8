"""The sampler of piecewise geometric laws: every bit string, every weight, and laws that no list could hold."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy.stats import chi2
from tests.depth import DEPTH, deep
from tests.seeded import ScriptedBits, SeededBits, enumerate_masses

from jali.mechanisms.selection.piecewise_geometric import PiecewiseGeometric, RandomDigits

DRAWS = 20_000 * DEPTH


def whole(*values: int) -> Any:
    return np.array(values, np.int64 if max(values) < 2**62 else object)


def law(unit: Fraction, pieces: list[tuple[int, int, int]], **more: Any) -> PiecewiseGeometric:
    tops, slopes, lengths = zip(*pieces, strict=True)
    return PiecewiseGeometric(unit, whole(*tops), whole(*slopes), whole(*lengths), **more)


def test_a_uniform_integer_has_exactly_equal_chances_for_every_bit_string() -> None:
    masses, left = enumerate_masses(lambda bits: RandomDigits(bits).below(5), 18)
    assert set(masses) == set(range(5))
    assert len(set(masses.values())) == 1
    assert left < Fraction(1, 100)


def test_heads_halve() -> None:
    masses, _ = enumerate_masses(lambda bits: RandomDigits(bits).draw_geometric(), 8)
    assert masses == {j: Fraction(1, 2 ** (j + 1)) for j in range(8)}


@pytest.mark.parametrize(
    ("factor", "exponent"),
    [("1/3", 0), (1, "3/7"), (5, 2), ("2/9", "1/100"), (1000, "27/3"), (2**40, 29)],
)
def test_a_coin_has_exactly_its_chance(factor: Any, exponent: Any) -> None:
    a, x = Fraction(factor), Fraction(exponent)
    masses, left = enumerate_masses(lambda bits: RandomDigits(bits).draw_bernoulli(a, x, word=2), 30)
    with mpmath.workdps(40):
        chance = mpmath.mpf(a.numerator) / a.denominator * mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
        heads = masses.get(True, Fraction(0))
        assert mpmath.mpf(heads.numerator) / heads.denominator <= chance
        assert chance <= mpmath.mpf((heads + left).numerator) / (heads + left).denominator
    assert left < Fraction(1, 2**25)


ONE_ROUND = [
    (Fraction(1, 3), [(0, 0, 3), (2, 0, 2)]),
    (Fraction(1, 2), [(0, 1, 3), (1, 3, 5), (0, 0, 1)]),
    (Fraction(2), [(0, 1, 4), (1, 0, 5)]),
]


@pytest.mark.parametrize(("unit", "pieces"), ONE_ROUND)
def test_an_attempt_accepts_every_point_in_proportion_to_its_mass(
    unit: Fraction, pieces: list[tuple[int, int, int]]
) -> None:
    """Every string of bits is fed; whatever is undecided is counted against the claim."""
    stairs = law(unit, pieces, grain=2)

    def attempt(bits: ScriptedBits) -> Any:
        return stairs.attempt(RandomDigits(bits), word=1)

    masses, left = enumerate_masses(attempt, 17)
    masses.pop(None, None)
    points = {(p, o): float(unit) * (t + s * o) for p, (t, s, n) in enumerate(pieces) for o in range(n)}
    assert set(masses) == set(points)
    constants = [float(mass) * math.exp(points[point]) for point, mass in masses.items()]
    slack = max(math.exp(x) for x in points.values()) * float(left)
    assert max(constants) - min(constants) <= slack
    assert left < Fraction(1, 50)


def test_integer_weights_are_never_below_the_true_ones() -> None:
    """Against 60 digits: pieces of all sizes and depths, machine integers and large ones."""
    generator = np.random.default_rng(5)
    for unit in (Fraction(1, 7), Fraction(10**9, 3), Fraction(1, 10**12), Fraction(1, 10**330)):
        for scale in (10, 10**6, 10**17, 10**40, 10**335):
            tops = [0, *(int(generator.integers(0, 10**9)) * scale // 10**9 for _ in range(20))]
            slopes = [int(generator.integers(0, 3)) * (1 + scale // 1000) for _ in tops]
            lengths = [int(generator.integers(1, 2**60)) if generator.random() < 0.5 else 1 for _ in tops]
            stairs = law(unit, list(zip(tops, slopes, lengths, strict=True)))
            _weights_cover(stairs, unit, tops, slopes, lengths)


def _weights_cover(
    stairs: PiecewiseGeometric, unit: Fraction, tops: list[int], slopes: list[int], lengths: list[int]
) -> None:
    weights, shift = stairs._weights
    with mpmath.workdps(60):
        for weight, top, slope, length in zip(weights, tops, slopes, lengths, strict=True):
            block = length if slope == 0 else math.ceil(1 / (unit * slope))
            count = min(length, 2 * block)
            exponent = unit * top
            true = count * mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
            assert weight >= true * mpmath.mpf(2) ** shift
            # Not much above either, or time is lost: half a unit in 2**40 of the heaviest, or a millionth.
            assert weight <= true * mpmath.mpf(2) ** shift * (1 + mpmath.mpf(10) ** -3) + 1.5


def test_draws_follow_a_law_with_level_sloped_and_endless_pieces() -> None:
    """Chi-square at a false-alarm rate of 1e-8."""
    unit, pieces = Fraction(1, 4), [(3, 0, 6), (0, 1, 9), (2, 2, 0), (1, 7, 3)]
    stairs = law(unit, pieces)
    digits = RandomDigits(SeededBits(11), ahead=64)
    seen = Counter(stairs.draw(digits) for _ in range(DRAWS))
    weights = {
        (p, o): math.exp(-float(unit) * (t + s * o)) for p, (t, s, n) in enumerate(pieces) for o in range(n or 300)
    }
    assert _p_value(seen, weights) > 1e-8


@deep
def test_multiplicities_below_the_cap_are_respected() -> None:
    caps = (np.array([0.75]), np.array([3]))  # 6, against multiplicities of 1 to 6
    stairs = law(Fraction(1, 2), [(0, 1, 6)], caps=caps, multiplicity=lambda piece, offset: offset + 1)
    digits = RandomDigits(SeededBits(12), ahead=64)
    seen = Counter(stairs.draw(digits) for _ in range(DRAWS))
    assert _p_value(seen, {(0, o): (o + 1) * math.exp(-o / 2) for o in range(6)}) > 1e-8


def test_a_heavy_piece_far_below_the_best_point_is_found() -> None:
    """One point at exponent 0 against 2**60 points at exponent 30: 91 in 100 of the mass is far below the best."""
    stairs = law(Fraction(1), [(0, 0, 1), (39, 0, 2**60)])
    digits = RandomDigits(SeededBits(13), ahead=64)
    lower = sum(stairs.draw(digits)[0] for _ in range(2000)) / 2000
    share = 2**60 * math.exp(-39)
    assert lower == pytest.approx(share / (1 + share), abs=0.07)


def _p_value(seen: Counter[Any], weights: dict[Any, float]) -> float:
    total, draws = math.fsum(weights.values()), seen.total()
    expected = {point: draws * weight / total for point, weight in weights.items()}
    common = [point for point, count in expected.items() if count >= 10]
    statistic = math.fsum((seen[point] - expected[point]) ** 2 / expected[point] for point in common)
    rare = draws - math.fsum(expected[point] for point in common)
    others = draws - sum(seen[point] for point in common)
    return float(chi2.sf(statistic + (others - rare) ** 2 / max(rare, 1.0), len(common)))
