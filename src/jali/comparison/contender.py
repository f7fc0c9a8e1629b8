"""What is compared: a mechanism, and how its releases are read as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import Mechanism
from jali.privacy.adjacency import Adjacency


@dataclass(frozen=True)
class Setting:
    """What all contenders are told: public numbers only.

    Attributes:
        low: The least value that a column may have.
        high: The largest one.
        step: The lattice, or None for the usual one.
        epsilon: The loss of one release.
        delta: The delta of those contenders that have one.
        adjacency: When two tables are neighbours.
        people: How many there are: public under replace-one, a guess under add-remove.
        at: Which quantile is meant, where one is.
    """

    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    people: int
    at: Fraction = Fraction(1, 2)

    @property
    def column(self) -> dict[str, Any]:
        """The range, the lattice and the adjacency, as statistics and mechanisms take them."""
        return {"low": self.low, "high": self.high, "step": self.step, "adjacency": self.adjacency}


@dataclass(frozen=True)
class Contender:
    """One mechanism in a comparison.

    Attributes:
        name: What the table calls it.
        mechanism: The mechanism.
        reading: The number that a release stands for; None where it declined to answer.
        prepare: What is released, made from the data.
        singly: Whether releases must be made one by one, because outcomes of `sample` are not read as easily.
    """

    name: str
    mechanism: Mechanism
    reading: Callable[[Any], float | None] = float
    prepare: Callable[[Any], Any] = field(default=lambda data: data)
    singly: bool = False

    def values(self, data: Any, draws: int) -> Iterator[float | None]:
        """Make so many releases and read them."""
        value = self.prepare(data)
        if self.singly:
            return (self.reading(self.mechanism.release(value)) for _ in range(draws))
        return map(self.reading, self.mechanism.sample(value, draws))
