"""Losses: what one release spends.

An `Event` is the treaty between mechanisms and accountants: three exact numbers whose meaning never changes.
The kinds of loss (`Pure`, `Concentrated`, `Approximate`) say how a mechanism arrives at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from jali.errors import CatalogError
from jali.numerals import decimal
from jali.privacy.rational import Number, positive, rational


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
        main = f"rho {decimal(self.rho)}" if self.epsilon is None else f"epsilon {decimal(self.epsilon)}"
        return main if self.delta == 0 else f"{main}, delta {decimal(self.delta)}"

    @property
    def kind(self) -> str:
        """The unit in which a person reads this loss."""
        return "rho" if self.epsilon is None else "epsilon"

    @property
    def amount(self) -> Fraction:
        """The size of the loss in its own unit."""
        return self.rho if self.epsilon is None else self.epsilon


NOTHING = Event(Fraction(0), Fraction(0))


class Loss(Protocol):
    """Anything that a release can spend."""

    @property
    def event(self) -> Event:
        """The loss as accountants count it."""


@dataclass(frozen=True)
class Pure:
    """Pure epsilon-differential privacy.

    Guarantee:
        Pr[M(x) in S] <= exp(epsilon) Pr[M(x') in S] for all neighbours; it implies (epsilon^2/2)-zCDP
        (Bun and Steinke 2016, Proposition 1.4).

    Example:
        >>> Pure(0.1).event.rho
        Fraction(1, 200)
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    @property
    def event(self) -> Event:
        """Epsilon, and epsilon squared over two in zCDP."""
        return Event(self.epsilon, self.epsilon**2 / 2)


@dataclass(frozen=True)
class Concentrated:
    """Zero-concentrated differential privacy (zCDP).

    Guarantee:
        The Rényi divergence of order a between neighbours is at most rho*a for every a > 1
        (Bun and Steinke 2016, Definition 1.1).

    Example:
        >>> str(Concentrated("1/8").event)
        'rho 0.125'
    """

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))

    @property
    def event(self) -> Event:
        """No pure loss, rho in zCDP."""
        return Event(None, self.rho)


@dataclass(frozen=True)
class Approximate:
    """(epsilon, delta)-differential privacy.

    Guarantee:
        Pr[M(x) in S] <= exp(epsilon) Pr[M(x') in S] + delta. Such a pair is a mixture of an epsilon-DP pair
        with weight 1-delta and anything with weight delta (Kairouz, Oh and Viswanath 2015, Theorem 3.1 ff.).

    Example:
        >>> str(Approximate(1, "1e-6").event)
        'epsilon 1, delta 1e-06'
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(delta, "delta"))

    @property
    def event(self) -> Event:
        """The pure part, and delta."""
        return Event(self.epsilon, self.epsilon**2 / 2, self.delta)


def probability(value: Number, name: str) -> Fraction:
    """Return `value` as a rational in [0, 1)."""
    number = rational(value, name)
    if not 0 <= number < 1:
        raise CatalogError(f"{name} must be in [0, 1), not {value}.")
    return number
