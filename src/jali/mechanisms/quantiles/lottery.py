"""Lotteries: integer tickets for outcomes whose masses are known from above, and blanks for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.quantiles.scaled import Scaled
from jali.mechanisms.selection.piecewise_geometric import Digits

_BITS = 62
_ROOM = Scaled.of(1 + 2.0**-24)


@dataclass(frozen=True, eq=False)
class Lottery:
    """Tickets in proportion to masses, rounded up, out of a whole that is at least their sum.

    Attributes:
        parts: The masses, fewer than 2^30 of them.
        whole: At least `Lottery.room` of a bound of their sum; all of it is between 2^61 and 2^62 tickets.

    Guarantee:
        An outcome has a chance of at least part/whole, and exactly `chance`; without mass it has none.
    Proof:
        docs/proofs/many_quantiles.md, Theorem 3.
    """

    parts: Scaled
    whole: Scaled

    @staticmethod
    def room(total: Scaled) -> Scaled:
        """Return a little more than a sum of masses: room for rounding tickets up."""
        return total * _ROOM

    def draw(self, digits: Digits) -> int | None:
        """Return the number of an outcome, None for a blank."""
        place = int(self._sums.searchsorted(digits.below(self._all), "right"))
        return place if place < len(self._sums) else None

    def chance(self, place: int) -> Fraction:
        """Return the chance of an outcome."""
        return Fraction(int(self.tickets[place]), self._all)

    @cached_property
    def tickets(self) -> NDArray[np.int64]:
        """How many tickets each outcome has: at least one, if it has any mass."""
        exact = np.ceil(self.parts.at(self.whole.powers - _BITS))
        return np.maximum(exact, self.parts.factors > 0).astype(np.int64)

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        return np.cumsum(self.tickets)

    @cached_property
    def _all(self) -> int:
        return int(float(self.whole.factors) * 2.0**_BITS)
