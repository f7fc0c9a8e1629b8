"""Forecast how far each aggregate will be off, from the laws of its noise and public facts.

Statement:
    A linear form of releases is off by the same form of their noises, whatever the data. No two noises are
    correlated, not even those of one cube, so that its mean squared error is the sum of their variances times the
    squared coefficients; its half-width is the quantile that the interval of the answer has. Counts and sums over
    several grouping sets are averaged, and running sums read by least squares: linear forms too.
    A ratio N/D over n rows is off by (noise of N - r D)/n to first order, at the ratio r. A moment is forecast
    for typical data, a quantile by ranks. These depend on the rows of a group: they are functions of n.
Proof:
    docs/proofs/intervals.md, docs/proofs/grouping_sets.md (Theorem 2), docs/proofs/running_counts.md.

Typical data lie about the middle of their range with a standard deviation of a quarter of it; two variables have
a correlation of 1/2. The interval of a moment is the one that `moment_interval` reads from the sums of such data,
without noise in the sums but with its law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from jali.catalog.columns import Kind
from jali.ir.aggregates import CountRows, Marks, SumValues
from jali.ir.estimators import AnyEstimate, Cells, LinearCombination, Moment, Picked, PickedCell, RatioEstimate
from jali.ir.relations import find_scan
from jali.mechanisms.intervals.linear_forms import (
    AffineForm,
    LinearForm,
    LinearFormLaw,
    bound_linear_quantile,
    bound_linear_quantiles,
    compute_linear_stddev,
)
from jali.mechanisms.measurement import Measurement
from jali.mechanisms.moments import Axis, moment_interval
from jali.planner.cdf_strategies import forecast_running_sums
from jali.planner.measured_query import GroupingSet
from jali.planner.plan import Plan
from jali.planner.rules.split_loss import axis_of
from jali.planner.terms import CONFIDENCE

# What is as wide for any number of rows; the others are about c/n for n rows.
ABSOLUTE = ("regr_count", "regr_sxx", "regr_syy", "regr_sxy")
_DEVIATION, _CORRELATION = 0.5, 0.5
_MANY = 1e9


def typical_half_width(level: GroupingSet, moment: Moment, rows: float, confidence: float) -> float:
    """Return half the width of the interval that an answer over so many rows of typical data would have."""
    x, y = axis_of(moment.x), axis_of(moment.y or moment.x)
    places = sorted({place for _, form in moment.sums for place, _ in form.terms})
    forms = {
        name: AffineForm([float(dict(form.terms).get(place, 0)) for place in places], _sum(name, x, y) * rows)
        for name, form in moment.sums
    }
    laws = [_law(level, place) for place in places]
    low, high = moment_interval(
        moment.kind, forms, laws, [np.zeros(1)] * len(places), confidence=confidence, x=x, y=y
    )
    width = float(high[0] - low[0]) / 2
    return math.inf if math.isnan(width) else width


def many_rows(level: GroupingSet, moment: Moment) -> float:
    """Return so many rows that the half-width is about c/n."""
    ((place, unit), *_) = dict(moment.sums)["n"].terms
    return max(1.0, float(_law(level, place).stddev) * float(unit)) * _MANY


def _law(level: GroupingSet, place: int) -> LinearFormLaw:
    part, index = level.releases[place]
    law: LinearFormLaw = part.mechanisms[index].noise_law
    return law


def _sum(name: str, x: Axis, y: Axis) -> float:
    """Return what a row of typical data adds to a sum, on average."""
    spread_x, spread_y = x.reach * _DEVIATION, y.reach * _DEVIATION
    known = {"n": 1.0, "sx": 0.0, "sy": 0.0, "sxx": spread_x**2, "syy": spread_y**2}
    return known.get(name, _CORRELATION * spread_x * spread_y)


# The ends of a quantile's interval are bought to hold at this confidence; beyond it they are those of the range.
_BOUGHT = 0.95
# A group so large that it is sure to be shown.
_SURE = 1 << 40
# What forecasts take, in milliseconds: of a moment, of running sums, and for each two grouping sets that agree.
_ONE_VARIABLE, _TWO_VARIABLES, _RUNNING, _PAIR_OF_SETS = 10.0, 25.0, 6.0, 0.08
# The tables of more sets than this are forecast as if each stood alone: what that says is true, and a little wide.
_MANY_SETS = 32
_PER_SECOND = {Kind.TIMESTAMP: 10**6}


@dataclass(frozen=True)
class AggregateForecast:
    """How far one aggregate will be off in a group of one grouping set.

    Attributes:
        confidence: How often it stays within its half-width, at least.
        rms: The root of the mean squared error; over the cells of a distribution function, before its numbers are
            made to rise, which only brings them closer. None where it depends on the data.
        half_width: What the error stays within; in the widest cell. None where that depends on the data.
        first: The half-width in the first cell of a distribution function.
        sure: Whether this holds only for a group that is sure to be shown: its count was told by the noise that
            chose it, and only large counts are told.
        least_per_row: The half-width times n, for a mean in the middle of its range or typical data.
        most_per_row: The same for a mean at an end of its range.
        doubtful_below: Up to so many rows a group is lost in the noise of its count.
        rank_error: How far off its rank a quantile is, in rows.
        rank_reach: How many rows beside it the ends of its interval are aimed at.
        weight_error: How many rows a picked value is lighter than the heaviest.
        span: The length of the range of a quantile; in days for dates and seconds for times.
    """

    confidence: float
    rms: float | None = None
    half_width: float | None = None
    first: float | None = None
    sure: bool = False
    least_per_row: float | None = None
    most_per_row: float | None = None
    doubtful_below: float | None = None
    rank_error: float | None = None
    rank_reach: float | None = None
    weight_error: float | None = None
    span: float | None = None

    @property
    def always(self) -> bool:
        """Whether the law of the error is the same whatever the data."""
        return self.half_width is not None and not self.sure


def forecast_estimate(
    plan: Plan, level: int, estimate: AnyEstimate, confidence: float = CONFIDENCE
) -> AggregateForecast:
    """Return the forecast of one estimate in one grouping set."""
    view = _View(plan, level, confidence)
    if isinstance(estimate, Moment):
        return view.moment(estimate)
    if isinstance(estimate, Picked):
        return view.forecast_pick(estimate)
    if isinstance(estimate, Cells):
        return view.cells(estimate)
    if estimate.denominator is not None:
        return view.ratio(estimate)
    return view.whole(estimate.numerator) if estimate.whole else view.linear(estimate.numerator)


def prepare_forecasts(plan: Plan, confidence: float = CONFIDENCE) -> None:
    """Compute the half-widths of all aggregates together, which takes little more than that of one.

    They are remembered for `forecast_estimate`.
    """
    forms = [
        form
        for i in range(len(plan.levels))
        for _, estimate in plan.estimates
        if isinstance(estimate, RatioEstimate)
        for form in _View(plan, i, confidence).forms(estimate)
    ]
    if len(forms) > 1:
        bound_linear_quantiles(forms, confidence)


def forecast_work(plan: Plan, estimate: AnyEstimate) -> float:
    """Return about how many milliseconds the forecast of an aggregate takes."""
    if isinstance(estimate, Moment):
        return len(plan.levels) * (_ONE_VARIABLE if estimate.y is None else _TWO_VARIABLES)
    if isinstance(estimate, Cells) and estimate.cumulative:
        return len(plan.levels) * _RUNNING
    return min(len(plan.levels), _MANY_SETS) ** 2 * _PAIR_OF_SETS


def half_width_at(
    plan: Plan, level: int, estimate: AnyEstimate, rows: float | None, confidence: float
) -> float | None:
    """Return the half-width in a group of so many rows; None where it is not known, or not without them."""
    if isinstance(estimate, Moment) and estimate.kind != "regr_count":
        return None if rows is None else typical_half_width(plan.levels[level], estimate, rows, confidence)
    found = forecast_estimate(plan, level, estimate, confidence)
    if found.half_width is not None:
        return found.half_width
    if rows is None or found.weight_error is not None:
        return None
    if found.rank_error is not None:
        return _in_values(found, rows)
    if rows <= (found.doubtful_below or 0.0):
        return math.inf
    return None if found.most_per_row is None else found.most_per_row / rows


def _in_values(found: AggregateForecast, rows: float) -> float:
    """Ranks as values that lie evenly over the range; a rank half of the rows away may be any value."""
    reach = max(found.rank_error or 0.0, found.rank_reach or 0.0) / rows
    lost = reach >= 1 / 2 or found.confidence > _BOUGHT
    return math.inf if lost else reach * (found.span or 0.0)


def guess_rows(plan: Plan, level: int) -> float | None:
    """Return how many rows a group has by public facts: as the question states it, or rows of one known table."""
    if plan.aim is not None and plan.aim.group_rows is not None:
        return float(plan.aim.group_rows)
    if not scans_one_table(plan) or plan.selection is not None or plan.table.rows is None:
        return None
    return plan.table.rows / max(1, plan.levels[level].aggregation.groups)


def public_rows(plan: Plan, level: int) -> float | None:
    """Return the same, or the least number of people of a group that is shown: each has a row at least."""
    guess = guess_rows(plan, level)
    if guess is not None or plan.selection is None or plan.selection.least_people == 1:
        return guess
    return float(plan.selection.least_people)


def scans_one_table(plan: Plan) -> bool:
    """Say whether the rows are those of one table."""
    return find_scan(plan.source) is not None


# The errors of all sets are found at once, and asked for one by one.
@lru_cache(maxsize=64)
def _forecast_averages(
    sizes: tuple[int, ...], sets: tuple[tuple[int, ...], ...], laws: tuple[Any, ...], confidence: float
) -> list[tuple[float, float]]:
    """Return the standard deviation and the half-width of a cell of each grouping set, averaged over all sets."""
    from jali.mechanisms.workloads.grouping_sets import compute_stddevs, compute_widths, list_variances

    if len(sets) > _MANY_SETS:
        return [(law.stddev, float(law.quantile(confidence))) for law in laws]
    return list(
        zip(
            compute_stddevs(sizes, sets, list_variances(laws)),
            compute_widths(sizes, sets, laws, confidence),
            strict=True,
        )
    )


@dataclass(frozen=True)
class _View:
    """One grouping set of a plan, seen at one confidence."""

    plan: Plan
    index: int
    confidence: float

    @property
    def level(self) -> GroupingSet:
        return self.plan.levels[self.index]

    def mechanism(self, place: int) -> Measurement:
        part, index = self.level.releases[place]
        return part.mechanisms[index]

    def resolution(self, place: int) -> int:
        weights = self.level.releases[place][0].aggregation.weights
        return 1 if weights is None else weights.resolution

    def forms(self, estimate: RatioEstimate) -> list[LinearForm]:
        """Return the forms in several noises whose half-widths the forecast of an estimate asks for."""
        above, below = estimate.numerator, estimate.denominator
        found = [above] if below is None else [above + below.scale(-ratio) for ratio in _ratios(estimate)]
        several = [
            form for form in found if len(form.terms) > 1 and self.plan.selection_count not in dict(form.terms)
        ]
        return [([float(c) for _, c in form.terms], self._laws(form)) for form in several]

    # Linear forms.

    def linear(self, form: LinearCombination) -> AggregateForecast:
        if self.plan.selection_count in dict(form.terms):
            return self._forecast_selection_count(form)
        return self._forecast_average(form) if self._adds_up(form) else self._alone(form)

    def whole(self, form: LinearCombination) -> AggregateForecast:
        """A form that is rounded to the nearest whole number, as the exact value is one.

        Noise that is many steps wide leaves every distance from it as likely, of the 1/step there are: this adds
        (1 - step^2)/12 to the variance. The half-width is rounded up.
        """
        found = self.linear(form)
        if found.sure or self._adds_up(form):
            return found
        assert found.rms is not None
        assert found.half_width is not None
        step = float(max(abs(factor) for _, factor in form.terms))
        rms = math.sqrt(found.rms**2 + max(0.0, 1 - step**2) / 12)
        return replace(found, rms=rms, half_width=float(math.ceil(found.half_width)))

    def _alone(self, form: LinearCombination) -> AggregateForecast:
        rms = compute_linear_stddev([float(c) for _, c in form.terms], self._laws(form))
        return AggregateForecast(self.confidence, rms, self._width(form, self.confidence))

    def _laws(self, form: LinearCombination) -> list[Any]:
        return [self.mechanism(place).noise_law for place, _ in form.terms]

    def _width(self, form: LinearCombination, confidence: float) -> float:
        return bound_linear_quantile([float(c) for _, c in form.terms], self._laws(form), confidence)

    def _adds_up(self, form: LinearCombination) -> bool:
        """Whether the tables of all grouping sets are made to agree: counts and sums of rows."""
        if len(self.plan.levels) == 1 or len(form.terms) != 1:
            return False
        return isinstance(self.plan.aggregation.measures[form.terms[0][0]], CountRows | SumValues)

    def _forecast_average(self, form: LinearCombination) -> AggregateForecast:
        ((place, factor),) = form.terms
        sizes = tuple(len(key.values or ()) for key in self.plan.keys)
        sets = tuple(level.places for level in self.plan.levels)
        laws = tuple(replace(self, index=i).mechanism(place).noise_law for i in range(len(sets)))
        rms, width = _forecast_averages(sizes, sets, laws, self.confidence)[self.index]
        return AggregateForecast(self.confidence, rms * abs(float(factor)), width * abs(float(factor)))

    # A count that is told with its group: its interval and that of the rest hold together by the union bound.

    def _forecast_selection_count(self, form: LinearCombination) -> AggregateForecast:
        factor = sum((c for i, c in form.terms if i == self.plan.selection_count), Fraction(0))
        rest = LinearCombination(tuple(term for term in form.terms if term[0] != self.plan.selection_count))
        each = 1 - (1 - self.confidence) / (2 if rest.terms else 1)
        width = abs(float(factor)) * self._selection_count_width(each) + self._width(rest, each)
        return AggregateForecast(self.confidence, half_width=width, sure=True)

    def _selection_count_width(self, confidence: float) -> float:
        counts = None if self.plan.selection is None else self.plan.selection.counts
        assert counts is not None
        low, high = counts.interval(_SURE, confidence)
        return float(max(_SURE - low, high - _SURE))

    # Ratios.

    def ratio(self, estimate: RatioEstimate) -> AggregateForecast:
        """A mean: a ratio over a count of rows, whose range is known; of other ratios nothing is."""
        below, bounds = estimate.denominator, estimate.bounds
        assert below is not None
        if bounds.low is None or bounds.high is None or not self._counts(below):
            return AggregateForecast(self.confidence)
        middle, *ends = _ratios(estimate)
        return AggregateForecast(
            self.confidence,
            least_per_row=self._ratio_width(estimate.numerator, below, middle),
            most_per_row=max(self._ratio_width(estimate.numerator, below, end) for end in ends),
            doubtful_below=self.linear(below).half_width,
        )

    def _counts(self, below: LinearCombination) -> bool:
        if len(below.terms) != 1 or below.constant:
            return False
        return isinstance(self.plan.aggregation.measures[below.terms[0][0]], CountRows)

    def _ratio_width(self, above: LinearCombination, below: LinearCombination, ratio: Fraction) -> float:
        """Return the half-width of N - r D: that of N/D times n, where D counts n rows."""
        return self._width(above + below.scale(-ratio), self.confidence)

    # Moments, picks and cells.

    def moment(self, moment: Moment) -> AggregateForecast:
        count = dict(moment.sums)["n"]
        if moment.kind == "regr_count":
            return self.linear(count)
        found = AggregateForecast(self.confidence, doubtful_below=self.linear(count).half_width)
        if moment.kind in ABSOLUTE:
            return found
        rows = many_rows(self.level, moment)
        return replace(found, least_per_row=rows * typical_half_width(self.level, moment, rows, self.confidence))

    def forecast_pick(self, picked: Picked) -> AggregateForecast:
        error = max(self._off_by(pick.value) + self._aside(pick.value) for pick in picked.picks)
        if not isinstance(picked.axis, Marks):
            return AggregateForecast(self.confidence, weight_error=error)
        ends = [self._aside(end) for pick in picked.picks for end in _ends(pick)]
        length = float(picked.axis.top * picked.axis.step / _PER_SECOND.get(picked.axis.kind, 1))
        reach = max(ends, default=None)
        return AggregateForecast(self.confidence, rank_error=error, rank_reach=reach, span=length)

    def _off_by(self, place: int) -> float:
        """Return how far off the best rank or weight a pick is at most, in rows."""
        part, index = self.level.releases[place]
        off_by = self.mechanism(place).bound_error(self.confidence, part.draws[index].axis.cells)
        return off_by / self.resolution(place)

    def _aside(self, place: int) -> float:
        """Return how many rows beside its own rank a pick is aimed at."""
        return self.mechanism(place).target_offset / self.resolution(place)

    def cells(self, cells: Cells) -> AggregateForecast:
        law, worth = self.mechanism(cells.release).noise_law, float(cells.worth)
        if not cells.cumulative:
            width = law.quantile(self.confidence) * worth
            return AggregateForecast(self.confidence, law.stddev * worth, width)
        found = forecast_running_sums(law, len(cells.labels), self.confidence)
        first, widest = found.first * worth, found.widest * worth
        return AggregateForecast(self.confidence, found.rms * worth, max(first, widest), first)


def _ratios(estimate: RatioEstimate) -> tuple[Fraction, ...]:
    """Return the means that a forecast is for: in the middle of the range and at its ends; none where unknown."""
    low, high = estimate.bounds.low, estimate.bounds.high
    return () if low is None or high is None else ((low + high) / 2, low, high)


def _ends(pick: PickedCell) -> list[int]:
    return [end for end in (pick.low, pick.high) if end is not None]
