"""Every mechanism passes the exact audit, every broken mechanism is caught."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.depth import thinned
from tests.laws.divergences import hockey_stick, renyi

from jali.lab.audit import REGISTRY, Registration, Verdict, audit_exactly
from jali.lab.audit.broken import EXACT
from jali.lab.audit.subjects.registration import AUDITED
from jali.lab.audit.testers.enumeration import NeighbourLaws, find_steepest
from jali.mechanisms import MECHANISMS
from jali.privacy import Approximate, Concentrated, Loss


@thinned(4)
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


@thinned(4)
@pytest.mark.parametrize("broken", EXACT, ids=lambda r: r.name)
def test_every_broken_mechanism_is_caught(broken: Registration) -> None:
    finding = audit_exactly(broken)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > 1.05 * finding.claimed


def test_every_mechanism_is_audited() -> None:
    assert {registration.mechanism for registration in REGISTRY} == set(AUDITED)
    assert set(MECHANISMS) <= set(AUDITED)
    assert len(AUDITED) == len(set(AUDITED))


def test_the_profile_of_randomized_response_is_exact() -> None:
    high, low = math.log(0.75), math.log(0.25)
    profile = NeighbourLaws.of({0: high, 1: low}, {0: low, 1: high}).profile(np.array([math.log(3), 0.0]))
    assert profile.tolist() == pytest.approx([0, 0.5], abs=1e-15)


def _coin(rate: float) -> dict[Any, float]:
    return {1: math.log(rate), 0: math.log1p(-rate)}


def _stated(claim: Loss, p: dict[Any, float], q: dict[Any, float]) -> Registration:
    return replace(REGISTRY[0], claim=claim, neighbours=((0, 1),), log_masses=lambda value: q if value else p)


@thinned(4)
@pytest.mark.parametrize(
    ("p", "q"),
    [(1e-10 * math.exp(0.3), 1e-10), (math.exp(-13), math.exp(-15)), (0.05, 0.01), (0.6, 0.4), (0.5001, 0.4999)],
)
def test_the_slope_of_two_coins_is_the_largest_over_all_orders(p: float, q: float) -> None:
    orders = 1 + np.geomspace(1e-5, 1e5, 200_000)
    slopes = []
    for a, b in ((p, q), (q, p)):
        heads = orders * math.log(a) + (1 - orders) * math.log(b)
        tails = orders * math.log1p(-a) + (1 - orders) * math.log1p(-b)
        slopes.append(np.logaddexp(heads, tails) / (orders - 1) / orders)
    most = float(np.median(np.sort(np.ravel(slopes))[-100:]))
    finding = audit_exactly(_stated(Concentrated(most * 0.999), _coin(p), _coin(q)))
    assert (finding.kind, finding.verdict) == ("rho", Verdict.VIOLATION)
    # The formula above loses digits near order 1.
    assert finding.found == pytest.approx(most, rel=1e-3)
    honest = audit_exactly(_stated(Concentrated(most * 1.002), _coin(p), _coin(q)))
    assert honest.verdict is Verdict.NOTHING_FOUND


def test_no_order_is_better_than_the_one_that_is_found() -> None:
    random = np.random.default_rng(1)
    orders = 1 + np.geomspace(1e-3, 1e4, 2000)
    for _ in range(40):
        p, q = random.dirichlet(np.full(5, 0.3), 2) * (1 - 5e-9) + 1e-9
        found, at = find_steepest(np.log(p), np.log(q))
        terms = orders[:, None] * np.log(p) + (1 - orders[:, None]) * np.log(q)
        slopes = np.logaddexp.reduce(terms, axis=1) / (orders - 1) / orders
        assert found >= slopes.max() * (1 - 1e-9) - 1e-12
        one, other = (dict(enumerate(np.log(law).tolist())) for law in (p, q))
        assert at < 1.001 or found == pytest.approx(renyi(one, other, at) / at)


def test_a_profile_of_all_epsilons_at_once_is_that_of_each() -> None:
    p, q = _coin(math.e / (1 + math.e)), _coin(1 / (1 + math.e))
    both = {(a, b): p[a] + p[b] for a in p for b in p}, {(a, b): q[a] + q[b] for a in q for b in q}
    points = np.array([0.0, 0.35, 1.0, 1.9, 2.0, 3.0])
    each = [hockey_stick(*both, epsilon) for epsilon in points.tolist()]
    assert NeighbourLaws.of(*both).profile(points).tolist() == pytest.approx(each, abs=1e-15)
    alone = NeighbourLaws.of({0: math.log(0.9), 1: math.log(0.1)}, {0: 0.0})
    assert alone.profile(np.array([0.0, 5.0])).tolist() == pytest.approx([0.1, 0.1])


def test_a_delta_below_what_doubles_tell_is_not_shown_as_more_than_claimed() -> None:
    rare = math.log(9e-13)
    p, q = {0: math.log1p(-9e-13), 1: rare}, {0: math.log1p(-9e-13), 2: rare}
    finding = audit_exactly(_stated(Approximate(1, "1e-15"), p, q))
    assert (finding.verdict, finding.found) == (Verdict.NOTHING_FOUND, 0.0)
    wide = audit_exactly(_stated(Approximate(1, "1e-15"), {0: math.log1p(-1e-9), 1: math.log(1e-9)}, {0: 0.0}))
    assert wide.verdict is Verdict.VIOLATION
    assert wide.found == pytest.approx(1e-9, rel=0.02)


def test_an_output_that_only_one_neighbour_has_is_an_unbounded_loss() -> None:
    leaking = replace(REGISTRY[0], log_masses=lambda value: {value: 0.0})
    assert audit_exactly(leaking).found == math.inf
