"""What the attack on sticky noise asks: counts of people by conditions on what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.attacks.arrays import Doubles
from jali.attacks.oracle import Opponent

Values: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Condition:
    """One condition on one column.

    Attributes:
        column: Its place.
        value: The value that the column has, or has not.
        equal: Whether it has it.

    Example:
        >>> str(Condition(2, 17)), str(Condition(2, 17, equal=False))
        ("c2 = '17'", "c2 <> '17'")
    """

    column: int
    value: int
    equal: bool = True

    def __str__(self) -> str:
        return f"c{self.column} {'=' if self.equal else '<>'} '{self.value}'"


Conditions: TypeAlias = tuple[Condition, ...]


class Records(Opponent, Protocol):
    """Holds a table with a row for each person: columns that an attacker may know, and last a secret trait.

    The secret is the trait of n people, the victims.
    """

    @property
    def known(self) -> Values:
        """What the attacker knows of the victims: a row for each, without the trait."""

    def ask(self, questions: Sequence[Conditions]) -> Doubles:
        """Answer how many people meet all conditions of each question: all questions, or the first ones."""
