"""The exact tester: enumerates output probabilities and computes the loss, without sampling.

Statement:
    Let neighbours have output masses p and q. Epsilon-DP means max |ln p(o)/q(o)| <= epsilon; rho-zCDP means
    D_a(p||q) <= rho a for every order a > 1; and a loss with profile delta(epsilon) means
    sum (p - e^epsilon q)_+ <= delta(epsilon) for every epsilon. All are computed from masses that are exact to a
    few units in the last place; a claim is refuted when one of its readings is exceeded by more than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from jali.audit.finding import Finding, Verdict, Witness
from jali.audit.registry import Registration
from jali.mechanisms.mechanism import LogMasses
from jali.privacy import Loss

_TOLERANCE = 1e-9
# Masses are sums and differences of doubles; a delta is compared no finer than this.
_DUST = 1e-12
# Outputs beyond the window of an infinite law: all of them together are less likely than this.
_OUTSIDE = 1e-11
_ORDERS = (1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
_DELTAS = (0.3, 0.1, 1e-2, 1e-4, 1e-6)

Points = Iterable[tuple[float, Any]]


@dataclass(frozen=True)
class _Reading:
    """One way to read a claim: what is measured on a pair of laws, and what the claim allows."""

    kind: str
    claimed: float
    measure: Callable[[LogMasses, LogMasses], Points]

    def broken_by(self, found: float) -> bool:
        dust = _DUST if self.kind == "delta" else 0.0
        return found > self.claimed * (1 + _TOLERANCE) + dust


def audit_exactly(registration: Registration) -> Finding:
    """Audit one registered claim over all of its neighbouring inputs, in every reading it has.

    The finding is a violation if any reading is exceeded; otherwise it is about the unit of the claim itself.
    """
    first: Finding | None = None
    laws = [tuple(registration.log_masses(value) for value in pair) for pair in registration.neighbours]
    for reading in _readings(registration.claim):
        finding = _find(registration, reading, laws)
        if finding.verdict is Verdict.VIOLATION:
            return finding
        first = first or finding
    assert first is not None
    return first


def _find(registration: Registration, reading: _Reading, laws: list[tuple[LogMasses, ...]]) -> Finding:
    pairs = zip(registration.neighbours, laws, strict=True)
    found, witness = max((_worst(reading, pair, law) for pair, law in pairs), key=lambda worst: worst[0])
    verdict = Verdict.VIOLATION if reading.broken_by(found) else Verdict.NOTHING_FOUND
    return Finding(
        registration.name, registration.adjacency, reading.kind, reading.claimed, found, witness, verdict
    )


def _worst(reading: _Reading, pair: tuple[Any, Any], law: tuple[LogMasses, ...]) -> tuple[float, Witness]:
    loss, at = max(reading.measure(*law), key=lambda point: point[0])
    return loss, Witness(pair, at)


def _readings(claim: Loss) -> Iterator[_Reading]:
    event = claim.event
    if event.delta == 0:
        if event.epsilon is not None:
            yield _Reading("epsilon", float(event.epsilon), _log_ratios)
        yield _Reading("rho", float(event.rho), _renyi_slopes)
    elif event.epsilon is not None:
        yield _Reading("delta", float(event.delta), _hockey_sticks(float(event.epsilon)))
    for epsilon in sorted({claim.epsilon(delta) for delta in _DELTAS}):
        if math.isfinite(epsilon):
            yield _Reading("delta", claim.delta(epsilon), _hockey_sticks(epsilon))


def _log_ratios(p: LogMasses, q: LogMasses) -> Points:
    """Yield the loss of each output; an output that only one side has loses everything."""
    alone = p.keys() ^ q.keys()
    if sum(_mass(p, output) + _mass(q, output) for output in alone) > _OUTSIDE:
        yield math.inf, next(iter(alone))
    for output in p.keys() & q.keys():
        yield _difference(p[output], q[output]), output


def _mass(masses: LogMasses, output: Any) -> float:
    return math.exp(masses[output]) if output in masses else 0.0


def _difference(one: float, other: float) -> float:
    return 0.0 if one == other else abs(one - other)


def _renyi_slopes(p: LogMasses, q: LogMasses) -> Points:
    """Yield D_a(p||q) / a for several orders a, in both directions."""
    for a in _ORDERS:
        yield renyi(p, q, a) / a, a
        yield renyi(q, p, a) / a, a


def _hockey_sticks(epsilon: float) -> Callable[[LogMasses, LogMasses], Points]:
    return lambda p, q: ((hockey_stick(p, q, epsilon), epsilon), (hockey_stick(q, p, epsilon), epsilon))


def renyi(p: LogMasses, q: LogMasses, order: float) -> float:
    """Return the Rényi divergence of an order above 1 between two laws given by log-masses."""
    if sum(_mass(p, output) for output in p.keys() - q.keys()) > _OUTSIDE:
        return math.inf
    terms = [order * p[output] + (1 - order) * q[output] for output in p.keys() & q.keys()]
    largest = max(terms)
    total = math.fsum(math.exp(term - largest) for term in terms)
    return (largest + math.log(total)) / (order - 1)


def hockey_stick(p: LogMasses, q: LogMasses, epsilon: float) -> float:
    """Return the least delta for which p and q are (epsilon, delta)-close, in that direction.

    Example:
        >>> p, q = {0: math.log(0.75), 1: math.log(0.25)}, {0: math.log(0.25), 1: math.log(0.75)}
        >>> round(hockey_stick(p, q, math.log(2)), 12)
        0.25
    """
    others = {output: math.exp(epsilon + mass) for output, mass in q.items()}
    return math.fsum(max(0.0, math.exp(mass) - others.get(output, 0.0)) for output, mass in p.items())
