"""Compute the values of aggregates from what was released. Post-processing, which costs no privacy loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

from jali.catalog.number_intervals import NumberInterval
from jali.ir.aggregates import CountRows, KeySet, Measure, SumValues
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
    from jali.execution.intervals import GroupReader
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
        from jali.execution.intervals import GroupReader

        return tuple(GroupReader(self, index) for index in range(len(self.levels)))


def list_groups(keys: Sequence[KeySet]) -> tuple[tuple[Any, ...], ...]:
    """Return every combination of declared keys, in order."""
    return tuple(product(*(key.values or () for key in keys)))


class GroupValues:
    """Reads the values of the aggregates of one grouping set."""

    def __init__(self, release: Release, index: int) -> None:
        self.release = release
        self.index = index
        self.level = release.levels[index]

    def __len__(self) -> int:
        return len(self.level.groups)

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
        return [None if below <= 0 else clamp(to_float(above / below), bounds) for above, below in pairs]

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
        return dict(zip(list_labels(cells), self._cell_numbers(cells, group), strict=True))

    def _cell_numbers(self, cells: Cells, group: int) -> list[float]:
        numbers = self._noisy_cells(cells, group)
        return _make_monotone(numbers) if cells.cumulative else numbers

    def _noisy_cells(self, cells: Cells, group: int) -> list[float]:
        """The numbers as the noise left them, without bias: those of a distribution function may fall."""
        noisy, law = self.level.noisy[cells.release][group], self.level.laws[cells.release]
        if hasattr(law, "running"):
            return [to_float(cells.worth) * float(x) for x in law.running(noisy)]
        return [to_float(cells.worth * n) for n in (accumulate(noisy) if cells.cumulative else noisy)]

    # Grouping sets: totals that agree.

    def _consistent_values(self, estimate: RatioEstimate) -> Any:
        """Return the values of a count or sum of rows over all grouping sets, averaged so that totals agree."""
        return find_agreement(self.release, estimate)[0][self.index] if adds_up(self.release, estimate) else None


def adds_up(release: Release, estimate: RatioEstimate) -> bool:
    """Say whether a count or sum of rows has totals over several grouping sets."""
    terms = estimate.numerator.terms
    if len(release.levels) == 1 or estimate.denominator is not None or len(terms) != 1:
        return False
    return isinstance(release.measures[terms[0][0]], CountRows | SumValues)


def find_agreement(release: Release, estimate: RatioEstimate) -> tuple[list[Any], Any]:
    """Return the values of an estimate in every grouping set whose totals agree, and what they were fitted to."""
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


def _make_monotone(numbers: list[float]) -> list[float]:
    """Return the nearest numbers that never fall; none of them is changed where none falls."""
    if all(a <= b for a, b in pairwise(numbers)):
        return numbers
    from jali.mechanisms.workloads.consistency import rising

    return [float(number) for number in rising(numbers)]


def list_labels(cells: Cells) -> list[Any]:
    """Return the labels of cells as they are shown."""
    return [to_float(label) if isinstance(label, Fraction) else label for label in cells.labels]


def build_variable(span: VariableRange) -> Variable:
    """Return a variable's public range, in doubles."""
    from jali.mechanisms.moments import Axis as Variable

    return Variable(float(span.low), float(span.high), float(span.center))


def _to_number(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else to_float(value)


def clamp(value: float, bounds: NumberInterval) -> float:
    """Return the nearest number within bounds."""
    low, high = to_float_ends(bounds)
    return min(max(value, low), high)
