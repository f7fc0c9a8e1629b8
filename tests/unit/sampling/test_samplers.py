from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.seeded import ScriptedBits, SeededBits

from jali.errors import MechanismError
from jali.sampling import DiscreteGaussian, DiscreteLaplace, Geometric
from jali.sampling import guide_table as blocks_module
from jali.sampling.guide_table import BULK, BlockSampler

AnyLaw = Geometric | DiscreteLaplace | DiscreteGaussian

EXTREMES: list[AnyLaw] = [
    Geometric(Fraction(1, 1000)),
    Geometric(Fraction(2**60)),
    DiscreteLaplace(Fraction(1, 1000)),
    DiscreteLaplace(Fraction(1, 10**30)),
    DiscreteLaplace(Fraction(2**40)),
    DiscreteLaplace(Fraction(2**60)),
    DiscreteLaplace(Fraction(2**60 * 10**30 - 1, 10**30)),
    DiscreteGaussian(Fraction(1, 10**6)),
    DiscreteGaussian(Fraction(2**80)),
    DiscreteGaussian(Fraction(2**120)),
]


@pytest.mark.parametrize("law", EXTREMES, ids=str)
@pytest.mark.parametrize("size", [0, 1, 17, 70_000])
def test_every_scale_gives_as_many_integers_as_were_asked_for(law: AnyLaw, size: int) -> None:
    sample = law.sample(size, bits=SeededBits(size))
    assert sample.shape == (size,)
    assert sample.dtype in (np.int64, object)
    if sample.dtype == object:
        assert all(type(value) is int for value in sample)


@pytest.mark.parametrize("size", [30_000, 70_000])
def test_values_beyond_64_bits_come_as_python_integers(size: int) -> None:
    """At scale 2**60 a value leaves int64 with probability exp(-8): a wrapped one would be seen as small."""
    sample = DiscreteLaplace(Fraction(2**60)).sample(size, bits=SeededBits(5))
    assert sample.dtype == object
    outside = sum(not -(2**63) <= value < 2**63 for value in sample)
    expected = size * np.exp(-8)
    assert abs(outside - expected) < 6.2 * expected**0.5
    assert max(abs(value) for value in sample) > 2**63


def test_values_that_fit_come_as_int64() -> None:
    assert DiscreteLaplace(Fraction(2**57)).sample(70_000, bits=SeededBits(6)).dtype == np.int64
    assert DiscreteGaussian(Fraction(2**120)).sample(70_000, bits=SeededBits(6)).dtype == np.int64


@pytest.mark.parametrize("shift", [0, 40, 55, 62])
def test_joining_never_wraps(shift: int) -> None:
    heads = np.array([0, -1, 5, -6, 300, -300, 1 << 20], np.int64)
    offsets = np.full(len(heads), (1 << shift) - 1, np.uint64)
    exact = [(int(head) << shift) + (1 << shift) - 1 for head in heads]
    joined = blocks_module._join(heads.copy(), offsets, shift)
    assert joined.tolist() == exact
    assert joined.dtype == (np.int64 if shift <= 40 else object)


def test_a_tail_below_every_table_is_reached() -> None:
    """64 zeros, then 64 ones: the uniform number is just below 2**-64, and the value is near 44 scales."""
    zeros_then_ones = ScriptedBits((1 << 64) - 1, 128)
    sampler = BlockSampler(DiscreteLaplace(Fraction(10)), BULK)
    value = int(sampler.sample(1, zeros_then_ones)[0])
    assert 430 < abs(value) < 450


def test_rejected_candidates_are_replaced_and_none_is_used_twice() -> None:
    values = np.arange(14)
    assert blocks_module._without(values.copy(), np.array([2, 5, 11]), 10).tolist() == [
        0,
        1,
        10,
        3,
        4,
        12,
        6,
        7,
        8,
        9,
    ]
    assert blocks_module._without(values.copy(), np.array([0, 11, 12, 13]), 10).tolist() == [10, *range(1, 10)]
    assert blocks_module._without(values.copy(), np.array([0, 1, 10, 12, 13]), 10).tolist() == [*range(2, 10), 11]
    assert blocks_module._without(values.copy(), np.array([], np.intp), 10).tolist() == list(range(10))


def test_the_same_bits_give_the_same_draws_and_other_bits_do_not() -> None:
    law = DiscreteLaplace(Fraction(1000))
    for size in (100, 70_000):
        first, second, third = (law.sample(size, bits=SeededBits(seed)) for seed in (1, 1, 2))
        assert (first == second).all()
        assert (first != third).any()


def test_without_a_source_two_samples_differ() -> None:
    law = DiscreteGaussian(Fraction(2**100))
    assert set(law.sample(100).tolist()).isdisjoint(law.sample(100).tolist())


def test_tables_are_kept_for_a_bounded_number_of_scales() -> None:
    for k in range(3, 40):
        DiscreteLaplace(Fraction(1, k)).sample(1 << 16, bits=SeededBits(k))
    assert blocks_module._bulk_sampler.cache_info().currsize <= 16
    assert blocks_module._small_sampler.cache_info().maxsize == 256


def test_small_requests_build_no_guide_table() -> None:
    before = blocks_module._bulk_sampler.cache_info().misses
    for size in (1, 10, 1000):
        DiscreteLaplace(Fraction(12345, 67)).sample(size)
    assert blocks_module._bulk_sampler.cache_info().misses == before


def test_laws_are_values() -> None:
    assert DiscreteLaplace(Fraction(3)) == DiscreteLaplace(3)  # type: ignore[arg-type]
    assert hash(DiscreteLaplace(Fraction(3))) == hash(DiscreteLaplace(Fraction(6, 2)))
    assert len({DiscreteLaplace(Fraction(3)), Geometric(Fraction(3))}) == 2
    with pytest.raises(AttributeError):
        DiscreteLaplace(Fraction(3)).scale = Fraction(4)  # type: ignore[misc]


BAD: list[Any] = [0, Fraction(-1, 3), 2.5, "3", None, True, Fraction(2**120 * 10**30 + 1, 10**30), float("nan")]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_a_bad_scale_is_refused_by_name(bad: Any) -> None:
    for law in (DiscreteLaplace, Geometric):
        with pytest.raises(MechanismError, match=r"^scale must"):
            law(bad)
    with pytest.raises(MechanismError, match=r"^variance must"):
        DiscreteGaussian(bad)


def test_the_largest_scale_is_taken_and_the_next_is_refused() -> None:
    with pytest.raises(MechanismError, match=r"2\*\*60"):
        DiscreteLaplace(Fraction(2**60 * 7 + 1, 7))
    with pytest.raises(MechanismError, match=r"2\*\*120"):
        DiscreteGaussian(Fraction(2**120 + 1))


@pytest.mark.parametrize("size", [-1, 1.5, "3", None, True])
def test_a_bad_size_is_refused_by_name(size: Any) -> None:
    for law in (DiscreteLaplace(Fraction(1)), DiscreteGaussian(Fraction(1)), Geometric(Fraction(1))):
        with pytest.raises(MechanismError, match=r"^size must"):
            law.sample(size)


def test_numpy_sizes_are_taken() -> None:
    assert len(DiscreteLaplace(Fraction(1)).sample(np.int64(3))) == 3  # type: ignore[arg-type]


def test_the_package_uses_no_elementary_function_and_no_other_randomness() -> None:
    """The proofs assume nothing about a C library's exp or log, nor about any generator but the bit source."""
    forbidden = {
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log1p",
        "sqrt",
        "pow",
        "power",
        "random",
        "default_rng",
        "secrets",
    }
    files = list(Path(blocks_module.__file__).parent.glob("*.py"))
    assert len(files) > 8
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            name = getattr(node, "attr", None) or getattr(node, "id", None)
            imported = {alias.name for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)}
            assert not forbidden & ({name} | imported), f"{file.name}: {name or imported}"
