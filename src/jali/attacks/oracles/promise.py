"""What a database under attack promises."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.attacks.setting import Setting
from jali.planner.terms import Given
from jali.privacy import Adjacency, Budget
from jali.privacy.rationals import Number, positive


@dataclass(frozen=True)
class Promise:
    """What a database promises, and what the attacker makes of it.

    Attributes:
        budget: What may be spent in all. With a delta, questions are asked with Gaussian noise, in rho.
        adjacency: When two tables are neighbours.
        each: What one question spends, epsilon or rho; None spreads what is left over the questions.
        kept: Whether a ledger counts. Otherwise every question may spend the whole budget.
    """

    budget: Budget
    adjacency: Adjacency = Adjacency.REPLACE_ONE
    each: Fraction | None = None
    kept: bool = True

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number,
        delta: Number,
        each: Number | None,
        adjacency: str | Adjacency,
        kept: bool = True,
    ) -> Promise:
        """Read a promise from numbers and words; all of delta serves to add up losses."""
        budget = Budget(epsilon, delta, delta_events=0)
        return cls(budget, Adjacency.of(adjacency), None if each is None else positive(each, "each"), kept)

    @classmethod
    def under(cls, setting: Setting) -> Promise:
        """Return what the lab was asked for."""
        return cls.of(
            epsilon=setting.epsilon,
            delta=setting.delta,
            each=setting.each,
            adjacency=setting.adjacency,
            kept=setting.against != "unledgered",
        )

    def __str__(self) -> str:
        return f"Jali {'with a budget of' if self.kept else 'without its ledger, claiming'} {self.budget}"

    @property
    def in_rho(self) -> bool:
        """Whether questions are paid in rho, not in epsilon."""
        return self.budget.delta > 0

    def terms(self, price: Fraction) -> Given:
        """Return the terms on which a question is asked for a price."""
        return {"rho": price} if self.in_rho else {"epsilon": price}
