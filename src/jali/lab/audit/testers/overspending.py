"""Audit a ledger: it must never be over budget, whatever is asked, and however it fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction

from jali.lab.audit.finding import Finding, Verdict, Witness
from jali.privacy import NOTHING, Adjacency, Budget, Concentrated, Event


def audit_spending(
    name: str,
    questions: Iterable[Callable[[], object]],
    spent: Callable[[], Event],
    budget: Budget,
    adjacency: Adjacency,
) -> Finding:
    """Ask questions, some of which fail, and read the books after each of them.

    The finding is of the kind "spent": the largest epsilon that the sum of all charges affords beside the delta of
    the budget. It is a violation if that is above the budget, or if a sum is ever less than one before.

    Args:
        name: Whose books they are.
        questions: Each asks once; refusals and failures of every kind are part of the audit.
        spent: Reads the sum of all charges.
        budget: The limit.
        adjacency: The adjacency in which it is meant.
    """
    most: Fraction | float = Fraction(0)
    at, place, refunded, before = 0, 0, False, NOTHING
    for place, question in enumerate(questions, 1):
        with suppress(Exception):
            question()
        now = spent()
        refunded = refunded or _is_less(now, before)
        most, at = max((most, at), (find_least_epsilon(now, budget), place), key=lambda one: one[0])
        before = now
    broken = refunded or most > budget.epsilon
    return Finding(
        name,
        adjacency,
        "spent",
        float(budget.epsilon),
        float(most),
        Witness((str(budget), str(before)), f"question {at}{', after a refund' if refunded else ''}"),
        Verdict.VIOLATION if broken else Verdict.NOTHING_FOUND,
        "properties",
        tried=f"the books after each of {place} questions",
    )


def find_least_epsilon(spent: Event, budget: Budget) -> Fraction | float:
    """Return the least epsilon of which a sum of charges is shown, at the delta of a budget; or infinity.

    The pure losses add up beside the deltas; or the zCDP losses do, and the rest of delta is there to read them by
    (Bun and Steinke 2016, Lemma 3.5).
    """
    rest = budget.delta - spent.delta
    if rest < 0:
        return math.inf
    pure = math.inf if spent.epsilon is None else spent.epsilon
    if not rest or not spent.rho:
        return pure if spent.rho or spent.epsilon else Fraction(0)
    return min(pure, Concentrated(spent.rho).epsilon(rest))


def _is_less(one: Event, other: Event) -> bool:
    """Return whether any part of a sum is below that of another."""
    fell = one.epsilon is not None and (other.epsilon is None or one.epsilon < other.epsilon)
    return fell or one.rho < other.rho or one.delta < other.delta
