"""What tracing attacks: a group of people, of which only counts are published."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.oracle import Opponent

LEAST = 0.05
_GOLDEN = (5**0.5 - 1) / 2


class Group(Opponent, Protocol):
    """Has n seats. Two people of the population stood for each, and a fair coin chose who sits there.

    The secret is who sits: for each seat 0 or 1. Whoever knows both people asks which of them is a member; if the
    group is private with one member replaced, then that bit is. The other person is an outsider, drawn as the
    members are.
    """

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population, which is public."""

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat: n x 2 x attributes, which the attacker has elsewhere."""

    def ask(self) -> Doubles:
        """Answer how many members have each attribute: all of them, or the first ones if it refuses."""

    def told_apart(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders, from those of the candidates: for marks only."""


def frequencies(attributes: int) -> Doubles:
    """Return the frequencies of the lab's population: evenly spread from 0.05 to 0.95, and so are the first ones.

    They are the multiples of the golden ratio modulo 1, so that an attack cut short by a refusal meets the same
    mixture, and its law is the same for every seed.
    """
    turns = np.arange(1, attributes + 1) * _GOLDEN
    return np.asarray(LEAST + (1 - 2 * LEAST) * (turns % 1), np.float64)
