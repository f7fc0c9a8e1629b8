"""Plan counting queries: of budget, number of queries and accuracy, two determine the third."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from jali.errors import CatalogError
from jali.privacy.budget import Budget
from jali.privacy.planning.count_forecast import CountForecast, ErrorMeasure
from jali.privacy.planning.count_noise import CountNoise, GaussianNoise, LaplaceNoise, LInfNoise, root
from jali.privacy.planning.query_plan import QueryPlan
from jali.privacy.planning.safe_search import LARGEST_EPSILON, count, most, plannable, size
from jali.privacy.rationals import Number, probability

_MOST_ROWS = 10**18
# The simpler noise comes first: it is taken where two are equally good.
NOISES: tuple[type[CountNoise], ...] = (LaplaceNoise, LInfNoise, GaussianNoise)


def plan_queries(
    budget: Budget,
    k: int | None = None,
    accuracy: Number | None = None,
    *,
    confidence: Number | None = 0.95,
    simultaneous: bool = False,
    sensitivity: Number = 1,
) -> QueryPlan:
    """Plan counting queries within a budget: give k and get the errors, or give an accuracy and get k.

    Args:
        budget: What all queries together may spend.
        k: How many counting queries are asked.
        accuracy: The error that is accepted; give it instead of k.
        confidence: Errors stay within the accuracy with this confidence; None: the accuracy is a standard
            deviation.
        simultaneous: Whether the confidence is for all counts at once, not for each of them.
        sensitivity: How far one person moves each count: 1 if a person is one row, else the number of rows
            for which a person may count. It holds for both adjacencies.

    Returns:
        For Laplace, l_inf and, where the budget has a delta, Gaussian noise: the errors on k counts, or how
        many counts fit. `.best` is the noise with the least error or the most counts.

    Guarantee:
        The queries are answered together, with noise for all of them in one release within (epsilon, delta).
        Errors round up, numbers of queries round down.

    Example:
        >>> plan_queries(Budget(1, 1e-6), 50, confidence=None).best.noise
        'l_inf'
        >>> plan_queries(Budget(1, 1e-6), accuracy=100).best.queries
        145
    """
    limit, reach = plannable(budget), size(sensitivity, "sensitivity")
    measure = ErrorMeasure(confidence, simultaneous=simultaneous)
    if (k is None) == (accuracy is None):
        raise CatalogError("planned-k-and-accuracy")
    if k is not None:
        counted = count(k, "k")
        rows = [forecast(kind, limit, counted, reach, measure) for kind in noises_at(limit.delta)]
        return QueryPlan("error", measure, reach, tuple(rows), budget=limit, queries=counted)
    return _fit(limit, float(size(accuracy or 0, "accuracy")), reach, measure)


def least_epsilon(
    k: int,
    accuracy: Number,
    *,
    delta: Number = 0,
    confidence: Number | None = 0.95,
    simultaneous: bool = False,
    sensitivity: Number = 1,
) -> QueryPlan:
    """Return the least epsilon with which each noise answers k counting queries within an accuracy.

    Args:
        k: How many counting queries are asked.
        accuracy: The error that is accepted.
        delta: The delta that is accepted; at 0 Gaussian noise is left out.
        confidence: As in `plan_queries`.
        simultaneous: As in `plan_queries`.
        sensitivity: As in `plan_queries`.

    Guarantee:
        Epsilons round up, by less than 1e-10 of them: a plan for that budget meets the accuracy.

    Example:
        >>> round(float(least_epsilon(3, 3, confidence=None).best.epsilon), 6)
        0.860663
    """
    measure, reach = ErrorMeasure(confidence, simultaneous=simultaneous), size(sensitivity, "sensitivity")
    counted, goal, failure = count(k, "k"), size(accuracy, "accuracy"), probability(delta, "delta")
    rows = []
    for kind in noises_at(failure):
        scale = float(goal) / measure(kind(counted, 1.0))
        needed = kind.epsilon_for(scale, failure, counted, reach)
        if needed > LARGEST_EPSILON:
            raise CatalogError("planned-accuracy-too-dear", name="accuracy")
        rows.append(forecast(kind, Budget(needed, failure), counted, reach, measure))
    return QueryPlan("epsilon", measure, reach, tuple(rows), queries=counted, accuracy=float(goal), delta=failure)


def queries_below_sampling_error(budget: Budget, rows: int, *, sensitivity: Number = 1) -> QueryPlan:
    """Return how many counting queries fit whose noise is no larger than the sampling error.

    The count of a property in a sample of n rows errs by up to sqrt(n)/2: that is the standard deviation of
    Binomial(n, p) at p = 1/2, its largest. Queries fit as long as the standard deviation of their noise is at
    most that, so that privacy at most doubles the variance a count has anyway.

    Args:
        budget: What all queries together may spend.
        rows: The number of rows, n.
        sensitivity: As in `plan_queries`.

    Guarantee:
        epsilon sqrt(n/8) queries for Laplace noise, about epsilon sqrt(3n)/2 for l_inf noise, and
        n / (4 sigma_1^2) for Gaussian noise, where sigma_1 is its standard deviation for one query: of order
        sqrt(n) under pure, n under approximate differential privacy.

    Example:
        >>> [row.queries for row in queries_below_sampling_error(Budget(1, 1e-6), 100_000).forecasts]
        [111, 272, 1400]
    """
    counted = count(rows, "rows", _MOST_ROWS)
    limit = root(Fraction(counted, 4))
    return _fit(plannable(budget), limit, size(sensitivity, "sensitivity"), ErrorMeasure(None), rows=counted)


def noises_at(delta: Fraction) -> Iterator[type[CountNoise]]:
    """Return the noises there are at a delta: Gaussian noise needs one."""
    return (kind for kind in NOISES if delta or not kind.needs_delta)


def forecast(
    kind: type[CountNoise], budget: Budget, queries: int, sensitivity: Fraction, measure: ErrorMeasure
) -> CountForecast:
    """Describe the least noise of a kind for k counts within a budget."""
    noise = kind.within(budget, queries, sensitivity)
    return CountForecast.of(noise, measure, budget.epsilon, budget.delta)


def _fit(
    budget: Budget, limit: float, sensitivity: Fraction, measure: ErrorMeasure, rows: int | None = None
) -> QueryPlan:
    found = tuple(_largest(kind, budget, limit, sensitivity, measure) for kind in noises_at(budget.delta))
    return QueryPlan("queries", measure, sensitivity, found, budget=budget, accuracy=limit, rows=rows)


def _largest(
    kind: type[CountNoise], budget: Budget, limit: float, sensitivity: Fraction, measure: ErrorMeasure
) -> CountForecast:
    found = most(lambda queries: measure(kind.within(budget, queries, sensitivity)) <= limit)
    if found:
        return forecast(kind, budget, found, sensitivity, measure)
    return CountForecast(kind.name, budget.epsilon, budget.delta if kind.needs_delta else Fraction(0), 0)
