"""Rule: each aggregate becomes integer measures, clamped to public ranges, or draws along a public axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import NumberInterval
from jali.errors import QueryError, Unsupported
from jali.ir.aggregates import CountPeople, CountRows, CountValues, Measure, SumValues
from jali.ir.estimators import (
    AnyEstimate,
    Cells,
    LinearCombination,
    Moment,
    Picked,
    PickedCell,
    RatioEstimate,
    VariableRange,
    shift_draws,
)
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, aggregates
from jali.ir.functions.aggregate_functions import gives_list, read_constant, read_constants
from jali.ir.ownership import own
from jali.ir.types import infer_type
from jali.mechanisms.moments.moment_sums import KINDS, SQUARE_CENTER
from jali.planner.axis_cells import choose_bins, choose_categories, choose_marks, is_interval_worth_buying
from jali.planner.draft import Draft
from jali.planner.measured_query import AxisRelease
from jali.planner.public_facts import apply_filter, choose_lattice_steps, find_range, round_to_double
from jali.planner.rules.split_loss import forecast_error, weigh_releases

# Noise is sampled up to scale 2^60. A person moves a weighted sum by max_rows * 2^20 * 2^bits steps, and a
# measure gets a share of the loss: what is left of 58 bits is how finely values are put on the lattice.
_NOISE_BITS = 58
_MOST_BITS = 30
_LEAST_BITS = 8
# Whose number the middle of a range is multiplied by, where a sum is centred: of its values, or of all rows.
_WAYS = ("values", "rows")
# What is no better than this is not worth another measure.
_BETTER = 1 - 1e-9


def measure_aggregates(draft: Draft) -> Draft:
    """List the measures that the aggregates need, each once, and how the aggregates are made from them.

    A sum is one measure, or a centred sum and a count that other aggregates can use too: whichever has the least
    forecast error over all aggregates. Sums are tried one after the other, then all of them.
    """
    # The totals of grouping sets are made to agree one measure at a time.
    found = aggregates(draft.question)
    sums = [i for i, a in enumerate(found) if a.function == "sum"] if draft.question.sets is None else []
    chosen: dict[int, str] = {}
    if sums:
        trials = _Trials(draft, found)
        least = trials.forecast(chosen)
        for wider in ({i: way} for i in sums for way in _WAYS):
            tried = trials.forecast(chosen | wider)
            if tried < least * _BETTER:
                chosen, least = chosen | wider, tried
        every = dict.fromkeys(sums, "rows")
        if len(sums) > 1 and trials.forecast(every) < least * _BETTER:
            chosen = every
    measured = _measure_draft(draft, {found[i]: way for i, way in chosen.items()})
    check_releases(measured)
    return measured


def check_releases(draft: Draft) -> None:
    """Refuse a question that releases more numbers than the limits allow: of each group, and in all."""
    releases = len(draft.measures) + len(draft.draws)
    if releases * len(draft.sets) > draft.limits.releases:
        raise QueryError("too-many-releases", position=(1, 1), most=draft.limits.releases)
    drawn = (draw.axis.cells if draw.kind == "cells" else draw.picks for draw in draft.draws)
    each = len(draft.measures) + sum(drawn)
    groups = sum(math.prod(len(draft.keys[place].values or ()) or 1 for place in one) for one in draft.sets)
    if groups * each > draft.limits.numbers:
        raise QueryError("too-many-numbers", position=(1, 1), most=draft.limits.numbers)


class _Trials:
    """Forecasts the error of ways to measure the sums; what each aggregate needs in each way is found once."""

    def __init__(self, draft: Draft, wanted: tuple[Aggregate, ...]) -> None:
        self._draft, self._wanted = draft, wanted
        self._measuring = _Measuring(draft)
        self._known: dict[tuple[int, str | None], list[tuple[int, float]]] = {}

    def forecast(self, ways: Mapping[int, str]) -> float:
        """Return the forecast where the sums of these places are measured in these ways, and all else as usual."""
        weights: dict[int, float] = {}
        for place in range(len(self._wanted)):
            for release, weight in self._needs(place, ways.get(place)):
                weights[release] = weights.get(release, 0.0) + weight
        measures = self._measuring.measures
        # Draws stand after the measures, of which there may be more by now: they are counted from below 0.
        ordered = sorted(weights, key=lambda release: release < 0)
        used = [measures[release] for release in ordered if release >= 0]
        return forecast_error(self._draft, used, [weights[release] for release in ordered])

    def _needs(self, place: int, way: str | None) -> list[tuple[int, float]]:
        """Return the releases that an aggregate needs, and how much each matters to it."""
        if (place, way) not in self._known:
            self._known[place, way] = self._find_needs(self._wanted[place], way)
        return self._known[place, way]

    def _find_needs(self, written: Aggregate, way: str | None) -> list[tuple[int, float]]:
        estimate = self._measuring.estimate(written, way)
        measures = tuple(self._measuring.measures)
        if isinstance(estimate, Picked | Cells):
            return [(-1 - index, weight) for index, weight in weigh_releases(self._draft, measures, estimate)]
        return weigh_releases(self._draft, measures, estimate)


def _measure_draft(draft: Draft, shared: Mapping[Aggregate, str]) -> Draft:
    found = _Measuring(draft)
    made = [(a, found.estimate(a, shared.get(a))) for a in aggregates(draft.question)]
    # Draws are released after the measures, those of one axis together: their places are known only now.
    measures, drawn = found.measures, found.draws
    axes = {axis: i for i, axis in enumerate(dict.fromkeys(draw.axis for draw in drawn))}
    draws = sorted(drawn, key=lambda draw: axes[draw.axis])
    order = {draw: i for i, draw in enumerate(draws)}
    places = [len(measures) + order[draw] for draw in drawn]
    estimates = tuple((a, shift_draws(e, places)) for a, e in made)
    return replace(draft, measures=tuple(measures), draws=tuple(draws), estimates=estimates)


class _Measuring:
    """Collects distinct measures and refers to them by number, with coefficient 1 per unit of the measure."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.rows = draft.rows
        self.bits = lattice_bits(draft)
        self._measures: dict[Measure, int] = {}
        self._draws: dict[AxisRelease, int] = {}
        # A sum is looked at in several ways: what it is of is the same in all of them.
        self._plain: dict[int, tuple[Aggregate, Aggregate]] = {}
        self._known: dict[int, tuple[Expression, Kind, tuple[Fraction, Fraction]]] = {}

    @property
    def measures(self) -> list[Measure]:
        return list(self._measures)

    @property
    def draws(self) -> list[AxisRelease]:
        return list(self._draws)

    def term(self, measure: Measure) -> LinearCombination:
        place = self._measures.setdefault(measure, len(self._measures))
        return LinearCombination(((place, Fraction(1)),))

    def draw(self, draw: AxisRelease) -> int:
        return self._draws.setdefault(draw, len(self._draws))

    def estimate(self, written: Aggregate, way: str | None) -> AnyEstimate:
        """Return how an aggregate is made; of a sum, in one of the ways to share a count."""
        if id(written) not in self._plain:
            self._plain[id(written)] = written, apply_filter(written)
        aggregate = self._plain[id(written)][1]
        if aggregate.function in KINDS:
            return self._moment(aggregate)
        if way is not None:
            return self._sum_with_count(aggregate, way)
        return _MAKERS[aggregate.function](self, aggregate)

    # Numbers with noise.

    def count(self, aggregate: Aggregate) -> RatioEstimate:
        if aggregate.distinct:
            return RatioEstimate(self.term(self._distinct(aggregate)))
        if aggregate.argument is None:
            return RatioEstimate(self.term(CountRows()))
        return RatioEstimate(self.term(self._present(aggregate.argument)))

    def _distinct(self, aggregate: Aggregate) -> Measure:
        """People, if what is counted is the owner; values otherwise."""
        argument = aggregate.argument
        assert argument is not None
        owners, people, present = own(self.rows), argument, None
        filtered_by = isinstance(argument, Call) and argument.function == "case" and len(argument.arguments) == 3
        if isinstance(argument, Call) and filtered_by and argument.arguments[2] == Literal(None):
            people = argument.arguments[1]
            present = Call("case", (argument.arguments[0], Literal(1), Literal(None)))
        if isinstance(people, Column) and people.name in owners.owner_columns():
            # Without weights a row is the only one of its person.
            return CountRows(present) if self.draft.weights is None else CountPeople(present)
        return CountValues(argument, self._kind(argument))

    def _present(self, argument: Expression) -> CountRows:
        return CountRows(argument, self._kind(argument))

    def sum(self, aggregate: Aggregate) -> RatioEstimate:
        assert aggregate.argument is not None
        low, high = self._ends(aggregate, aggregate.argument)
        return RatioEstimate(self.term(self._on_lattice(aggregate.argument, low, high, Fraction(0))))

    def _sum_with_count(self, aggregate: Aggregate, way: str) -> RatioEstimate:
        """A centred sum and the count of its values, as in a mean; or of all rows, where no value counts as 0."""
        assert aggregate.argument is not None
        if way == "values":
            return RatioEstimate(self.mean(aggregate).numerator)
        low, high = self._ends(aggregate, aggregate.argument)
        whole = self._on_lattice(aggregate.argument, low, high, Fraction(0))
        middle = math.floor((min(low, Fraction(0)) + max(high, Fraction(0))) / 2 * whole.steps)
        centred = replace(whole, center=middle / whole.steps, missing=-middle)
        return RatioEstimate(self.term(centred) + self.term(CountRows()).scale(centred.center))

    def mean(self, aggregate: Aggregate) -> RatioEstimate:
        """Centre the values, so that the sum's sensitivity is half the width of the range."""
        assert aggregate.argument is not None
        low, high = self._ends(aggregate, aggregate.argument)
        middle = self._middle(aggregate.argument, low, high)
        above = self.term(self._on_lattice(aggregate.argument, low, high, middle))
        below = self.term(self._present(aggregate.argument))
        return RatioEstimate(above + below.scale(middle), below, NumberInterval(low, high))

    def _ends(self, aggregate: Aggregate, argument: Expression) -> tuple[Fraction, Fraction]:
        """The range of a value: as the question bounds it, or as public facts do."""
        if aggregate.bounds is None:
            known = self._known.get(id(argument))
            if known is None:
                kind = infer_type(argument, self.rows).kind or Kind.INTEGER
                known = self._known[id(argument)] = argument, kind, find_range(argument, self.rows)
            return known[2]
        low, high = aggregate.bounds
        return round_to_double(low, math.floor), round_to_double(high, math.ceil)

    def _middle(self, argument: Expression, low: Fraction, high: Fraction) -> Fraction:
        middle = round_to_double((low + high) / 2, math.floor)
        return Fraction(math.floor(middle)) if self._kind(argument) is Kind.INTEGER else middle

    def _on_lattice(self, argument: Expression, low: Fraction, high: Fraction, center: Fraction) -> SumValues:
        kind = self._kind(argument)
        reach = max(abs(low - center), abs(high - center))
        whole = kind is Kind.INTEGER and reach <= 1 << self.bits
        return SumValues(
            argument, kind, low, high, center, Fraction(1) if whole else choose_lattice_steps(reach, self.bits)
        )

    def _kind(self, argument: Expression) -> Kind:
        known = self._known.get(id(argument))
        return known[1] if known is not None else infer_type(argument, self.rows).kind or Kind.INTEGER

    # Moments.

    def _moment(self, aggregate: Aggregate) -> AnyEstimate:
        assert aggregate.argument is not None
        if not aggregate.others:
            return self._one_variable(aggregate, aggregate.argument)
        return self._two_variables(aggregate, aggregate.argument, aggregate.others[0])

    def _one_variable(self, aggregate: Aggregate, argument: Expression) -> Moment:
        low, high = self._ends(aggregate, argument)
        span = VariableRange(low, high, self._middle(argument, low, high))
        count = self.term(self._present(argument))
        clamped = Call("clamp", (argument, Literal(low), Literal(high)))
        sums = (
            ("n", count),
            ("sx", self.term(self._on_lattice(argument, low, high, span.center))),
            ("sxx", self._square(clamped, span, count)),
        )
        return Moment(aggregate.function, sums, span)

    def _two_variables(self, aggregate: Aggregate, first: Expression, second: Expression) -> Moment:
        """SQL writes the explained variable first: REGR_SLOPE(y, x). Only rows that have both values count."""
        needed = KINDS[aggregate.function]
        y_span, x_span = (self._span(e) for e in (first, second))
        y, x = (self._clamp_value(e, s) for e, s in ((first, y_span), (second, x_span)))
        both = Call("*", (x, y))
        count = self.term(CountRows(both, Kind.REAL))
        makers: dict[str, Callable[[], LinearCombination]] = {
            "n": lambda: count,
            "sx": lambda: self.term(self._sum_paired_values(x, y, x_span)),
            "sy": lambda: self.term(self._sum_paired_values(y, x, y_span)),
            "sxx": lambda: self._square(_where_present(x, y), x_span, count),
            "syy": lambda: self._square(_where_present(y, x), y_span, count),
            "sxy": lambda: self.term(self._product(x, x_span, y, y_span)),
        }
        return Moment(aggregate.function, tuple((name, makers[name]()) for name in needed), x_span, y_span)

    def _span(self, argument: Expression) -> VariableRange:
        low, high = find_range(argument, self.rows)
        return VariableRange(low, high, self._middle(argument, low, high))

    @staticmethod
    def _clamp_value(argument: Expression, span: VariableRange) -> Expression:
        return Call("clamp", (argument, Literal(span.low), Literal(span.high)), argument.position)

    def _sum_paired_values(self, value: Expression, other: Expression, span: VariableRange) -> SumValues:
        return self._on_lattice(_where_present(value, other), span.low, span.high, span.center)

    def _square(self, value: Expression, span: VariableRange, count: LinearCombination) -> LinearCombination:
        """The sum of squares: each less half of the largest, which halves how far one can move it."""
        centred = Call("-", (value, Literal(span.center)))
        largest = round_to_double(_reach(span) ** 2, math.ceil)
        center = round_to_double(largest * Fraction(SQUARE_CENTER), math.floor)
        square = Call("*", (centred, centred))
        measure = SumValues(
            square,
            Kind.REAL,
            Fraction(0),
            largest,
            center,
            choose_lattice_steps(max(center, largest - center), self.bits),
        )
        return self.term(measure) + count.scale(center)

    def _product(self, x: Expression, x_span: VariableRange, y: Expression, y_span: VariableRange) -> SumValues:
        centred = (Call("-", (x, Literal(x_span.center))), Call("-", (y, Literal(y_span.center))))
        reach = round_to_double(_reach(x_span) * _reach(y_span), math.ceil)
        return SumValues(
            Call("*", centred), Kind.REAL, -reach, reach, Fraction(0), choose_lattice_steps(reach, self.bits)
        )

    # Draws along an axis.

    def quantiles(self, aggregate: Aggregate) -> Picked:
        levels = read_constants(aggregate) or (Fraction(1, 2),)
        if aggregate.function == "approx_quantiles":
            parts = int(read_constant(aggregate, 0))
            levels = tuple(Fraction(i, parts) for i in range(parts + 1))
        return self._pick_quantiles(aggregate, levels)

    def minimum(self, aggregate: Aggregate) -> Picked:
        return self._pick_quantiles(aggregate, (Fraction(0),))

    def maximum(self, aggregate: Aggregate) -> Picked:
        return self._pick_quantiles(aggregate, (Fraction(1),))

    def _pick_quantiles(self, aggregate: Aggregate, levels: tuple[Fraction, ...]) -> Picked:
        assert aggregate.argument is not None
        axis = choose_marks(aggregate.argument, self.draft, aggregate.bounds)
        steps = aggregate.function == "quantile_disc"
        picks = []
        for at in levels:
            value = self.draw(AxisRelease(axis, "quantile", at, steps=steps))
            worth = is_interval_worth_buying(self.draft, axis, at)
            low = self.draw(AxisRelease(axis, "quantile", at, -1, steps=steps)) if worth and at > 0 else None
            high = self.draw(AxisRelease(axis, "quantile", at, 1, steps=steps)) if worth and at < 1 else None
            picks.append(PickedCell(value, low, high))
        return Picked(axis, tuple(picks), gives_list(aggregate))

    def mode(self, aggregate: Aggregate) -> Picked:
        assert aggregate.argument is not None
        axis = choose_categories(aggregate, aggregate.argument, self.draft)
        return Picked(axis, (PickedCell(self.draw(AxisRelease(axis, "top"))),))

    def top(self, aggregate: Aggregate) -> Picked:
        assert aggregate.argument is not None
        axis = choose_categories(aggregate, aggregate.argument, self.draft)
        picks = int(read_constant(aggregate, 0))
        if picks > axis.cells:
            raise Unsupported("too-few-values", position=aggregate.position, count=axis.cells)
        return Picked(axis, (PickedCell(self.draw(AxisRelease(axis, "top", picks=picks))),), several=True)

    def cells(self, aggregate: Aggregate) -> Cells:
        assert aggregate.argument is not None
        axis, labels = choose_bins(aggregate, aggregate.argument, self.draft)
        resolution = 1 if self.draft.weights is None else self.draft.weights.resolution
        place = self.draw(AxisRelease(axis, "cells"))
        return Cells(place, axis, labels, Fraction(1, resolution), aggregate.function == "cdf")


_MAKERS: dict[str, Callable[[_Measuring, Aggregate], AnyEstimate]] = {
    "count": _Measuring.count,
    "sum": _Measuring.sum,
    "avg": _Measuring.mean,
    "median": _Measuring.quantiles,
    "quantile_cont": _Measuring.quantiles,
    "quantile_disc": _Measuring.quantiles,
    "approx_quantiles": _Measuring.quantiles,
    "min": _Measuring.minimum,
    "max": _Measuring.maximum,
    "mode": _Measuring.mode,
    "approx_top_k": _Measuring.top,
    "histogram": _Measuring.cells,
    "cdf": _Measuring.cells,
}


def _where_present(value: Expression, other: Expression) -> Expression:
    """A value where another one is there too; both are clamped, so there is no NaN."""
    return Call("case", (Call("is null", (other,)), Literal(None), value))


def _reach(span: VariableRange) -> Fraction:
    return max(span.high - span.center, span.center - span.low)


def lattice_bits(draft: Draft) -> int:
    """Return how many bits a value gets on the lattice: as many as the noise of this loss leaves room for.

    The rounding error of a sum of n rows is then at most n 2^-35 of its noise scale, or n epsilon 2^-30 where
    the bits are capped.
    """
    event = draft.terms.loss.event
    loss = event.epsilon if event.epsilon is not None else Fraction(math.sqrt(2 * event.rho))
    parts = 4 * max(4, 3 * len(aggregates(draft.question))) * len(draft.sets)
    bits = _NOISE_BITS - math.ceil(parts / loss).bit_length()
    if draft.weights is not None:
        bits -= (draft.weights.resolution - 1).bit_length() + draft.weights.max_rows.bit_length()
    return min(_MOST_BITS, max(_LEAST_BITS, bits))
