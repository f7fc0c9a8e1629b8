"""What goes in is read by its type and exactly; what comes out has a type that tells no more than its values."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import Additive
from jali.mechanisms.additive.conditioned_laplace import ConditionedLaplace
from jali.mechanisms.additive.gaussian_mechanism import Gaussian
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.additive.staircase_mechanism import Staircase
from jali.mechanisms.additive.truncated_laplace_mechanism import TruncatedLaplace
from jali.mechanisms.exact_values import (
    narrow,
    read_integers,
    read_numbers,
    round_one_to_lattice,
    round_to_lattice,
)
from jali.mechanisms.lattice import Lattice, add

WIDE: list[Additive] = [
    Laplace(sensitivity=2**60, epsilon=1),
    Gaussian(sensitivity=2**59, rho=1),
    LInfinity(sensitivity=2**59, epsilon=1, dimension=2),
    ConditionedLaplace(epsilon="1/1000000", dimension=2),
]
ENDS = (0, 2**60, 2**62 - 1, 2**62, 2**63 - 1, 2**63, -(2**62), -(2**63), 2**64)


def fits(values: Any) -> bool:
    return all(-(2**63) <= value < 2**63 for value in values)


@pytest.mark.parametrize("mechanism", WIDE, ids=lambda m: type(m).__name__)
def test_a_release_is_int64_exactly_if_all_of_it_fits(mechanism: Additive) -> None:
    bits = SeededBits(1)
    for end in ENDS:
        for value in ([end, 0], np.array([end, -end], dtype=object)):
            released = mechanism.release(value, bits=bits)
            assert (released.dtype == np.int64) == fits(released.tolist())
            assert released.dtype in (np.int64, object)


def test_neighbours_at_the_edge_of_a_fast_path_have_releases_of_one_type() -> None:
    for end in (2**62 - 1, 2**62, 2**62 + 1):
        assert Laplace(sensitivity=1, epsilon=1).release(np.array([end, 0])).dtype == np.int64


def test_no_event_of_type_and_size_separates_neighbours() -> None:
    """Being int64 and at least 2**62 has a chance of 0.7 % from 0 too: 10,000 draws miss it with chance e^-70."""
    mechanism = Laplace(sensitivity=2**60, epsilon=1)
    for value in (0, 2**60):
        noisy = add(np.full(10_000, value), mechanism.noise(1, 10_000, bits=SeededBits(2)))
        rows = [mechanism.release(np.array([value]), bits=SeededBits(seed)) for seed in range(300)]
        assert all(row.dtype == np.int64 for row in rows if fits(row.tolist()))
        assert any(2**62 <= item < 2**63 for item in noisy.tolist())


def test_noise_of_a_wide_cube_is_narrowed_by_what_it_is() -> None:
    noise = LInfinity(sensitivity=2**60, epsilon=1, dimension=2).noise(40, 2, bits=SeededBits(3))
    assert (noise.dtype == np.int64) == fits(noise.ravel().tolist())
    assert narrow(np.array([2**63 - 1, -(2**63)], dtype=object)).dtype == np.int64
    assert narrow(np.array([2**63], dtype=object)).dtype == object
    assert narrow(np.array([2**63], np.uint64)).tolist() == [2**63]


@pytest.mark.parametrize("pair", [(2**63 + 1024, 2**63 + 1025), (2**53, 2**53 + 1), (2**60 + 128, 2**60 + 129)])
@pytest.mark.parametrize("other", [0, -1, 0.5, Fraction(1, 3)])
def test_integers_in_lists_keep_their_distance(pair: tuple[int, int], other: Any) -> None:
    lattice = Lattice(Fraction(1), 2)
    one, two = (lattice.integers([value, other]).tolist() for value in pair)
    assert two[0] - one[0] == 1
    assert two[1] == one[1]


def test_no_list_of_integers_is_refused_for_their_sizes() -> None:
    lists: list[list[Any]] = [
        [2**63, 1],
        [2**63 - 1, -1],
        [2**64, 1],
        [2**63, -1],
        [True, 2**70],
        [np.int8(1), 2**63],
    ]
    for value in lists:
        released = Laplace(sensitivity=1, epsilon=50).release(value, bits=SeededBits(1))
        assert released.tolist() == [int(item) for item in value]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "1.5",
            b"1",
            None,
            1j,
            date(2020, 1, 1),
            np.datetime64("2020-01-01"),
            np.timedelta64(1),
            {},
            {1},
            object(),
        ),
        *([1, "2"], [None], [[1, 2], [3]], [1, [2]], [np.timedelta64(3)], ["1/2"], {"a": 1}, [1j]),
        *(np.array(["1"]), np.array(["1/2"], object), np.array([1j]), np.ma.masked_array([1, 2], [False, True])),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("step", [None, 1])
def test_what_is_no_number_is_refused_by_its_type(value: Any, step: int | None) -> None:
    with pytest.raises(MechanismError, match="values must be"):
        Laplace(sensitivity=1, epsilon=1, step=step, dimension=9).release(value)
    for kind in (Staircase, TruncatedLaplace):
        more = {"delta": "1e-6"} if kind is TruncatedLaplace else {}
        with pytest.raises(MechanismError):
            kind(sensitivity=1, epsilon=1, step=step, **more).release(value)


def test_generators_are_refused_and_not_drained() -> None:
    numbers = (n for n in range(3))
    with pytest.raises(MechanismError, match="generator"):
        Laplace(sensitivity=1, epsilon=1).release(numbers)
    assert list(numbers) == [0, 1, 2]


def test_real_numbers_need_a_step_and_are_told_so() -> None:
    for value in (1.5, [1.0], np.array([1.0]), Fraction(1, 2), [Decimal(1)], np.longdouble(1)):
        with pytest.raises(MechanismError, match="integers") as refusal:
            Laplace(sensitivity=1, epsilon=1).release(value)
        assert "step=" in str(refusal.value)


def test_empty_values_are_released_as_they_are() -> None:
    assert Laplace(sensitivity=1, epsilon=1).release([]).tolist() == []
    assert Laplace(sensitivity=1, epsilon=1, step="1/2").release([]).tolist() == []
    assert read_integers([]).dtype == np.int64


def test_numbers_of_one_kind_are_packed_and_others_kept() -> None:
    assert read_numbers([1.5, np.float32(2.5)]).dtype == np.float64
    assert read_numbers([1, True, np.uint8(3)]).dtype == np.int64
    assert read_numbers([1, 0.5]).dtype == object
    assert read_numbers(np.float32(1.5)).dtype == np.float32
    assert read_numbers([[1, 2], [3, 4]]).shape == (2, 2)


@pytest.mark.parametrize("text", ["NaN", "sNaN", "-sNaN", "Infinity", "-Infinity", "0E+999999", "-0E-999999"])
def test_decimals_that_are_no_finite_number_count_as_zero(text: str) -> None:
    for step in (Fraction(1), Fraction(1, 10**250), Fraction(10**250)):
        assert round_to_lattice(np.array([Decimal(text)], dtype=object), step).tolist() == [0]


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1.7e308", "1e-280", "123.456", "-0.5", "4999e3", "1e4000"])
@pytest.mark.parametrize("step", [Fraction(1), Fraction(3, 7), Fraction(1, 10**290), Fraction(10**290)])
def test_finite_decimals_are_rounded_exactly(text: str, step: Fraction) -> None:
    value = Decimal(text)
    assert round_one_to_lattice(value, step) == math.floor(Fraction(value) / step + Fraction(1, 2))


def test_huge_and_tiny_decimals_take_no_time_and_keep_their_order() -> None:
    tiny = [Decimal(f"{sign}1e-{power}") for sign in ("", "-") for power in (2_000_000, 999_999_999, 10**15)]
    assert [round_one_to_lattice(value, Fraction(1, 10**290)) for value in tiny] == [0] * 6
    rising = [
        Decimal(text) for text in ("-1e999999", "-1e5001", "-1", "1", "9e4999", "1e5000", "1e5001", "1e999999")
    ]
    points = [round_one_to_lattice(value, Fraction(1)) for value in rising]
    assert points == sorted(points)
    assert points[-1] == points[-3] == 10**5000


def test_numbers_of_every_kind_are_clamped_alike() -> None:
    for value in (10**5000 + 1, 10**9000, Fraction(10**6000, 3), Decimal("1e6000")):
        assert round_one_to_lattice(value, Fraction(1)) == 10**5000
        assert round_one_to_lattice(-value, Fraction(1)) == -(10**5000)


def test_long_doubles_are_rounded_exactly() -> None:
    value = np.longdouble(2) ** 62 + np.longdouble(1)
    wanted = int(value)  # where long doubles are doubles, 2**62 itself
    for given in (value, [value], np.array([value]), np.array([value], dtype=object), [value, 1]):
        assert np.ravel(Lattice(Fraction(1), 2).integers(given))[0] == wanted
    assert np.ravel(Lattice(Fraction(1)).integers(np.longdouble("nan")))[0] == 0
    assert np.ravel(Lattice(Fraction(1)).integers([np.longdouble("inf")]))[0] == 0


SMALL: list[Callable[..., Additive]] = [
    lambda **given: Laplace(epsilon=1, **given),
    lambda **given: Gaussian(rho=1, **given),
    lambda **given: Staircase(epsilon=1, **given),
    lambda **given: TruncatedLaplace(epsilon=1, delta="1e-6", **given),
    lambda **given: LInfinity(epsilon=1, dimension=2, **given),
]


@pytest.mark.parametrize("make", SMALL)
def test_a_sensitivity_below_one_needs_a_step(make: Callable[..., Additive]) -> None:
    for sensitivity in ("1/100", "0.999", "1e-200"):
        with pytest.raises(MechanismError, match="sensitivity is below 1") as refusal:
            make(sensitivity=sensitivity)
        assert "step=" in str(refusal.value)
    assert make(sensitivity="1/100", step="1/1000").loss == make(sensitivity=1).loss


def test_too_many_values_are_refused_with_the_dimension_to_give() -> None:
    with pytest.raises(MechanismError, match=r"Set dimension=3\."):
        Laplace(sensitivity=1, epsilon=1, step=1).release([1.0, 2.0, 3.0])
    with pytest.raises(MechanismError, match="dimension=3"):
        LInfinity(sensitivity=1, epsilon=1, dimension=2).release([1, 2, 3])
    with pytest.raises(MechanismError, match="one number"):
        Staircase(sensitivity=1, epsilon=1, step=1).release([1.0, 2.0])
