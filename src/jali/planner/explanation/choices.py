"""What is picked along an axis: quantiles by their rank, modes by their weight."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from jali.display.numbers import show_amount, show_percent
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.quantiles.weighted_quantiles import WeightedQuantiles
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner.explanation import pages
from jali.planner.explanation.measures import axis_name, in_sets
from jali.planner.explanation.notes import Alternative, ChoiceNote
from jali.planner.explanation.releases import Noted, Release, amount, release, shown
from jali.planner.explanation.words import CONFIDENCE, moved, one_table, person, plural
from jali.planner.part import Draw
from jali.planner.plan import Plan
from jali.planner.reach import many_groups, weight_reach
from jali.planner.tell import root_below
from jali.query.aggregation import Marks
from jali.query.catalog import Kind
from jali.query.ownership import most_changes

_AXES = {Kind.DATE: "days", Kind.TIMESTAMP: "microseconds"}


def choice_note(plan: Plan, one: Noted) -> ChoiceNote:
    """Explain one pick, with the ends of its interval."""
    picked = release(plan, 0, one.place)
    draw, mechanism = picked.draw, picked.mechanism
    assert draw is not None
    assert isinstance(mechanism, WeightedQuantile | PermuteAndFlip | Exponential)
    return ChoiceNote(
        name=choice_name(draw),
        meaning=_meaning(plan, draw),
        sensitivity=float(mechanism.sensitivity / picked.resolution),
        because=_because(plan, draw),
        mechanism=_mechanism(picked),
        loss=shown(plan, picked.event),
        exact_loss=str(amount(plan, picked.event)),
        share=picked.share,
        half_width=off_by(picked),
        alternatives=(_other(picked), *_halved(picked)),
        theorems=_theorems(plan, picked),
        picks=draw.picks,
        aim=_aim(picked),
        ends=_ends(plan, draw, one.ends),
        sets=in_sets(plan, one.place, off_by),
        kind=draw.kind,
    )


def choice_name(draw: Draw) -> str:
    """Name what is picked.

    Example:
        >>> from jali.query.nodes import Column
        >>> axis = Marks(Column("age"), Kind.INTEGER, Fraction(0), Fraction(1), 120)
        >>> [choice_name(Draw(axis, "quantile", Fraction(at))) for at in ("0.5", "0.1")]
        ['MEDIAN(age)', 'QUANTILE(age, 0.1)']
    """
    axis = axis_name(draw.axis)
    if draw.kind == "top":
        return f"MODE({axis})" if draw.picks == 1 else f"TOP {draw.picks} of {axis}"
    known = {Fraction(0): "MIN", Fraction(1, 2): "MEDIAN", Fraction(1): "MAX"}
    return f"{known[draw.at]}({axis})" if draw.at in known else f"QUANTILE({axis}, {_fraction(draw.at)})"


def _fraction(value: Fraction) -> str:
    return show_amount(float(value))


def off_by(one: Release, mechanism: Any = None) -> float:
    """Return how far off the best rank or weight a pick is at most, in rows, with 95 %."""
    found = one.mechanism if mechanism is None else mechanism
    if isinstance(found, WeightedQuantile):
        return found.error(CONFIDENCE) / one.resolution
    assert isinstance(found, PermuteAndFlip | Exponential)
    assert one.draw is not None
    return found.error(CONFIDENCE, candidates=one.draw.axis.cells) / one.resolution


def _meaning(plan: Plan, draw: Draw) -> str:
    weights = plan.aggregation.weights
    weighed = "number of rows" if weights is None or weights.ranked else "weight"
    if not isinstance(draw.axis, Marks):
        first = "the value" if draw.picks == 1 else f"the {draw.picks} values, one after the other,"
        return f"{first} of the largest {weighed} among {draw.axis.cells:,}; only which is told, not how large"
    ends = {Fraction(0): "the least value", Fraction(1): "the largest value"}
    rank = ends.get(draw.at, f"the {weighed} below it nearest to {_fraction(draw.at)} of all")
    return f"the mark with {rank}, of {_marks(draw.axis)}; NULL and NaN are left out"


def _marks(axis: Marks) -> str:
    low, high = (_mark(axis, cell) for cell in (0, axis.top))
    unit = f" {_AXES[axis.kind]}" if axis.kind in _AXES else ""
    step = f", {show_amount(float(axis.step))}{unit} apart" if axis.top and axis.step != 1 else ""
    return f"{plural(axis.cells, 'mark')} from {low} to {high}{step}"


def _mark(axis: Marks, cell: int) -> str:
    from jali.reading import cell_value

    value = cell_value(axis, cell)
    return show_amount(value) if isinstance(value, float) else str(value)


def _because(plan: Plan, draw: Draw) -> str:
    weights, who = plan.aggregation.weights, person(plan)
    rows = plural(1 if weights is None else weights.max_rows, "row")
    reach = rows if weights is None else f"one {who}: {rows}"
    if draw.kind == "top":
        return f"{reach} in one cell{moved(plan)}"
    larger = max(draw.at, 1 - draw.at)
    share = f", each moving ranks by at most {_fraction(larger)} against the target" if larger < 1 else ""
    return f"{reach}{share}{moved(plan)}"


def _mechanism(one: Release) -> str:
    mechanism = one.mechanism
    assert isinstance(mechanism, WeightedQuantile | PermuteAndFlip | Exponential)
    scale = show_amount(float(_scale(mechanism)) / one.resolution)
    each = "" if one.draw is None or one.draw.picks == 1 else " for each pick"
    what = "rank" if isinstance(mechanism, WeightedQuantile) else "weight"
    return f"{_kind(mechanism)}: each {scale} rows further from the best {what} is e times less likely{each}"


def _scale(mechanism: WeightedQuantile | PermuteAndFlip | Exponential) -> Fraction:
    return 1 / mechanism.rate if isinstance(mechanism, WeightedQuantile) else Fraction(mechanism.scale)


def _kind(mechanism: Any) -> str:
    permuted = isinstance(mechanism, PermutedWeightedQuantile | PermuteAndFlip)
    return "permute-and-flip" if permuted else "exponential mechanism"


def _theorems(plan: Plan, one: Release) -> tuple[str, ...]:
    permuted = _kind(one.mechanism) == "permute-and-flip"
    found = [pages.QUANTILE] if isinstance(one.mechanism, WeightedQuantile) else []
    found.append(pages.PERMUTE_AND_FLIP if permuted else pages.EXPONENTIAL)
    found += pages.of_bound(plan.aggregation.weights)
    return (*found, *([] if one_table(plan) else [pages.OWNERSHIP]))


def aside(one: Release) -> float:
    """Return how many rows beside its own rank a pick is aimed at."""
    mechanism = one.mechanism
    return abs(float(mechanism.offset)) / one.resolution if isinstance(mechanism, WeightedQuantile) else 0.0


def _aim(one: Release) -> str:
    """Say how far inside the range a least or largest value is aimed at."""
    rows = aside(one)
    return f"{show_amount(rows)} rows inside, so that the empty end of the range is not picked" if rows else ""


def _ends(plan: Plan, draw: Draw, places: tuple[int, ...]) -> str:
    """Say how the ends of the interval are bought."""
    if not places and draw.kind == "quantile":
        return "none are bought: by the declared number of rows a group is too small for them; the range is told"
    if not places:
        return ""
    ends = [release(plan, 0, place) for place in places]
    first = ends[0].mechanism
    assert isinstance(first, WeightedQuantile)
    rows = show_amount(aside(ends[0]))
    sides = "below and above" if len(ends) == 2 else ("below" if first.offset < 0 else "above")
    share = show_percent(sum(end.share for end in ends))
    bought = f"{plural(len(ends), 'further pick')}, {rows} rows {sides}, for {shown(plan, ends[0].event)}"
    if len(ends) == 2:
        return f"{bought} each ({share} in all)"
    return f"{bought} ({share}); the other end is that of the range, for nothing"


def _other(one: Release) -> Alternative:
    """Return what the other mechanism would have given: at the same epsilon, or the same rho."""
    mechanism = one.mechanism
    permuted = _kind(mechanism) == "permute-and-flip"
    assert isinstance(mechanism, WeightedQuantile | PermuteAndFlip | Exponential)
    # Permute-and-flip has no bounded range: for rho it gets epsilon = sqrt(2 rho), half as much.
    epsilon = mechanism.epsilon if permuted else mechanism.epsilon / 2
    by_rank = isinstance(mechanism, WeightedQuantile)
    other = _swapped_rank(mechanism, epsilon) if by_rank else _swapped_weight(mechanism, epsilon)
    width = off_by(one, other)
    rho = f"epsilon = sqrt(2 rho) = {show_amount(float(epsilon))}, the same rho"
    at = "the same epsilon" if permuted else rho
    return Alternative(_kind(other), f"within {show_amount(width)} rows at {at}", width)


def _halved(one: Release) -> list[Alternative]:
    """Return what all quantiles of an axis would have had by halving, for the losses of all of them.

    It cuts the rows at each quantile it has drawn, in the middle of those that have the same value: nothing public
    says how many these are, and where they are many the next quantiles are off by as much.
    """
    draws, places = one.part.draws, _beside(one)
    axis, mechanism = draws[one.index].axis, one.mechanism
    if len(places) < 2 or not isinstance(axis, Marks) or not isinstance(mechanism, WeightedQuantile):
        return []
    halving = WeightedQuantiles(
        at=sorted(draws[place].at for place in places),
        low=0,
        high=axis.top,
        step=1,
        reach=weight_reach(one.part.aggregation),
        changes=most_changes(one.plan.source),
        groups=many_groups(one.part.aggregation),
        epsilon=_all_of(one, places),
        window=mechanism.window,
    )
    width = halving.error(CONFIDENCE) / one.resolution
    outcome = f"within {show_amount(width)} rows where no value repeats, and off by half the rows of one that does"
    return [Alternative(f"all {len(places)} quantiles by halving", outcome, width)]


def _beside(one: Release) -> list[int]:
    """Return the quantiles that are drawn of the same rows in the same way, this one too."""
    mine = one.part.draws[one.index]
    return [
        place
        for place, draw in enumerate(one.part.draws)
        if draw.kind == "quantile" and not draw.end and draw.steps == mine.steps
    ]


def _all_of(one: Release, places: list[int]) -> Fraction:
    """Return the epsilon of halving that costs what these quantiles cost: their sum, or by the sum of rho."""
    chosen = [one.part.mechanisms[place] for place in places]
    each = [found.epsilon for found in chosen if isinstance(found, WeightedQuantile)]
    if isinstance(one.mechanism, PermutedWeightedQuantile):
        return sum(each, Fraction(0))
    # Levels of a bounded range of epsilon/levels each cost epsilon^2/(8 levels).
    return root_below(len(places).bit_length() * sum((epsilon**2 for epsilon in each), Fraction(0)))


def _swapped_rank(mechanism: Any, epsilon: Fraction) -> WeightedQuantile:
    permuted = isinstance(mechanism, PermutedWeightedQuantile)
    kind: type[WeightedQuantile] = WeightedQuantile if permuted else PermutedWeightedQuantile
    return kind(
        at=mechanism.at,
        low=mechanism.low,
        high=mechanism.high,
        step=mechanism.step,
        sensitivity=mechanism.sensitivity,
        epsilon=epsilon,
        window=mechanism.window,
    )


def _swapped_weight(mechanism: Any, epsilon: Fraction) -> PermuteAndFlip | Exponential:
    kind = Exponential if isinstance(mechanism, PermuteAndFlip) else PermuteAndFlip
    return kind(
        sensitivity=mechanism.sensitivity,
        epsilon=epsilon,
        monotone=mechanism.monotone,
        adjacency=mechanism.adjacency,
    )
