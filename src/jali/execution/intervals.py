"""Compute the confidence intervals of aggregates: of sums and counts, of ratios such as AVG, quantiles and cells.

Everything here is post-processing of what was released, and of the public laws of its noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jali.catalog.number_intervals import NumberInterval
from jali.execution.postprocess import (
    GroupValues,
    Interval,
    adds_up,
    build_variable,
    clamp,
    find_agreement,
    list_labels,
)
from jali.ir.aggregates import Marks
from jali.ir.estimators import AnyEstimate, Cells, LinearCombination, Moment, Picked, PickedCell, RatioEstimate
from jali.planner.axis_cells import read_cell, to_float, to_float_ends

if TYPE_CHECKING:
    from jali.mechanisms.intervals.linear_forms import AffineForm


class GroupReader(GroupValues):
    """Reads the aggregates of one grouping set, with their confidence intervals."""

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

        if adds_up(self.release, estimate):
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
        return dict(zip(list_labels(cells), spans, strict=True))

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

    def _consistent_intervals(self, estimate: RatioEstimate, confidence: float) -> Sequence[Interval]:
        from jali.mechanisms.workloads.grouping_sets import compute_intervals

        sizes, sets, tables, laws, scale = find_agreement(self.release, estimate)[1]
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
    return clamp(min(ratios), bounds), clamp(max(ratios), bounds)


@lru_cache(maxsize=1024)
def _compute_sum_width(law: Any, count: int, worth: float, confidence: float) -> float:
    if count == 1:
        return float(law.quantile(confidence)) * worth
    from jali.mechanisms.intervals.weighted_sums import WeightedTerm, bound_weighted_quantile

    return float(bound_weighted_quantile([WeightedTerm(1.0, count, law)], confidence)) * worth


def _build_form(form: LinearCombination, indices: Sequence[int]) -> AffineForm:
    from jali.mechanisms.intervals.linear_forms import AffineForm

    terms = dict(form.terms)
    return AffineForm([to_float(terms.get(i, Fraction(0))) for i in indices], to_float(form.constant))
