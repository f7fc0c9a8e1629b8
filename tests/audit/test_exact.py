"""Every mechanism passes the exact audit, every broken twin is caught."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jali.audit import REGISTRY, Registration, Verdict, audit_exactly
from jali.audit.exact import hockey_stick, renyi
from jali.audit.twins import TWINS
from jali.mechanisms import MECHANISMS


@pytest.mark.parametrize("registration", REGISTRY, ids=lambda r: r.name)
def test_no_violation_is_found_and_the_claim_is_tight(registration: Registration) -> None:
    finding = audit_exactly(registration)
    assert finding.verdict is Verdict.NOTHING_FOUND, str(finding)
    assert math.isclose(finding.found, finding.claimed, rel_tol=1e-9) or finding.kind == "rho"
    assert "private" not in str(finding)


@pytest.mark.parametrize("registration", [r for r in REGISTRY if "Gaussian" in r.name], ids=lambda r: r.name)
def test_the_zcdp_claim_of_gaussian_noise_is_nearly_reached(registration: Registration) -> None:
    finding = audit_exactly(registration)
    assert finding.found >= 0.99 * finding.claimed


@pytest.mark.parametrize("twin", TWINS, ids=lambda r: r.name)
def test_every_broken_twin_is_caught(twin: Registration) -> None:
    finding = audit_exactly(twin)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > 1.05 * finding.claimed


def test_every_mechanism_is_registered() -> None:
    assert {registration.mechanism for registration in REGISTRY} == set(MECHANISMS)


@pytest.mark.parametrize("registration", REGISTRY, ids=lambda r: r.name)
def test_the_enumerated_masses_sum_to_one(registration: Registration) -> None:
    for value in registration.neighbours[0]:
        assert math.isclose(
            math.fsum(math.exp(m) for m in registration.log_masses(value).values()), 1, abs_tol=1e-12
        )


def test_the_hockey_stick_of_randomized_response_is_exact() -> None:
    high, low = math.log(0.75), math.log(0.25)
    p, q = {0: high, 1: low}, {0: low, 1: high}
    assert hockey_stick(p, q, math.log(3)) == pytest.approx(0, abs=1e-15)
    assert hockey_stick(p, q, 0) == pytest.approx(0.5)
    assert renyi(p, q, 2) == pytest.approx(math.log(0.75**2 / 0.25 + 0.25**2 / 0.75))


def test_an_output_that_only_one_neighbour_has_is_an_unbounded_loss() -> None:
    leaking = replace(REGISTRY[0], log_masses=lambda value: {value: 0.0})
    assert audit_exactly(leaking).found == math.inf
