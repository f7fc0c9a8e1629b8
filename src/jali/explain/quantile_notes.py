"""Explain what is selected along an axis: quantiles by their rank, modes by their weight."""

from __future__ import annotations

from fractions import Fraction

from jali.catalog.columns import Kind
from jali.display.numbers import show_amount, show_percent
from jali.explain import proof_pages
from jali.explain.measure_notes import axis_name, in_sets
from jali.explain.notes import AlternativeNote, ChoiceNote
from jali.explain.planned_releases import NotedRelease, PlannedRelease, amount, release, write_loss
from jali.explain.vocabulary import CONFIDENCE, name_unit, one_table, plural, show_changes
from jali.ir.aggregates import Marks
from jali.ir.ownership import most_changes
from jali.mechanisms.measurement import Measurement, PickMeasurement
from jali.mechanisms.quantiles.approximate_quantiles import WeightedQuantiles
from jali.numbers.rounding import round_root_down
from jali.planner.axis_cells import read_cell
from jali.planner.measured_query import AxisRelease
from jali.planner.plan import Plan
from jali.planner.query_sensitivity import bound_weight, count_known_groups

_AXES = {Kind.DATE: "days", Kind.TIMESTAMP: "microseconds"}


def choice_note(plan: Plan, one: NotedRelease) -> ChoiceNote:
    """Explain one pick, with the ends of its interval."""
    picked = release(plan, 0, one.place)
    draw, mechanism = picked.draw, pick_of(picked)
    assert draw is not None
    return ChoiceNote(
        name=choice_name(draw),
        meaning=_meaning(plan, draw),
        sensitivity=float(mechanism.sensitivity / picked.resolution),
        because=_because(plan, draw),
        mechanism=_mechanism(picked),
        loss=write_loss(plan, picked.event),
        exact_loss=str(amount(plan, picked.event)),
        share=picked.share,
        half_width=off_by(picked),
        alternatives=(_other(picked), *_compare_halving(picked)),
        theorems=_theorems(plan, picked),
        picks=draw.picks,
        aim=_aim(picked),
        ends=_ends(plan, draw, one.ends),
        sets=in_sets(plan, one.place, off_by),
        kind=draw.kind,
    )


def choice_name(draw: AxisRelease) -> str:
    """Name what is picked.

    Example:
        >>> from jali.ir.expressions import Column
        >>> axis = Marks(Column("age"), Kind.INTEGER, Fraction(0), Fraction(1), 120)
        >>> [choice_name(AxisRelease(axis, "quantile", Fraction(at))) for at in ("0.5", "0.1")]
        ['MEDIAN(age)', 'QUANTILE(age, 0.1)']
    """
    axis = axis_name(draw.axis)
    if draw.kind == "top":
        return f"MODE({axis})" if draw.picks == 1 else f"TOP {draw.picks} of {axis}"
    known = {Fraction(0): "MIN", Fraction(1, 2): "MEDIAN", Fraction(1): "MAX"}
    return f"{known[draw.at]}({axis})" if draw.at in known else f"QUANTILE({axis}, {_fraction(draw.at)})"


def _fraction(value: Fraction) -> str:
    return show_amount(float(value))


def pick_of(one: PlannedRelease) -> PickMeasurement:
    """Return the mechanism of a release that is a pick."""
    assert isinstance(one.mechanism, PickMeasurement)
    return one.mechanism


def off_by(one: PlannedRelease, mechanism: Measurement | None = None) -> float:
    """Return how far off the best rank or weight a pick is at most, in rows, with 95 %."""
    found = one.mechanism if mechanism is None else mechanism
    assert one.draw is not None
    return found.bound_error(CONFIDENCE, one.draw.axis.cells) / one.resolution


def _meaning(plan: Plan, draw: AxisRelease) -> str:
    weights = plan.aggregation.weights
    weighed = "number of rows" if weights is None or weights.by_rank else "weight"
    if not isinstance(draw.axis, Marks):
        first = "the value" if draw.picks == 1 else f"the {draw.picks} values, one after the other,"
        return f"{first} with the largest {weighed} among {draw.axis.cells:,}; the {weighed} is not released"
    ends = {Fraction(0): "the smallest value", Fraction(1): "the largest value"}
    rank = ends.get(draw.at, f"a {weighed} below it nearest to {_fraction(draw.at)} of the total")
    return f"the mark with {rank}, of {_marks(draw.axis)}; NULL and NaN are ignored"


def _marks(axis: Marks) -> str:
    low, high = (_mark(axis, cell) for cell in (0, axis.top))
    unit = f" {_AXES[axis.kind]}" if axis.kind in _AXES else ""
    step = f", {show_amount(float(axis.step))}{unit} apart" if axis.top and axis.step != 1 else ""
    return f"{plural(axis.cells, 'mark')} from {low} to {high}{step}"


def _mark(axis: Marks, cell: int) -> str:
    value = read_cell(axis, cell)
    return show_amount(value) if isinstance(value, float) else str(value)


def _because(plan: Plan, draw: AxisRelease) -> str:
    weights, who = plan.aggregation.weights, name_unit(plan)
    rows = plural(1 if weights is None else weights.max_rows, "row")
    reach = rows if weights is None else f"one {who}: {rows}"
    if draw.kind == "top":
        return f"{reach} in one cell{show_changes(plan)}"
    larger = max(draw.at, 1 - draw.at)
    share = f", each moving a rank by at most {_fraction(larger)} relative to the target" if larger < 1 else ""
    return f"{reach}{share}{show_changes(plan)}"


def _mechanism(one: PlannedRelease) -> str:
    pick = pick_of(one)
    described = pick.describe()
    scale = show_amount(described.scale / one.resolution)
    each = "" if one.draw is None or one.draw.picks == 1 else " for each pick"
    best = f"each {scale} rows further from the best {pick.looks_at} is e times less likely"
    return f"{described.noun}: {best}{each}"


def _theorems(plan: Plan, one: PlannedRelease) -> tuple[str, ...]:
    found = [*one.mechanism.describe().theorems, *proof_pages.of_bound(plan.aggregation.weights)]
    return (*found, *([] if one_table(plan) else [proof_pages.OWNERSHIP]))


def aside(one: PlannedRelease) -> float:
    """Return how many rows beside its own rank a pick is aimed at."""
    return one.mechanism.target_offset / one.resolution


def _aim(one: PlannedRelease) -> str:
    """Say how far inside the range the target of a smallest or largest value is."""
    rows = aside(one)
    return f"{show_amount(rows)} rows inside, so that the empty end of the range is not selected" if rows else ""


def _ends(plan: Plan, draw: AxisRelease, places: tuple[int, ...]) -> str:
    """Say how the ends of the interval are released."""
    if not places and draw.kind == "quantile":
        return "no ends: by the declared number of rows, a group is too small for them; the interval is the range"
    if not places:
        return ""
    ends = [release(plan, 0, place) for place in places]
    first = ends[0].draw
    assert first is not None
    rows = show_amount(aside(ends[0]))
    sides = "below and above" if len(ends) == 2 else ("below" if first.end < 0 else "above")
    share = show_percent(sum(end.share for end in ends))
    more, loss = plural(len(ends), "further selection"), write_loss(plan, ends[0].event)
    bought = f"{more}, {rows} rows {sides}, for {loss}"
    if len(ends) == 2:
        return f"{bought} each ({share} in all)"
    return f"{bought} ({share}); the other end is that of the range, at no loss"


def _other(one: PlannedRelease) -> AlternativeNote:
    """Return what the other mechanism would have given: at the same epsilon, or the same rho."""
    pick = pick_of(one)
    other = pick.convert_loss()
    width = off_by(one, other)
    # Permute-and-flip has no bounded range: for rho it gets epsilon = sqrt(2 rho), half as much.
    rho = f"epsilon = sqrt(2 rho) = {show_amount(float(other.epsilon))}, the same rho"
    at = "the same epsilon" if pick.for_pure_loss else rho
    return AlternativeNote(other.describe().noun, f"within {show_amount(width)} rows at {at}", width)


def _compare_halving(one: PlannedRelease) -> list[AlternativeNote]:
    """Return what all quantiles of an axis would have had by halving, for the losses of all of them.

    It cuts the rows at each quantile it has drawn, in the middle of those that have the same value: nothing public
    says how many these are, and where they are many the next quantiles are off by as much.
    """
    draws, places = one.part.draws, _beside(one)
    draw = draws[one.index]
    axis = draw.axis
    if len(places) < 2 or not isinstance(axis, Marks):
        return []
    halving = WeightedQuantiles(
        at=sorted(draws[place].at for place in places),
        low=0,
        high=axis.top,
        step=1,
        reach=bound_weight(one.part.aggregation),
        changes=most_changes(one.plan.source),
        groups=count_known_groups(one.part.aggregation),
        epsilon=_all_of(one, places),
        window=1 if draw.steps else one.resolution,
    )
    width = halving.error(CONFIDENCE) / one.resolution
    outcome = f"within {show_amount(width)} rows if no value repeats; a repeated value adds half of its rows"
    return [AlternativeNote(f"all {len(places)} quantiles by halving", outcome, width)]


def _beside(one: PlannedRelease) -> list[int]:
    """Return the quantiles that are drawn of the same rows in the same way, this one too."""
    mine = one.part.draws[one.index]
    return [
        place
        for place, draw in enumerate(one.part.draws)
        if draw.kind == "quantile" and not draw.end and draw.steps == mine.steps
    ]


def _all_of(one: PlannedRelease, places: list[int]) -> Fraction:
    """Return the epsilon of halving that costs what these quantiles cost: their sum, or by the sum of rho."""
    chosen = [one.part.mechanisms[place] for place in places]
    each = [found.epsilon for found in chosen if isinstance(found, PickMeasurement)]
    if pick_of(one).for_pure_loss:
        return sum(each, Fraction(0))
    # Levels of a bounded range of epsilon/levels each cost epsilon^2/(8 levels).
    return round_root_down(len(places).bit_length() * sum((epsilon**2 for epsilon in each), Fraction(0)))
