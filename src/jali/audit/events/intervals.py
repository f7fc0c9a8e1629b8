"""Intervals of single numbers that tell two inputs apart."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.between import Between
from jali.audit.events.event import Event
from jali.audit.events.promise import Aim
from jali.audit.events.threshold import Threshold
from jali.audit.subject import Outputs

Floats: TypeAlias = NDArray[np.float64]

# So few distinct numbers are all told apart; otherwise these quantiles are.
_FEW = 40
_TAILS = 0.5 ** np.arange(5, 13)
_QUANTILES = np.sort(np.concatenate([_TAILS, 1 - _TAILS, np.arange(1, 16) / 16]))
_LOOKED_AT = 1 << 16
# Many intervals are compared on one sample, and what looks best there was lucky too: the more so, the rarer it is.
# Several degrees of caution propose; another sample decides.
CAUTIONS = (1.0, 2.0, 3.5, 6.0)


def propose(first: Outputs, second: Outputs, aim: Aim, most: int) -> list[Event]:
    """Return the intervals, of different numbers, that promise most to be likelier under the first input."""
    varying = np.flatnonzero(~same(np.concatenate([first, second]))).tolist()
    found = [_best(first[:, column], second[:, column], column, aim) for column in varying]
    ranked = sorted((one for one in found if one), key=lambda one: -one[-1][0])
    return [event for one in ranked[:most] for _, event in one]


def same(outputs: Outputs) -> NDArray[np.bool_]:
    """Return which numbers are the same in all outputs: they tell nothing."""
    return np.asarray((outputs == outputs[:1]).all(axis=0))


def _best(first: Floats, second: Floats, column: int, aim: Aim) -> list[tuple[float, Event]]:
    """Try all intervals that end at marks, and return the best with each degree of caution."""
    marks = grid(np.concatenate([first, second]))
    if not len(marks):
        return []
    hits, others = (np.concatenate([[0], np.cumsum(_counts(values, marks))]) for values in (first, second))
    start, end = np.triu_indices(len(marks) + 2, 1)
    found: dict[int, float] = {}
    for caution in CAUTIONS:
        promise = aim.promise(hits[end] - hits[start], others[end] - others[start], len(first), caution)
        best = int(promise.argmax())
        found[best] = float(promise[best])
    return [(promise, _event(column, marks, int(start[k]), int(end[k]))) for k, promise in found.items()]


def _counts(values: Floats, marks: Floats) -> NDArray[np.intp]:
    """Return how many values are in each cell: up to the first mark, and behind each."""
    return np.bincount(np.searchsorted(marks, values[~np.isnan(values)]), minlength=len(marks) + 1)


def _event(column: int, marks: Floats, start: int, end: int) -> Event:
    low = float(np.nextafter(marks[start - 1], np.inf)) if start else None
    high = float(marks[end - 1]) if end <= len(marks) else None
    if low is None:
        return Threshold(column, float(np.finfo(np.float64).max) if high is None else high, above=False)
    return Threshold(column, low) if high is None else Between(column, low, high)


def grid(values: Floats, quantiles: Floats = _QUANTILES, few: int = _FEW) -> Floats:
    """Return marks that divide numbers into cells: each of few, or quantiles of many."""
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    finite = np.sort(some[np.isfinite(some)])
    if not len(finite):
        return finite
    distinct = finite[np.flatnonzero(np.diff(finite, prepend=np.nan))]
    if len(distinct) <= few:
        return distinct[:-1] if len(distinct) > 1 else distinct
    return _apart(finite, quantiles)


def _apart(ordered: Floats, quantiles: Floats) -> Floats:
    """Return quantiles; a number that is several of them is put into a cell of its own."""
    marks = ordered[(quantiles * (len(ordered) - 1)).astype(np.intp)]
    heavy = [one for one, other in pairwise(marks) if one == other]
    return np.unique(np.concatenate([marks, np.nextafter(heavy, -np.inf)])) if heavy else np.unique(marks)
