"""Events, which say what one release adds to an account.

Losses and accountants agree on an `Event`: three exact numbers whose meaning never changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.numbers.exact import decimal_above


@dataclass(frozen=True)
class Event:
    """What one release adds to an account.

    Attributes:
        epsilon: The pure loss; None where there is none (Gaussian noise).
        rho: The zCDP loss.
        delta: The probability of the part that is neither.

    Guarantee:
        The release is a mixture (1-delta) P + delta P' where P is epsilon-DP (if epsilon is not None)
        and rho-zCDP. Sums of events describe compositions (THEORY of the filter: docs/proofs/filter.md).
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Event) -> Event:
        both = None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon
        return Event(both, self.rho + other.rho, self.delta + other.delta)

    def __str__(self) -> str:
        main = f"{self.kind} {decimal_above(self.amount)}"
        return main if self.delta == 0 else f"{main}, delta {decimal_above(self.delta)}"

    @property
    def kind(self) -> str:
        """The unit in which a person reads this loss."""
        return "rho" if self.epsilon is None else "epsilon"

    @property
    def amount(self) -> Fraction:
        """The size of the loss in its own unit."""
        return self.rho if self.epsilon is None else self.epsilon


NOTHING = Event(Fraction(0), Fraction(0))
