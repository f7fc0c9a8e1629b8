"""Rule: where Gaussian noise is added to sums over several known groups, weigh rows by their L2 norm.

Statement:
    Weights by the L2 norm never keep less of a person's rows than those by the L1 norm, and Gaussian noise for
    them is no larger where one vector comes or goes. A person with one row in each of g groups keeps the part
    min(1, max_rows / sqrt(g)) of them instead of min(1, max_rows / g).

Where one vector replaces another the noise is the same if values have one sign; for others its variance may be
larger by at most 18 percent. Proof: docs/proofs/weights.md. It takes a grouping by person and group, some three
times the work.
"""

from __future__ import annotations

from dataclasses import replace

from jali.ir.aggregates import CountRows, SumValues
from jali.planner.draft import Draft
from jali.planner.fanout import has_one_row_each


def choose_norm(draft: Draft) -> Draft:
    """Weigh by the L2 norm where that helps: public facts decide, never the rows."""
    if draft.weights is None or draft.weights.by_rank or not _helps(draft):
        return draft
    return replace(draft, weights=replace(draft.weights, norm="l2"))


def _helps(draft: Draft) -> bool:
    """Say whether L2 weights keep more for the same noise: a loss in rho, sums of rows, several known groups.

    Picks and cells along an axis move by the L1 norm. The sets of a ROLLUP share one weight, so that totals agree.
    Where a person has one row in all, or one in each group, there is nothing to win or a smaller bound is known.
    """
    if not draft.uses_rho or draft.draws or draft.selecting or draft.question.sets is not None:
        return False
    if not all(isinstance(measure, CountRows | SumValues) for measure in draft.measures):
        return False
    asked = draft.aggregation(draft.sets[0])
    return asked.groups > 1 and not asked.one_row_per_group and not has_one_row_each(draft.rows)
