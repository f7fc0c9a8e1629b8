"""The questions, the budget and the cost of a batch.

Statement:
    The losses of a batch are fixed before its first release, so every composition theorem holds for it. The batch
    enters an account as its parts, or as one event (e, e^2/2, d) where it is (e, d)-DP by the best theorem; which
    of the two is fixed when it is reserved.
Proof:
    docs/proofs/batches.md, Theorem 2; docs/proofs/composition.md, docs/proofs/privacy_loss_distribution.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TypeVar

from jali.catalog.tables import Table
from jali.errors import QueryError
from jali.ir.expressions import Question
from jali.ir.ownership import changes
from jali.planner.partition_selection import charge_selection
from jali.planner.plan import Plan, compute_release_loss
from jali.planner.terms import QuestionTerms
from jali.privacy import NOTHING, Budget, Concentrated, Event, Filter, Loss, Pure, compose, largest_rho
from jali.privacy.composition.compose import Composition
from jali.sql.tokens import TokenizedText

_Made = TypeVar("_Made")
_IN_BATCH = "batch-question"


@dataclass(frozen=True)
class WeightedQuestion:
    """One question of a batch.

    Attributes:
        question: The question, as written.
        terms: Its bounds; its loss is its own only where the batch has no total.
        weight: How much its squared error counts beside that of the others.
    """

    question: Question
    terms: QuestionTerms
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class BatchBudget:
    """What a batch may cost.

    Attributes:
        loss: The loss of all questions together; None where each question has its own.
        delta: The chance that pays for adding up more sharply than by sums; 0 for sums.
    """

    loss: Loss | None
    delta: Fraction = Fraction(0)


def with_loss(terms: QuestionTerms, loss: Loss) -> QuestionTerms:
    """Return the same terms at another loss."""
    return replace(terms, loss=loss)


def name_question_in_errors(place: int, make: Callable[[], _Made]) -> _Made:
    """Let a refusal say which question of the batch it is about."""
    try:
        return make()
    except QueryError as refusal:
        kind = type(refusal)
        raise kind(_IN_BATCH, position=refusal.position, question=place + 1, problem=refusal.phrase) from None


def find_refused_question(refusal: QueryError) -> int | None:
    """Return which question of the batch a refusal is about, from 0; None where it is about all of them."""
    question = refusal.fields.get("question")
    return question - 1 if refusal.code == _IN_BATCH and isinstance(question, int) else None


def write_in_one_line(sql: str) -> str:
    """Return a question as it was written, without its comments and line breaks."""
    tokens = TokenizedText.of(sql).tokens
    gaps = [sql[one.end + 1 : other.start] for one, other in pairwise(tokens)]
    words = [sql[token.start : token.end + 1] for token in tokens]
    return "".join(word + (" " if gap else "") for word, gap in zip(words, (*gaps, ""), strict=True))


# Adding up more sharply than by sums has to be worth a percent.
CLEARLY = Fraction(101, 100)


def sum_events(events: Sequence[Event]) -> Event:
    """Return the sum of events."""
    return reduce(Event.__add__, events, NOTHING)


def parts_cost(plans: Sequence[Plan], table: Table) -> Event:
    """Return the sum of what the releases cost a table."""
    return sum_events([dict(plan.costs)[table.name] for plan in plans if table.name in dict(plan.costs)])


def compose_releases(plans: Sequence[Plan], table: Table) -> Composition:
    """Return the losses of all releases for a table, as theorems for losses declared together see them."""
    mine = [plan for plan in plans if table in plan.tables]
    return compose(*(loss for plan in mine for loss in _losses(plan, changes(plan.source, table))))


def _losses(plan: Plan, moved: int) -> Iterator[Loss]:
    for part in plan.parts:
        for place in range(len(part.mechanisms)):
            event = compute_release_loss(part, place, moved)
            if event != NOTHING:
                yield part.mechanisms[place].derive_loss(event)
    if plan.selection is not None:
        chosen = charge_selection(plan.selection, plan.aggregation, moved)
        assert chosen is not None
        yield _kind(chosen)


def _kind(event: Event) -> Loss:
    """Return the loss of the part of an event that does not fail; its delta is counted besides."""
    return Concentrated(event.rho) if event.epsilon is None else Pure(event.epsilon)


def whole_cost(plans: Sequence[Plan], table: Table, delta: Fraction, limit: Fraction | None = None) -> Event:
    """Return the batch as one event at delta, besides the deltas of groups that are chosen.

    Theorems round up in doubles. Where exact arithmetic shows that rho implies the limit, that is the loss.
    """
    found, parts = compose_releases(plans, table).at(delta).event, parts_cost(plans, table)
    if limit is not None and found.epsilon is not None and found.epsilon > limit:
        found = Pure(limit).event if parts.rho <= largest_rho(limit, delta) else found
    return replace(found, delta=delta + parts.delta)


def choose_cheaper(parts: Event, whole: Event, budget: Budget, limit: Fraction | None = None) -> Event:
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
