"""Float reachability: numpy's noise is told apart by its doubles, ours is not.

Our own noise is not seeded: an audit of it is wrong with probability at most 1e-7.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jali.lab.audit.subject import Effort, Finding, Outputs, Subject, Verdict
from jali.lab.audit.testers.reachability import (
    NO_BIT,
    LowBits,
    OutOfReach,
    Reachability,
    find_lowest_bits,
    is_beyond_addition,
    is_beyond_numpy_laplace,
    measure_out_of_reach,
)
from jali.lab.audit.witness_file import rebuild_event
from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Adjacency, Concentrated, Loss, Pure

DRAWS = 20_000
QUICK = Effort(samples=40_000, seed=1)
SURE = Effort(samples=20_000, confidence=1 - Fraction(1, 10**7), seed=1)


def numpy_noise(value: float, kind: str, scale: float) -> Any:
    def draw(table: Any, count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        centre = value * (table if isinstance(table, float) else ord(table) - ord("a"))
        return np.asarray(getattr(random, kind)(centre, scale, (count, 1)))

    return draw


def audited(claim: Loss, pair: tuple[Any, Any], draw: Any, effort: Effort = QUICK) -> Finding:
    return Reachability().audit(Subject("noise", claim, Adjacency.ADD_REMOVE, (pair,), draw), effort)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0])
def test_four_in_five_outputs_of_numpys_laplace_tell_zero_from_one(epsilon: float) -> None:
    outputs = np.random.default_rng(1).laplace(0.0, 1 / epsilon, DRAWS)
    assert measure_out_of_reach(outputs, 1.0, scale=1 / epsilon) >= 0.8
    assert measure_out_of_reach(outputs, 0.0, scale=1 / epsilon) == 0


@pytest.mark.parametrize("scale", [0.001, 0.5, 1.0, 1 / 0.7, 10.0, 1e6])
@pytest.mark.parametrize("value", [0.0, 1.0, -3.7, 1e5])
def test_what_numpy_gives_is_never_out_of_reach_of_its_own_value(value: float, scale: float) -> None:
    random = np.random.default_rng(2)
    outputs = np.concatenate([random.laplace(value, scale, 4000), value + random.laplace(0.0, scale, 4000)])
    assert not is_beyond_numpy_laplace(outputs, value, scale).any()
    assert not is_beyond_addition(outputs, value).any()


def test_sums_at_powers_of_two_are_in_reach() -> None:
    """Doubles beside a power of two are not equally far apart: the nearest noise may miss where the next hits."""
    values = 1 + np.random.default_rng(3).random(50) * 8
    for value in values.tolist():
        for power in (1.0, 2.0, 4.0, 0.5):
            noises = [power - value]
            for direction in (-math.inf, math.inf):
                noises += [np.nextafter(power - value, direction), np.nextafter(noises[-1], direction)]
            sums = value + np.array(noises)
            assert not is_beyond_addition(sums, value).any()


def test_last_digits_are_those_of_the_exact_fraction() -> None:
    random = np.random.default_rng(4)
    values = np.concatenate([random.normal(0, 1, 200), 2.0 ** random.integers(-60, 60, 50), [5e-324, 3.0, -0.75]])
    for value, found in zip(values.tolist(), find_lowest_bits(values).tolist(), strict=True):
        steps = Fraction(value) / Fraction(2) ** found
        assert steps.denominator == 1
        assert steps.numerator % 2 == 1
    assert find_lowest_bits(np.array([0.0, -0.0, math.inf, math.nan])).tolist() == [NO_BIT] * 4


def test_numbers_without_digits_are_named_so() -> None:
    assert str(LowBits(0, NO_BIT)) == "number 1 of the output has a last binary digit"
    assert str(LowBits(0, NO_BIT, below=False)) == "number 1 of the output is 0 or not finite"
    assert LowBits(0, NO_BIT, below=False).contains(np.array([[0.0], [math.inf], [0.5]])).tolist() == [
        True,
        True,
        False,
    ]


def test_numpys_laplace_is_refuted_conclusively_at_a_tenth() -> None:
    finding = audited(Pure("0.1"), (0.0, 1.0), numpy_noise(1.0, "laplace", 10.0))
    assert finding.verdict is Verdict.VIOLATION
    assert isinstance(finding.witness.event, OutOfReach)
    # Never under one input, and in four of five runs under the other: ln of so many runs over ln of the error.
    assert finding.witness.hits[1] == 0
    assert finding.found == pytest.approx(math.log(0.8 * 17_000 / math.log(100)), abs=0.2)
    assert finding.samples <= QUICK.samples


def test_where_values_are_unknown_the_last_digits_tell() -> None:
    """The inputs are texts; noise on 0 has digits that noise on 1 has not."""
    finding = audited(Pure("0.1"), ("a", "b"), numpy_noise(1.0, "laplace", 10.0))
    assert finding.verdict is Verdict.VIOLATION
    assert isinstance(finding.witness.event, LowBits)
    assert finding.witness.hits[1] == 0
    assert finding.found > 3


def test_numpys_gaussian_is_refuted_too() -> None:
    finding = audited(Concentrated("1/8"), (0.0, 1.0), numpy_noise(1.0, "normal", 2.0))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.kind == "rho"
    assert finding.found > 1


def test_noise_on_the_sum_of_a_table_is_found_out() -> None:
    def draw(table: list[float], count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        return sum(table) + random.laplace(0.0, 10.0, (count, 1))

    finding = audited(Pure("0.1"), ([0.25, 0.5, 0.75], [0.25, 0.5]), draw)
    assert finding.verdict is Verdict.VIOLATION


@pytest.mark.parametrize("step", ["1/1024", "1e-3"])
@pytest.mark.parametrize("make", [lambda **o: Laplace(epsilon="0.7", **o), lambda **o: Gaussian(rho="1/8", **o)])
def test_ours_is_never_flagged(make: Any, step: str) -> None:
    mechanism = make(sensitivity=1, step=step, dimension=SURE.samples)

    def draw(value: float, count: int, _: Any) -> Outputs:
        return np.asarray(mechanism.release(np.full(SURE.samples, value)), np.float64)[:count, None]

    finding = audited(mechanism.loss, (0.0, 1.0), draw, SURE)
    assert finding.verdict is Verdict.NOTHING_FOUND, str(finding)
    assert "private" not in str(finding)


def test_the_smallest_effort_proves_nothing_and_breaks_nothing() -> None:
    finding = audited(Pure(1), (0.0, 1.0), numpy_noise(1.0, "laplace", 1.0), Effort(samples=1, seed=1))
    assert finding.verdict is Verdict.NOTHING_FOUND


@pytest.mark.parametrize(
    "event", [LowBits(0, -3), LowBits(1, 2, below=False), OutOfReach(0, 1.5), OutOfReach(0, 1.0, 2.0)]
)
def test_events_come_back_from_what_a_file_keeps(event: LowBits | OutOfReach) -> None:
    assert rebuild_event(event.to_dict()) == event
    assert "number" in str(event)
