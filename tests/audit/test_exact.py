"""Every mechanism passes the exact audit, every broken twin is caught."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jali.audit import REGISTRY, Registration, Verdict, audit_exactly
from jali.audit.exact import hockey_stick, renyi
from jali.audit.registry import AUDITED
from jali.audit.twins import TWINS
from jali.mechanisms import MECHANISMS


@pytest.mark.parametrize("registration", REGISTRY, ids=lambda r: r.name)
def test_no_violation_is_found_and_a_tight_claim_is_reached(registration: Registration) -> None:
    finding = audit_exactly(registration)
    assert finding.verdict is Verdict.NOTHING_FOUND, str(finding)
    if registration.tight:
        # A pure loss is reached; the slope of discrete noise comes near it at some order; thresholds and bounds of
        # support are whole numbers, so that a delta is reached up to the last of them.
        left = {"epsilon": 1e-9, "rho": 0.01, "delta": 0.9}[finding.kind]
        assert finding.found >= (1 - left) * finding.claimed
    assert "private" not in str(finding)


@pytest.mark.parametrize("twin", TWINS, ids=lambda r: r.name)
def test_every_broken_twin_is_caught(twin: Registration) -> None:
    finding = audit_exactly(twin)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > 1.05 * finding.claimed


def test_every_mechanism_is_audited() -> None:
    assert {registration.mechanism for registration in REGISTRY} == set(AUDITED)
    assert set(MECHANISMS) <= set(AUDITED)
    assert len(AUDITED) == len(set(AUDITED))


def test_the_hockey_stick_of_randomized_response_is_exact() -> None:
    high, low = math.log(0.75), math.log(0.25)
    p, q = {0: high, 1: low}, {0: low, 1: high}
    assert hockey_stick(p, q, math.log(3)) == pytest.approx(0, abs=1e-15)
    assert hockey_stick(p, q, 0) == pytest.approx(0.5)
    assert renyi(p, q, 2) == pytest.approx(math.log(0.75**2 / 0.25 + 0.25**2 / 0.75))


def test_an_output_that_only_one_neighbour_has_is_an_unbounded_loss() -> None:
    leaking = replace(REGISTRY[0], log_masses=lambda value: {value: 0.0})
    assert audit_exactly(leaking).found == math.inf
