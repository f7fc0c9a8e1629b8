"""Every bit string with tiny words: the samplers' masses are the laws' masses to 1e-12.

A sampler decides with finitely many bits, except on a set of small mass. Running it on every bit string up to
48 bits gives the exact mass of each outcome as a rational, and the mass that is still undecided.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.depth import thinned
from tests.distribution.exact_laws import AnyLaw, mass, mpmath, real
from tests.seeded import ScriptedBits, enumerate_masses

from jali.sampling import DiscreteGaussian, DiscreteLaplace, Geometric
from jali.sampling.guide_table import BitWidths, BlockSampler

SMALL: list[AnyLaw] = [
    Geometric(Fraction(1)),
    Geometric(Fraction(3, 2)),
    DiscreteLaplace(Fraction(1, 20)),
    DiscreteLaplace(Fraction(1)),
    DiscreteLaplace(Fraction(7, 3)),
    DiscreteGaussian(Fraction(1, 50)),
    DiscreteGaussian(Fraction(1)),
    DiscreteGaussian(Fraction(17, 3)),
]
PLANS = {
    "4-bit table": BitWidths(fineness=9, guide_bits=4, word_bits=4, depth=4, guard=0),
    "4-bit table, 8-bit words": BitWidths(fineness=9, guide_bits=4, word_bits=8, depth=8),
    "no table": BitWidths(fineness=9, guide_bits=0, word_bits=4, depth=2),
}
TOLERANCE = Fraction(1, 10**12)


def _head_masses(sampler: BlockSampler, depth: int) -> tuple[dict[int, Fraction], Fraction]:
    def run(bits: ScriptedBits) -> int:
        cells = bits.integers(1, sampler.plan.guide_bits).astype(np.intp)
        return int(sampler.heads(cells, bits)[0])

    return enumerate_masses(run, depth)


def _assert_between(low: Fraction, exact: mpmath.mpf, high: Fraction) -> None:
    assert real(low) <= exact <= real(high)


@thinned(4)
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
@pytest.mark.parametrize("law", SMALL, ids=str)
def test_all_bit_strings_together_have_the_law_of_a_small_scale(law: AnyLaw, plan: BitWidths) -> None:
    def run(bits: ScriptedBits) -> int:
        return int(BlockSampler.sample(sampler, 1, bits)[0])

    sampler = BlockSampler(law, plan)
    masses, undecided = enumerate_masses(run, 48)
    assert sampler.shift == 0
    assert sum(masses.values()) + undecided == 1
    assert undecided <= TOLERANCE
    chance = mass(law)
    for value in set(masses) | set(range(-3, 4)):
        found = masses.get(value, Fraction(0))
        _assert_between(found, chance(value), found + undecided)


BLOCKED: list[AnyLaw] = [
    Geometric(Fraction(19, 2)),
    DiscreteLaplace(Fraction(9)),
    DiscreteGaussian(Fraction(250, 3)),
]


@thinned(3)
@pytest.mark.parametrize("law", BLOCKED, ids=str)
def test_heads_offsets_and_coins_together_have_the_law_of_a_larger_scale(law: AnyLaw) -> None:
    """Pr[X = x] is proportional to Pr[head] 2**-shift Pr[kept | x], each enumerated to 1e-12."""
    sampler = BlockSampler(law, BitWidths(fineness=1, guide_bits=4, word_bits=4, depth=4))
    width = 1 << sampler.shift
    assert width == 4
    heads, undecided = _head_masses(sampler, 48)
    assert undecided <= 3 * TOLERANCE
    chance = mass(law)
    products: dict[int, Fraction] = {}
    for head in range(-3, 4):
        if head in heads:
            for offset in range(width):
                kept = _kept_mass(sampler, head, offset)
                products[head * width + offset] = heads[head] * kept
    reference = products[0]
    for value, product in products.items():
        assert abs(real(product / reference) - chance(value) / chance(0)) < 1e-10


def _kept_mass(sampler: BlockSampler, head: int, offset: int) -> Fraction:
    def run(bits: ScriptedBits) -> bool:
        coins = bits.integers(1, 4)
        return bool(sampler.keep(np.array([head]), np.array([offset], np.uint64), coins, bits)[0])

    masses, undecided = enumerate_masses(run, 44)
    kept = masses.get(True, Fraction(0))
    block = head if head >= 0 else ~head
    away = offset if head >= 0 else (1 << sampler.shift) - 1 - offset
    exact = mpmath.exp(-real(sampler.law.tilt((block << sampler.shift) + (head < 0), away)))
    _assert_between(kept, exact, kept + undecided)
    assert undecided <= TOLERANCE
    return kept


@thinned(4)
@pytest.mark.parametrize(
    "law", [Geometric(Fraction(2)), DiscreteLaplace(Fraction(5, 2)), DiscreteGaussian(Fraction(5))], ids=str
)
@pytest.mark.parametrize("guide_bits", [0, 2])
def test_candidates_are_wired_as_the_stages_say(law: AnyLaw, guide_bits: int) -> None:
    """End to end, to a coarser depth: every kept value's mass encloses the law up to one common factor."""
    sampler = BlockSampler(law, BitWidths(fineness=0, guide_bits=guide_bits, word_bits=2, depth=2))
    assert sampler.shift == 1

    def run(bits: ScriptedBits) -> int | None:
        heads, offsets, rejected = sampler.candidates(1, bits)
        return None if len(rejected) else (int(heads[0]) << 1) + int(offsets[0])

    masses, undecided = enumerate_masses(run, 15)
    assert undecided < Fraction(1, 20)
    chance = mass(law)
    kept = sum(found for value, found in masses.items() if value is not None)
    for value, found in masses.items():
        if value is not None:
            assert real(found) / real(kept + undecided) <= chance(value)
            assert chance(value) <= real(found + undecided) / real(kept)


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(1)), DiscreteGaussian(Fraction(1))], ids=str)
def test_zero_and_one_plus_noise_reach_the_same_integers_with_the_promised_ratios(law: AnyLaw) -> None:
    """No output betrays the input: what 0 can become, 1 can become, and with nearly the same mass."""
    masses, undecided = enumerate_masses(
        lambda bits: int(BlockSampler(law, PLANS["no table"]).sample(1, bits)[0]), 24
    )
    from_zero = masses
    from_one = {value + 1: found for value, found in masses.items()}
    reach = 4
    assert set(range(-reach, reach + 1)) <= set(from_zero) & set(from_one)
    if isinstance(law, DiscreteLaplace):
        for value in range(-reach, reach + 1):
            assert real(from_zero[value]) <= mpmath.e * real(from_one[value] + undecided)
            assert real(from_one[value]) <= mpmath.e * real(from_zero[value] + undecided)
