"""Many answers to one question: what they say, what is true, and how often and how closely they hold it."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from tests.depth import DEPTH
from tests.harness import noise_off
from tests.seeded import SeededBits

import jali
from jali.answer import Answer
from jali.execution.measure import Drawn
from jali.execution.measure import measure as draw
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from jali.planner.measured_query import MeasuredQuery
from jali.sampling import bits

ANSWERS = 50 * DEPTH
CONFIDENCE = 0.95
# A share below this of 2,000 intervals that hold with 95 % each has a chance below 1e-6 (binomial tail). So has a
# share below 72 % of one group's 50, which would be lost among the others. The bits are seeded besides.
LEAST, LEAST_OF_GROUP = 0.925, 0.72

Group = tuple[Any, ...]
Truth = Mapping[Group, NDArray[Any]]


@dataclass(frozen=True)
class Measured:
    """The intervals of one column over all answers: numbers of groups, and an axis for cells and quantiles."""

    groups: NDArray[Any]
    errors: NDArray[Any]
    covered: NDArray[Any]
    widths: NDArray[Any]

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth, in the cell or quantile where it is least."""
        return float(self.covered.mean(axis=0).min())

    @property
    def least_of_group(self) -> float:
        """The same in the group where it is least, of those that are in at least half of the answers."""
        counts = zip(*np.unique(self.groups, return_counts=True), strict=True)
        often = [group for group, count in counts if 2 * count >= ANSWERS]
        return min(float(self.covered[self.groups == group].mean(axis=0).min()) for group in often)

    def only(self, groups: Collection[int]) -> Measured:
        """Return what was found of these groups."""
        here = np.isin(self.groups, list(groups))
        return Measured(self.groups[here], self.errors[here], self.covered[here], self.widths[here])

    @property
    def ratio(self) -> float:
        """How much wider the intervals are than the one that would hold 95 % of the errors.

        Groups count in units of their own median width; those without a finite one say nothing.
        """
        scaled = []
        for group in np.unique(self.groups):
            here = self.groups == group
            width = np.median(self.widths[here], axis=0)
            scaled.append((2 * self.errors[here] / width)[:, np.isfinite(width)].ravel())
        return float(1 / np.nanquantile(np.concatenate(scaled), CONFIDENCE))


def repeat(
    db: jali.Database, sql: str, given: dict[str, Any], *, answers: int = ANSWERS, together: bool = True
) -> list[Answer]:
    """Ask once, and draw the noise again and again from the same exact integers, which are read once.

    With `together` the groups of all answers are put into one: where no totals have to agree, the intervals of a
    group are its own.
    """
    plan, first = db.explain(sql, **given), db.ask(sql, **given)
    known: dict[str, list[tuple[Any, ...]]] = {}

    def run(part: MeasuredQuery) -> list[tuple[Any, ...]]:
        if part.sql not in known:
            known[part.sql] = db._engine.run(part.sql, plan.read)
        return known[part.sql].copy()

    with seeded(), many_marks(answers):
        drawn = [draw(plan, run) for _ in range(answers)]
    return [_answer(first, drawn)] if together else [_answer(first, [one]) for one in drawn]


def _answer(first: Answer, drawn: list[Drawn]) -> Answer:
    """Return the answer that has the groups of all of these."""
    levels = []
    for index, level in enumerate(first.release.levels):
        groups = [level.groups if chosen is None else chosen for chosen, _ in drawn]
        noisy = zip(*(released[index] for _, released in drawn), strict=True)
        levels.append(
            replace(level, groups=tuple(g for part in groups for g in part), noisy=tuple(map(_joined, noisy)))
        )
    return replace(first, release=replace(first.release, levels=tuple(levels)))


def _joined(columns: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    return tuple(value for column in columns for value in column)


def truths(db: jali.Database, sql: str, given: dict[str, Any], keys: int) -> list[Truth]:
    """Return, for each column behind the keys, the bounded truth of every group, shown or not: the noise off."""
    db.refresh("t")
    with noise_off(), every_group():
        rows = db.ask(sql, **given).rows
    db.refresh("t")
    return [{row[:keys]: numbers(row[column]) for row in rows} for column in range(keys, len(rows[0]))]


def measured(answers: list[Answer], truth: list[Truth], keys: int) -> list[Measured]:
    """Compare every column of the answers with the truth."""
    rows = [row for answer in answers for row in answer.rows]
    spans = [span for answer in answers for span in answer.interval(CONFIDENCE)]
    names = {group: number for number, group in enumerate(truth[0])}
    groups = np.array([names[row[:keys]] for row in rows])
    return [
        _compared(groups, [row[:keys] for row in rows], *parts) for parts in _columns(rows, spans, truth, keys)
    ]


def _columns(rows: list[Any], spans: list[Any], truth: list[Truth], keys: int) -> Iterator[tuple[Any, Any, Truth]]:
    for place, column in enumerate(truth, start=keys):
        values = np.array([_flat(row[place]) for row in rows])
        yield values, np.array([_pairs(span[place]) for span in spans]), column


def _compared(
    groups: NDArray[Any], keys: list[Group], values: NDArray[Any], spans: NDArray[Any], truth: Truth
) -> Measured:
    true = np.array([truth[key] for key in keys])
    assert not np.isnan(true).any(), "every group has a true value"
    low, high = spans[..., 0], spans[..., 1]
    return Measured(groups, np.abs(values - true), (low <= true) & (true <= high), high - low)


def numbers(value: Any) -> NDArray[Any]:
    """Return a value, the values of a list or those of a mapping as numbers; days are counted."""
    return np.array(_flat(value))


def _flat(value: Any) -> list[float]:
    if isinstance(value, dict | list):
        return [number for one in _inner(value) for number in _flat(one)]
    if isinstance(value, datetime.date):
        return [float(value.toordinal())]
    return [math.nan if value is None else float(value)]


def _inner(value: dict[Any, Any] | list[Any]) -> Collection[Any]:
    return value.values() if isinstance(value, dict) else value


def ends(span: Any) -> NDArray[Any]:
    """Return the ends of an interval, or of several."""
    return np.array(_pairs(span))


def _pairs(span: Any) -> list[list[float]]:
    if isinstance(span, dict | list):
        return [pair for one in _inner(span) for pair in _pairs(one)]
    return [[number for end in span for number in _flat(end)]]


@contextmanager
def every_group() -> Iterator[None]:
    """Show all groups, however few people they have."""

    def all_of(counts: NDArray[Any]) -> NDArray[Any]:
        return np.ones(len(counts), np.bool_)

    choose = patch.object(OptimalKeys, "choose", lambda _, counts: all_of(counts))
    with choose, patch.object(ThresholdedCounts, "tell", lambda _, counts: (all_of(counts), counts)):
        yield


@contextmanager
def seeded() -> Iterator[None]:
    """Make the noise the same in every run."""
    with patch.object(bits._own, "stream", SeededBits(20_26), create=True):
        yield


@contextmanager
def many_marks(answers: int) -> Iterator[None]:
    """Draw the quantiles of all answers at once: the same law, prepared once for each group."""
    waiting: dict[Any, list[Any]] = {}

    def release(self: QuantileMechanism, value: Any) -> Any:
        key = id(self), *(array.tobytes() for array in value)
        if not waiting.get(key):
            waiting[key] = self.sample(value, answers)
        return waiting[key].pop()

    with patch.object(QuantileMechanism, "release", release):
        yield


def check(found: Measured, allowed: float, name: str) -> None:
    """Fail where intervals hold too seldom, over all groups or in one, or are wider than they may be."""
    assert found.coverage >= LEAST, name
    assert found.least_of_group >= LEAST_OF_GROUP, name
    assert found.ratio <= allowed, name
