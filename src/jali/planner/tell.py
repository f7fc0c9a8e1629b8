"""How the groups that are shown are chosen: by coins, or together with the count of their people.

Statement:
    Where the question asks for the number of people of each group, which the choice looks at too, one noisy count
    tells both: the keys whose count reaches a threshold, and that count, for the loss of one count. Otherwise the
    best coins choose the keys, and all measures have losses of their own.
    Let `changes` be the number of people's sets of kept groups that one unit changes, g the most that a set has.
    Where it is 1, at most g counts move by 1; where it is 2, at most g rise and g fall by 1. Where it is 4, two
    people change their sets, and a count may move by 2: coins of e' and d' for one step are 2 e' and
    (1 + exp(e')) d' apart over two, so that 2g keys of two steps spend 4g e' and at most 2g (1 + exp(e')) d'.
    There, delta is lowered by this factor, and no threshold is used, which counts on steps of one.
Proof:
    docs/proofs/unknown_keys.md, Theorems 1 to 3 and Corollary 2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from jali.mechanisms.keys.gaussian_threshold import GaussianThreshold
from jali.mechanisms.keys.laplace_threshold import LaplaceThreshold
from jali.mechanisms.keys.optimal_keys import OptimalKeys
from jali.noise.bounds import exp_bounds
from jali.privacy import Adjacency, Event, Loss, Pure
from jali.query.aggregation import Aggregation, CountPeople, CountRows, Measure, Weights

Threshold: TypeAlias = LaplaceThreshold | GaussianThreshold
Selection: TypeAlias = OptimalKeys | Threshold
# Bits of exp(e') beyond its whole part.
_PRECISION = 64
_CONFIDENCE = 0.95


def told_place(measures: tuple[Measure, ...], weights: Weights | None, changes: int) -> int | None:
    """Return which measure is the number of people behind a group, where a threshold can tell it; else None."""
    if changes > 2:
        return None
    return next((i for i, measure in enumerate(measures) if _counts_people(measure, weights)), None)


def _counts_people(measure: Measure, weights: Weights | None) -> bool:
    """Say whether a measure counts every person of a group once; without weights each row is a person."""
    kinds = CountPeople if weights is not None else (CountPeople, CountRows)
    return isinstance(measure, kinds) and measure.present is None


def keys_alone(loss: Loss, delta: Fraction, weights: Weights | None, changes: int, least_people: int) -> Selection:
    """Choose the groups where no count of people is told, so that smaller ones appear.

    For epsilon these are the coins, by their theorem. For rho coins get epsilon = sqrt(2 rho), while the noise of
    a count, which is thrown away, grows with the square root of the number of groups only.
    """
    event = loss.event
    pure = loss if event.epsilon is not None else Pure(root_below(2 * event.rho))
    by_coins = coins(pure, delta, weights, changes, least_people)
    if event.epsilon is not None or changes > 2:
        return by_coins
    by_noise = threshold(loss, delta, weights, changes, least_people)
    return by_noise if by_noise.error(_CONFIDENCE) <= by_coins.error(_CONFIDENCE) else by_coins


def root_below(value: Fraction) -> Fraction:
    """Return a rational number at most the square root."""
    scale = 1 << 64
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)


def coins(loss: Loss, delta: Fraction, weights: Weights | None, changes: int, least_people: int) -> OptimalKeys:
    """Choose the groups by coins."""
    event, most = loss.event, kept_groups(weights)
    assert event.epsilon is not None
    keys = most * max(1, changes // 2)
    if changes == 4:
        delta = _lowered(delta, event.epsilon / (2 * keys))
    return OptimalKeys(
        epsilon=event.epsilon, delta=delta, max_keys=keys, adjacency=_adjacency(changes), least_people=least_people
    )


def threshold(loss: Loss, delta: Fraction, weights: Weights | None, changes: int, least_people: int) -> Threshold:
    """Choose the groups by a noisy count that is told with them.

    The kind of noise is that of the question's other measures. At equal rho Gaussian noise, of variance m/(2 rho),
    is the better one for every number m of counts that move: Laplace noise of epsilon = sqrt(2 rho) has variance
    m^2/rho, about, and heavier tails.
    """
    event, keys, adjacency = loss.event, kept_groups(weights), _adjacency(changes)
    if event.epsilon is None:
        return GaussianThreshold(
            rho=event.rho, delta=delta, max_keys=keys, adjacency=adjacency, least_people=least_people
        )
    return LaplaceThreshold(
        epsilon=event.epsilon, delta=delta, max_keys=keys, adjacency=adjacency, least_people=least_people
    )


def kept_groups(weights: Weights | None) -> int:
    """Return in how many groups one person counts at most."""
    return 1 if weights is None else weights.max_groups


def _adjacency(changes: int) -> Adjacency:
    return Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE


def selected(selection: Selection, aggregation: Aggregation, changes: int) -> Event | None:
    """Return what choosing costs a table that changes so many sets of groups; None if it was not made for so many.

    It is computed from the noise, or the coins, and from how many counts can move.
    """
    moved = kept_groups(aggregation.weights) * changes
    made_for = selection.max_keys * (1 if selection.adjacency is Adjacency.ADD_REMOVE else 2)
    two_steps = changes > 2
    if moved > made_for or (two_steps and not isinstance(selection, OptimalKeys)):
        return None
    if isinstance(selection, GaussianThreshold):
        return Event(None, moved / (2 * selection.variance), selection.delta)
    if isinstance(selection, LaplaceThreshold):
        epsilon = moved / selection.scale
        return Event(epsilon, epsilon**2 / 2, selection.delta)
    each = selection.chances.epsilon
    delta = _raised(selection.delta, each) if two_steps else selection.delta
    return Event(moved * each, (moved * each) ** 2 / 2, delta)


def _lowered(delta: Fraction, each: Fraction) -> Fraction:
    """Return the delta of coins that come to `delta` where counts move by 2.

    With d' = 1 - (1-x)^(1/4g) for x = y/(1+y): 4g d' <= -ln(1-x) <= x/(1-x) = y, so that 2g (1 + exp(e')) d' is at
    most y (1 + exp(e'))/2, which is delta.
    """
    below = delta / _two_steps(each)
    return below / (1 + below)


def _raised(delta: Fraction, each: Fraction) -> Fraction:
    """Return what the delta of coins comes to where counts move by 2: the inverse of `_lowered`."""
    return delta / (1 - delta) * _two_steps(each)


def _two_steps(each: Fraction) -> Fraction:
    """Return (1 + exp(each))/2, rounded up."""
    precision = _PRECISION + 2 * int(each)
    return (1 + Fraction(1 << precision, exp_bounds(each, precision)[0])) / 2
