"""Outputs that occur again and again, and tell two inputs apart."""

from __future__ import annotations

import numpy as np

from jali.audit.events.atom import Atom, row_keys
from jali.audit.events.event import Event
from jali.audit.events.intervals import CAUTIONS
from jali.audit.events.promise import Aim
from jali.audit.subject import Outputs

# Outputs that occur less often say nothing yet; and a set has at most so many.
_LEAST, _MOST = 10, 1000
_LOOKED_AT = 1 << 17


def propose(first: Outputs, second: Outputs, aim: Aim) -> list[Event]:
    """Return sets of repeated outputs that promise most to be likelier under the first input, if there are any.

    By Neyman and Pearson 1933 the best sets hold all outputs whose ratio of probabilities exceeds some number;
    among those, the size decides.
    """
    first, second = first[:_LOOKED_AT], second[:_LOOKED_AT]
    keys, start, where = np.unique(
        row_keys(np.concatenate([first, second])), return_index=True, return_inverse=True
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
