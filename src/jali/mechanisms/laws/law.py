"""What a law of integer noise answers: masses, tails, quantiles, moments, and the worst of many."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jali.mechanisms.mechanism import miss
from jali.numbers.search import bracket, least_integer


class Law(ABC):
    """The law of one integer noise, symmetric about 0."""

    @property
    @abstractmethod
    def stddev(self) -> float:
        """The standard deviation."""

    @property
    @abstractmethod
    def expected(self) -> float:
        """The expectation of |X|."""

    @abstractmethod
    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]; it never underflows."""

    @abstractmethod
    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""

    @property
    @abstractmethod
    def far(self) -> int:
        """How far to list the law where its outermost tails matter, as they do to Rényi divergences."""

    @abstractmethod
    def reach(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left: how far to list the law."""

    def quantile(self, confidence: float) -> int:
        """Return the least t with Pr[|X| <= t] >= confidence."""
        return self.threshold(miss(confidence))

    def threshold(self, allowed: float) -> int:
        """Return the least t with Pr[|X| > t] <= allowed, by bisection."""

        def rare(t: int) -> bool:
            return self.tail(t) <= allowed

        return least_integer(rare, *bracket(rare, -1, 1))
