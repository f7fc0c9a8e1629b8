"""What some opponents tell beyond what all of them do."""

from __future__ import annotations

from collections.abc import Callable

from jali.attacks.oracle import Opponent, Spent


def unpaid(opponent: Opponent) -> Spent | None:
    """Return what the answers of an opponent without a ledger would have cost; None for any that does not say."""
    told = getattr(opponent, "unpaid", None)
    cost = told() if callable(told) else None
    return cost if isinstance(cost, Spent) else None


def watch(opponent: Opponent, progress: Callable[[str], None]) -> None:
    """Have an opponent that answers one question after the other tell how many it has answered."""
    told = getattr(opponent, "watch", None)
    if callable(told):
        told(progress)
