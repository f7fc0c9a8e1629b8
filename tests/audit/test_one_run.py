"""One run: a reconstruction proves what a running system has lost, and no more."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from jali.errors import CatalogError
from jali.lab.attacks.hadamard_attack import Hadamard
from jali.lab.attacks.opponents import database, simulator, unledgered
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.simple_attacks import Singletons
from jali.lab.audit.subject import Effort, Subject, Verdict
from jali.lab.audit.testers.one_run import Attempt, OneRun, RunningSystem, running
from jali.privacy import Adjacency, Concentrated, Pure

# Jali's own noise has no seed: an honest database is accused less often than once in ten million runs.
_SURE = Fraction(9_999_999, 10_000_000)
_BOTH = OneRun((Attempt(Singletons(), 512), Attempt(Hadamard(), 128)))


def test_jali_is_not_accused() -> None:
    finding = OneRun((Attempt(Singletons(), 512), Attempt(Hadamard(), 64))).audit(
        running(epsilon=1), Effort(samples=2048, confidence=_SURE, seed=1)
    )
    assert finding.verdict is Verdict.NOTHING_FOUND
    assert 0 <= finding.found <= 1 == finding.claimed
    assert finding.samples == 512 + 64
    assert finding.adjacency == "replace-one"
    assert "private" not in str(finding)


def test_without_its_ledger_it_is() -> None:
    """A share Phi(sqrt(128) / (4 stddev)) of the bits is right, about 0.98; what 112 of 128 prove is above 1."""
    finding = _BOTH.audit(running(epsilon=1, make=unledgered), Effort(samples=2048, seed=1))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.found > 1
    assert "hadamard" in str(finding.witness)


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_what_right_guesses_prove_is_clopper_and_pearsons_bound(adjacency: Adjacency) -> None:
    """All of 128 right: the least share at confidence c is (1 - c)^(1/128), its odds are e^(epsilon steps)."""

    def exact(*, n: int, seed: int | None, **_: object) -> Oracle:
        return simulator(n=n, seed=seed)

    subject = running(epsilon=1, adjacency=adjacency, make=exact)
    finding = OneRun((Attempt(Singletons(), 128),)).audit(subject, Effort(samples=1000, seed=3))
    share = 0.01 ** (1 / 128)
    steps = 1 if adjacency is Adjacency.REPLACE_ONE else 2
    assert finding.found == pytest.approx(math.log(share / (1 - share)) / steps, rel=1e-6)
    assert finding.confidence == 0.99


def test_attacks_share_the_error_between_them() -> None:
    def exact(*, n: int, seed: int | None, **_: object) -> Oracle:
        return simulator(n=n, seed=seed)

    twice = OneRun((Attempt(Singletons(), 128), Attempt(Singletons(), 128)))
    finding = twice.audit(running(epsilon=1, make=exact), Effort(samples=1000, seed=3))
    share = 0.005 ** (1 / 128)
    assert finding.found == pytest.approx(math.log(share / (1 - share)), rel=1e-6)
    assert finding.samples == 256


def test_a_claim_with_a_delta_is_read_beside_it() -> None:
    def exact(*, n: int, seed: int | None, **_: object) -> Oracle:
        return simulator(n=n, seed=seed)

    tester = OneRun((Attempt(Singletons(), 128),))
    found = [
        tester.audit(running(epsilon=1, delta=delta, make=exact), Effort(samples=1000, seed=3)).found
        for delta in (0, 1e-9, 1e-3)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-3)
    assert found[2] < found[1]


def test_a_rho_is_read_as_the_epsilon_that_it_implies() -> None:
    """All of 128 bits right prove about 3.3; a rho of 1/2 allows 5.7 beside the delta, one of 1/50 not even 2."""

    def exact(*, n: int, seed: int | None, **_: object) -> Oracle:
        return simulator(n=n, seed=seed)

    tester = OneRun((Attempt(Singletons(), 128),))
    for rho, verdict in (("1/2", Verdict.NOTHING_FOUND), ("1/50", Verdict.VIOLATION)):
        claim = Concentrated(rho)
        finding = tester.audit(replace(running(make=exact), claim=claim), Effort(samples=1000, seed=3))
        assert finding.verdict is verdict
        assert finding.claimed == claim.epsilon(Fraction(1, 10**6))
        assert "at delta 1e-06" in finding.tried


def test_only_a_running_system_is_attacked() -> None:
    plain = Subject("a function", Pure(1), Adjacency.REPLACE_ONE, (), lambda *_: None)  # type: ignore[arg-type]
    assert not OneRun().applies(plain)
    assert OneRun().applies(running())
    with pytest.raises(CatalogError, match="is not a running system"):
        OneRun().audit(plain, Effort())


def test_a_running_system_has_no_neighbours_to_be_run_on() -> None:
    subject = running()
    assert isinstance(subject, RunningSystem)
    assert subject.pairs == ()
    with pytest.raises(CatalogError, match="one run"):
        subject.draw(0, 1, None)


def test_the_claim_is_the_budget() -> None:
    assert running(epsilon="0.5").claim == Pure("0.5")
    assert running(epsilon=1, delta="1e-6").claim.event.delta == Fraction(1, 10**6)
    assert running(make=database).name == "database under attack, epsilon 1, replace-one"
