"""Rule: every row has exactly one owner, and one person's rows are bounded just before they are aggregated."""

from __future__ import annotations

import math
from dataclasses import replace

from jali.planner.draft import Draft
from jali.query.aggregation import Weights
from jali.query.ownership import own
from jali.query.relation import Keep, Relation, Scan

# Weights are whole multiples of 2^-20: floor(2^20 * min(1, max_rows / rows)) each.
RESOLUTION = 1 << 20


def own_rows(draft: Draft) -> Draft:
    """Weigh the rows of each owner so that together they count for at most `max_rows` rows.

    The engine carries the owner under a name of its own, so no alias or expression of the question can redefine
    it. Where each row of a single table is its own owner, every row weighs 1. See docs/proofs/weights.md.
    """
    owners = own(draft.rows)
    if owners.row_level and _plain(draft.rows):
        return replace(draft, weights=None)
    groups = math.prod(len(key.values) for key in draft.keys if key.values is not None)
    known = all(key.values is not None for key in draft.keys)
    rows = draft.terms.max_rows or owners.max_rows
    most = draft.terms.max_groups or rows
    return replace(draft, weights=Weights(rows, min(most, groups) if known else most, RESOLUTION))


def _plain(relation: Relation) -> bool:
    """Say whether rows are those of one table, none of them twice."""
    while isinstance(relation, Keep):
        relation = relation.source
    return isinstance(relation, Scan)
