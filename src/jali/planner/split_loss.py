"""Rule: the question's loss is split over what it releases so that the forecast error is smallest.

Statement:
    With noise of standard deviation proportional to sensitivity / epsilon_j, the sum of importance_j times the
    squared error in units of the sensitivity is least, given the sum of epsilon_j, when epsilon_j is
    proportional to importance_j^(1/3). With Gaussian noise and rho_j it is importance_j^(1/2). (Lagrange.)

The importance of a measure is the number of outputs that show it; under a ratio the denominator counts 1/3,
the mean of the squared centred mean over the range. Grouping sets share the loss besides (`grouping_sets.shares`).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from jali.mechanisms.moments.axis import Axis
from jali.planner.draft import Draft
from jali.query.estimate import Estimate
from jali.query.estimates import Cells, Moment, Picked, Span

_PARTS = 4096
# The ends of a quantile's interval are worth a fourteenth of the quantile's own share each: 1/16, 7/8, 1/16.
_END = Fraction(1, 14)
# What choosing the groups takes: of one count or sum half, as a group that is not shown loses all of its own.
# Over 200 groups of Zipf's law this errs a fifth less than a third does; two thirds would err a little less still,
# at one and a half times the error of all that is shown. Several measures leave a third.
_SELECTION, _SELECTION_FOR_ONE = Fraction(1, 3), Fraction(1, 2)


def split_loss(draft: Draft) -> Draft:
    """Give each release its share; the shares are rationals that sum to the whole loss exactly."""
    concentrated = draft.terms.loss.event.epsilon is None
    root = Fraction(1, 2 if concentrated else 3)
    power = float(root)
    found = _importance(draft, power)
    sets = (Fraction(1),) if draft.question.sets is None else _set_shares(draft, root)
    return replace(
        draft,
        importance=tuple(found),
        shares=tuple(_shares([weight**power for weight in found])),
        set_shares=sets,
        selection_share=_selection_share(draft),
    )


def _selection_share(draft: Draft) -> Fraction:
    """Return what choosing the groups takes; a count that is told with them adds its own share to this."""
    if not draft.selecting:
        return Fraction(0)
    return _SELECTION_FOR_ONE if len(draft.measures) == 1 and not draft.draws else _SELECTION


def _set_shares(draft: Draft, root: Fraction) -> tuple[Fraction, ...]:
    # Read when a question has grouping sets, which few have.
    from jali.mechanisms.workloads.grouping_sets import shares

    sizes = [len(key.values or ()) for key in draft.keys]
    return tuple(shares(sizes, draft.sets, root, every=True))


def _importance(draft: Draft, power: float) -> list[float]:
    weights = [0.0] * (len(draft.measures) + len(draft.draws))
    for _, estimate in draft.estimates:
        for index, weight in _matters(estimate, power):
            weights[index] += weight
    return weights


def _matters(estimate: object, power: float) -> list[tuple[int, float]]:
    """Return how much each release matters to one aggregate."""
    if isinstance(estimate, Estimate):
        below = set() if estimate.denominator is None else {i for i, _ in estimate.denominator.terms}
        return [(index, 1 / 3 if index in below else 1.0) for index in estimate.measures]
    if isinstance(estimate, Moment):
        return _moment(estimate)
    if isinstance(estimate, Cells):
        return [(estimate.release, 1.0)]
    assert isinstance(estimate, Picked)
    end = float(_END) ** (1 / power)
    found = []
    for pick in estimate.picks:
        found.append((pick.value, 1.0))
        found += [(index, end) for index in (pick.low, pick.high) if index is not None]
    return found


def _moment(moment: Moment) -> list[tuple[int, float]]:
    from jali.mechanisms.moments.importance import importance

    weights = importance(moment.kind, axis_of(moment.x))
    count = {index for index, _ in dict(moment.sums)["n"].terms}
    found = []
    for name, form in moment.sums:
        # A sum of squares carries a multiple of the count: the count has an importance of its own.
        own = [index for index, _ in form.terms if name == "n" or index not in count]
        found += [(index, max(weights[name], 1e-3)) for index in own]
    return found


def axis_of(span: Span) -> Axis:
    """Return the public facts of a variable in doubles."""
    return Axis(float(span.low), float(span.high), float(span.center))


def _shares(weights: list[float]) -> list[Fraction]:
    """Round to multiples of 1/4096, at least one each; the largest takes the remainder."""
    parts = [max(1, int(_PARTS * weight / sum(weights))) for weight in weights]
    largest = max(range(len(parts)), key=parts.__getitem__)
    parts[largest] += max(sum(parts), _PARTS) - sum(parts)
    return [Fraction(part, sum(parts)) for part in parts]
