"""What a noisy count says that is told only if it reaches a threshold, or by a coin if it is one below it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from jali.mechanisms.laws.law import Law
from jali.numbers.search import greatest_integer, least_integer

# Where the threshold cuts off less than this share of what is allowed to miss, it is not felt.
_NOT_FELT = 1e-9


@dataclass(frozen=True)
class ToldCount:
    """The law of n + X given that it is told, where n is at least `least`.

    It is told from the threshold on, and one below the threshold with probability `coin`.

    Guarantee:
        Whatever n is, `interval` holds it with probability at least `confidence`, given that the count is told.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 6.
    """

    law: Law
    threshold: int
    least: int
    coin: float = 0.0

    def interval(self, told: int, missed: float) -> tuple[int, int]:
        """Return the least and the largest n for which neither tail from `told` on is below missed/2.

        One below the threshold counts as at the threshold: a coin of a small chance is no news of n.
        """
        told = max(told, self.threshold)
        # Far above the threshold both ends move along with the count.
        surplus = max(0, told - self.threshold - 2 * self.law.reach(_NOT_FELT * missed))
        low, high = _ends(self, told - surplus, missed)
        return low + surplus, high + surplus

    def _low(self, told: int, allowed: float) -> int:
        if told == self.threshold:  # every told count is at least this
            return self.least
        return least_integer(lambda n: self._reaches(told - n) > allowed * self._shown(n), self.least - 1, told)

    def _high(self, told: int, allowed: float, low: int) -> int:
        def likely(n: int) -> bool:
            shown = self._shown(n)
            return shown - self._reaches(told + 1 - n) > allowed * shown

        return greatest_integer(likely, low, told + self.law.reach(allowed / 2) + 1)

    def _shown(self, n: int) -> float:
        """Return the probability that a count of n people is told."""
        missing = self.threshold - n
        return self._reaches(missing) + self.coin * math.exp(self.law.log_mass(missing - 1))

    def _reaches(self, value: int) -> float:
        """Return Pr[X >= value], one side of a symmetric law."""
        return self.law.tail(value - 1) / 2 if value > 0 else 1 - self.law.tail(-value) / 2


@lru_cache(maxsize=1 << 16)
def _ends(count: ToldCount, told: int, missed: float) -> tuple[int, int]:
    low = count._low(told, missed / 2)
    return low, count._high(told, missed / 2, low)
