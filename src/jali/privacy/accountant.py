"""An account: a privacy filter together with what was spent under it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from jali.errors import BudgetExceeded, CatalogError, settle
from jali.numbers.exact import decimal
from jali.privacy.event import NOTHING, Event
from jali.privacy.filters import Rule
from jali.privacy.loss import Loss, require_loss


@dataclass(frozen=True)
class Remaining:
    """What would still be granted: each on its own, not all together.

    Attributes:
        epsilon: The largest pure loss.
        rho: The largest zCDP loss of a release that has no pure one.
        delta: The sum of deltas that further events may have.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return (
            f"remaining epsilon {decimal(self.epsilon)}, or rho {decimal(self.rho)}; delta {decimal(self.delta)}"
        )


@dataclass(frozen=True)
class Account:
    """A filter with the sum of what it admitted; charging gives a new account.

    Attributes:
        rule: A filter: `PureFilter`, `ApproximateFilter`, `ConcentratedFilter`, or the ledger's `Filter`.
        spent: The sum of all events so far.
        name: How a refusal calls the account.

    Guarantee:
        However the losses are chosen after seeing answers, the releases that were charged keep what the filter
        promises. A loss that filters cannot add up (a Rényi curve, a privacy-loss distribution, a mechanism
        with outcomes that only one neighbour can give) is refused with its remedy: charge `.at(delta)`.

    Example:
        >>> from jali.privacy import Pure
        >>> from jali.privacy.filters import PureFilter
        >>> account = Account(PureFilter(1)).charge(Pure(0.7))
        >>> account.remaining.epsilon
        Fraction(3, 10)
        >>> account.affords(Pure(0.3)), account.affords(Pure(0.4))
        (True, False)
    """

    rule: Rule
    spent: Event = NOTHING
    name: str = "this account"

    def __post_init__(self) -> None:
        if not hasattr(self.rule, "admits"):
            raise CatalogError("rule-not-a-filter", rule=settle(self.rule))

    def __str__(self) -> str:
        return f"{self.name}: spent {self.spent}; {self.remaining}"

    def affords(self, loss: Loss) -> bool:
        """Say whether a release of this loss would be granted."""
        return self.rule.admits(self.spent, require_loss(loss).event)

    def charge(self, loss: Loss) -> Account:
        """Return the account after a release of this loss, or raise `BudgetExceeded`. Charge, then release."""
        event = require_loss(loss).event
        if not self.rule.admits(self.spent, event):
            raise self._refusal(event)
        return replace(self, spent=self.spent + event)

    @property
    def remaining(self) -> Remaining:
        """What would still be granted."""
        pure, gaussian = NOTHING, Event(None, Fraction(0))
        return Remaining(
            self.rule.largest(self.spent, pure),
            self.rule.largest(self.spent, gaussian),
            max(Fraction(0), self.rule.delta_events - self.spent.delta),
        )

    def _refusal(self, event: Event) -> BudgetExceeded:
        left = self.remaining
        if event.delta > left.delta:
            return BudgetExceeded(self.name, kind="delta", requested=event.delta, remaining=left.delta)
        other = ("rho", left.rho) if event.kind == "epsilon" else ("epsilon", left.epsilon)
        granted = self.rule.largest(self.spent, event)
        return BudgetExceeded(self.name, kind=event.kind, requested=event.amount, remaining=granted, other=other)
