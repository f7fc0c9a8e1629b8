"""What randomizers of several categories share: their number, and the loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.local.randomizer import Randomizer
from jali.mechanisms.mechanism import natural, parameter
from jali.privacy.rationals import Number

# With more, sums of two categories would soon leave 64 bits, and a table of their shares any memory.
_MOST = 1 << 32


@dataclass(frozen=True, repr=False, init=False)
class Categorical(Randomizer):
    """A randomizer of one of several categories, 0, 1, 2 and so on, at a given loss."""

    categories: int
    epsilon: Fraction

    def __init__(self, *, categories: int, epsilon: Number) -> None:
        self._fill(categories=_several(categories))
        self._fill(epsilon=parameter(epsilon, "epsilon"))

    @property
    def answers(self) -> int:
        """How many categories there are."""
        return self.categories


def _several(categories: int) -> int:
    """Return a number of categories, or refuse it by name."""
    number = natural(categories, "categories", least=2)
    if number > _MOST:
        raise MechanismError("categories-too-many", categories=categories)
    return number
