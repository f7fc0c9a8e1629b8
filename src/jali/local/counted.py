"""Shuffled yes/no answers: only their count is seen, and its law is known, whatever the others answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from jali.local.binomial import log_mass
from jali.local.clones import Pair, hoeffding, least_epsilon

Masses = NDArray[np.float64]

# Masses within 1e-11 of themselves, and differences of two of them, which keep nine digits of their sum.
_SLACK = 1e-9
_LOST = 1e-8
# The worst answers of the others are found to this share of epsilon; to the coarser one where the finer takes
# more laws of the count than this.
_SETTLED, _COARSE, _MOST_LAWS = 1e-9, 1e-3, 4096
# So many laws does it take to solve for one epsilon.
_SOLVING = 40


@dataclass(frozen=True)
class Counted:
    """The count of shuffled yes/no answers, as one person sees it who may change from no to yes.

    Attributes:
        first: The loss of one answer: the truth has odds e^first.
        others: How many other people there are.
        goal: The delta that is accepted.
    """

    first: float
    others: int
    goal: float

    def epsilon(self) -> tuple[float, bool]:
        """Return the least epsilon for the goal, for the worst answers of the others, and whether to 1e-9 of it.

        Guarantee:
            Never below the maximum over all numbers of yes among the others. Those at the ends are solved first;
            then no other is left that exceeds the goal at an epsilon larger by 1e-9, or it is solved in turn.
            Where that takes too long, for many people at a small loss, an epsilon larger by 1e-3 is returned.
        Proof:
            docs/proofs/shuffling.md, Theorem 2.
        """
        ends = max(self._solved(0), self._solved(self.others))
        settled = self._settled(ends, _SETTLED, _MOST_LAWS)
        if settled is not None:
            return settled, True
        return self._settled(ends, _COARSE, math.inf) or self.first, False

    def _settled(self, found: float, share: float, most: float) -> float | None:
        """Return an epsilon, larger by a share than needed at most; None if that takes too many laws."""
        tried, laws, pending = min(self.first, found * (1 + share)), 0, [(0, self.others)]
        while pending:
            low, high = pending.pop()
            laws += 1
            if laws > most:
                return None
            # What is below the goal here stays below it at every larger epsilon.
            if self._bound(Pair.at(self.first, tried), low, high) <= self.goal:
                continue
            if low < high:
                middle = (low + high) // 2
                pending += [(low, middle), (middle + 1, high)]
            else:
                tried = min(self.first, max(tried, self._solved(low)) * (1 + share))
                laws += _SOLVING
        return tried

    def delta(self, epsilon: float, yes: int) -> float:
        """Return delta at an epsilon when so many of the others would answer yes."""
        return self._bound(Pair.at(self.first, epsilon), yes, yes)

    def _solved(self, yes: int) -> float:
        law = self._law(yes, self.others - yes)
        return least_epsilon(lambda epsilon: self._told(Pair.at(self.first, epsilon), law), self.goal, self.first)

    def _bound(self, pair: Pair, low: int, high: int) -> float:
        """Bound delta for all numbers of yes from low to high: by those who answer alike in all these cases."""
        return self._told(pair, self._law(low, self.others - high))

    def _told(self, pair: Pair, law: Masses) -> float:
        before, after = np.append(0.0, law), np.append(law, 0.0)
        seen = np.maximum(0.0, pair.gain * before - pair.cost * after)
        return float(seen.sum()) * (1 + _SLACK) + 2 * _LOST * self.goal

    def _law(self, yes: int, no: int) -> Masses:
        """Return the law of a count of answers, from its first likely value on."""
        # A truth of nearly 1 is 1 in doubles; the lies keep their digits.
        lie = math.exp(-self.first) / (1 + math.exp(-self.first))
        outside = _LOST * self.goal
        return np.convolve(_binomial(yes, lie, outside)[::-1], _binomial(no, lie, outside))


@lru_cache(maxsize=256)
def _binomial(trials: int, chance: float, outside: float) -> Masses:
    """Return the masses of a binomial count, but for a probability at the ends."""
    reach, middle = hoeffding(trials, outside), trials * chance
    counts = np.arange(max(0, math.floor(middle - reach)), min(trials, math.ceil(middle + reach)) + 1)
    return np.exp(log_mass(counts, trials, chance))
