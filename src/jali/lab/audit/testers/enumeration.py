"""Exact enumeration: compute the loss where the probabilities of all outputs are known, without sampling.

Statement:
    Let neighbours have output masses p and q. Epsilon-DP means max |ln p(o)/q(o)| <= epsilon; rho-zCDP means
    D_a(p||q) <= rho a for every order a > 1; and a loss with profile delta(epsilon) means
    sum (p - e^epsilon q)_+ <= delta(epsilon) for every epsilon. The first is a maximum over outputs. The largest
    D_a / a over all orders is searched by `find_steepest`. Profiles are compared on a grid of 50 epsilons up to
    the largest ln p(o)/q(o), at up to 50 of those at which the left side has its corners, and, where an output
    has no such limit, at the epsilons of a dense grid of deltas.

Masses are doubles, and an infinite law is given on a window. So a loss counts as exceeded only by more than a
relative 1e-9, and a delta is that beside an epsilon larger by 1e-9; of a delta 1e-11 is taken off, which is what
such sums and windows may be wrong by; and outputs that one neighbour alone has count for epsilon and rho if they
have a larger mass than that together.

The Rényi order at which two laws are furthest apart, as zCDP measures it:

Statement:
    Let K(t) = ln sum p (p/q)^t, so that D_a / a = K(t) / (t (1 + t)) for a = 1 + t. K is convex and K(0) = 0. So
    between two orders K is at most its chord c + s t there, and D_a / a at most (c + s t) / (t (1 + t)), which has
    at most one maximum between them, where s t^2 + 2 c t + c = 0. And D_a is at most the largest ln p/q, so that
    no order above that over the best slope is better. Intervals of orders that could hold more than the best slope
    are halved until none could hold more by a relative 1e-3; then the order is moved to the top of its interval.
Proof:
    K is the logarithm of a moment generating function. Its chord bounds it; the derivative of (c + s t)/(t + t^2)
    has the sign of -(s t^2 + 2 c t + c), and c <= 0 <= s: K is convex with K(0) = 0, so that the chord meets the
    axis at or below 0. There is at most one positive root.

Orders begin at 1, for which D_1 is the Kullback-Leibler divergence, as D_a grows with a: up to the first order of
the grid, D_a / a is at most D of that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.subject import Effort, Finding, Pair, Progress, Subject, Tester, Verdict, Witness, silent
from jali.mechanisms.base import LogMasses
from jali.numbers.search import golden_section
from jali.privacy import Adjacency, Loss

Floats = NDArray[np.float64]

# The first order after 1, the factor between orders of the first grid, and the most halvings: an interval is then
# narrower than doubles distinguish from its bound.
_FIRST, _FACTOR, _HALVINGS = 1e-6, 2.0, 20
# Slopes that may be missed are larger by no more than this, on curves that are not the best one's neighbourhood.
_CLOSE, _STEPS = 1e-3, 40
# From here on exponentials are summed by their logarithms: no digits are lost to the 1 that they are near.
_FAR = 0.5


def find_steepest(p: Floats, q: Floats) -> tuple[float, float]:
    """Return the largest D_a(p||q) / a over all orders a, and the order, of laws given by log-masses.

    Outputs that either law lacks are left out, which makes it smaller at most.

    Example:
        >>> p, q = np.log([0.75, 0.25]), np.log([0.25, 0.75])
        >>> slope, order = find_steepest(p, q)
        >>> round(slope, 6), order  # the Kullback-Leibler divergence, ln(3)/2
        (0.549306, 1.0)
    """
    both = np.isfinite(p) & np.isfinite(q)
    p, ratios = p[both], (p - q)[both]
    largest = float(ratios.max(initial=0.0))
    best, at = _compute_kullback_leibler(p, ratios), 1.0
    if largest <= 0:
        return 0.0, at
    ends = _build_grid(p, ratios, largest, best)
    values = _compute_logarithms(p, ratios, ends)
    for _ in range(_HALVINGS):
        best = max(best, float((values / (ends * (1 + ends))).max()))
        unsure = _bound_slopes(ends, values) > best * (1 + _CLOSE)
        if not unsure.any():
            break
        ends, values = _halve(p, ratios, ends, values, unsure)
    place = int(np.argmax(values / (ends * (1 + ends))))
    low, high = float(ends[max(0, place - 1)]), float(ends[min(len(ends) - 1, place + 1)])
    return max((best, at), _search_top(p, ratios, low, high), key=lambda one: one[0])


def _search_top(p: Floats, ratios: Floats, low: float, high: float) -> tuple[float, float]:
    """Return the largest slope between two orders less 1, by sections, and its order; the ends are tried too."""

    def slope(t: float) -> tuple[float, float]:
        return float(_compute_logarithms(p, ratios, np.array([t]))[0]) / (t * (1 + t)), 1 + t

    valley = golden_section(lambda t: -slope(t)[0], low, high, steps=_STEPS)
    return max(slope(low), slope(high), slope(valley.at))


def _compute_kullback_leibler(p: Floats, ratios: Floats) -> float:
    """Return the Kullback-Leibler divergence as a sum of terms none of which is negative."""
    return float(np.sum(np.exp(p) * (ratios + np.expm1(-ratios))))


def _build_grid(p: Floats, ratios: Floats, largest: float, best: float) -> Floats:
    """Return orders less 1, up to one above which none can be better than what was seen."""
    ends = [_FIRST]
    while best * (1 + ends[-1]) < largest and math.isfinite(ends[-1]):
        ends.append(ends[-1] * _FACTOR)
        at = ends[-1]
        best = max(best, float(_compute_logarithms(p, ratios, np.array([at]))[0]) / (at * (1 + at)))
    return np.array(ends)


def _compute_logarithms(p: Floats, ratios: Floats, orders: Floats) -> Floats:
    """Return K for some orders less 1."""
    return np.array(
        [_compute_far(p, ratios, t) if t >= _FAR else _compute_near(p, ratios, t) for t in orders.tolist()]
    )


def _compute_far(p: Floats, ratios: Floats, t: float) -> float:
    terms = p + t * ratios
    top = float(terms.max())
    return max(0.0, top + math.log(float(np.exp(terms - top).sum())))


def _compute_near(p: Floats, ratios: Floats, t: float) -> float:
    """Return K for a small t, as ln(1 + sum (p (p/q)^t - p - t (p - q))): no term is negative (Bernoulli)."""
    with np.errstate(over="ignore"):
        grown = np.exp(p + np.minimum(t * ratios, 700.0))
    small = np.abs(ratios) < 1
    terms = np.exp(p) * (np.expm1(np.where(small, t * ratios, 0.0)) + t * np.expm1(np.where(small, -ratios, 0.0)))
    wide = grown - np.exp(p) - t * (np.exp(p) - np.exp(p - ratios))
    return math.log1p(float(np.maximum(0.0, np.where(small, terms, wide)).sum()))


def _bound_slopes(ends: Floats, values: Floats) -> Floats:
    """Return what D_a / a is at most between each two orders, by the chord of K."""
    low, high, first, last = ends[:-1], ends[1:], values[:-1], values[1:]
    rise = (last - first) / (high - low)
    start = np.minimum(0.0, first - rise * low)
    with np.errstate(all="ignore"):
        root = (-start + np.sqrt(np.maximum(0.0, start * start - rise * start))) / rise
    between = np.clip(np.nan_to_num(root), low, high)
    reached = [(start + rise * t) / (t * (1 + t)) for t in (low, between, high)]
    return np.asarray(np.max(reached, axis=0))


def _halve(
    p: Floats, ratios: Floats, ends: Floats, values: Floats, unsure: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return orders with new ones in the middle of intervals that may hold more."""
    middles = np.sqrt(ends[:-1] * ends[1:])[unsure]
    orders = np.concatenate([ends, middles])
    order = np.argsort(orders)
    return orders[order], np.concatenate([values, _compute_logarithms(p, ratios, middles)])[order]


_TOLERANCE = 1e-9
# Masses are sums and differences of doubles, and outputs beyond the window of an infinite law are less likely than
# this, all together: nothing is compared any finer.
_DUST = 1e-11
# Where a profile is read: at this many epsilons up to the largest loss, and corners of the hockey stick; and at
# the epsilons of these deltas where an output has no limit to its loss.
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
