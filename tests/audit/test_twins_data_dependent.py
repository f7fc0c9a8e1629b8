"""The broken twins of data-dependent mechanisms are caught, and what they were made from is not."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from functools import partial

import pytest

from jali.audit import Registration, Verdict, audit_exactly
from jali.audit.twins.data_dependent import (
    LARGE,
    SMALL,
    TWINS,
    distance,
    halved_at_each_change,
    honest,
    noisy_median,
    tables,
)
from jali.mechanisms.stability.propose_test_release import Proposal, ProposeTestRelease
from jali.mechanisms.stability.stable_value import StableValue
from jali.privacy import Pure


@pytest.mark.parametrize("twin", TWINS, ids=lambda r: r.name)
def test_every_twin_is_caught(twin: Registration) -> None:
    finding = audit_exactly(twin)
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
    twin = next(twin for twin in TWINS if "2^-k" in twin.name)
    at_one = replace(twin, claim=Pure(1), log_masses=partial(noisy_median, halved_at_each_change, *LARGE))
    assert audit_exactly(twin).verdict is Verdict.VIOLATION
    assert audit_exactly(at_one).verdict is Verdict.NOTHING_FOUND


@pytest.mark.parametrize(
    "twin", [t for t in TWINS if t.mechanism in (ProposeTestRelease, StableValue)], ids=lambda r: r.name
)
def test_the_honest_test_passes_on_the_neighbours_of_its_twin(twin: Registration) -> None:
    broken = twin.log_masses.__self__  # type: ignore[attr-defined]
    made = twin.mechanism(**{field.name: getattr(broken, field.name) for field in fields(broken)})
    assert audit_exactly(replace(twin, log_masses=made.log_masses)).verdict is Verdict.NOTHING_FOUND


def test_a_distance_one_too_large_costs_one_plus_e_to_the_epsilon_deltas() -> None:
    finding = audit_exactly(next(twin for twin in TWINS if "one too large" in twin.name))
    assert finding.found == pytest.approx(0.01 * (1 + 2.718281828459045), rel=1e-9)


def test_retried_for_free_the_test_protects_nothing() -> None:
    finding = audit_exactly(next(twin for twin in TWINS if "retried" in twin.name))
    assert finding.found > 0.95
    assert finding.witness.inputs == (Proposal(0, 0), Proposal(9, 0))
