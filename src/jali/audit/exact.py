"""The exact tester: enumerates output probabilities and computes the loss, without sampling.

Statement:
    For a mechanism on neighbours with output masses p and q, epsilon-DP means max |ln p(o)/q(o)| <= epsilon,
    and rho-zCDP means D_a(p||q) <= rho a for every order a > 1. Both are computed from masses that are exact
    to a few units in the last place; a claim is refuted when it is exceeded by more than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from jali.audit.finding import Finding, Verdict, Witness
from jali.audit.registry import LogMasses, Registration

_TOLERANCE = 1e-9
_ORDERS = (1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)


def audit_exactly(registration: Registration) -> Finding:
    """Audit one registered mechanism against its claim, over all of its neighbouring inputs."""
    event = registration.claim.event
    claimed = float(event.amount)
    losses = [_worst(event.kind, registration, pair) for pair in registration.neighbours]
    found, witness = max(losses, key=lambda loss: loss[0])
    broken = found > claimed * (1 + _TOLERANCE)
    verdict = Verdict.VIOLATION if broken else Verdict.NOTHING_FOUND
    return Finding(registration.name, registration.adjacency, event.kind, claimed, found, witness, verdict)


def _worst(kind: str, registration: Registration, pair: tuple[int, int]) -> tuple[float, Witness]:
    p, q = (registration.log_masses(value) for value in pair)
    loss, at = max(_log_ratios(p, q) if kind == "epsilon" else _renyi_slopes(p, q))
    return loss, Witness(pair, at)


def _log_ratios(p: LogMasses, q: LogMasses) -> Iterable[tuple[float, float]]:
    """Yield the loss of each output; an output that only one side has loses everything."""
    for output in p.keys() | q.keys():
        both = output in p and output in q
        yield (abs(p[output] - q[output]) if both else math.inf), float(output)


def _renyi_slopes(p: LogMasses, q: LogMasses) -> Iterable[tuple[float, float]]:
    """Yield D_a(p||q) / a for several orders a, in both directions."""
    for a in _ORDERS:
        yield renyi(p, q, a) / a, a
        yield renyi(q, p, a) / a, a


def renyi(p: LogMasses, q: LogMasses, order: float) -> float:
    """Return the Rényi divergence of an order above 1 between two laws given by log-masses."""
    if not p.keys() <= q.keys():
        return math.inf
    terms = [order * mass + (1 - order) * q[output] for output, mass in p.items()]
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
