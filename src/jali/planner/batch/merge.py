"""Rule of batches: questions with the same rows and groups leave by one release, each measure of it once.

What two questions both ask is released once. The measures of all of them can then leave together by one noise
(`planner.joint`), which the split of the loss decides by the forecast error: a block of d counts has the variance
(d+1)(d+2)/3 where separate noises have 2 d^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from jali.planner.draft import Draft
from jali.planner.part import Draw
from jali.query.aggregation import Measure
from jali.query.estimate import Estimate, Linear
from jali.query.estimates import AnyEstimate, Cells, Moment, Pick, Picked


@dataclass(frozen=True)
class Merged:
    """One release, and the questions that it answers.

    Attributes:
        places: Which questions of the batch, in order.
        weight: How much its squared error counts.
    """

    draft: Draft
    places: tuple[int, ...]
    weight: Fraction


def merged(drafts: Sequence[Draft], weights: Sequence[Fraction], *, joined: bool) -> list[Merged]:
    """Put together the drafts that can leave together; only equal ones, where `joined` is false."""
    known: dict[object, list[int]] = {}
    for place, draft in enumerate(drafts):
        known.setdefault(_likeness(draft, weights[place], joined), []).append(place)
    return [_one([drafts[p] for p in places], tuple(places), weights) for places in known.values()]


def _likeness(draft: Draft, weight: Fraction, joined: bool) -> object:
    """Return what drafts that leave together have in common."""
    if draft.selecting or draft.question.sets is not None:
        return draft.rows, draft.question, draft.terms, draft.measures, draft.draws
    common = draft.rows, draft.keys, draft.weights, draft.terms
    return (*common, weight) if joined else (*common, draft.measures, draft.draws)


def _one(drafts: list[Draft], places: tuple[int, ...], weights: Sequence[Fraction]) -> Merged:
    first = drafts[0]
    # How many questions read a release is in its importance already.
    weight = sum((weights[p] for p in places), Fraction(0)) / len(places)
    if len(drafts) == 1:
        return Merged(first, places, weight)
    measures = list(dict.fromkeys(measure for draft in drafts for measure in draft.measures))
    draws = _in_order(list(dict.fromkeys(draw for draft in drafts for draw in draft.draws)))
    estimates = tuple((a, _moved(e, _targets(d, measures, draws))) for d in drafts for a, e in d.estimates)
    outputs = tuple(output for draft in drafts for output in draft.question.outputs)
    question = replace(first.question, outputs=outputs, having=None, order_by=(), limit=None, offset=0)
    together = replace(first, question=question, measures=tuple(measures), draws=tuple(draws), estimates=estimates)
    return Merged(together, places, weight)


def _in_order(draws: list[Draw]) -> list[Draw]:
    """Those of one axis stand together."""
    axes = list(dict.fromkeys(draw.axis for draw in draws))
    return sorted(draws, key=lambda draw: axes.index(draw.axis))


def _targets(draft: Draft, measures: list[Measure], draws: list[Draw]) -> list[int]:
    """Return where each release of a draft stands among those of all."""
    first = [measures.index(measure) for measure in draft.measures]
    return first + [len(measures) + draws.index(draw) for draw in draft.draws]


def _moved(estimate: AnyEstimate, to: list[int]) -> AnyEstimate:
    if isinstance(estimate, Estimate):
        below = None if estimate.denominator is None else _form(estimate.denominator, to)
        return replace(estimate, numerator=_form(estimate.numerator, to), denominator=below)
    if isinstance(estimate, Moment):
        return replace(estimate, sums=tuple((name, _form(form, to)) for name, form in estimate.sums))
    if isinstance(estimate, Cells):
        return replace(estimate, release=to[estimate.release])
    assert isinstance(estimate, Picked)
    return replace(estimate, picks=tuple(_pick(pick, to) for pick in estimate.picks))


def _form(form: Linear, to: list[int]) -> Linear:
    return Linear(tuple(sorted((to[i], c) for i, c in form.terms)), form.constant)


def _pick(pick: Pick, to: list[int]) -> Pick:
    low = None if pick.low is None else to[pick.low]
    return replace(pick, value=to[pick.value], low=low, high=None if pick.high is None else to[pick.high])
