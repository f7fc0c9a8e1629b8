"""The broken versions of data-dependent mechanisms are caught, and what they were made from is not."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from functools import partial

import pytest

from jali.lab.audit import Registration, Verdict, audit_exactly
from jali.lab.audit.broken.broken_data_dependent import (
    EXACT,
    LARGE,
    SMALL,
    distance,
    halve_at_each_change,
    honest,
    noisy_median,
    tables,
)
from jali.mechanisms.stability.propose_test_release import Proposal, ProposeTestRelease
from jali.mechanisms.stability.stable_value import StableValue
from jali.privacy import Pure


@pytest.mark.parametrize("broken", EXACT, ids=lambda r: r.name)
def test_every_broken_mechanism_is_caught(broken: Registration) -> None:
    finding = audit_exactly(broken)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > 1.05 * finding.claimed


@pytest.mark.parametrize("price", [LARGE, SMALL])
def test_noise_for_the_right_smooth_sensitivity_passes_on_all_tables(price: tuple[Fraction, float]) -> None:
    every = list(tables())
    laws = {table: noisy_median(honest, *price, table) for table in every}
    worst = max(
        abs(laws[one][mark] - laws[other][mark])
        for one in every
        for other in every
        if distance(one, other) == 1
        for mark in laws[one]
    )
    assert worst <= price[0]
    assert worst > 0.8 * price[0]


def test_halving_is_caught_below_epsilon_one_only() -> None:
    """ln 2 is below the largest beta of Cauchy noise at epsilon 1, which is 0.7353."""
    broken = next(broken for broken in EXACT if "2^-k" in broken.name)
    at_one = replace(broken, claim=Pure(1), log_masses=partial(noisy_median, halve_at_each_change, *LARGE))
    assert audit_exactly(broken).verdict is Verdict.VIOLATION
    assert audit_exactly(at_one).verdict is Verdict.NOTHING_FOUND


@pytest.mark.parametrize(
    "broken", [t for t in EXACT if t.mechanism in (ProposeTestRelease, StableValue)], ids=lambda r: r.name
)
def test_the_honest_test_passes_on_the_neighbours_of_its_broken_version(broken: Registration) -> None:
    wrong = broken.log_masses.__self__  # type: ignore[attr-defined]
    made = broken.mechanism(**{field.name: getattr(wrong, field.name) for field in fields(wrong)})
    assert audit_exactly(replace(broken, log_masses=made.log_masses)).verdict is Verdict.NOTHING_FOUND


def test_a_distance_one_too_large_costs_one_plus_e_to_the_epsilon_deltas() -> None:
    finding = audit_exactly(next(broken for broken in EXACT if "one too large" in broken.name))
    assert finding.found == pytest.approx(0.01 * (1 + 2.718281828459045), rel=1e-9)


def test_retried_for_free_the_test_protects_nothing() -> None:
    finding = audit_exactly(next(broken for broken in EXACT if "retried" in broken.name))
    assert finding.found > 0.95
    assert finding.witness.inputs == (Proposal(0, 0), Proposal(9, 0))
