"""Samples have their law, and not one whose scale is 30 % off.

All samples are seeded. Were the seeds redrawn, a test would raise a false alarm with probability about 1e-9
(the level below); there are about 130 of them: below 2e-7 per run.
"""

from __future__ import annotations

from fractions import Fraction
from zlib import crc32

import numpy as np
import pytest
from scipy.stats import chi2
from tests.distribution.binary_digits import geometric_by_digits, laplace_by_digits
from tests.distribution.chi_square import cdf_of, p_value
from tests.seeded import SeededBits

from jali.sampling import DiscreteGaussian, DiscreteLaplace, Geometric
from jali.sampling.guide_table import BULK, FEW, BitWidths, BlockSampler

LEVEL = 1e-9
AnyLaw = Geometric | DiscreteLaplace | DiscreteGaussian

SCALES = [
    Fraction(1, 10),
    Fraction(1),
    Fraction(10),
    Fraction(1000),
    Fraction(2**20),
    Fraction(2**40),
    Fraction(2**59),
    Fraction(52428800, 7),
]
LAWS: list[AnyLaw] = [
    *(Geometric(scale) for scale in SCALES),
    *(DiscreteLaplace(scale) for scale in SCALES),
    *(DiscreteGaussian(scale**2) for scale in SCALES[1:]),
    DiscreteGaussian(Fraction(1, 10)),  # at sigma = 1/10 nothing but 0 is ever seen
]


def _spread(law: AnyLaw) -> float:
    return float(law.variance) ** 0.5 if isinstance(law, DiscreteGaussian) else float(law.scale)


def _bits(*name: object) -> SeededBits:
    return SeededBits(crc32(repr(name).encode()))


def _size(law: AnyLaw) -> int:
    return 1_000_000 if _spread(law) < 0.5 else 1 << 17


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_large_sample_has_its_law_and_not_one_30_percent_off(law: AnyLaw) -> None:
    sample = law.sample(_size(law), bits=_bits(law))
    truth = cdf_of(law)
    assert p_value(sample, truth, truth, _spread(law)) > LEVEL
    for factor in (0.7, 1.3):
        assert p_value(sample, truth, cdf_of(law, factor), _spread(law)) < LEVEL


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_small_requests_have_the_same_law(law: AnyLaw) -> None:
    bits = _bits(law, "small")
    larger = (60_000,) * (16 if _spread(law) < 0.5 else 1)
    sample = np.concatenate([law.sample(size, bits=bits) for size in (1, 2, 10, 16) * 40 + larger])
    truth = cdf_of(law)
    assert p_value(sample, truth, truth, _spread(law)) > LEVEL
    for factor in (0.7, 1.3):
        assert p_value(sample, truth, cdf_of(law, factor), _spread(law)) < LEVEL


PLANS = {
    "bulk": (BULK, 60_000),
    "few": (FEW, 30_000),
    "coarse blocks, table": (BitWidths(fineness=0, guide_bits=16, word_bits=64, depth=64), 60_000),
    "fine blocks, small table": (BitWidths(fineness=7, guide_bits=8, word_bits=64, depth=64), 30_000),
    "words of 16 bits": (BitWidths(fineness=3, guide_bits=8, word_bits=16, depth=16, guard=2), 20_000),
    "words of 4 bits": (BitWidths(fineness=2, guide_bits=4, word_bits=4, depth=4, guard=0), 3000),
    "words of 4 bits, no table": (BitWidths(fineness=0, guide_bits=0, word_bits=4, depth=2, guard=0), 3000),
}
OF_ALL_SIZES: list[AnyLaw] = [
    Geometric(Fraction(10)),
    DiscreteLaplace(Fraction(5, 7)),
    DiscreteLaplace(Fraction(1000, 3)),
    DiscreteLaplace(Fraction(2**59)),
    DiscreteGaussian(Fraction(100)),
    DiscreteGaussian(Fraction(10**7)),
    DiscreteGaussian(Fraction(2**118)),
]


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("law", OF_ALL_SIZES, ids=str)
def test_every_path_has_the_same_law(law: AnyLaw, name: str) -> None:
    plan, size = PLANS[name]
    sample = BlockSampler(law, plan).sample(size, _bits(law, name))
    truth = cdf_of(law)
    assert p_value(sample, truth, truth, _spread(law)) > LEVEL
    for factor in (0.7, 1.3):
        assert p_value(sample, truth, cdf_of(law, factor), _spread(law)) < LEVEL


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10), Fraction(1000, 3), Fraction(2**40)], ids=str)
def test_the_binary_digit_reference_has_the_same_law(scale: Fraction) -> None:
    laplace = laplace_by_digits(scale, 30_000, _bits("digits", scale))
    truth = cdf_of(DiscreteLaplace(scale))
    assert p_value(laplace, truth, truth, float(scale)) > LEVEL
    geometric = geometric_by_digits(scale, 30_000, _bits("digits of one side", scale))
    truth = cdf_of(Geometric(scale))
    assert p_value(geometric, truth, truth, float(scale)) > LEVEL


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(10)), DiscreteLaplace(Fraction(900))], ids=str)
def test_the_sampler_and_the_binary_digits_agree_with_each_other(law: DiscreteLaplace) -> None:
    """Two samples, no law: a homogeneity test that shares nothing with the distribution functions."""
    size = 40_000
    ours = law.sample(size, bits=_bits("ours", law))
    theirs = laplace_by_digits(law.scale, size, _bits("theirs", law))
    edges = np.unique(np.quantile(theirs, np.linspace(0.02, 0.98, 40)))
    one = np.bincount(np.searchsorted(edges, ours), minlength=len(edges) + 1)
    two = np.bincount(np.searchsorted(edges, theirs), minlength=len(edges) + 1)
    statistic = float(((one - two) ** 2 / np.maximum(one + two, 1)).sum())
    assert chi2.sf(statistic, len(edges)) > LEVEL


@pytest.mark.parametrize(
    ("law", "variance", "at_zero"),
    [
        (DiscreteLaplace(Fraction(1)), 1.8413471884, 0.4621171573),
        (DiscreteLaplace(Fraction(910239226627, 10**12)), 1.5, 0.5),  # epsilon = ln 3
        (DiscreteGaussian(Fraction(1)), 0.9999997888, 0.3989422),
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [1_000_000, 60_000], ids=["bulk", "few"])
def test_the_numbers_of_the_theorem_book_are_met(law: AnyLaw, variance: float, at_zero: float, size: int) -> None:
    sample = law.sample(size, bits=_bits("numbers", law, size)).astype(np.float64)
    error = 6.2 / size**0.5  # standard deviations: two-sided 6e-10
    assert abs(sample.mean()) < error * variance**0.5
    kurtosis = float((sample**4).mean())
    assert abs((sample**2).mean() - variance) < error * (kurtosis - variance**2) ** 0.5
    assert abs((sample == 0).mean() - at_zero) < error * (at_zero * (1 - at_zero)) ** 0.5 + 1e-7


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(2**40)), DiscreteGaussian(Fraction(2**80))], ids=str)
def test_the_low_bits_of_wide_noise_are_uniform(law: AnyLaw) -> None:
    sample = law.sample(1 << 17, bits=_bits("low", law))
    for shift in (0, 8, 20, 30, 33):
        counts = np.bincount(sample >> shift & 15, minlength=16)
        statistic = float(((counts - (1 << 13)) ** 2).sum() / (1 << 13))
        assert chi2.sf(statistic, 15) > LEVEL


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(10)), DiscreteGaussian(Fraction(2**60))], ids=str)
@pytest.mark.parametrize("lag", [1, 1 << 16])
def test_neighbours_and_consecutive_blocks_are_uncorrelated(law: AnyLaw, lag: int) -> None:
    """Signs in a 2 x 2 table and magnitudes by correlation, between draws that are `lag` apart."""
    sample = law.sample(3 << 16, bits=_bits("lag", law, lag)).astype(np.float64)
    one, two = sample[:-lag], sample[lag:]
    for f in (np.sign, np.abs):
        correlation = float(np.corrcoef(f(one), f(two))[0, 1])
        assert abs(correlation) < 6.2 / len(one) ** 0.5
