"""Bound a privacy loss from how often an event occurred under two inputs.

Statement:
    Let an event have probability p under one input and q under its neighbour. A claim allows some pairs (p, q)
    only: epsilon with delta those with p <= e^epsilon q + delta; rho-zCDP those with D_a(p||q) <= rho a for every
    order a > 1, where D_a is the Rényi divergence of two coins (data processing; van Erven and Harremoës 2014,
    Theorem 9). If bounds p >= P, q <= Q and p >= K q hold together, the pair that is easiest to allow is
    (P, min(Q, P/K)): what the claim must be to allow it is a lower bound on the true loss.

Proof:
    Every allowed set holds (0, 0), is convex (D_a is jointly quasi-convex; van Erven and Harremoës 2014,
    Theorem 13), and with (p, q), p >= q, holds all pairs between p and q. So with (p, q) it holds (p s, q s) for
    s < 1, and of the pairs with p >= P, q <= min(Q, p/K) the corner is allowed if any is.

Inputs may be several neighbours apart. With n steps between them they lose at most n epsilon (Dwork and Roth 2014,
Theorem 2.2), or n^2 rho (Bun and Steinke 2016, Proposition 1.9). So what such a pair shows is divided by that; and
so is its statistical error, which is why far pairs often prove more.

P and Q are Clopper and Pearson's. K needs runs that were shared out between the inputs by fair coins: then an
output in the event came from the first input with probability p/(p+q), whatever the others did, and how many of
all hits are the first input's is binomial. That bound is much tighter than P/Q, and all that delta 0 needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit import sequential_bounds
from jali.local.binomial import clopper_pearson
from jali.mechanisms.base import read_miss_probability
from jali.privacy import Approximate, Concentrated, Loss, Pure

Floats: TypeAlias = NDArray[np.float64]

# The shares of the error that P, Q and K get where all three matter: K decides, the others rarely do.
_SHARE = 0.1
# Where a profile is read that is no single point.
_DELTAS = (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
# From 1, which stands for the Kullback-Leibler divergence, upwards.
_ORDERS = np.concatenate([[1.0], 1 + np.geomspace(0.03, 1000, 96)])
_DUST = 1e-300
_ROUNDING = 1e-12


@dataclass(frozen=True)
class EventCounts:
    """How often an event occurred under two inputs.

    Attributes:
        hits: How often, under the first and the second input.
        runs: In how many runs of each.
        shared: Whether fair coins decided, independently of everything else, which input each run was of.
        steps: How many neighbours the inputs are apart.
    """

    hits: tuple[int, int]
    runs: tuple[int, int]
    shared: bool = False
    steps: int = 1

    def __add__(self, other: EventCounts) -> EventCounts:
        hits, more = self.hits, other.hits
        runs = (self.runs[0] + other.runs[0], self.runs[1] + other.runs[1])
        return replace(
            self, hits=(hits[0] + more[0], hits[1] + more[1]), runs=runs, shared=self.shared and other.shared
        )


@dataclass(frozen=True)
class ClaimReading:
    """One way to read a claim.

    Attributes:
        kind: `epsilon` or `rho`.
        claimed: What is claimed in that unit.
        delta: The delta beside an epsilon.
        measure: What the claim must be at least to allow rates p and q, of which p is the larger, as arrays.
    """

    kind: str
    claimed: float
    delta: float
    measure: Callable[[Any, Any], Floats]


@dataclass(frozen=True)
class LossBound:
    """A loss that is proved, in the unit of the claim; 0 where nothing is.

    Attributes:
        reading: How the claim was read.
        found: The lower bound.
    """

    reading: ClaimReading
    found: float

    @property
    def is_violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.found > self.reading.claimed * (1 + _ROUNDING)

    @property
    def margin(self) -> float:
        """How far it is above the claim."""
        return self.found - self.reading.claimed


def prove_bound(
    counts: EventCounts, claim: Loss, confidence: float | Fraction, before: EventCounts | None = None
) -> LossBound:
    """Return the loss that counts prove, in the reading of the claim that is nearest to a violation.

    With the counts of an earlier, separate sample, the bound holds at all looks (see `sequential_bounds`).

    Example:
        >>> counts = EventCounts(hits=(5000, 3000), runs=(10_000, 10_000), shared=True)
        >>> bound = prove_bound(counts, Pure(0.1), 0.99)
        >>> round(bound.found, 3), bound.is_violated  # ln(5/3) is 0.511
        (0.457, True)
    """
    level = read_miss_probability(confidence)
    alone = counts.shared and isinstance(claim, Pure)
    p, q = _bound_ratio(counts, level, before) if alone else _bound_corner(counts, level, before)
    return _choose_reading(claim, p, q, counts.steps)


def estimate_bound(counts: EventCounts, claim: Loss) -> LossBound:
    """Return the loss that the observed rates would prove if they were the true ones."""
    (a, b), (m, n) = counts.hits, counts.runs
    return _choose_reading(claim, a / m, b / n, counts.steps)


def is_refuted(counts: EventCounts, claim: Loss, confidence: float | Fraction) -> bool:
    """Return whether counts refute a claim."""
    return prove_bound(counts, claim, confidence).is_violated


def _choose_reading(claim: Loss, p: float, q: float, steps: int) -> LossBound:
    growth = group_growth(claim, steps)
    found = (LossBound(one, max(0.0, float(one.measure(p, q)) / growth)) for one in list_readings(claim))
    return max(found, key=lambda bound: bound.margin)


def group_growth(claim: Loss, steps: int) -> int:
    """Return how many times the loss of neighbours inputs may lose that are so many neighbours apart."""
    if steps == 1:
        return 1
    if not grows(claim):
        raise CatalogError("claim-unlike-distance", steps=steps, claim=type(claim).__name__)
    return steps**2 if isinstance(claim, Concentrated) else steps


def grows(claim: Loss) -> bool:
    """Return whether a claim about neighbours is one about inputs further apart, by a constant factor."""
    return isinstance(claim, Pure | Concentrated)


def _bound_ratio(counts: EventCounts, level: float, before: EventCounts | None) -> tuple[float, float]:
    """Return rates in the least ratio that is proved; their size is left open."""
    (a, b) = counts.hits
    seen = None if before is None else (before.hits[0], sum(before.hits))
    first = _bound_rate(a, a + b, level, seen)
    return first, 1 - first


def _bound_corner(counts: EventCounts, level: float, before: EventCounts | None) -> tuple[float, float]:
    """Return the least first rate and, beside it, the largest second one."""
    (a, b), (m, n) = counts.hits, counts.runs
    share = _SHARE if counts.shared else 0.5
    first, second = (None, None) if before is None else _count_outcomes(before)
    p = _bound_rate(a, m, level * share, first)
    q = 1 - _bound_rate(n - b, n, level * share, second)
    if counts.shared:
        one, other = _bound_ratio(counts, level * (1 - 2 * share), before)
        q = min(q, p * other / one) if one > 0 else q
    return p, q


def _count_outcomes(before: EventCounts) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how often the event occurred under the first input, and how often not under the second one."""
    (a, b), (m, n) = before.hits, before.runs
    return (a, m), (n - b, n)


def _bound_rate(count: int, total: int, level: float, seen: tuple[int, int] | None) -> float:
    if total == 0:
        return 0.0
    if seen is not None:
        return sequential_bounds.bound_probability(count, total, level, seen)
    return float(clopper_pearson([count], total, 1 - 2 * level)[0][0])


@lru_cache(maxsize=64)
def list_readings(claim: Loss) -> tuple[ClaimReading, ...]:
    """Return the ways to read a claim: an epsilon, a rho, or the epsilons of a profile at several deltas."""
    if isinstance(claim, Pure):
        return (_read_epsilon(float(claim.bound), 0.0),)
    if isinstance(claim, Approximate):
        return (_read_epsilon(float(claim.bound), float(claim.event.delta)),)
    if isinstance(claim, Concentrated):
        return (ClaimReading("rho", float(claim.bound), 0.0, _measure_rho),)
    points = ((claim.epsilon(delta), delta) for delta in _DELTAS)
    some = tuple(_read_epsilon(epsilon, delta) for epsilon, delta in points if 0 < epsilon < math.inf)
    return some or (_read_epsilon(math.inf, 0.0),)


def _read_epsilon(claimed: float, delta: float) -> ClaimReading:
    return ClaimReading(
        "epsilon", claimed, delta, lambda p, q: _measure_log_ratio(np.asarray(p) - delta, np.asarray(q))
    )


def _measure_log_ratio(p: Floats, q: Floats) -> Floats:
    return np.log(np.maximum(p, _DUST)) - np.log(np.maximum(q, _DUST))


def _measure_rho(p: Any, q: Any) -> Floats:
    """Return the largest D_a / a of two coins over the orders, in both directions."""
    one, other = np.asarray(p, np.float64)[..., None], np.asarray(q, np.float64)[..., None]
    with np.errstate(all="ignore"):
        slopes = np.fmax(_measure_renyi(one, other), _measure_renyi(other, one)) / _ORDERS
        return np.asarray(np.where(np.asarray(p) > np.asarray(q), np.fmax.reduce(slopes, axis=-1), 0.0))


def _measure_renyi(p: Floats, q: Floats) -> Floats:
    """Return the Rényi divergences of two coins; where a rate is 0 or 1, the limit or a smaller number."""
    p, q = np.clip(p, _DUST, 1 - 1e-16), np.clip(q, _DUST, 1 - 1e-16)
    heads, tails = np.log(p) - np.log(q), np.log1p(-p) - np.log1p(-q)
    over = _ORDERS - 1
    powers = np.logaddexp(np.log(p) + over * heads, np.log1p(-p) + over * tails) / np.where(over > 0, over, 1.0)
    return np.asarray(np.where(over > 0, powers, p * heads + (1 - p) * tails))
