"""Which quantiles get ends of an interval that are worth their loss: public facts decide.

An end is aimed aside by its own error. In a group of fewer rows than that it lies at the end of the range,
whatever the rows are, and that end is known for nothing: then the quantile gets all of the loss. Where nobody
declared how many rows there are, ends are bought.
"""

from __future__ import annotations

import math
from fractions import Fraction

from jali.planner.draft import Draft
from jali.planner.reach import rank_sensitivity
from jali.query.aggregation import Marks
from jali.query.catalog import Table
from jali.query.estimates import BOUGHT
from jali.query.nodes import aggregates
from jali.query.relation import Keep, Scan

# What an end gets of the loss of its quantile.
_SHARE = Fraction(1, 16)


def worth_ends(draft: Draft, axis: Marks, at: Fraction) -> bool:
    """Say whether the ends of a quantile's interval can be expected within the values of a group."""
    rows = _rows(draft)
    if rows is None:
        return True
    # The farther side has so many rows; where an end is aimed beyond half of them, it seldom tells anything.
    return _aside(draft, axis, at) < rows * max(float(at), 1 - float(at)) / 2


def _rows(draft: Draft) -> float | None:
    """Return how many rows a group has by the declared guess."""
    relation = draft.rows
    while isinstance(relation, Keep):
        relation = relation.source
    table = relation.table if isinstance(relation, Scan) else None
    if not isinstance(table, Table) or table.rows is None or draft.selecting:
        return None
    return table.rows / max(1, draft.aggregation(draft.sets[0]).groups)


def _aside(draft: Draft, axis: Marks, at: Fraction) -> float:
    """Return about how many rows aside an end is aimed: ln(marks / chance to miss) over its rate."""
    aggregation, event = draft.aggregation(draft.sets[0]), draft.terms.loss.event
    whole = float(event.epsilon) if event.epsilon is not None else math.sqrt(8 * event.rho)
    loss = whole * float(_SHARE) / (len(aggregates(draft.question)) * len(draft.sets))
    resolution = 1 if aggregation.weights is None else aggregation.weights.resolution
    moved = float(rank_sensitivity(aggregation, at, draft.changes)) / resolution
    return 2 * moved * math.log(axis.cells / (1 - BOUGHT)) / loss
