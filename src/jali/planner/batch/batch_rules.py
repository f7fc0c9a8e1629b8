"""Rules of batches: weigh the same rows together, merge questions into one release, and share the loss.

Questions with the same rows and groups leave by one release, each measure of it once. The measures of all of them
can then leave together by one noise (`planner.joint_noise`), which the split of the loss decides by the forecast
error: a block of d counts has the variance (d+1)(d+2)/3 where separate noises have 2 d^2.

Statement (weighing rows together):
    A person's rows are weighed by their number. Where questions have different conditions, the rows of each would
    weigh differently, and the exact total would not be the sum of its parts. So the rows that any of the
    questions is about are weighed, once for all, and the condition of each question moves into its aggregates:
    the rows that fail it add nothing. A person still adds at most `max_rows` to each measure: fewer rows of the
    same weights.
Proof:
    docs/proofs/batches.md, Theorem 1.
Statement (sharing the loss):
    A release with the weight w and the forecast f errs by f/e^2 at the loss e (`split_loss`): the sum of w f/e^2
    is least, given the sum of e, when e is proportional to (w f)^(1/3). With Gaussian noise and rho it is f/rho,
    and rho is proportional to (w f)^(1/2). (Lagrange.)
    With a total of (epsilon, delta) there are three ways: Laplace or joint noise whose losses sum to epsilon; the
    same with larger losses that compose to epsilon at delta; Gaussian noise of the rho that converts to it.
    The one with the least forecast is taken. Public facts decide, all of them known before any data is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from jali.ir.aggregates import Categories, CellAxis, CountPeople, CountRows, CountValues, Marks, Measure, SumValues
from jali.ir.estimators import AnyEstimate, Cells, LinearCombination, Moment, Picked, RatioEstimate, shift_draws
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.relations import Keep, Relation, split_conditions
from jali.planner.draft import Draft
from jali.planner.measured_query import AxisRelease
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.rules.split_loss import forecast_split, round_shares
from jali.privacy import Concentrated, Loss, Pure, largest_rho


@dataclass(frozen=True)
class MergedRelease:
    """One release, and the questions that it answers.

    Attributes:
        places: Which questions of the batch, in order.
        weight: How much its squared error counts.
    """

    draft: Draft
    places: tuple[int, ...]
    weight: Fraction


def merge_drafts(drafts: Sequence[Draft], weights: Sequence[Fraction], *, joined: bool) -> list[MergedRelease]:
    """Put together the drafts that can leave together; only equal ones, where `joined` is false."""
    known: dict[object, list[int]] = {}
    for place, draft in enumerate(drafts):
        known.setdefault(_likeness(draft, weights[place], joined), []).append(place)
    return [_merge_group([drafts[p] for p in places], tuple(places), weights) for places in known.values()]


def _likeness(draft: Draft, weight: Fraction, joined: bool) -> object:
    """Return what drafts that leave together have in common."""
    if draft.selecting or draft.question.sets is not None:
        return draft.rows, draft.question, draft.terms, draft.measures, draft.draws
    common = draft.rows, draft.keys, draft.weights, draft.terms
    return (*common, weight) if joined else (*common, draft.measures, draft.draws)


def _merge_group(drafts: list[Draft], places: tuple[int, ...], weights: Sequence[Fraction]) -> MergedRelease:
    first = drafts[0]
    # How many questions read a release is in its importance already.
    weight = sum((weights[p] for p in places), Fraction(0)) / len(places)
    if len(drafts) == 1:
        return MergedRelease(first, places, weight)
    measures = list(dict.fromkeys(measure for draft in drafts for measure in draft.measures))
    draws = _in_order(list(dict.fromkeys(draw for draft in drafts for draw in draft.draws)))
    estimates = tuple(
        (a, _shift_estimate(e, _targets(d, measures, draws))) for d in drafts for a, e in d.estimates
    )
    outputs = tuple(output for draft in drafts for output in draft.question.outputs)
    question = replace(first.question, outputs=outputs, having=None, order_by=(), limit=None, offset=0)
    together = replace(first, question=question, measures=tuple(measures), draws=tuple(draws), estimates=estimates)
    return MergedRelease(together, places, weight)


def _in_order(draws: list[AxisRelease]) -> list[AxisRelease]:
    """Those of one axis stand together."""
    axes = list(dict.fromkeys(draw.axis for draw in draws))
    return sorted(draws, key=lambda draw: axes.index(draw.axis))


def _targets(draft: Draft, measures: list[Measure], draws: list[AxisRelease]) -> list[int]:
    """Return where each release of a draft stands among those of all."""
    first = [measures.index(measure) for measure in draft.measures]
    return first + [len(measures) + draws.index(draw) for draw in draft.draws]


def _shift_estimate(estimate: AnyEstimate, to: list[int]) -> AnyEstimate:
    if isinstance(estimate, RatioEstimate):
        below = None if estimate.denominator is None else _shift_form(estimate.denominator, to)
        return replace(estimate, numerator=_shift_form(estimate.numerator, to), denominator=below)
    if isinstance(estimate, Moment):
        return replace(estimate, sums=tuple((name, _shift_form(form, to)) for name, form in estimate.sums))
    return shift_draws(estimate, to)


def _shift_form(form: LinearCombination, to: list[int]) -> LinearCombination:
    return LinearCombination(tuple(sorted((to[i], c) for i, c in form.terms)), form.constant)


@dataclass(frozen=True)
class BatchNoise:
    """One way to spend a total, and what it is forecast to err by.

    Attributes:
        name: In words.
        error: The sum of weighted squared errors, in units of squared sensitivities.
    """

    name: str
    loss: Loss
    error: float


def share_loss(releases: Sequence[MergedRelease], *, concentrated: bool) -> list[Fraction]:
    """Return what part of the loss each release gets; they sum to 1 exactly."""
    power = 1 / 2 if concentrated else 1 / 3
    wanted = [_weigh_release(release) ** power for release in releases]
    return round_shares(wanted, 1 << 16)


def _weigh_release(release: MergedRelease) -> float:
    return max(float(release.weight) * forecast_split(release.draft), 1e-12)


def forecast_laplace(releases: Sequence[MergedRelease], loss: Pure, name: str) -> BatchNoise:
    """Return the forecast of Laplace and joint noise: variances of 2 squared sensitivities over epsilon^2."""
    total = sum(_weigh_release(release) ** (1 / 3) for release in releases) ** 3
    return BatchNoise(name, loss, 2 * total / float(loss.bound) ** 2)


def forecast_gaussian(releases: Sequence[MergedRelease], epsilon: Fraction, delta: Fraction) -> BatchNoise | None:
    """Return the forecast of Gaussian noise; None where delta is too small for it."""
    rho = largest_rho(epsilon, delta)
    if rho <= 0:
        return None
    total = sum((_weigh_release(release) * _shorter(release.draft)) ** (1 / 2) for release in releases) ** 2
    return BatchNoise("Gaussian noise", Concentrated(rho), total / (2 * float(rho)))


def _shorter(draft: Draft) -> float:
    """Return the squared L2 sensitivity of the first measure in units of its squared L1 sensitivity."""
    if not draft.measures:
        return 1.0
    given = draft.aggregation(draft.sets[0]), draft.measures[0], draft.changes
    return float(squared_l2_sensitivity(*given) / l1_sensitivity(*given) ** 2)


def weigh_together(drafts: Sequence[Draft]) -> list[Draft]:
    """Let the drafts that share a relation and a bound share the rows that are weighed."""
    known: dict[object, list[int]] = {}
    for place, draft in enumerate(drafts):
        if _movable(draft):
            known.setdefault(
                (split_conditions(draft.rows)[0], draft.weights is None, draft.terms.max_rows), []
            ).append(place)
    found = list(drafts)
    for places in known.values():
        rows = _all_rows([drafts[place].rows for place in places])
        for place in places:
            found[place] = _move_condition(drafts[place], rows)
    return found


def _movable(draft: Draft) -> bool:
    """Say whether conditions can move into the measures: not where all rows without a value are counted on.

    Groups that are chosen, and grouping sets, weigh rows in a way of their own.
    """
    plain = not draft.selecting and draft.question.sets is None
    return plain and not any(isinstance(m, SumValues) and m.missing is not None for m in draft.measures)


def _all_rows(relations: Sequence[Relation]) -> Relation:
    """Return the rows that any of the relations has, all of which have one base."""
    base, conditions = split_conditions(relations[0])[0], [split_conditions(relation)[1] for relation in relations]
    if len(set(conditions)) == 1:
        return relations[0]
    if not all(conditions):
        return base
    each = dict.fromkeys(_join_conditions("and", one) for one in conditions)
    return Keep(base, _join_conditions("or", tuple(each)))


def _join_conditions(function: str, conditions: Sequence[Expression]) -> Expression:
    """Join conditions in pairs, and the pairs: very many of them stay shallow enough for every reader."""
    if len(conditions) == 1:
        return conditions[0]
    half = (len(conditions) + 1) // 2
    return Call(
        function, (_join_conditions(function, conditions[:half]), _join_conditions(function, conditions[half:]))
    )


def _move_condition(draft: Draft, rows: Relation) -> Draft:
    conditions = split_conditions(draft.rows)[1]
    if draft.rows == rows or not conditions:
        return replace(draft, relation=rows)
    condition = _join_conditions("and", conditions)
    return replace(
        draft,
        relation=rows,
        measures=tuple(_filter_measure(condition, measure) for measure in draft.measures),
        draws=tuple(replace(draw, axis=_filter_axis(condition, draw.axis)) for draw in draft.draws),
        estimates=tuple((a, _filter_estimate(condition, e)) for a, e in draft.estimates),
    )


def _filter_value(condition: Expression, value: Expression | None) -> Expression:
    return Call("case", (condition, Literal(1) if value is None else value, Literal(None)))


def _filter_measure(condition: Expression, measure: Measure) -> Measure:
    if isinstance(measure, CountRows | CountPeople):
        return replace(measure, present=_filter_value(condition, measure.present))
    assert isinstance(measure, SumValues | CountValues)
    return replace(measure, value=_filter_value(condition, measure.value))


def _filter_axis(condition: Expression, axis: CellAxis) -> CellAxis:
    if isinstance(axis, Marks):
        return replace(axis, value=_filter_value(condition, axis.value))
    return _filter_categories(condition, axis)


def _filter_categories(condition: Expression, axis: Categories) -> Categories:
    return Categories(replace(axis.keys, expression=_filter_value(condition, axis.keys.expression)))


def _filter_estimate(condition: Expression, estimate: AnyEstimate) -> AnyEstimate:
    if isinstance(estimate, Picked):
        return replace(estimate, axis=_filter_axis(condition, estimate.axis))
    if isinstance(estimate, Cells):
        return replace(estimate, axis=_filter_categories(condition, estimate.axis))
    return estimate
