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
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.audit.finding import Finding, Verdict, Witness
from jali.mechanisms.mechanism import LogMasses
from jali.privacy import Adjacency, Loss

_TOLERANCE = 1e-9
# Masses are sums and differences of doubles; a delta is compared no finer than this.
_DUST = 1e-12
# Outputs beyond the window of an infinite law: all of them together are less likely than this.
_OUTSIDE = 1e-11
_ORDERS = (1.01, 1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
_DELTAS = (0.3, 0.1, 1e-2, 1e-4, 1e-6)

Points = Iterable[tuple[float, Any]]


class Stated(Protocol):
    """A claim about neighbours whose laws are known, such as a `Registration`."""

    @property
    def name(self) -> str:
        """What a report calls it."""

    @property
    def claim(self) -> Loss:
        """The loss that is claimed."""

    @property
    def adjacency(self) -> Adjacency:
        """The adjacency in which the claim is meant."""

    @property
    def neighbours(self) -> tuple[tuple[Any, Any], ...]:
        """Pairs of inputs."""

    @property
    def log_masses(self) -> Callable[[Any], LogMasses]:
        """The logarithms of the exact output probabilities for an input."""


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws of two neighbours over the same outputs.

    Attributes:
        outputs: All outputs that either has.
        p: The logarithms of their masses under the first input; minus infinity where it has none.
        q: The same under the second one.
    """

    outputs: tuple[Any, ...]
    p: NDArray[np.float64]
    q: NDArray[np.float64]

    @classmethod
    def of(cls, p: LogMasses, q: LogMasses) -> Laws:
        """Put two laws side by side."""
        outputs = (*p, *(output for output in q if output not in p))
        return cls(outputs, *(np.array([law.get(one, -math.inf) for one in outputs]) for law in (p, q)))

    @property
    def swapped(self) -> Laws:
        """The same in the other direction."""
        return Laws(self.outputs, self.q, self.p)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which outputs only the first input has."""
        return np.isneginf(self.q) & ~np.isneginf(self.p)

    def left_out(self) -> bool:
        """Return whether the second input misses outputs of the first one that have a mass worth speaking of."""
        return float(np.exp(self.p[self.alone]).sum()) > _OUTSIDE

    def log_ratios(self) -> NDArray[np.float64]:
        """Return ln p/q; 0 where either is missing."""
        both = np.isfinite(self.p) & np.isfinite(self.q)
        return np.subtract(self.p, self.q, out=np.zeros(len(self.p)), where=both)


@dataclass(frozen=True)
class _Reading:
    """One way to read a claim: what is measured on a pair of laws, and what the claim allows."""

    kind: str
    claimed: float
    measure: Callable[[Laws], Points]

    def broken_by(self, found: float) -> bool:
        dust = _DUST if self.kind == "delta" else 0.0
        return found > self.claimed * (1 + _TOLERANCE) + dust


def audit_exactly(registration: Stated) -> Finding:
    """Audit one registered claim over all of its neighbouring inputs, in every reading it has.

    The finding is a violation if any reading is exceeded; otherwise it is about the unit of the claim itself.
    """
    first: Finding | None = None
    laws = [Laws.of(*map(registration.log_masses, pair)) for pair in registration.neighbours]
    for reading in _readings(registration.claim):
        finding = _find(registration, reading, laws)
        if finding.verdict is Verdict.VIOLATION:
            return finding
        first = first or finding
    assert first is not None
    return first


def _find(registration: Stated, reading: _Reading, laws: list[Laws]) -> Finding:
    pairs = zip(registration.neighbours, laws, strict=True)
    found, witness = max((_worst(reading, pair, law) for pair, law in pairs), key=lambda worst: worst[0])
    verdict = Verdict.VIOLATION if reading.broken_by(found) else Verdict.NOTHING_FOUND
    return Finding(
        registration.name, registration.adjacency, reading.kind, reading.claimed, found, witness, verdict
    )


def _worst(reading: _Reading, pair: tuple[Any, Any], laws: Laws) -> tuple[float, Witness]:
    loss, at = max(reading.measure(laws), key=lambda point: point[0])
    return loss, Witness(pair, at)


def _readings(claim: Loss) -> Iterator[_Reading]:
    event = claim.event
    if event.delta == 0:
        if event.epsilon is not None:
            yield _Reading("epsilon", float(event.epsilon), _largest_ratio)
        yield _Reading("rho", float(event.rho), _renyi_slopes)
    elif event.epsilon is not None:
        yield _Reading("delta", float(event.delta), _hockey_sticks(float(event.epsilon)))
    for epsilon in sorted({claim.epsilon(delta) for delta in _DELTAS}):
        if math.isfinite(epsilon):
            yield _Reading("delta", claim.delta(epsilon), _hockey_sticks(epsilon))


def _largest_ratio(laws: Laws) -> Points:
    """Yield the output that loses most; one that only one side has loses everything."""
    for one in (laws, laws.swapped):
        if one.left_out():
            yield math.inf, laws.outputs[int(np.argmax(one.alone))]
    losses = np.abs(laws.log_ratios())
    worst = int(np.argmax(losses))
    yield float(losses[worst]), laws.outputs[worst]


def _renyi_slopes(laws: Laws) -> Points:
    """Yield D_a(p||q) / a for several orders a, in both directions."""
    for one in (laws, laws.swapped):
        for a in _ORDERS:
            yield _divergence(one, a) / a, a


def _hockey_sticks(epsilon: float) -> Callable[[Laws], Points]:
    return lambda laws: ((_excess(one, epsilon), epsilon) for one in (laws, laws.swapped))


def renyi(p: LogMasses, q: LogMasses, order: float) -> float:
    """Return the Rényi divergence of an order above 1 between two laws given by log-masses."""
    return _divergence(Laws.of(p, q), order)


def _divergence(laws: Laws, order: float) -> float:
    if laws.left_out():
        return math.inf
    both = np.isfinite(laws.p) & np.isfinite(laws.q)
    terms = order * laws.p[both] + (1 - order) * laws.q[both]
    largest = float(terms.max())
    return (largest + math.log(float(np.exp(terms - largest).sum()))) / (order - 1)


def hockey_stick(p: LogMasses, q: LogMasses, epsilon: float) -> float:
    """Return the least delta for which p and q are (epsilon, delta)-close, in that direction.

    Example:
        >>> p, q = {0: math.log(0.75), 1: math.log(0.25)}, {0: math.log(0.25), 1: math.log(0.75)}
        >>> round(hockey_stick(p, q, math.log(2)), 12)
        0.25
    """
    return _excess(Laws.of(p, q), epsilon)


def _excess(laws: Laws, epsilon: float) -> float:
    with np.errstate(over="ignore"):  # more than any mass
        return float(np.maximum(0.0, np.exp(laws.p) - np.exp(laws.q + epsilon)).sum())
