"""Basic composition, where epsilons and deltas add, and the case of a single release."""

from __future__ import annotations

from fractions import Fraction

from jali.numbers.rounding import float_above
from jali.privacy.composition.compound import Parts, event_of, has_epsilon, lacks_epsilon, total
from jali.privacy.composition.theorem import Theorem
from jali.privacy.loss import Loss


def _single_obstacle(parts: Parts) -> str | None:
    releases = sum(count for _, count in parts)
    return None if releases == 1 else f"there are {releases} releases"


# With adaptive parameters the loss stands for the limits of a filter, which many releases may have filled.
SINGLE = Theorem(
    name="the profile of the one release",
    citation="By definition",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_single_obstacle,
    solve_epsilon=lambda parts, delta: parts[0][0].epsilon(delta),
    solve_delta=lambda parts, epsilon: parts[0][0].delta(epsilon),
)


def _epsilon(parts: Parts, delta: Fraction) -> float:
    spent = total(parts)
    assert spent.epsilon is not None, "lacks_epsilon has looked"
    return float_above(spent.epsilon) if spent.delta <= delta else float("inf")


def _delta(parts: Parts, epsilon: Fraction) -> float:
    spent = total(parts)
    assert spent.epsilon is not None, "lacks_epsilon has looked"
    return min(1.0, float_above(spent.delta)) if spent.epsilon <= epsilon else 1.0


def _needs_no_share(parts: Parts) -> str | None:
    if lacks_epsilon(parts):
        return None
    return "no loss needs a share"


def _epsilon_with_shares(parts: Parts, delta: Fraction) -> float:
    sharers = sum(count for loss, count in parts if not has_epsilon(loss))
    share = (delta - sum(count * _own_delta(loss) for loss, count in parts)) / sharers
    if share < 0:
        return float("inf")
    costs = [(_cost(loss, share), count) for loss, count in parts]
    if any(cost == float("inf") for cost, _ in costs):
        return float("inf")
    return float_above(sum((Fraction(cost) * count for cost, count in costs), Fraction(0)))


def _own_delta(loss: Loss) -> Fraction:
    event = event_of(loss)
    return Fraction(0) if event is None else event.delta


def _cost(loss: Loss, share: Fraction) -> Fraction | float:
    """Return the epsilon of a loss: its own, or the one at its own delta and its share."""
    event = event_of(loss)
    if event is not None and event.epsilon is not None:
        return event.epsilon
    return loss.epsilon(_own_delta(loss) + share)


BASIC = Theorem(
    name="basic composition",
    citation="Dwork, Kenthapadi, McSherry, Mironov and Naor 2006; with adaptive parameters: Rogers, Roth, Ullman "
    "and Vadhan 2016; concurrent: Vadhan and Wang 2021, Lyu 2022",
    adaptive_parameters=True,
    concurrent=True,
    obstacle=lacks_epsilon,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)

# The shares depend on how many losses there are, which is not known in advance if parameters are adaptive.
SHARED = Theorem(
    name="basic composition with shares of delta",
    citation="Dwork, Kenthapadi, McSherry, Mironov and Naor 2006, at (epsilon_i(delta_i), delta_i)",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_needs_no_share,
    solve_epsilon=_epsilon_with_shares,
)
