"""Partition selection: choose the groups to release by probabilities, or by a noisy count of their people.

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

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from jali.ir.aggregates import Aggregation, CountPeople, CountRows, Measure, Weights
from jali.mechanisms.partition_selection.group_selection import GroupSelection
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.planner_registry import KEY_SELECTIONS, THRESHOLDS
from jali.numbers.rounding import round_root_down
from jali.privacy import Event, Loss, Pure

S = TypeVar("S", bound=GroupSelection)
_CONFIDENCE = 0.95


def find_selection_count(measures: tuple[Measure, ...], weights: Weights | None, changes: int) -> int | None:
    """Return which measure is the number of people behind a group, where a threshold can tell it; else None."""
    if changes > 2:
        return None
    return next((i for i, measure in enumerate(measures) if _counts_people(measure, weights)), None)


def _counts_people(measure: Measure, weights: Weights | None) -> bool:
    """Say whether a measure counts every person of a group once; without weights each row is a person."""
    kinds = CountPeople if weights is not None else (CountPeople, CountRows)
    return isinstance(measure, kinds) and measure.present is None


def select_without_count(
    loss: Loss, delta: Fraction, weights: Weights | None, changes: int, least_people: int
) -> GroupSelection:
    """Choose the groups where no count of people is told, so that smaller ones appear.

    For epsilon these are the coins, by their theorem. For rho coins get epsilon = sqrt(2 rho), while the noise of
    a count, which is thrown away, grows with the square root of the number of groups only.
    """
    event = loss.event
    pure = loss if event.epsilon is not None else Pure(round_root_down(2 * event.rho))
    by_coins = select_by_probability(pure, delta, weights, changes, least_people)
    if event.epsilon is not None or changes > 2:
        return by_coins
    by_noise = select_with_count(loss, delta, weights, changes, least_people)
    return by_noise if by_noise.error(_CONFIDENCE) <= by_coins.error(_CONFIDENCE) else by_coins


def select_by_probability(
    loss: Loss, delta: Fraction, weights: Weights | None, changes: int, least_people: int
) -> GroupSelection:
    """Choose the groups by coins."""
    return _choose_selection(KEY_SELECTIONS, loss, delta, weights, changes, least_people)


def select_with_count(
    loss: Loss, delta: Fraction, weights: Weights | None, changes: int, least_people: int
) -> ThresholdedCounts:
    """Choose the groups by a noisy count that is told with them.

    The kind of noise is that of the question's other measures. At equal rho Gaussian noise, of variance m/(2 rho),
    is the better one for every number m of counts that move: Laplace noise of epsilon = sqrt(2 rho) has variance
    m^2/rho, about, and heavier tails.
    """
    return _choose_selection(THRESHOLDS, loss, delta, weights, changes, least_people)


def _choose_selection(
    kinds: Sequence[type[S]],
    loss: Loss,
    delta: Fraction,
    weights: Weights | None,
    changes: int,
    least_people: int,
) -> S:
    """Return the selection that shows the smallest groups."""
    made = [
        one
        for kind in kinds
        if (
            one := kind.calibrate(
                loss, delta, max_keys=count_groups_per_person(weights), changes=changes, least_people=least_people
            )
        )
        is not None
    ]
    return made[0] if len(made) == 1 else min(made, key=lambda one: one.error(_CONFIDENCE))


def count_groups_per_person(weights: Weights | None) -> int:
    """Return in how many groups one person counts at most."""
    return 1 if weights is None else weights.max_groups


def charge_selection(selection: GroupSelection, aggregation: Aggregation, changes: int) -> Event | None:
    """Return what choosing costs a table that changes so many sets of groups; None if it was not made for so many.

    It is computed from the noise, or the coins, and from how many counts can move.
    """
    return selection.compute_choice_event(count_groups_per_person(aggregation.weights), changes)
