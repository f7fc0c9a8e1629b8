"""Estimate the sampling error: how far the rows, as a random sample, may be from their population. Free.

It is computed from released numbers: from the variance where the answer has one, else from the largest variance
that the range allows. Rows of one person may be alike. With m_i of them for person i, n in all, they are then
worth n^2 / sum m_i^2 independent ones: at least n / max_rows, as m_i^2 <= max_rows m_i. Where the answer has the
number p of people too, it is at least n^2 / (p + (n - p)(max_rows + 1)), as m^2 <= 1 + (m - 1)(max_rows + 1) for
m from 1 to max_rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Kind
from jali.display.numbers import half_width, show_width
from jali.execution.intervals import GroupReader
from jali.execution.postprocess import Interval, build_variable
from jali.ir.aggregates import CountPeople, CountRows, SumValues
from jali.ir.estimators import LinearCombination, Moment, RatioEstimate, VariableRange
from jali.ir.expressions import Aggregate, Call, Expression, Literal, conjuncts
from jali.planner.axis_cells import to_float, to_float_ends

if TYPE_CHECKING:
    from jali.mechanisms.moments.moment_sums import Floats

_SPREADS = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")
_MEANS = {"regr_avgx": ("sx", "sxx"), "regr_avgy": ("sy", "syy")}


@dataclass(frozen=True)
class SamplingErrors:
    """The standard errors of one column.

    Attributes:
        each: One for each group; None where it cannot be told.
        at_most: Whether they are the largest that the released numbers allow.
    """

    each: tuple[float | None, ...]
    at_most: bool

    def times(self, factor: float) -> SamplingErrors:
        """Return those of the column times a number."""
        return replace(self, each=tuple(None if e is None else e * abs(factor) for e in self.each))


def find_sampling_errors(reading: GroupReader, expression: Expression) -> SamplingErrors | None:
    """Return the standard errors of an output in the groups of one grouping set; None if it has none.

    It has some if it is a mean, a proportion, a slope, an intercept or a correlation, or such a one times or plus
    a constant. A count or a sum would need the size of the population.
    """
    if isinstance(expression, Aggregate):
        return _ColumnSampling(reading, expression).find_errors()
    if not isinstance(expression, Call):
        return None
    if expression.function == "negate":
        return find_sampling_errors(reading, expression.arguments[0])
    return _scale_errors(reading, expression) or _estimate_ratio(reading, expression)


def widen_interval(
    value: Any, interval: Interval, error: float | None, bounds: tuple[float, float], confidence: float
) -> Interval:
    """Return an interval for the population's value: both errors, which are independent, added in squares.

    The square of a quantile of the sum of a Laplace and a normal error is below the sum of their squares.
    """
    if error is None or value is None or interval is None:
        return None
    width = compute_normal_quantile(confidence) * error
    low, high = (math.hypot(value - interval[0], width), math.hypot(interval[1] - value, width))
    return max(value - low, bounds[0]), min(value + high, bounds[1])


def find_sampling_bounds(estimate: Any) -> tuple[float, float]:
    """Return the public bounds of an output's value, in the population too."""
    if isinstance(estimate, RatioEstimate):
        return to_float_ends(estimate.bounds)
    return (-1.0, 1.0) if isinstance(estimate, Moment) and estimate.kind == "corr" else (-math.inf, math.inf)


def compute_normal_quantile(confidence: float) -> float:
    """Return how many standard errors an interval reaches."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def compare_errors(name: str, spans: Sequence[Interval], errors: SamplingErrors, confidence: float) -> str:
    """Say in one sentence which error dominates a column; nothing where there is none to compare."""
    both = [
        (compute_normal_quantile(confidence) * error, width)
        for span, error in zip(spans, errors.each, strict=True)
        if error is not None and (width := half_width(span)) is not None
    ]
    if not both:
        return ""
    larger = sum(sampled > width for sampled, width in both)
    sampling, privacy = (show_width(median(column)) for column in zip(*both, strict=True))
    sampling = f"up to {sampling}" if errors.at_most else sampling
    medians = " (medians)" if len(both) > 1 else ""
    if not larger:
        return f"Privacy noise dominates {name}: {privacy}, against {sampling} for sampling{medians}."
    verb = "may dominate" if errors.at_most else "dominates"
    where = f"{name}{_in_groups(larger, len(both))}"
    return f"Sampling error {verb} {where}: {sampling}, against {privacy} for privacy{medians}."


def _in_groups(count: int, of: int) -> str:
    if of == 1:
        return ""
    return f" in all {of:,} groups" if count == of else f" in {count:,} of {of:,} groups"


@dataclass(frozen=True)
class _ColumnSampling:
    """One aggregate that is a mean or belongs to a line."""

    reading: GroupReader
    aggregate: Aggregate

    def find_errors(self) -> SamplingErrors | None:
        estimate = dict(self.reading.release.estimates).get(self.aggregate)
        if isinstance(estimate, RatioEstimate):
            return self._estimate_mean(estimate) if self.aggregate.function == "avg" else None
        if not isinstance(estimate, Moment):
            return None
        if estimate.kind in _MEANS:
            return self._estimate_mean_of_pairs(estimate)
        return self._estimate_line(estimate)

    def _estimate_mean(self, estimate: RatioEstimate) -> SamplingErrors:
        assert estimate.denominator is not None
        known = next((m for a, m in self._moments(one=True) if a.function in _SPREADS), None)
        if known is not None:
            return self._estimate_mean_by_variance(known, ("sx", "sxx"), known.x)
        low, high = to_float_ends(estimate.bounds)
        means, count = self.reading.values(estimate), self._numbers(estimate.denominator)
        return _bound_errors(
            self.reading,
            means,
            count,
            low,
            high,
            exact=has_two_values(self.reading, estimate),
            like=self.aggregate,
        )

    def _estimate_mean_of_pairs(self, moment: Moment) -> SamplingErrors:
        """A mean over the rows that have both values: with the squares, if another aggregate has them."""
        total, squares = _MEANS[moment.kind]
        span = moment.x if total == "sx" or moment.y is None else moment.y
        known = next((m for _, m in self._moments() if squares in dict(m.sums) and total in dict(m.sums)), None)
        if known is not None:
            return self._estimate_mean_by_variance(known, (total, squares), span)
        means, count = self.reading.values(moment), self._numbers(dict(moment.sums)["n"])
        return _bound_errors(
            self.reading, means, count, float(span.low), float(span.high), exact=False, like=self.aggregate
        )

    def _estimate_mean_by_variance(
        self, known: Moment, names: tuple[str, str], span: VariableRange
    ) -> SamplingErrors:
        from jali.mechanisms.moments.moment_values import estimate_mean_error

        sums = dict(known.sums)
        read = {
            name: self._numbers(sums[own]) for name, own in zip(("n", "sx", "sxx"), ("n", *names), strict=True)
        }
        count, cautious = count_independent_rows(self.reading, read["n"], self.aggregate)
        return _build_errors(estimate_mean_error(read, count, build_variable(span)), at_most=cautious)

    def _estimate_line(self, moment: Moment) -> SamplingErrors | None:
        from jali.mechanisms.moments.moment_values import LINES, estimate_line_error

        if moment.kind not in LINES or moment.y is None:
            return None
        sums = {name: form for _, other in (*self._moments(), (None, moment)) for name, form in other.sums}
        read = {name: self._numbers(form) for name, form in sums.items()}
        count, cautious = count_independent_rows(self.reading, read["n"], self.aggregate)
        found = estimate_line_error(moment.kind, read, count, build_variable(moment.x), build_variable(moment.y))
        return _build_errors(found, at_most=cautious or "syy" not in read)

    def _moments(self, *, one: bool = False) -> list[tuple[Aggregate, Moment]]:
        """The moments of the same rows and variables; with `one`, of the one variable alone."""
        mine = (self.aggregate.argument, self.aggregate.others, self.aggregate.filter, self.aggregate.bounds)
        return [
            (a, e)
            for a, e in self.reading.release.estimates
            if isinstance(e, Moment)
            and (a.argument, a.others, a.filter, a.bounds) == mine
            and (not one or e.y is None)
        ]

    def _numbers(self, form: LinearCombination) -> Floats:
        return _read_numbers(self.reading, form)


def count_independent_rows(reading: GroupReader, count: Floats, like: Aggregate) -> tuple[Floats, bool]:
    """Return for how many independent rows so many count, and whether that is cautious.

    Args:
        reading: The grouping set.
        count: The rows of each group.
        like: The aggregate that they are counted for.
    """
    import numpy as np

    most = reading.release.max_rows
    if most == 1:
        return count, False
    people = None if like.filter is not None else _count_people(reading)
    if people is None:
        return count / most, True
    people = np.clip(people, 1.0, np.maximum(count, 1.0))
    squares = people + (count - people) * (most + 1)
    return np.maximum(count / most, count * count / np.maximum(squares, 1.0)), True


def has_two_values(reading: GroupReader, estimate: RatioEstimate) -> bool:
    """Say whether the values are two whole numbers at the ends of their range, such as 0 and 1."""
    sums = [m for m in map(reading.release.measures.__getitem__, estimate.measures) if isinstance(m, SumValues)]
    return all(m.kind is Kind.INTEGER and m.high - m.low <= 1 for m in sums)


def _count_people(reading: GroupReader) -> Floats | None:
    """Return the people of each group, where the answer has their number."""
    for aggregate, estimate in reading.release.estimates:
        if aggregate.function == "count" and aggregate.distinct and isinstance(estimate, RatioEstimate):
            counted = [reading.release.measures[i] for i in estimate.measures]
            if counted == [CountPeople()]:
                return _read_numbers(reading, estimate.numerator)
    return None


def _scale_errors(reading: GroupReader, call: Call) -> SamplingErrors | None:
    """A column times, over, plus or minus a constant."""
    if call.function not in ("*", "/", "+", "-"):
        return None
    left, right = call.arguments
    number, other = _read_constant(right), left
    if number is None and call.function != "/":
        number, other = _read_constant(left), right
    found = None if number is None else find_sampling_errors(reading, other)
    if found is None or number is None or call.function in "+-":
        return found
    return None if number == 0 else found.times(to_float(number if call.function == "*" else 1 / number))


def _estimate_ratio(reading: GroupReader, call: Call) -> SamplingErrors | None:
    """A count or a sum over a count whose rows hold all of its own: the mean of 0/1, or of values and zeros."""
    if call.function != "/":
        return None
    (above, factor), (below, divisor) = (_split_factor(argument) for argument in call.arguments)
    if not (isinstance(above, Aggregate) and isinstance(below, Aggregate)) or factor == 0 or divisor == 0:
        return None
    makers: dict[str, Callable[..., SamplingErrors | None]] = {
        "count": _estimate_proportion,
        "sum": _estimate_per_row,
    }
    made = makers.get(above.function)
    if made is None or below.function != "count" or not _is_contained(above, below):
        return None
    found = made(reading, above, below)
    return None if found is None else found.times(to_float(factor / divisor))


def _estimate_proportion(reading: GroupReader, above: Aggregate, below: Aggregate) -> SamplingErrors | None:
    if not (_counts_rows_or_people(reading, above) and above.distinct == below.distinct):
        return None
    parts, count = (_read_numbers(reading, reading.release.linear_estimates[a].numerator) for a in (above, below))
    if above.distinct:
        # People are independent of each other.
        return _bound_errors(reading, _divide(parts, count), count, 0.0, 1.0, exact=True, like=None)
    return _bound_errors(reading, _divide(parts, count), count, 0.0, 1.0, exact=True, like=below)


def _estimate_per_row(reading: GroupReader, above: Aggregate, below: Aggregate) -> SamplingErrors | None:
    """The sum of values over the rows; a row without a value, or that the sum leaves out, adds 0."""
    estimate = reading.release.linear_estimates.get(above)
    sums = [] if estimate is None else [reading.release.measures[i] for i in estimate.measures]
    values = [m for m in sums if isinstance(m, SumValues)]
    if estimate is None or len(values) != 1 or below.distinct or above.distinct:
        return None
    low, high = values[0].low, values[0].high
    if above.argument != below.argument or above.filter != below.filter:
        low, high = min(low, Fraction(0)), max(high, Fraction(0))
    exact = values[0].kind is Kind.INTEGER and high - low <= 1
    parts, count = (_read_numbers(reading, reading.release.linear_estimates[a].numerator) for a in (above, below))
    means = _divide(parts, count)
    return _bound_errors(reading, means, count, to_float(low), to_float(high), exact=exact, like=below)


def _counts_rows_or_people(reading: GroupReader, aggregate: Aggregate) -> bool:
    """Whether a count is one of rows, or of people: one of different values is no share of rows."""
    estimate = reading.release.linear_estimates.get(aggregate)
    counted = () if estimate is None else tuple(reading.release.measures[i] for i in estimate.measures)
    return bool(counted) and all(isinstance(m, CountRows | CountPeople) for m in counted)


def _is_contained(above: Aggregate, below: Aggregate) -> bool:
    """Say whether all rows of one aggregate are surely among those of another."""
    wider = below.argument is None or above.argument == below.argument
    return wider and set(conjuncts(below.filter)) <= set(conjuncts(above.filter))


def _bound_errors(
    reading: GroupReader,
    means: Sequence[Any],
    count: Floats,
    low: float,
    high: float,
    *,
    exact: bool,
    like: Aggregate | None,
) -> SamplingErrors:
    import numpy as np

    from jali.mechanisms.moments.moment_values import bound_mean_error

    size, cautious = (count, False) if like is None else count_independent_rows(reading, count, like)
    known = np.array([math.nan if mean is None else mean for mean in means], np.float64)
    return _build_errors(bound_mean_error(known, size, low, high), at_most=cautious or not exact)


def _build_errors(found: Floats, *, at_most: bool) -> SamplingErrors:
    return SamplingErrors(tuple(float(e) if math.isfinite(e) else None for e in found), at_most)


def _read_numbers(reading: GroupReader, form: LinearCombination) -> Floats:
    import numpy as np

    return np.array(reading.values(RatioEstimate(form)), np.float64)


def _divide(parts: Floats, count: Floats) -> list[float]:
    pairs = zip(parts.tolist(), count.tolist(), strict=True)
    return [above / below if below > 0 else math.nan for above, below in pairs]


def _split_factor(expression: Expression) -> tuple[Expression, Fraction]:
    """Return an expression without its constant factor, and the factor."""
    if isinstance(expression, Call) and expression.function == "*":
        for one, other in (expression.arguments, expression.arguments[::-1]):
            number = _read_constant(one)
            if number is not None:
                return other, number
    return expression, Fraction(1)


def _read_constant(expression: Expression) -> Fraction | None:
    if not isinstance(expression, Literal) or isinstance(expression.value, bool):
        return None
    return Fraction(expression.value) if isinstance(expression.value, int | Fraction) else None
