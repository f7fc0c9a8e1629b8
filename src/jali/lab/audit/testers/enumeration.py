"""Exact enumeration: compute the loss where the probabilities of all outputs are known, without sampling.

Statement:
    Let neighbours have output masses p and q. Epsilon-DP means max |ln p(o)/q(o)| <= epsilon; rho-zCDP means
    D_a(p||q) <= rho a for every order a > 1; and a loss with profile delta(epsilon) means
    sum (p - e^epsilon q)_+ <= delta(epsilon) for every epsilon. The first is a maximum over outputs. The largest
    D_a / a over all orders is searched by `renyi_order`. Profiles are compared on a grid of 50 epsilons up to the
    largest ln p(o)/q(o), at up to 50 of those at which the left side has its corners, and, where an output has no
    such limit, at the epsilons of a dense grid of deltas.

Masses are doubles, and an infinite law is given on a window. So a loss counts as exceeded only by more than a
relative 1e-9, and a delta is that beside an epsilon larger by 1e-9; of a delta 1e-11 is taken off, which is what
such sums and windows may be wrong by; and outputs that one neighbour alone has count for epsilon and rho if they
have a larger mass than that together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.finding import Finding, Progress, Tester, Verdict, Witness, silent
from jali.lab.audit.renyi_order import find_steepest
from jali.lab.audit.subject import Effort, Pair, Subject
from jali.mechanisms.base import LogMasses
from jali.privacy import Adjacency, Loss

_TOLERANCE = 1e-9
# Masses are sums and differences of doubles, and outputs beyond the window of an infinite law are less likely than
# this, all together: nothing is compared any finer.
_DUST = 1e-11
# Where a profile is read: at so many epsilons up to the largest loss, and so many corners of the hockey stick; and
# at the epsilons of these deltas where an output has no limit to its loss.
_DELTAS = (0.3, 0.1, *(digit * 10.0**-place for place in range(2, 11) for digit in (5, 2, 1)))
_MOST_MARKS = 50

Points = Iterable[tuple[float, Any]]


class StatedClaim(Protocol):
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
class NeighbourLaws:
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
    def of(cls, p: LogMasses, q: LogMasses) -> NeighbourLaws:
        """Put two laws side by side."""
        outputs = (*p, *(output for output in q if output not in p))
        return cls(outputs, *(np.array([law.get(one, -math.inf) for one in outputs]) for law in (p, q)))

    @property
    def opposite(self) -> NeighbourLaws:
        """The same in the other direction."""
        return NeighbourLaws(self.outputs, self.q, self.p)

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which outputs only the first input has."""
        return np.isneginf(self.q) & ~np.isneginf(self.p)

    def misses_outputs(self) -> bool:
        """Return whether the second input misses outputs of the first one that have a mass worth speaking of."""
        return float(np.exp(self.p[self.alone]).sum()) > _DUST

    def profile(self, epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sum (p - e^epsilon q)_+ for each epsilon, all from one order of the ratios."""
        with np.errstate(invalid="ignore"):
            ratios = np.where(self.alone, math.inf, np.where(np.isneginf(self.p), -math.inf, self.p - self.q))
        order = np.argsort(-ratios, kind="stable")
        above = np.searchsorted(-ratios[order], -epsilons)
        p, q = (np.concatenate([[0.0], np.cumsum(np.exp(law[order]))]) for law in (self.p, self.q))
        with np.errstate(over="ignore"):
            lost = np.where(q[above] > 0, np.exp(epsilons) * q[above], 0.0)
        return np.asarray(np.maximum(0.0, p[above] - lost))

    def log_ratios(self) -> NDArray[np.float64]:
        """Return ln p/q; 0 where either is missing."""
        both = np.isfinite(self.p) & np.isfinite(self.q)
        return np.subtract(self.p, self.q, out=np.zeros(len(self.p)), where=both)


@dataclass(frozen=True)
class _ExactReading:
    """One way to read a claim: what is measured on a pair of laws, and what the claim allows."""

    kind: str
    claimed: float
    measure: Callable[[NeighbourLaws], Points]

    def is_exceeded_by(self, found: float) -> bool:
        return found > self.claimed * (1 + _TOLERANCE)


def audit_exactly(registration: StatedClaim) -> Finding:
    """Audit one registered claim over all of its neighbouring inputs, in every reading it has.

    The finding is a violation if any reading is exceeded; otherwise it is about the unit of the claim itself.
    """
    first: Finding | None = None
    laws = [NeighbourLaws.of(*map(registration.log_masses, pair)) for pair in registration.neighbours]
    for reading in _list_readings(registration.claim, laws):
        finding = _find_worst_pair(registration, reading, laws)
        if finding.verdict is Verdict.VIOLATION:
            return finding
        first = first or finding
    assert first is not None
    return first


def _find_worst_pair(registration: StatedClaim, reading: _ExactReading, laws: list[NeighbourLaws]) -> Finding:
    pairs = zip(registration.neighbours, laws, strict=True)
    found, witness = max(
        (_find_worst_output(reading, pair, law) for pair, law in pairs), key=lambda worst: worst[0]
    )
    verdict = Verdict.VIOLATION if reading.is_exceeded_by(found) else Verdict.NOTHING_FOUND
    return Finding(
        registration.name, registration.adjacency, reading.kind, reading.claimed, found, witness, verdict
    )


def _find_worst_output(
    reading: _ExactReading, pair: tuple[Any, Any], laws: NeighbourLaws
) -> tuple[float, Witness]:
    loss, at = max(reading.measure(laws), key=lambda point: point[0])
    return loss, Witness(pair, at)


def _list_readings(claim: Loss, laws: list[NeighbourLaws]) -> Iterator[_ExactReading]:
    event = claim.event
    if event.delta == 0:
        if event.epsilon is not None:
            yield _ExactReading("epsilon", float(event.epsilon), _measure_largest_ratio)
        yield _ExactReading("rho", float(event.rho), _measure_renyi_slopes)
    elif event.epsilon is not None:
        yield _ExactReading("delta", float(event.delta), _measure_hockey_sticks(float(event.epsilon)))
    yield from _read_profile(claim, laws)


def _read_profile(claim: Loss, laws: list[NeighbourLaws]) -> Iterator[_ExactReading]:
    """Yield the claim at the epsilon at which its profile is exceeded most, or comes nearest to it."""
    epsilons = np.array(sorted({*_list_epsilons(claim, laws), *_list_corners(laws)}))
    both = [one for law in laws for one in (law, law.opposite)]
    found = np.max([one.profile(epsilons + _TOLERANCE) for one in both], axis=0)
    # Elsewhere there is nothing to allow, and a profile may take long to compute.
    epsilons, found = epsilons[found > _DUST], found[found > _DUST]
    if not len(epsilons):
        return
    allowed = np.array([claim.delta(epsilon) for epsilon in epsilons.tolist()])
    place = int(np.argmax((found - _DUST) / np.maximum(allowed, _DUST)))
    yield _ExactReading("delta", float(allowed[place]), _measure_hockey_sticks(float(epsilons[place])))


def _list_epsilons(claim: Loss, laws: list[NeighbourLaws]) -> list[float]:
    """Return a grid of epsilons up to the largest loss; if that has no limit, those of many deltas too."""
    largest = max(float(np.abs(one.log_ratios()).max(initial=0.0)) for one in laws)
    grid: list[float] = np.linspace(0.0, largest, _MOST_MARKS).tolist()
    if any(one.misses_outputs() or one.opposite.misses_outputs() for one in laws):
        grid += [epsilon for epsilon in map(claim.epsilon, _DELTAS) if math.isfinite(epsilon)]
    return grid


def _list_corners(laws: list[NeighbourLaws]) -> list[float]:
    """Return the logarithms of ratios, between which the hockey stick is linear in e^epsilon; some of many."""
    ratios = np.unique(np.abs(np.concatenate([one.log_ratios() for one in laws])))
    some: list[float] = ratios[:: 1 + len(ratios) // _MOST_MARKS].tolist()
    return some


def _measure_largest_ratio(laws: NeighbourLaws) -> Points:
    """Yield the output that loses most; one that only one side has loses everything."""
    for one in (laws, laws.opposite):
        if one.misses_outputs():
            yield math.inf, laws.outputs[int(np.argmax(one.alone))]
    losses = np.abs(laws.log_ratios())
    worst = int(np.argmax(losses))
    yield float(losses[worst]), laws.outputs[worst]


def _measure_renyi_slopes(laws: NeighbourLaws) -> Points:
    """Yield the largest D_a(p||q) / a over all orders a, in both directions."""
    for one in (laws, laws.opposite):
        yield (math.inf, 1.0) if one.misses_outputs() else find_steepest(one.p, one.q)


def _measure_hockey_sticks(epsilon: float) -> Callable[[NeighbourLaws], Points]:
    """Return what measures the delta beside an epsilon, less what rounding may have added to it."""

    def measure(laws: NeighbourLaws) -> Points:
        for one in (laws, laws.opposite):
            yield max(0.0, _compute_excess(one, epsilon + _TOLERANCE) - _DUST), epsilon

    return measure


def renyi(p: LogMasses, q: LogMasses, order: float) -> float:
    """Return the Rényi divergence of an order above 1 between two laws given by log-masses."""
    return _compute_divergence(NeighbourLaws.of(p, q), order)


def _compute_divergence(laws: NeighbourLaws, order: float) -> float:
    if laws.misses_outputs():
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
    return _compute_excess(NeighbourLaws.of(p, q), epsilon)


def _compute_excess(laws: NeighbourLaws, epsilon: float) -> float:
    with np.errstate(over="ignore"):  # more than any mass
        return float(np.maximum(0.0, np.exp(laws.p) - np.exp(laws.q + epsilon)).sum())


@dataclass(frozen=True)
class _SubjectClaim:
    """A subject as the exact audit takes it."""

    name: str
    claim: Loss
    adjacency: Adjacency
    neighbours: tuple[Pair, ...]
    log_masses: Callable[[Any], LogMasses]


class Enumeration(Tester):
    """Computes the loss of a subject that knows its exact law, over all of its neighbours, without sampling.

    Statement:
        docs/proofs/auditing.md: every reading of the claim, to a relative 1e-9.
    """

    name: ClassVar[str] = "exact"

    def applies(self, subject: Subject) -> bool:
        """Return whether the law of the subject is known, and a pair of neighbours."""
        return subject.log_masses is not None and bool(subject.pairs)

    def audit(self, subject: Subject, effort: Effort, progress: Progress = silent) -> Finding:  # noqa: ARG002
        """Compute; the effort plays no part, as nothing is drawn."""
        law = require_law(subject)
        progress(f"enumerating the outputs of {len(subject.pairs)} pairs")
        stated = _SubjectClaim(subject.name, subject.claim, subject.adjacency, subject.pairs, law)
        tried = f"all outputs of {len(subject.pairs)} pairs, by their exact probabilities"
        return replace(audit_exactly(stated), tester=self.name, tried=tried)


def require_law(subject: Subject) -> Callable[[Any], LogMasses]:
    """Return the exact law of a subject, or refuse one that has none."""
    if subject.log_masses is None:
        raise CatalogError("audited-without-law", subject=subject.name)
    return subject.log_masses
