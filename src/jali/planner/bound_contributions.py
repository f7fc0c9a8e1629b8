"""Rule: one person counts for so much and no more, by weighing their rows."""

from __future__ import annotations

import math
from dataclasses import replace

from jali.planner.draft import Draft
from jali.query.aggregation import Weights

# Weights are whole multiples of 2^-20: floor(2^20 * min(1, max_rows / rows)) each.
RESOLUTION = 1 << 20


def bound_contributions(draft: Draft) -> Draft:
    """Weigh the rows of each owner so that together they count for at most `max_rows` rows.

    Without a unit each row is its own owner and weighs 1. See docs/proofs/weights.md.
    """
    if draft.owner is None:
        return replace(draft, weights=None)
    groups = math.prod(len(key.values) for key in draft.keys)
    most = draft.table.max_rows
    return replace(draft, weights=Weights(most, min(most, groups), RESOLUTION))
