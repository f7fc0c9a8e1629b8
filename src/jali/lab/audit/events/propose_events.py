"""Propose events that tell two inputs apart: intervals of single numbers, and repeated outputs."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.events.event_rates import EventAim
from jali.lab.audit.events.output_event import Atom, Between, OutputEvent, Threshold, hash_rows
from jali.lab.audit.subject import Outputs

Floats: TypeAlias = NDArray[np.float64]

# So few distinct numbers are all distinguished; otherwise these quantiles are.
_FEW = 40
_TAILS = 0.5 ** np.arange(5, 13)
_QUANTILES = np.sort(np.concatenate([_TAILS, 1 - _TAILS, np.arange(1, 16) / 16]))
_LOOKED_AT = 1 << 16
# Many intervals are compared on one sample, and what looks best there was lucky too: the more so, the rarer it is.
# Several degrees of caution propose; another sample decides.
CAUTIONS = (1.0, 2.0, 3.5, 6.0)


def propose_intervals(first: Outputs, second: Outputs, aim: EventAim, most: int) -> list[OutputEvent]:
    """Return the intervals, of different numbers, that promise most to be likelier under the first input."""
    varying = np.flatnonzero(~is_constant(np.concatenate([first, second]))).tolist()
    found = [_choose_intervals(first[:, column], second[:, column], column, aim) for column in varying]
    ranked = sorted((one for one in found if one), key=lambda one: -one[-1][0])
    return [event for one in ranked[:most] for _, event in one]


def is_constant(outputs: Outputs) -> NDArray[np.bool_]:
    """Return which numbers are the same in all outputs: they tell nothing."""
    return np.asarray((outputs == outputs[:1]).all(axis=0))


def _choose_intervals(
    first: Floats, second: Floats, column: int, aim: EventAim
) -> list[tuple[float, OutputEvent]]:
    """Try all intervals that end at marks, and return the best with each degree of caution."""
    marks = place_marks(np.concatenate([first, second]))
    if not len(marks):
        return []
    hits, others = (np.concatenate([[0], np.cumsum(_count_cells(values, marks))]) for values in (first, second))
    start, end = np.triu_indices(len(marks) + 2, 1)
    found: dict[int, float] = {}
    for caution in CAUTIONS:
        promise = aim.promise(hits[end] - hits[start], others[end] - others[start], len(first), caution)
        best = int(promise.argmax())
        found[best] = float(promise[best])
    return [(promise, _make_event(column, marks, int(start[k]), int(end[k]))) for k, promise in found.items()]


def _count_cells(values: Floats, marks: Floats) -> NDArray[np.intp]:
    """Return how many values are in each cell: up to the first mark, and behind each."""
    return np.bincount(np.searchsorted(marks, values[~np.isnan(values)]), minlength=len(marks) + 1)


def _make_event(column: int, marks: Floats, start: int, end: int) -> OutputEvent:
    low = float(np.nextafter(marks[start - 1], np.inf)) if start else None
    high = float(marks[end - 1]) if end <= len(marks) else None
    if low is None:
        return Threshold(column, float(np.finfo(np.float64).max) if high is None else high, above=False)
    return Threshold(column, low) if high is None else Between(column, low, high)


def place_marks(values: Floats, quantiles: Floats = _QUANTILES, few: int = _FEW) -> Floats:
    """Return marks that divide numbers into cells: each of few, or quantiles of many."""
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    finite = np.sort(some[np.isfinite(some)])
    if not len(finite):
        return finite
    distinct = finite[np.flatnonzero(np.diff(finite, prepend=np.nan))]
    if len(distinct) <= few:
        return distinct[:-1] if len(distinct) > 1 else distinct
    return _separate_ties(finite, quantiles)


def _separate_ties(ordered: Floats, quantiles: Floats) -> Floats:
    """Return quantiles; a number that is several of them is put into a cell of its own."""
    marks = ordered[(quantiles * (len(ordered) - 1)).astype(np.intp)]
    heavy = [one for one, other in pairwise(marks) if one == other]
    return np.unique(np.concatenate([marks, np.nextafter(heavy, -np.inf)])) if heavy else np.unique(marks)


# Outputs that occur less often say nothing yet; and a set has at most this many.
_LEAST, _MOST = 10, 1000
_ROWS_LOOKED_AT = 1 << 17


def propose_repeated_outputs(first: Outputs, second: Outputs, aim: EventAim) -> list[OutputEvent]:
    """Return sets of repeated outputs that promise most to be likelier under the first input, if there are any.

    By Neyman and Pearson 1933 the best sets hold all outputs whose ratio of probabilities exceeds some number;
    among those, the size decides.
    """
    first, second = first[:_ROWS_LOOKED_AT], second[:_ROWS_LOOKED_AT]
    keys, start, where = np.unique(
        hash_rows(np.concatenate([first, second])), return_index=True, return_inverse=True
    )
    hits = np.bincount(where[: len(first)], minlength=len(keys))
    others = np.bincount(where[len(first) :], minlength=len(keys))
    often = np.flatnonzero(hits + others >= _LEAST)
    if not len(often):
        return []
    # One more of each keeps rare outputs from looking certain.
    order = often[np.argsort(-(hits[often] + 0.5) / (others[often] + 0.5))][:_MOST]
    sums = np.cumsum(hits[order]), np.cumsum(others[order])
    sizes = {int(aim.promise(*sums, len(first), caution).argmax()) + 1 for caution in CAUTIONS}
    rows = np.concatenate([first, second])
    return [Atom(tuple(tuple(row) for row in rows[start[order[:size]]].tolist())) for size in sorted(sizes)]
