"""Rule: every row has exactly one owner, and one person's rows are bounded just before they are aggregated."""

from __future__ import annotations

import math
from dataclasses import replace

from jali.catalog.tables import Table
from jali.ir.aggregates import Weights
from jali.ir.ownership import own
from jali.ir.relations import find_scan
from jali.planner.draft import Draft
from jali.planner.fanout import has_one_row_each

# Weights are whole multiples of 2^-20: floor(2^20 * min(1, max_rows / rows)) each.
RESOLUTION = 1 << 20


def bound_contributions(draft: Draft) -> Draft:
    """Weigh the rows of each owner so that together they count for at most `max_rows` rows.

    The engine carries the owner under a name of its own, so no alias or expression of the question can redefine
    it. Where each row of a single table is its own owner, or the only row of its owner by a key that the source
    enforces, every row weighs 1. See docs/proofs/weights.md.
    """
    owners, scan = own(draft.rows), find_scan(draft.rows)
    if scan is not None and isinstance(scan.table, Table) and scan.table.one_row_each:
        return replace(draft, weights=None)
    groups = math.prod(len(key.values) for key in draft.keys if key.values is not None)
    known = all(key.values is not None for key in draft.keys)
    # One row for each person is one row, whatever number the question names.
    rows = 1 if has_one_row_each(draft.rows) else draft.terms.max_rows or owners.max_rows
    most = draft.terms.max_groups or rows
    return replace(draft, weights=Weights(rows, min(most, groups) if known else most, RESOLUTION))
