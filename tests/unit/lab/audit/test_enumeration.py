"""The exact tester: claims of every kind, on laws that are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.audit.subject import Effort, Outputs, Subject, Verdict
from jali.lab.audit.testers.enumeration import Enumeration
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.base import LogMasses
from jali.privacy import Adjacency, Approximate, Concentrated, Loss, Pure

EFFORT = Effort(samples=1)


def undrawn(*_: Any) -> Outputs:
    raise AssertionError("an exact audit draws nothing")


def coin(epsilon: float, leak: float = 0.0) -> Any:
    """Randomized response of a bit; with probability `leak` it tells the truth and that it does."""

    def law(bit: int) -> LogMasses:
        honest = math.log1p(-leak) if leak else 0.0
        keep = honest - math.log1p(math.exp(-epsilon))
        told = {f"certainly {bit}": math.log(leak)} if leak else {}
        return {bit: keep, 1 - bit: keep - epsilon, **told}

    return law


def subject(claim: Loss, law: Any, pair: tuple[Any, Any] = (0, 1)) -> Subject:
    return Subject("audited", claim, Adjacency.REPLACE_ONE, (pair,), undrawn, log_masses=law)


def test_a_pure_claim_is_reached_to_nine_digits() -> None:
    finding = Enumeration().audit(subject(Pure("0.7"), coin(0.7)), EFFORT)
    assert finding.verdict is Verdict.NOTHING_FOUND
    assert finding.found == pytest.approx(0.7, rel=1e-9)
    assert (finding.tester, finding.confidence, finding.samples) == ("exact", 1.0, 0)
    assert "private" not in str(finding)


@pytest.mark.parametrize(
    ("claim", "law"),
    [
        (Pure("0.7"), coin(0.7 * (1 + 1e-8))),
        (Approximate("0.7", "1e-3"), coin(0.7, 1.01e-3)),
        # D_1 of the coin with epsilon 1 is tanh(1/2) = 0.462 > rho.
        (Concentrated("0.4"), coin(1.0)),
        # A Gaussian release at twice the rho, read through the privacy profile.
        (Gaussian(sensitivity=1, rho="1/8").loss, Gaussian(sensitivity=1, rho="1/4").log_masses),
        (Laplace(sensitivity=1, epsilon=1).loss, Laplace(sensitivity=1, epsilon=2).log_masses),
    ],
)
def test_a_claim_that_is_too_small_is_refuted_whatever_its_kind(claim: Loss, law: Any) -> None:
    finding = Enumeration().audit(subject(claim, law), EFFORT)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > finding.claimed


@pytest.mark.parametrize(
    ("claim", "law"),
    [
        (Approximate("0.7", "1e-3"), coin(0.7, 0.99e-3)),
        (Concentrated("1/2"), coin(1.0)),
        (Gaussian(sensitivity=1, rho="1/8").loss, Gaussian(sensitivity=1, rho="1/8").log_masses),
        (Laplace(sensitivity=1, epsilon=1).loss, Laplace(sensitivity=1, epsilon=1).log_masses),
    ],
)
def test_a_claim_that_holds_is_not_refuted(claim: Loss, law: Any) -> None:
    assert Enumeration().audit(subject(claim, law), EFFORT).verdict is Verdict.NOTHING_FOUND


def test_a_subject_without_a_law_is_left_to_others() -> None:
    lawless = Subject("lawless", Pure(1), Adjacency.ADD_REMOVE, ((0, 1),), lambda *_: np.zeros((1, 1)))
    assert not Enumeration().applies(lawless)
    with pytest.raises(CatalogError, match="does not state the exact distribution of its outputs"):
        Enumeration().audit(lawless, EFFORT)
