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

A bound of a probability may also hold at every look, so that the audit may stop when it likes, and looking often
costs nothing:

Statement:
    Let X_1, X_2, ... be independent and 1 with probability x, let c of the first n be 1, and let W be a law on
    (0, 1) that was chosen before. Then the wealth

        M_n(x) = integral of (w/x)^c ((1-w)/(1-x))^(n-c) dW(w)

    is at or above 1/level at any n, ever, with probability at most `level`.

Proof:
    (w/x)^X ((1-w)/(1-x))^(1-X) is what a unit becomes that is bet on the next X at fair odds: its mean is 1. So
    the products are martingales for every w, and so is their mixture; it starts at 1 and is never negative, so
    it reaches 1/level with probability at most `level` (Ville 1939). Mixtures of bets are those of Robbins 1970
    and Waudby-Smith and Ramdas 2023. Below c/n, M_n(x) falls as x grows; so the x that it rejects there are all
    those up to a bound, and the true x is below that bound with probability at most `level`, whatever the looks.

The wealth depends on the counts alone, so outputs may come in blocks. W is the beta law that an earlier, separate
sample teaches: if that was right, M grows about as fast as any bet on the truth could, and the price of many looks
is ln(1 + n/n_0)/2, where n_0 is the size of the earlier sample. If it was wrong, the bound is weak but true.
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
from jali.local.binomial import clopper_pearson
from jali.mechanisms.base import read_miss_probability
from jali.privacy import Approximate, Concentrated, Loss, Pure

# Newton's steps converge from below; the last digits do not matter, the side does.
_STEPS = 100
_CLOSE = 1e-13


def bound_probability(count: int, total: int, level: float, before: tuple[int, int] = (0, 0)) -> float:
    """Return a lower bound on a probability, from `count` of `total`, that holds at all looks together.

    Args:
        count: How often it occurred so far.
        total: In how many runs.
        level: The probability with which any of the bounds is above the truth.
        before: How often it occurred, and in how many runs, in an earlier sample that is not among these.

    Example:
        >>> round(bound_probability(600, 1000, 0.01, before=(60, 100)), 3)
        0.547
    """
    if count == 0:
        return 0.0
    rest, wealth = total - count, log_mixture(count, total, before) + math.log(level)
    return _find_root(count, rest, wealth)


def log_mixture(count: int, total: int, before: tuple[int, int] = (0, 0)) -> float:
    """Return ln of the integral of w^c (1-w)^(n-c) under the beta law that an earlier sample teaches.

    Example:
        >>> round(math.exp(log_mixture(1, 1)), 12), round(math.exp(log_mixture(1, 2)), 12)
        (0.5, 0.125)
    """
    a, b = before[0] + 0.5, before[1] - before[0] + 0.5
    return _log_beta(a + count, b + total - count) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _find_root(count: int, rest: int, target: float) -> float:
    """Return the x below count/(count + rest) at which count ln x + rest ln(1-x) is `target`; 0 if there is none.

    In y = ln x it is a concave function that rises up to its maximum, and Newton's method on such a function stays
    on the left of the root after its first step: the safe side.
    """
    top = math.log(count / (count + rest))
    if not rest:
        return math.exp(min(0.0, target / count))
    # The second term is at most 0, so the root is at or above this; and it is below the maximum.
    y = min(target / count, top)
    for _ in range(_STEPS):
        x = math.exp(y)
        value, slope = count * y + rest * math.log1p(-x), count - rest * x / (1 - x)
        step = (target - value) / slope if slope > 0 else 0.0
        y += step
        if abs(step) < _CLOSE:
            break
    return math.exp(min(y, top)) * (1 - 1e-11)


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

    With the counts of an earlier, separate sample, the bound holds at all looks (see `loss_bounds`).

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
    """Return how many times the loss of neighbours inputs may lose that are this many neighbours apart."""
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
        return bound_probability(count, total, level, seen)
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
