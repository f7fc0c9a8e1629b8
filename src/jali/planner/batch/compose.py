"""What a batch costs: the sums of its parts, or one event by the sharpest theorem for losses declared together.

Statement:
    The losses of a batch are fixed before its first release, so every composition theorem holds for it. The batch
    enters an account as its parts, or as one event (e, e^2/2, d) where it is (e, d)-DP by the best theorem; which
    of the two is fixed when it is reserved.
Proof:
    docs/proofs/batches.md, Theorem 2; docs/proofs/composition.md, docs/proofs/privacy_loss_distribution.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

from jali.planner.paid import paid
from jali.planner.plan import Plan
from jali.planner.tell import selected
from jali.privacy import (
    NOTHING,
    Budget,
    Concentrated,
    Event,
    Filter,
    Loss,
    Pure,
    compose,
    largest_rho,
)
from jali.privacy.composition.compose import Composition
from jali.query.catalog import Table
from jali.query.ownership import changes

# Adding up more sharply than by sums has to be worth a percent.
CLEARLY = Fraction(101, 100)


def in_all(events: Sequence[Event]) -> Event:
    """Return the sum of events."""
    return reduce(Event.__add__, events, NOTHING)


def parts_cost(plans: Sequence[Plan], table: Table) -> Event:
    """Return the sum of what the releases cost a table."""
    return in_all([dict(plan.costs)[table.name] for plan in plans if table.name in dict(plan.costs)])


def composition(plans: Sequence[Plan], table: Table) -> Composition:
    """Return the losses of all releases for a table, as theorems for losses declared together see them."""
    mine = [plan for plan in plans if table in plan.tables]
    return compose(*(loss for plan in mine for loss in _losses(plan, changes(plan.source, table))))


def _losses(plan: Plan, moved: int) -> Iterator[Loss]:
    for part in plan.parts:
        for place in range(len(part.mechanisms)):
            event = paid(part, place, moved)
            if event != NOTHING:
                yield part.mechanisms[place].composed(event)
    if plan.selection is not None:
        chosen = selected(plan.selection, plan.aggregation, moved)
        assert chosen is not None
        yield _kind(chosen)


def _kind(event: Event) -> Loss:
    """Return the loss of the part of an event that does not fail; its delta is counted besides."""
    return Concentrated(event.rho) if event.epsilon is None else Pure(event.epsilon)


def whole_cost(plans: Sequence[Plan], table: Table, delta: Fraction, limit: Fraction | None = None) -> Event:
    """Return the batch as one event at delta, besides the deltas of groups that are chosen.

    Theorems round up in doubles. Where exact arithmetic shows that rho implies the limit, that is the loss.
    """
    found, parts = composition(plans, table).at(delta).event, parts_cost(plans, table)
    if limit is not None and found.epsilon is not None and found.epsilon > limit:
        found = Pure(limit).event if parts.rho <= largest_rho(limit, delta) else found
    return replace(found, delta=delta + parts.delta)


def least(parts: Event, whole: Event, budget: Budget, limit: Fraction | None = None) -> Event:
    """Return which of the two takes the smaller share of a budget; the budget as declared, whatever was spent.

    The whole spends delta: it is taken where it takes clearly less, or where the parts sum to more than the limit.
    """
    rule = Filter(budget)
    if whole.delta > budget.delta_events or whole.epsilon is None:
        return parts
    by_sum = [parts.rho / rule.rho] if rule.rho else []
    by_sum += [] if parts.epsilon is None else [parts.epsilon / budget.epsilon]
    share = max(whole.epsilon / budget.epsilon, whole.delta / budget.delta_events if whole.delta else Fraction(0))
    beyond = limit is not None and parts.epsilon is not None and parts.epsilon > limit
    return whole if not by_sum or share * (1 if beyond else CLEARLY) < min(by_sum) else parts
