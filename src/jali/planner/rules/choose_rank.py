"""Rule: over a whole prepared copy, bound contributions by the rank of a row among its person's rows.

Statement:
    At most k rows of each person have rank <= k, and which ones depends on that person's rows alone. So the rows
    that are kept, with weight 1 each, add a vector of L1 norm at most k max|v| for each person, as weights do.
Proof:
    docs/proofs/prepared.md, Theorem 2.

A filter is some ten times less work than weights. It samples: of c > k rows it keeps k, where weights keep all of
them for k/c each.
"""

from __future__ import annotations

from dataclasses import replace

from jali.catalog.tables import Table
from jali.ir.expressions import aggregates
from jali.ir.relations import Scan
from jali.planner.draft import Draft


def choose_rank(draft: Draft) -> Draft:
    """Bound rows by their ranks where a question sums all rows of one prepared table: public facts decide.

    Ranks are over all rows of a person: under a filter, or a join, weights keep more of those that remain. Sets of
    a ROLLUP have a filter too. People, values and groups that are chosen are bounded in ways of their own.
    """
    if draft.weights is None or not _reads_prepared_copy(draft) or not _sums(draft):
        return draft
    return replace(draft, weights=replace(draft.weights, resolution=1, by="rank"))


def _reads_prepared_copy(draft: Draft) -> bool:
    if not isinstance(draft.rows, Scan) or draft.rows.prefix:
        return False
    table = draft.rows.table
    return isinstance(table, Table) and table.copy is not None


def _sums(draft: Draft) -> bool:
    distinct = any(aggregate.distinct for aggregate in aggregates(draft.question))
    return not draft.selecting and draft.question.sets is None and not distinct
