"""Reading answers that agree: values from the fitted cells, intervals that hold whatever the fit did.

Each interval is that of the question by itself, which holds the truth as often as it says, and stretches to the
value that is shown. So agreement can make an interval longer, and never less sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from jali.query.estimate import Estimate
from jali.query.estimates import AnyEstimate, Cells
from jali.reading import Interval, LevelReading, Release, to_float


@dataclass(frozen=True)
class AgreedRelease(Release):
    """What left through the noise, and the numbers that agree with those of other questions.

    Attributes:
        agreed: By release one entry for each group, in the units of what was released.
    """

    agreed: tuple[tuple[int, tuple[Any, ...]], ...] = field(default=())

    @cached_property
    def readings(self) -> tuple[LevelReading, ...]:
        """One reading: such a question has one grouping set."""
        return (AgreedReading(self, dict(self.agreed)),)


class AgreedReading(LevelReading):
    """Reads counts and sums from the numbers that agree, and all else from what was released."""

    def __init__(self, release: Release, agreed: dict[int, tuple[Any, ...]]) -> None:
        super().__init__(release, 0)
        self._agreed_numbers = agreed
        level = release.levels[0]
        plain = {i: numbers for i, numbers in agreed.items() if not isinstance(_first(numbers), tuple)}
        noisy = tuple(plain.get(i, column) for i, column in enumerate(level.noisy))
        self._fitted = LevelReading(replace(release, levels=(replace(level, noisy=noisy),)), 0)

    def values(self, estimate: AnyEstimate) -> list[Any]:
        """Return the value of an aggregate in each group."""
        if isinstance(estimate, Cells) and estimate.release in self._agreed_numbers:
            return [_numbered(estimate, cells) for cells in self._agreed_numbers[estimate.release]]
        if isinstance(estimate, Estimate):
            # What agrees is not rounded: whole numbers would not add up.
            fits = any(i in self._agreed_numbers for i in estimate.measures)
            return self._fitted.values(replace(estimate, whole=estimate.whole and not fits))
        return super().values(estimate)

    def intervals(self, estimate: AnyEstimate, confidence: float) -> Sequence[Interval]:
        """Return an interval for the aggregate in each group: its own, out to the value."""
        own = super().intervals(estimate, confidence)
        if not isinstance(estimate, Estimate | Cells):
            return own
        return [_stretched(span, value) for span, value in zip(own, self.values(estimate), strict=True)]


def _first(numbers: tuple[Any, ...]) -> Any:
    return numbers[0] if numbers else None


def _numbered(cells: Cells, numbers: Sequence[Fraction]) -> dict[Any, Any]:
    """Return the numbers of a histogram or distribution function, by their labels."""
    labels = [to_float(label) if isinstance(label, Fraction) else label for label in cells.labels]
    shown = accumulate(numbers) if cells.cumulative else numbers
    return dict(zip(labels, (to_float(cells.worth * number) for number in shown), strict=True))


def _stretched(span: Interval, value: Any) -> Interval:
    if isinstance(span, dict):
        return {label: _stretched(inner, value[label]) for label, inner in span.items()}
    return span if span is None or value is None else (min(span[0], value), max(span[1], value))
