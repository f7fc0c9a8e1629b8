"""The shape tester: accepts the stated law, rejects scales wrong by 0.7 and 1.3, and says what that takes.

Our own noise is not seeded: each comparison with it is wrong with probability at most 1e-7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jali.lab.audit.subject import Effort, Outputs, Subject, Verdict
from jali.lab.audit.testers.output_shape import OutputShape, compare_law
from jali.mechanisms import Laplace
from jali.mechanisms.base import LogMasses
from jali.privacy import Adjacency, Pure

SURE = Effort(samples=40_000, confidence=1 - Fraction(1, 10**7), seed=1)
REACH = 60


def laplace_law(scale: float) -> Callable[[int], LogMasses]:
    """The discrete Laplace law, written from its definition."""
    rate = math.exp(-1 / scale)
    top = math.log((1 - rate) / (1 + rate))
    return lambda value: {value + k: top - abs(k) / scale for k in range(-REACH, REACH + 1)}


def sampled(law: Callable[[Any], LogMasses]) -> Callable[..., Outputs]:
    """Draw from a law, seeded."""

    def draw(value: Any, count: int, random: np.random.Generator | None) -> Outputs:
        assert random is not None
        masses = law(value)
        rows = np.array([key if isinstance(key, tuple) else (key,) for key in masses], np.float64)
        weights = np.exp(list(masses.values()))
        return np.asarray(rows[random.choice(len(rows), count, p=weights / weights.sum())])

    return draw


def subject(draw: Any, law: Any, pair: tuple[Any, Any] = (0, 1)) -> Subject:
    return Subject("audited", Pure(1), Adjacency.ADD_REMOVE, (pair,), draw, log_masses=law)


def test_our_own_noise_follows_its_stated_law() -> None:
    mechanism = Laplace(sensitivity=1, epsilon="1/2", dimension=20_000)
    one = Laplace(sensitivity=1, epsilon="1/2")
    own = subject(
        lambda value, count, _: np.asarray(mechanism.release(np.full(20_000, value)), np.float64)[:count, None],
        one.log_masses,
    )
    finding = OutputShape().audit(own, SURE)
    assert finding.verdict is Verdict.NOTHING_FOUND, str(finding)
    assert (finding.kind, finding.claimed, finding.found) == ("distance", 0.0, 0.0)


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_scale_that_is_wrong_by_three_tenths_is_seen(factor: float) -> None:
    finding = OutputShape().audit(subject(sampled(laplace_law(2 * factor)), laplace_law(2)), SURE)
    assert finding.verdict is Verdict.VIOLATION
    # The bound is below the distance in total variation, here by its definition.
    one, other = laplace_law(2 * factor)(0), laplace_law(2)(0)
    distance = sum(abs(math.exp(one[k]) - math.exp(other[k])) for k in one) / 2
    assert distance / 2 < finding.found <= distance
    assert "number 1" in str(finding.witness) or "order of probability" in str(finding.witness)


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_as_many_samples_as_the_proof_asks_for_are_enough(factor: float) -> None:
    """With n samples the share at the worst point strays by sqrt(ln(1/miss) / 2n) at most (Hoeffding 1963)."""
    law, other = laplace_law(2)(0), laplace_law(2 * factor)(0)
    apart = 0.0
    for order in (sorted(law), sorted(law, key=lambda output: -law[output])):
        moves = np.cumsum([math.exp(other.get(output, -math.inf)) - math.exp(law[output]) for output in order])
        apart = max(apart, float(np.abs(moves).max()))
    both = math.sqrt(math.log(2 * 2 / 0.01) / 2) + math.sqrt(math.log(1 / 0.01) / 2)
    needed = math.ceil((both / apart) ** 2)
    assert 500 < needed < 20_000
    random = np.random.default_rng(2)
    draw = sampled(laplace_law(2 * factor))
    seen = [compare_law(draw(0, needed, random), law, 0.01).least > 0 for _ in range(100)]
    assert sum(seen) >= 95
    none = [compare_law(sampled(laplace_law(2))(0, needed, random), law, 0.01).least > 0 for _ in range(100)]
    assert sum(none) <= 5


def test_dependence_between_numbers_is_seen() -> None:
    """Two fair bits that are always equal: each number alone follows its law."""
    law = {(a, b): math.log(1 / 4 + (0.1 if a == b else -0.1)) for a in (0, 1) for b in (0, 1)}
    same = {(a, b): math.log(1 / 4) for a in (0, 1) for b in (0, 1)}
    finding = OutputShape().audit(subject(sampled(lambda _: law), lambda _: same), SURE)
    assert finding.verdict is Verdict.VIOLATION
    assert "order of probability" in str(finding.witness)


@pytest.mark.parametrize("wrong", [math.nan, 0.5, math.inf])
def test_outputs_that_the_law_does_not_have_are_seen(wrong: float) -> None:
    def draw(value: int, count: int, random: np.random.Generator | None) -> Outputs:
        outputs = sampled(laplace_law(2))(value, count, random)
        outputs[: count // 20] = wrong
        return outputs

    assert OutputShape().audit(subject(draw, laplace_law(2)), SURE).found > 0.025


def test_every_input_of_every_pair_is_compared_and_samples_and_error_are_shared() -> None:
    """Only the last input of four is drawn from another law."""

    def draw(value: int, count: int, random: np.random.Generator | None) -> Outputs:
        return sampled(laplace_law(2 if value < 3 else 1))(value, count, random)

    pairs = ((0, 1), (1, 2), (2, 3))
    many = Subject("audited", Pure(1), Adjacency.ADD_REMOVE, pairs, draw, log_masses=laplace_law(2))
    finding = OutputShape().audit(many, SURE)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.witness.inputs == (3, 2)
    assert finding.samples <= SURE.samples
    assert "4 inputs" in finding.tried
    honest = replace(many, draw=sampled(laplace_law(2)))
    assert OutputShape().audit(honest, SURE).verdict is Verdict.NOTHING_FOUND


def test_further_columns_must_be_zero() -> None:
    def draw(value: int, count: int, random: np.random.Generator | None) -> Outputs:
        return np.pad(sampled(laplace_law(2))(value, count, random), ((0, 0), (0, 1)))

    assert OutputShape().audit(subject(draw, laplace_law(2)), SURE).verdict is Verdict.NOTHING_FOUND
    marked = subject(lambda *drawn: np.add(draw(*drawn), (0.0, 1.0)), laplace_law(2))
    assert OutputShape().audit(marked, SURE).found > 0.9


def test_laws_over_texts_are_left_to_the_exact_tester() -> None:
    assert not OutputShape().applies(subject(sampled(laplace_law(2)), lambda _: {"yes": 0.0}))
    assert not OutputShape().applies(subject(sampled(laplace_law(2)), None))
    assert OutputShape().applies(subject(sampled(laplace_law(2)), laplace_law(2)))
