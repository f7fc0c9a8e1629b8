"""Audit a running database in one run, by reconstructing a secret through its public interface.

Statement:
    If flipping one of r independent fair bits costs a system epsilon, the number of bits that anybody guesses
    right from all that it released is dominated by Binomial(r, e^epsilon / (1 + e^epsilon)), where epsilon counts
    as often as a flip has steps between neighbours (Steinke, Nasr and Jagielski 2023, Theorem 5.2; with a delta
    too). This many right guesses prove a loss, and one run is enough, whatever was asked and answered.

A claim that is no epsilon, such as a rho, is read as the epsilon that it implies beside a small delta that is
fixed before: if that is refuted, so is the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.attack_base import Attack
from jali.lab.attacks.attack_result import Result
from jali.lab.attacks.evidence import lower_bound
from jali.lab.attacks.hadamard_attack import Hadamard
from jali.lab.attacks.opponents import database
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.simple_attacks import Singletons
from jali.lab.audit.subject import Effort, Finding, Outputs, Progress, Subject, Tester, Verdict, Witness, silent
from jali.privacy import Adjacency, Approximate, Loss, Pure
from jali.privacy.rationals import Number

# Makes a system that holds this many secret bits; the seed is that of the secret.
Opponent: TypeAlias = Callable[[int, int | None], Oracle]

# A question costs milliseconds: more bits than these need minutes.
_MOST_BITS = 4096
# Beside this delta a claim is read that is no epsilon: small against 1 over the number of bits, which all use it.
_DELTA = Fraction(1, 10**6)
# Questions about half of the people each, one for every bit: what a ledger has to refuse, or to drown in noise.
_MOST_QUESTIONS = 128


@dataclass(frozen=True)
class Attempt:
    """An attack, and on how many bits at most it is tried."""

    attack: Attack[Any]
    most: int


ATTEMPTS = (Attempt(Singletons(), _MOST_BITS), Attempt(Hadamard(), _MOST_QUESTIONS))


def _no_outputs(_: Any, __: int, ___: np.random.Generator | None) -> Outputs:
    raise CatalogError("running-system-without-neighbours")


@dataclass(frozen=True)
class RunningSystem(Subject):
    """A running system with a secret of bits, which is asked and not run again and again.

    Attributes:
        opponent: Makes the system, with this many secret bits.
    """

    opponent: Opponent | None = field(default=None, kw_only=True)


def running(
    *,
    epsilon: Number = 1,
    delta: Number = 0,
    adjacency: str | Adjacency = Adjacency.REPLACE_ONE,
    make: Callable[..., Oracle] = database,
    name: str = "database under attack",
) -> RunningSystem:
    """Return Jali itself as a subject: a generated table, a budget, and an adversarial analyst.

    Args:
        epsilon: The budget of the table, which is what it claims.
        delta: The delta of the budget.
        adjacency: When two tables are neighbours.
        make: What is attacked, of `jali.lab.attacks.opponents`.
        name: What a report calls it.
    """
    claim = Approximate(epsilon, delta) if delta else Pure(epsilon)
    told = f"{name}, {claim.event}, {Adjacency.of(adjacency).value}"

    def opponent(bits: int, seed: int | None) -> Oracle:
        return make(n=bits, epsilon=epsilon, delta=delta, adjacency=adjacency, seed=seed)

    return RunningSystem(told, claim, Adjacency.of(adjacency), (), _no_outputs, told, opponent=opponent)


class OneRun(Tester):
    """Attacks a running system, and reads from the marks how much it must have lost.

    A bit counts as a sample. Each attack has a system of its own and an equal share of the error.

    Attributes:
        attempts: The attacks that are tried.
    """

    name: ClassVar[str] = "one run"

    def __init__(self, attempts: tuple[Attempt, ...] = ATTEMPTS) -> None:
        self.attempts = attempts

    def applies(self, subject: Subject) -> bool:
        """Return whether the subject is a running system, whose claim implies an epsilon."""
        there = isinstance(subject, RunningSystem) and subject.opponent is not None
        return there and math.isfinite(imply_epsilon(subject.claim)[0])

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:
        """Attack, and return the finding of the attack that proves most."""
        confidence = 1 - (1 - effort.confidence) / len(self.attempts)
        results = []
        for place, attempt in enumerate(self.attempts):
            progress(f"{attempt.attack.name} on up to {attempt.most:,} bits")
            bits = _round_to_power_of_two(min(attempt.most, effort.samples // len(self.attempts)))
            seed = None if effort.seed is None else effort.seed + place
            results.append(attempt.attack.run(_find_opponent(subject)(bits, seed)))
        best = max(results, key=lambda result: _bound_loss(subject, result, confidence))
        return self._finding(subject, effort, best, results, _bound_loss(subject, best, confidence))

    def _finding(
        self, subject: Subject, effort: Effort, best: Result, results: list[Result], found: float
    ) -> Finding:
        claimed, delta = imply_epsilon(subject.claim)
        said = ", ".join(f"{one.attack}: {one.right:,} of {one.guessed:,} bits right" for one in results)
        return Finding(
            subject.name,
            subject.adjacency,
            "epsilon",
            claimed,
            found,
            Witness(
                ("a secret bit 0", "the same bit 1"), at=f"{best.attack}, {best.fraction:.4g} of the bits right"
            ),
            Verdict.VIOLATION if found > claimed else Verdict.NOTHING_FOUND,
            self.name,
            float(effort.confidence),
            sum(one.guessed for one in results),
            tried=f"{said}, at delta {delta:g}" if delta else said,
        )


def imply_epsilon(claim: Loss) -> tuple[float, float]:
    """Return the epsilon that a claim implies, and the delta beside it.

    Example:
        >>> from jali.privacy import Concentrated
        >>> imply_epsilon(Pure(1)), imply_epsilon(Approximate(1, "1e-9"))
        ((1.0, 0.0), (1.0, 1e-09))
        >>> imply_epsilon(Concentrated("1/2"))[0] > 4
        True
    """
    event = claim.event
    if event.epsilon is not None and isinstance(claim, Pure | Approximate):
        return float(event.epsilon), float(event.delta)
    return float(claim.epsilon(_DELTA)), float(_DELTA)


def _round_to_power_of_two(most: int) -> int:
    """Return the largest power of two up to a number: Hadamard's questions are about this many people."""
    return 1 << max(0, most.bit_length() - 1)


def _find_opponent(subject: Subject) -> Opponent:
    if not isinstance(subject, RunningSystem) or subject.opponent is None:
        raise CatalogError("audited-not-running", subject=subject.name)
    return subject.opponent


def _bound_loss(subject: Subject, result: Result, confidence: Fraction) -> float:
    """Return the epsilon that the marks prove, beside the delta at which the claim is read."""
    return lower_bound(
        result.right,
        result.guessed,
        subject.adjacency,
        prior=result.prior,
        chance=result.chance,
        delta=imply_epsilon(subject.claim)[1],
        confidence=float(confidence),
    ).epsilon
