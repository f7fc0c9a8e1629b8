"""Rule: split the privacy loss of the question over its releases so that the forecast error is smallest.

Statement:
    With noise of standard deviation proportional to sensitivity / epsilon_j, the sum of importance_j times the
    squared error in units of the sensitivity is least, given the sum of epsilon_j, when epsilon_j is
    proportional to importance_j^(1/3). With Gaussian noise and rho_j it is importance_j^(1/2). (Lagrange.)
    At a pure loss several measures may leave together (`planner.joint_noise`), as one release of a larger
    importance.
    At a loss in rho there is nothing to win by that: a person may be at any corner of the box of the sensitivities
    s_j, so noise of covariance S needs v' S^-1 v <= 2 rho at all corners v. Averaged over all changes of signs,
    S^-1 keeps this and becomes diagonal, and by the convexity of the inverse no variance grows: independent noises
    with sum of s_j^2 / (2 variance_j) = rho, which is the split.

The importance of a measure is the sum over the outputs of the squared coefficient times the squared sensitivity,
in units of the output's own. A lone measure counts 1; under a mean the sum counts 1 and the count a third, the
mean of the squared centred mean over the range, times the square of how far it moves in units of the sum. Grouping
sets share the loss besides (`mechanisms.workloads.grouping_sets.choose_shares`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from jali.ir.aggregates import Aggregation, Measure, SumValues
from jali.ir.estimators import Cells, LinearCombination, Moment, Picked, RatioEstimate, VariableRange
from jali.mechanisms.moments.moment_sums import Axis
from jali.planner.draft import Draft
from jali.planner.joint_noise import best_block, list_split_weights, may_join
from jali.planner.partition_selection import find_selection_count
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity

# What hardly matters gets a little all the same.
_LEAST = 1e-3
# The ends of a quantile's interval are worth a fourteenth of the quantile's own share each: 1/16, 7/8, 1/16.
_END = Fraction(1, 14)
# What choosing the groups takes: of one count or sum half, as a group that is not shown loses all of its own.
# Over 200 groups of Zipf's law this errs a fifth less than a third does; two thirds would err a little less still,
# at one and a half times the error of all that is shown. Several measures leave a third.
_SELECTION, _SELECTION_FOR_ONE = Fraction(1, 3), Fraction(1, 2)


def split_loss(draft: Draft) -> Draft:
    """Give each release its share; the shares are rationals that sum to the whole loss exactly."""
    root = _root(draft)
    found = _importance(draft)
    block = _block(draft, found)
    shares = iter(round_shares([weight ** float(root) for weight in list_split_weights(found, block)]))
    each = next(shares) / len(block) if block else Fraction(0)
    return replace(
        draft,
        importance=tuple(found),
        together=block,
        shares=tuple(each if place in block else next(shares) for place in range(len(found))),
        set_shares=(Fraction(1),) if draft.question.sets is None else _set_shares(draft, root),
        selection_share=_selection_share(draft),
    )


def forecast_split(draft: Draft) -> float:
    """Return what the best split leaves: the sum of importance times squared error, for a loss of 1."""
    return forecast_error(draft, draft.measures, _importance(draft))


def forecast_error(draft: Draft, measures: Sequence[Measure], importance: Sequence[float]) -> float:
    """Return the same for other measures than those of the draft, of this importance; draws stand after them."""
    power = float(_root(draft))
    block = _block_of(draft, measures, importance)
    return float(sum(weight**power for weight in list_split_weights(importance, block)) ** (1 / power))


def weigh_releases(draft: Draft, measures: tuple[Measure, ...], estimate: object) -> list[tuple[int, float]]:
    """Return how much each release of an aggregate over these measures matters to it."""
    aggregation = replace(draft.aggregation(draft.sets[0]), measures=measures)
    reaches = _MeasureSensitivities(aggregation, draft.changes, draft.uses_rho)
    return _weigh_estimate(estimate, reaches, float(_root(draft)))


def _root(draft: Draft) -> Fraction:
    return Fraction(1, 2 if draft.uses_rho else 3)


def _block(draft: Draft, importance: list[float]) -> tuple[int, ...]:
    return _block_of(draft, draft.measures, importance)


def _block_of(draft: Draft, measures: Sequence[Measure], importance: Sequence[float]) -> tuple[int, ...]:
    """Return the measures that leave together; a count that is told with its group has its own noise."""
    if draft.uses_rho or draft.question.sets is not None:
        return ()
    aggregation = draft.aggregation(draft.sets[0])
    told = find_selection_count(tuple(measures), draft.weights, draft.changes) if draft.selecting else None
    able = [i for i, measure in enumerate(measures) if i != told and may_join(aggregation, measure)]
    return best_block(importance, able, float(_root(draft)))


def _selection_share(draft: Draft) -> Fraction:
    """Return what choosing the groups takes; a count that is told with them adds its own share to this."""
    if not draft.selecting:
        return Fraction(0)
    return _SELECTION_FOR_ONE if len(draft.measures) == 1 and not draft.draws else _SELECTION


def _set_shares(draft: Draft, root: Fraction) -> tuple[Fraction, ...]:
    # Read when a question has grouping sets, which few have.
    from jali.mechanisms.workloads.grouping_sets import choose_shares

    sizes = [len(key.values or ()) for key in draft.keys]
    return tuple(choose_shares(sizes, draft.sets, root, every=True))


def _importance(draft: Draft) -> list[float]:
    weights = [0.0] * (len(draft.measures) + len(draft.draws))
    reaches = _MeasureSensitivities(draft.aggregation(draft.sets[0]), draft.changes, draft.uses_rho)
    for _, estimate in draft.estimates:
        for index, weight in _weigh_estimate(estimate, reaches, float(_root(draft))):
            weights[index] += weight
    return weights


@dataclass(frozen=True)
class _MeasureSensitivities:
    """How far one unit moves each measure: squares of sensitivities, in units of the values."""

    aggregation: Aggregation
    changes: int
    concentrated: bool

    def at(self, place: int) -> Fraction:
        return self.of(self.aggregation.measures[place])

    def of(self, measure: Measure, changes: int | None = None) -> Fraction:
        given = self.aggregation, measure, changes or self.changes
        squared = squared_l2_sensitivity(*given) if self.concentrated else l1_sensitivity(*given) ** 2
        return squared * self.aggregation.unit(measure) ** 2

    def growth(self, place: int) -> float:
        """Return by how much more than one vector all that change move a measure, squared."""
        measure = self.aggregation.measures[place]
        return float(self.of(measure) / self.of(measure, 1))


def _weigh_estimate(estimate: object, reaches: _MeasureSensitivities, power: float) -> list[tuple[int, float]]:
    """Return how much each release matters to one aggregate."""
    if isinstance(estimate, RatioEstimate):
        below = estimate.denominator
        return _linear(estimate, reaches) if below is None else _mean(estimate, below, reaches)
    if isinstance(estimate, Moment):
        return _moment(estimate, reaches)
    if isinstance(estimate, Cells):
        return [(estimate.release, 1.0)]
    assert isinstance(estimate, Picked)
    end = float(_END) ** (1 / power)
    found = []
    for pick in estimate.picks:
        found.append((pick.value, 1.0))
        found += [(index, end) for index in (pick.low, pick.high) if index is not None]
    return found


def _linear(estimate: RatioEstimate, reaches: _MeasureSensitivities) -> list[tuple[int, float]]:
    """A measure, or a sum that is made of a centred one and a count: in units of what it moves by itself."""
    terms = estimate.numerator.terms
    if len(terms) == 1:
        return [(terms[0][0], 1.0)]
    measures = [reaches.aggregation.measures[index] for index, _ in terms]
    whole = sum(reaches.of(m.own) for m in measures if isinstance(m, SumValues))
    return [(index, float(factor**2 * reaches.at(index) / whole)) for index, factor in terms]


def _mean(
    estimate: RatioEstimate, below: LinearCombination, reaches: _MeasureSensitivities
) -> list[tuple[int, float]]:
    count = below.terms[0][0]
    (total,) = (index for index, _ in estimate.numerator.terms if index != count)
    assert estimate.bounds.low is not None
    assert estimate.bounds.high is not None
    half = (estimate.bounds.high - estimate.bounds.low) / 2
    return [(total, 1.0), (count, max(float(half**2 * reaches.at(count) / reaches.at(total)) / 3, _LEAST))]


@lru_cache(maxsize=256)
def _sums_matter(kind: str, axis: Axis) -> Mapping[str, float]:
    from jali.mechanisms.moments.moment_importance import importance

    return importance(kind, axis)


def _moment(moment: Moment, reaches: _MeasureSensitivities) -> list[tuple[int, float]]:
    weights = _sums_matter(moment.kind, axis_of(moment.x))
    count = {index for index, _ in dict(moment.sums)["n"].terms}
    found = []
    for name, form in moment.sums:
        # A sum of squares carries a multiple of the count: the count has an importance of its own.
        own = [index for index, _ in form.terms if name == "n" or index not in count]
        found += [(index, max(weights[name], _LEAST) * reaches.growth(index)) for index in own]
    most = max(weight for _, weight in found)
    return [(index, weight / most) for index, weight in found]


def axis_of(span: VariableRange) -> Axis:
    """Return the public facts of a variable in doubles."""
    return Axis(float(span.low), float(span.high), float(span.center))


def round_shares(weights: list[float], count: int = 4096) -> list[Fraction]:
    """Round shares to so many parts, at least one each; the largest takes the remainder. They sum to 1 exactly."""
    parts = [max(1, int(count * weight / sum(weights))) for weight in weights]
    largest = max(range(len(parts)), key=parts.__getitem__)
    parts[largest] += max(0, count - sum(parts))
    return [Fraction(part, sum(parts)) for part in parts]
