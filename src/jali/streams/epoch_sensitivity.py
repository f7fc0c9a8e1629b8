"""How far one person moves the measurements of a stream of epochs, each of which has a counter of its own.

Statement:
    Let N(j) be how far a person who adds to j ticks of one epoch moves its measurements: the norm for Laplace
    noise, the squared norm for Gaussian noise. Whoever adds to k_i ticks of epoch i, k ticks in all, costs the sum
    of N_i(k_i) / D_i, where D_i is what the noise of epoch i is made for. That is at most 1 for equal epochs if D
    is the largest sum of N(k_i) over all ways to write k = k_1 + k_2 + ..., and no less would do; and for any
    epochs if N_i(j) <= D_i j/k for all j. Who is replaced counts twice, or four times where increments are signed.
Proof:
    docs/proofs/participation.md, Theorem 3.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from jali.privacy.adjacency import Adjacency
from jali.streams.counter import Counter
from jali.streams.participation import Participation

EpochDistance: TypeAlias = tuple[Fraction, Fraction]
# Up to this many ticks of one person every number of them is looked at; beyond, steps of an eighth.
_ALL = 64


def distance_for_equal_epochs(counter: Counter) -> EpochDistance:
    """Return what the noise of each of many equal epochs must be made for."""
    ticks, factors = counter.person.ticks, _factors(counter)
    if ticks > _ALL or factors is None:
        return distance_for_any_epochs(counter)
    moves = [moved for _, moved in _moves(counter)]
    norm, squared = (_best_split([moved[which] for moved in moves], ticks) for which in (0, 1))
    return norm * factors[0], squared * factors[1]


def distance_for_any_epochs(counter: Counter) -> EpochDistance:
    """Return what the noise of an epoch must be made for, whatever the other epochs are."""
    norm, squared = _largest_ratio(counter, Adjacency.ADD_REMOVE, 0)
    factors = _factors(counter)
    if factors is not None:
        return norm * factors[0], squared * factors[1]
    both = _largest_ratio(counter, Adjacency.REPLACE_ONE, 1)
    # By the triangle inequality; or by how far a person moves an epoch in which both versions are, or one.
    return min(2 * norm, 2 * max(norm, both[0])), min(4 * squared, 2 * max(squared, both[1]))


def calibrate_to(counter: Counter, distance: EpochDistance) -> Counter:
    """Return a counter with the noise that its loss asks for at a distance, which may be above its own."""
    if counter.epsilon is not None:
        return replace(counter, epsilon=counter.epsilon * counter.distance[0] / distance[0])  # type: ignore[type-var]
    return replace(counter, rho=(counter.rho or 1) * counter.distance[1] / distance[1])  # type: ignore[type-var]


def _largest_ratio(counter: Counter, adjacency: Adjacency, more: int) -> EpochDistance:
    """Return the largest of N(j) k / (j + more)."""
    fewest, rates = 1, []
    for most, moved in _moves(counter, adjacency):  # moved bounds what any number from `fewest` to `most` does
        share = Fraction(counter.person.ticks, fewest + more)
        rates.append((moved[0] * share, moved[1] * share))
        fewest = most + 1
    return max(rate[0] for rate in rates), max(rate[1] for rate in rates)


def _moves(counter: Counter, adjacency: Adjacency = Adjacency.ADD_REMOVE) -> list[tuple[int, EpochDistance]]:
    """Return how far adding to 1, 2, ... ticks moves the measurements: to as many as have room."""
    room, ticks = counter.person.entered(counter.horizon), 0
    found = []
    while ticks < room:
        ticks = min(room, ticks + (1 if ticks < _ALL else ticks // 8))
        found.append((ticks, counter.moved_by(_with(counter.person, ticks, adjacency))))
    return found


def _factors(counter: Counter) -> EpochDistance | None:
    """Return how many times as far a replaced person moves the measurements; None where roundings are among them.

    Roundings do not grow with what a person adds, so that halves of a distance are not distances of halves.
    """
    person = counter.person
    factors = person.weight / person.l1, person.squared_weight / person.l2.squared
    norm, squared = counter.moved_by(_with(person, person.ticks, Adjacency.ADD_REMOVE))
    return factors if counter.distance == (norm * factors[0], squared * factors[1]) else None


def _with(person: Participation, ticks: int, adjacency: Adjacency) -> Participation:
    """Return the same person in a number of ticks, under an adjacency."""
    return Participation(
        adjacency=adjacency,
        ticks=ticks,
        separation=person.separation,
        l1=person.l1,
        l2=person.l2,
        signed=person.signed,
    )


def _best_split(moved: list[Fraction], ticks: int) -> Fraction:
    """Return the largest sum of moves over all ways to write a number of ticks as a sum."""
    best = [Fraction(0)]
    for left in range(1, ticks + 1):
        best.append(max(best[left - j] + moved[j - 1] for j in range(1, min(left, len(moved)) + 1)))
    return best[ticks]
