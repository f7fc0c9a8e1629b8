"""Compute what each of k queries may spend by each composition theorem, if they are asked one by one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.numbers.exact import below, decimal
from jali.privacy.budget import Budget
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.planning.plan_table import align
from jali.privacy.planning.safe_search import count, least, plannable
from jali.privacy.rationals import rational

if TYPE_CHECKING:
    from jali.privacy.composition.theorem import Theorem

_DIGITS = 13


@dataclass(frozen=True)
class Share:
    """The largest epsilon that each query may spend, by one theorem.

    Attributes:
        theorem: The name of the theorem.
        epsilon: The epsilon of each query, rounded down.
    """

    theorem: str
    epsilon: Fraction


@dataclass(frozen=True)
class EachQuery:
    """What each of k queries may spend, by each theorem. Print it to see the table.

    Attributes:
        budget: What all queries together may spend.
        queries: How many there are.
        shares: One for each theorem, the simplest first.
    """

    budget: Budget
    queries: int
    shares: tuple[Share, ...]

    @property
    def best(self) -> Share:
        """The largest epsilon for each query; the simpler theorem where two are equal."""
        return max(self.shares, key=lambda share: share.epsilon)

    def __str__(self) -> str:
        rows = [(share.theorem, decimal(share.epsilon)) for share in self.shares]
        return f"{self._title}\n{align(('by', 'epsilon of each'), rows)}"

    def __repr__(self) -> str:
        return f"<{self._title}: epsilon {decimal(self.best.epsilon)} each, by {self.best.theorem}>"

    @property
    def _title(self) -> str:
        return f"{self.queries:,} {'query' if self.queries == 1 else 'queries'} within {self.budget}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: exact rationals as text."""
        return {
            "budget": {"epsilon": str(self.budget.epsilon), "delta": str(self.budget.delta)},
            "queries": self.queries,
            "theorems": [{"theorem": share.theorem, "epsilon": str(share.epsilon)} for share in self.shares],
            "best": self.best.theorem,
        }


def each_query(budget: Budget, k: int) -> EachQuery:
    """Return the largest epsilon that each of k queries of pure loss may spend within a budget.

    Args:
        budget: What all queries together may spend.
        k: How many queries are asked; their losses are equal and declared in advance.

    Guarantee:
        The k-fold composition of that loss is within the budget by the theorem named; rounded down, to 1e-12.

    Example:
        >>> shares = each_query(Budget(1, 1e-6), 100)
        >>> print(shares.best.theorem, float(shares.best.epsilon) > 0.01)
        optimal composition of equal losses (Kairouz, Oh and Viswanath) True
    """
    limit, queries = plannable(budget), count(k, "k")
    shares = (_share(theorem, limit, queries) for theorem in _theorems(limit.delta, queries))
    return EachQuery(limit, queries, tuple(shares))


def _theorems(delta: Fraction, queries: int) -> tuple[Theorem, ...]:
    from jali.privacy.composition.advanced_composition import ADVANCED, ADVANCED_TANH
    from jali.privacy.composition.basic_composition import BASIC
    from jali.privacy.composition.optimal_composition import OPTIMAL
    from jali.privacy.composition.renyi_composition import CONCENTRATED

    offered = (BASIC, ADVANCED, ADVANCED_TANH, CONCENTRATED, OPTIMAL) if delta else (BASIC,)
    return tuple(theorem for theorem in offered if theorem.obstacle(((Pure(1), queries),)) is None)


def _share(theorem: Theorem, budget: Budget, queries: int) -> Share:
    plain = budget.epsilon / queries
    if theorem.name == "basic composition":
        return Share(theorem.name, plain)

    def fits(inverse: float) -> bool:
        spent = theorem.delta(((Pure(1 / inverse), queries),), budget.epsilon)
        return spent is not None and spent <= budget.delta

    return Share(theorem.name, below(rational(1 / least(fits, float(1 / plain)), "epsilon"), _DIGITS))
