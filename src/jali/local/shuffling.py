"""The privacy loss of each person when the reports of all are shuffled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError, MechanismError
from jali.local.frequency_estimates import read_people
from jali.local.randomizer import Randomizer
from jali.local.shuffle_bounds import Clones, ShuffledCount
from jali.mechanisms.base import read_parameter
from jali.numbers.exact import decimal_above
from jali.numbers.rounding import float_above, float_below, rational_above, round_down, round_up
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.randomized_response_loss import RandomizedResponseLoss
from jali.privacy.rationals import Number, probability

# More yes/no answers than this are bounded by clones: the exact count would take minutes.
MOST_COUNTED = 200_000
# Clones are summed for this many people, which takes seconds; more people hide at least as well.
MOST_CLONES = 10**7
# A smaller delta is below what doubles hold.
_LEAST = Fraction(1, 10**300)
# Beyond this loss of one report a crowd that fits a computer hides nothing.
_LARGEST = 40


@dataclass(frozen=True, repr=False)
class ShuffledLoss(Approximate):
    """The loss of each person when the reports of all are shuffled: (epsilon, delta), for replace-one neighbours.

    Attributes:
        people: How many take part; the number is public.
        method: How it was found: "count" (exact), "count, rounded up" (by a thousandth), "clones" (a bound),
            "closed form" (a weaker bound), or "alone" where shuffling does not help and the loss of one report
            is returned.
    """

    people: int
    method: str

    def __init__(self, epsilon: Number, delta: Number, *, people: int, method: str) -> None:
        super().__init__(epsilon, delta)
        object.__setattr__(self, "people", people)
        object.__setattr__(self, "method", method)

    def __repr__(self) -> str:
        return f"ShuffledLoss({decimal_above(self.bound)}, {decimal_above(self.failure)})"

    @property
    def adjacency(self) -> Adjacency:
        """Replace-one: a person's answer changes, the number of people is public."""
        return Adjacency.REPLACE_ONE


def shuffled(mechanism: Randomizer, *, people: int, delta: Number) -> ShuffledLoss:
    """Return what each person loses if only the reports of all people are seen, in an order that says nothing.

    Args:
        mechanism: What each person runs.
        people: How many take part.
        delta: The delta to fix, above 0.

    Guarantee:
        (epsilon, delta)-DP of the shuffled reports, for replace-one neighbours, rounded up. For yes/no questions
        epsilon is the least possible, to nine digits: the maximum over all answers of the others, computed from
        the law of the count (up to 200,000 people; to three digits where nine would take minutes). For
        `KaryResponse` and all others it is the bound that follows when the others are distinguished from clones;
        beyond ten million people, that of ten million or the closed form, whichever is less. It is never above
        the loss of one report.
    Proof:
        docs/proofs/shuffling.md, after Feldman, McMillan and Talwar 2021, Theorem 3.2.

    Example:
        >>> from jali.local import Warner, shuffled
        >>> shuffled(Warner(epsilon=1), people=1000, delta=1e-6)
        ShuffledLoss(0.126615, 1e-06)
    """
    if not isinstance(mechanism, Randomizer):
        raise MechanismError("randomizer-wrong", mechanism=mechanism)
    count, failure = read_people(people), _failure(delta)
    alone = mechanism.loss.event.epsilon
    assert alone is not None  # all randomizers are pure
    found, method = (math.inf, "alone") if count == 1 or alone > _LARGEST else _best(mechanism, count, failure)
    bound = rational_above(max(found, 1e-12)) if math.isfinite(found) else alone
    if bound >= alone:
        bound, method = alone, "alone"
    return ShuffledLoss(bound, failure, people=count, method=method)


def shuffled_bound(*, epsilon: Number, people: int, delta: Number) -> ShuffledLoss:
    """Return the closed-form bound for any epsilon-DP randomizer.

    Args:
        epsilon: The loss of one report.
        people: How many take part.
        delta: The delta to fix, above 0.

    Guarantee:
        ln(1 + (e^e - 1)/(e^e + 1) (8 sqrt(e^e ln(4/delta) / n) + 8 e^e / n)) at delta, valid for
        e <= ln(n / (16 ln(2/delta))) and refused beyond. `shuffled` is several times smaller.
    Proof:
        docs/proofs/shuffling.md, after Feldman, McMillan and Talwar 2021, Theorem 3.1.

    Example:
        >>> shuffled_bound(epsilon=1, people=1000, delta=1e-6)
        ShuffledLoss(0.566202, 1e-06)
    """
    alone, count, failure = read_parameter(epsilon, "epsilon"), read_people(people), _failure(delta)
    first, small = float_above(alone), float_below(failure)
    largest = _largest(count, small)
    if first > largest:
        raise MechanismError("shuffling-epsilon-too-large", largest=max(largest, 0.0), name="epsilon")
    found = rational_above(_bound_in_closed_form(first, count, small))
    return ShuffledLoss(found, failure, people=count, method="closed form")


def _largest(people: int, delta: float) -> float:
    """Return the largest loss of one report for which the closed form is proved."""
    return math.log(people) - math.log(16 * (math.log(2) - math.log(delta)))


def _bound_in_closed_form(first: float, people: int, delta: float) -> float:
    power, spread = math.exp(first), math.log(4) - math.log(delta)
    root = math.exp((first + math.log(spread) - math.log(people)) / 2)
    each = math.exp(first - math.log(people))
    return round_up(math.log1p(math.expm1(first) / (power + 1) * (8 * root + 8 * each)))


def _best(mechanism: Randomizer, people: int, delta: Fraction) -> tuple[float, str]:
    first, goal = float_above(mechanism.loss.event.epsilon or Fraction(0)), float_below(delta)
    if mechanism.answers == 2 and isinstance(mechanism.loss, RandomizedResponseLoss) and people <= MOST_COUNTED:
        epsilon, exact = ShuffledCount(first, people - 1, goal).epsilon()
        return epsilon, "count" if exact else "count, rounded up"
    found = [
        (clones.epsilon(goal), "clones") for clones in _find_clones(mechanism, first, min(people, MOST_CLONES))
    ]
    if people > MOST_CLONES and first <= _largest(people, goal):
        found.append((_bound_in_closed_form(first, people, goal), "closed form"))
    return min(found)


def _find_clones(mechanism: Randomizer, first: float, people: int) -> list[Clones]:
    """Return how a person is hidden by any randomizer, and by randomized response also."""
    shrunk, others = math.exp(-first), people - 1
    hidden = [Clones(first, others, round_down(shrunk))]
    if isinstance(mechanism.loss, RandomizedResponseLoss):
        told = 1 / (1 + (mechanism.answers - 1) * shrunk)
        hidden.append(Clones(first, others, round_down(2 * told * shrunk), min(1.0, told * (1 + shrunk))))
    return hidden


def _failure(delta: Number) -> Fraction:
    try:
        number = probability(delta, "delta")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if not number:
        raise MechanismError("shuffling-delta-zero", name="delta")
    if number < _LEAST:
        raise MechanismError("delta-too-small", name="delta")
    return number
