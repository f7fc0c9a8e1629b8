"""Compute the values and intervals of aggregates from what was released. Post-processing, which costs nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

from jali.catalog.number_intervals import NumberInterval
from jali.ir.aggregates import CountRows, KeySet, Marks, Measure, SumValues
from jali.ir.estimators import (
    AnyEstimate,
    Cells,
    LinearCombination,
    Moment,
    Picked,
    PickedCell,
    RatioEstimate,
    VariableRange,
)
from jali.ir.expressions import Aggregate, Question
from jali.planner.axis_cells import read_cell, to_float, to_float_ends

if TYPE_CHECKING:
    from jali.mechanisms.intervals.linear_forms import AffineForm
    from jali.mechanisms.moments import Axis as Variable
    from jali.privacy import Event

Interval: TypeAlias = Any  # (low, high), a list or a mapping of such, or None


def write_event(event: Event) -> dict[str, str]:
    """Return a loss as plain JSON values."""
    return {"kind": event.kind, "amount": str(event.amount), "delta": str(event.delta)}


@dataclass(frozen=True)
class ReleasedGroups:
    """One grouping set: the places of its keys, its groups, and what was released of them.

    Attributes:
        laws: The law of the noise of each release; None for a choice.
        noisy: For each release one entry per group.
    """

    places: tuple[int, ...]
    groups: tuple[tuple[Any, ...], ...]
    laws: tuple[Any, ...]
    noisy: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Release:
    """What was released, and the public facts needed to read it.

    Attributes:
        selection: How the groups were chosen, where they were.
        told: Which release is the count that they were chosen by: only counts from a threshold on are told.
        max_rows: For how many rows one person counts in a group, at most.
        rows: How many rows the curator guesses there are, where all rows of one table are asked about and bounded.
    """

    question: Question
    keys: tuple[KeySet, ...]
    estimates: tuple[tuple[Aggregate, AnyEstimate], ...]
    measures: tuple[Measure, ...]
    levels: tuple[ReleasedGroups, ...]
    selection: Any = None
    told: int | None = None
    max_rows: int = 1
    rows: int | None = None

    @property
    def noisy(self) -> tuple[tuple[Any, ...], ...]:
        """What was released of the first grouping set."""
        return self.levels[0].noisy

    @cached_property
    def linear_estimates(self) -> dict[Aggregate, RatioEstimate]:
        """The aggregates that are linear forms or ratios of them."""
        return {a: e for a, e in self.estimates if isinstance(e, RatioEstimate)}

    @cached_property
    def agreements(self) -> dict[RatioEstimate, tuple[list[Any], Any]]:
        """What was found of estimates whose totals agree."""
        return {}

    @cached_property
    def readings(self) -> tuple[GroupReader, ...]:
        """One reading for each grouping set."""
        return tuple(GroupReader(self, index) for index in range(len(self.levels)))


def list_groups(keys: Sequence[KeySet]) -> tuple[tuple[Any, ...], ...]:
    """Return every combination of declared keys, in order."""
    return tuple(product(*(key.values or () for key in keys)))


class GroupReader:
    """Reads the aggregates of one grouping set."""

    def __init__(self, release: Release, index: int) -> None:
        self.release = release
        self.index = index
        self.level = release.levels[index]

    def __len__(self) -> int:
        return len(self.level.groups)

    # Values.

    def values(self, estimate: AnyEstimate) -> list[Any]:
        """Return the value of an aggregate in each group."""
        if isinstance(estimate, Moment):
            return self._moments(estimate)
        if isinstance(estimate, Picked):
            return [self._read_picks(estimate, group) for group in range(len(self))]
        if isinstance(estimate, Cells):
            return [self._cells(estimate, group) for group in range(len(self))]
        agreed = self._consistent_values(estimate)
        if agreed is not None:
            return [float(value) for value in agreed]
        if estimate.denominator is None:
            return [_to_number(number) for number in self._numbers(estimate)]
        return self._ratios(estimate.numerator, estimate.denominator, estimate.bounds)

    def _ratios(
        self, numerator: LinearCombination, denominator: LinearCombination, bounds: NumberInterval
    ) -> list[float | None]:
        """A ratio over a count that is not positive says nothing, as AVG of no rows says NULL."""
        pairs = zip(self._linear(numerator), self._linear(denominator), strict=True)
        return [None if below <= 0 else _clamp(to_float(above / below), bounds) for above, below in pairs]

    def _numbers(self, estimate: RatioEstimate) -> list[Fraction]:
        """The values of a linear form; the nearest whole numbers where the exact ones are whole."""
        released = self._linear(estimate.numerator)
        return [Fraction(round(number)) for number in released] if estimate.whole else released

    def _linear(self, form: LinearCombination) -> list[Fraction]:
        """The form in each group, over one denominator: sums of fractions take ten times as long."""
        below = math.lcm(form.constant.denominator, *(c.denominator for _, c in form.terms))
        terms = [(int(c * below), self.level.noisy[i]) for i, c in form.terms]
        constant = int(form.constant * below)
        groups = range(len(self))
        return [Fraction(constant + sum(c * noisy[group] for c, noisy in terms), below) for group in groups]

    def _moments(self, moment: Moment) -> list[Any]:
        import numpy as np

        from jali.mechanisms.moments import moment_value

        sums = {name: np.array([to_float(number) for number in self._linear(form)]) for name, form in moment.sums}
        found = moment_value(
            moment.kind, sums, build_variable(moment.x), None if moment.y is None else build_variable(moment.y)
        )
        return [float(value) if math.isfinite(value) else None for value in found]

    def _read_picks(self, picked: Picked, group: int) -> Any:
        values = [v for pick in picked.picks for v in self._pick(picked, pick, group)]
        return values if picked.several else values[0]

    def _pick(self, picked: Picked, pick: PickedCell, group: int) -> list[Any]:
        cell = self.level.noisy[pick.value][group]
        return [read_cell(picked.axis, c) for c in (cell if isinstance(cell, tuple) else (cell,))]

    def _cells(self, cells: Cells, group: int) -> dict[Any, Any]:
        return dict(zip(_list_labels(cells), self._cell_numbers(cells, group), strict=True))

    def _cell_numbers(self, cells: Cells, group: int) -> list[float]:
        numbers = self._noisy_cells(cells, group)
        return _make_monotone(numbers) if cells.cumulative else numbers

    def _noisy_cells(self, cells: Cells, group: int) -> list[float]:
        """The numbers as the noise left them, without bias: those of a distribution function may fall."""
        noisy, law = self.level.noisy[cells.release][group], self.level.laws[cells.release]
        if hasattr(law, "running"):
            return [to_float(cells.worth) * float(x) for x in law.running(noisy)]
        return [to_float(cells.worth * n) for n in (accumulate(noisy) if cells.cumulative else noisy)]

    # Intervals.

    def intervals(self, estimate: AnyEstimate, confidence: float) -> Sequence[Interval]:
        """Return an interval for the aggregate in each group."""
        if isinstance(estimate, Moment):
            return self._moment_intervals(estimate, confidence)
        if isinstance(estimate, Picked):
            return [self._picks_interval(estimate, group, confidence) for group in range(len(self))]
        if isinstance(estimate, Cells):
            return [self._cells_interval(estimate, group, confidence) for group in range(len(self))]
        if self.release.told in estimate.measures:
            return self._selection_intervals(estimate, confidence)
        if estimate.denominator is not None:
            return self._ratio_intervals(estimate, confidence)
        return self._linear_intervals(estimate, confidence)

    def _linear_intervals(self, estimate: RatioEstimate, confidence: float) -> Sequence[Interval]:
        from jali.mechanisms.intervals.linear_forms import bound_linear_quantile

        if _adds_up(self.release, estimate):
            return self._consistent_intervals(estimate, confidence)
        form = estimate.numerator
        laws = [self.level.laws[i] for i, _ in form.terms]
        width = bound_linear_quantile([to_float(c) for _, c in form.terms], laws, confidence)
        if estimate.whole:
            # The nearest whole number is within a whole distance of the exact one if what was released is.
            width = float(math.ceil(width))
        centers = map(to_float, self._numbers(estimate))
        return [(center - width, center + width) for center in centers]

    def _ratio_intervals(self, estimate: RatioEstimate, confidence: float) -> Sequence[Interval]:
        from jali.mechanisms.intervals.linear_forms import find_ratio_interval

        indices = estimate.measures
        below = estimate.denominator or LinearCombination()
        low, high = find_ratio_interval(
            _build_form(estimate.numerator, indices),
            _build_form(below, indices),
            [self.level.laws[i] for i in indices],
            self._columns(indices),
            confidence=confidence,
            bounds=to_float_ends(estimate.bounds),
        )
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _columns(self, indices: Sequence[int]) -> list[Any]:
        import numpy as np

        return [np.array([float(x) for x in self.level.noisy[i]]) for i in indices]

    def _moment_intervals(self, moment: Moment, confidence: float) -> Sequence[Interval]:
        from jali.mechanisms.moments import moment_interval

        indices = sorted({i for _, form in moment.sums for i, _ in form.terms})
        if not len(self):
            return []
        low, high = moment_interval(
            moment.kind,
            {name: _build_form(form, indices) for name, form in moment.sums},
            [self.level.laws[i] for i in indices],
            self._columns(indices),
            confidence=confidence,
            x=build_variable(moment.x),
            y=None if moment.y is None else build_variable(moment.y),
        )
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _picks_interval(self, picked: Picked, group: int, confidence: float) -> Interval:
        if not isinstance(picked.axis, Marks):
            return None
        spans = [self._pick_interval(picked.axis, pick, group, confidence) for pick in picked.picks]
        return spans if picked.several else spans[0]

    def _pick_interval(self, axis: Marks, pick: PickedCell, group: int, confidence: float) -> Interval:
        """The ends that were bought, which hold at their own confidence; beyond it, the ends of the range.

        A mark stands for the values nearest to it: the ends are moved out by half a step.
        """
        bought = confidence <= pick.confidence
        value = self.level.noisy[pick.value][group]
        low = self.level.noisy[pick.low][group] if bought and pick.low is not None else 0
        high = self.level.noisy[pick.high][group] if bought and pick.high is not None else axis.top
        low, high = min(low, high, value), max(low, high, value)
        return read_cell(axis, low, -0.5), read_cell(axis, high, 0.5)

    def _cells_interval(self, cells: Cells, group: int, confidence: float) -> Interval:
        """Around the numbers before they were made to rise, and out to what is shown."""
        widths = self._cell_widths(cells, confidence)
        numbers = zip(self._noisy_cells(cells, group), self._cell_numbers(cells, group), widths, strict=True)
        spans = [(min(x - width, shown), max(x + width, shown)) for x, shown, width in numbers]
        return dict(zip(_list_labels(cells), spans, strict=True))

    def _cell_widths(self, cells: Cells, confidence: float) -> list[float]:
        law, worth, size = self.level.laws[cells.release], to_float(cells.worth), len(cells.labels)
        if hasattr(law, "running"):
            return [float(width) * worth for width in law.widths(confidence)]
        counts = range(1, size + 1) if cells.cumulative else [1] * size
        return [_compute_sum_width(law, count, worth, confidence) for count in counts]

    # A count that was told with its group.

    def _selection_intervals(self, estimate: RatioEstimate, confidence: float) -> Sequence[Interval]:
        """Return what the estimate can be while the told count, and the rest of each form, are in their intervals.

        That of the told count holds given that the group is shown, which the noise of the others does not depend
        on. All of them hold together by the union bound; a linear form, and a ratio of two whose denominator is
        not 0, is monotone in each of them, so that its extremes are at the corners.
        """
        forms = [form for form in (estimate.numerator, estimate.denominator) if form is not None]
        rests = [
            LinearCombination(tuple(t for t in f.terms if t[0] != self.release.told), f.constant) for f in forms
        ]
        each = 1 - (1 - confidence) / (1 + sum(bool(rest.terms) for rest in rests))
        widths = [self._rest_width(rest, each) for rest in rests]
        factors = [to_float(sum((c for i, c in f.terms if i == self.release.told), Fraction(0))) for f in forms]
        found = []
        for told, *centers in zip(self._selection_spans(each), *map(self._linear, rests), strict=True):
            sides = [(to_float(c) - w, to_float(c) + w) for c, w in zip(centers, widths, strict=True)]
            found.append(_enclose_corners(told, sides, factors, estimate.bounds))
        return found

    def _rest_width(self, rest: LinearCombination, confidence: float) -> float:
        from jali.mechanisms.intervals.linear_forms import bound_linear_quantile

        laws = [self.level.laws[i] for i, _ in rest.terms]
        return bound_linear_quantile([to_float(c) for _, c in rest.terms], laws, confidence)

    def _selection_spans(self, confidence: float) -> list[tuple[int, int]]:
        """The interval of each group's told count; many groups have the same count."""
        assert self.release.told is not None
        told = self.level.noisy[self.release.told]
        spans = {count: self.release.selection.interval(count, confidence) for count in set(told)}
        return [spans[count] for count in told]

    # Grouping sets: totals that agree.

    def _consistent_values(self, estimate: RatioEstimate) -> Any:
        """Return the values of a count or sum of rows over all grouping sets, averaged so that totals agree."""
        return _find_agreement(self.release, estimate)[0][self.index] if _adds_up(self.release, estimate) else None

    def _consistent_intervals(self, estimate: RatioEstimate, confidence: float) -> Sequence[Interval]:
        from jali.mechanisms.workloads.grouping_sets import compute_intervals

        sizes, sets, tables, laws, scale = _find_agreement(self.release, estimate)[1]
        low, high = compute_intervals(sizes, sets, tables, laws, confidence)[self.index]
        return [(a * scale, b * scale) for a, b in zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)]


def _enclose_corners(
    told: tuple[int, int], sides: list[tuple[float, float]], factors: list[float], bounds: NumberInterval
) -> tuple[float, float]:
    """Return the least and the largest of rest + factor * told, or of the ratio of two such forms, over a box."""
    corners = [
        [side + factor * n for n in told for side in pair] for pair, factor in zip(sides, factors, strict=True)
    ]
    if len(corners) == 1:
        return min(corners[0]), max(corners[0])
    below = corners[1]
    if not (min(below) > 0 or max(below) < 0):
        return to_float_ends(bounds)
    # Both forms have the same told count: its two ends come in the first and the last pair of corners.
    ratios = [a / b for place in (0, 2) for a in corners[0][place : place + 2] for b in below[place : place + 2]]
    if any(math.isnan(ratio) for ratio in ratios):
        return to_float_ends(bounds)
    return _clamp(min(ratios), bounds), _clamp(max(ratios), bounds)


def _adds_up(release: Release, estimate: RatioEstimate) -> bool:
    terms = estimate.numerator.terms
    if len(release.levels) == 1 or estimate.denominator is not None or len(terms) != 1:
        return False
    return isinstance(release.measures[terms[0][0]], CountRows | SumValues)


def _find_agreement(release: Release, estimate: RatioEstimate) -> tuple[list[Any], Any]:
    if estimate not in release.agreements:
        release.agreements[estimate] = _fit_totals(release, estimate)
    return release.agreements[estimate]


def _fit_totals(release: Release, estimate: RatioEstimate) -> tuple[list[Any], Any]:
    import numpy as np

    from jali.mechanisms.workloads.grouping_sets import list_variances, make_consistent

    ((place, factor),) = estimate.numerator.terms
    sizes = [len(key.values or ()) for key in release.keys]
    sets = [level.places for level in release.levels]
    tables = [np.array(level.noisy[place], dtype=object) for level in release.levels]
    laws = [level.laws[place] for level in release.levels]
    scale = to_float(factor)
    found = make_consistent(sizes, sets, tables, list_variances(laws))
    return [table.ravel() * scale for table in found], (sizes, sets, tables, laws, scale)


@lru_cache(maxsize=1024)
def _compute_sum_width(law: Any, count: int, worth: float, confidence: float) -> float:
    if count == 1:
        return float(law.quantile(confidence)) * worth
    from jali.mechanisms.intervals.weighted_sums import WeightedTerm, bound_weighted_quantile

    return float(bound_weighted_quantile([WeightedTerm(1.0, count, law)], confidence)) * worth


def _make_monotone(numbers: list[float]) -> list[float]:
    """Return the nearest numbers that never fall; none of them is changed where none falls."""
    if all(a <= b for a, b in pairwise(numbers)):
        return numbers
    from jali.mechanisms.workloads.consistency import rising

    return [float(number) for number in rising(numbers)]


def _list_labels(cells: Cells) -> list[Any]:
    return [to_float(label) if isinstance(label, Fraction) else label for label in cells.labels]


def build_variable(span: VariableRange) -> Variable:
    """Return a variable's public range, in doubles."""
    from jali.mechanisms.moments import Axis as Variable

    return Variable(float(span.low), float(span.high), float(span.center))


def _build_form(form: LinearCombination, indices: Sequence[int]) -> AffineForm:
    from jali.mechanisms.intervals.linear_forms import AffineForm

    terms = dict(form.terms)
    return AffineForm([to_float(terms.get(i, Fraction(0))) for i in indices], to_float(form.constant))


def _to_number(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else to_float(value)


def _clamp(value: float, bounds: NumberInterval) -> float:
    low, high = to_float_ends(bounds)
    return min(max(value, low), high)
