"""An oracle that answers a number of questions, and then no more."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.noises import Noise
from jali.attacks.oracle import Oracle, Refusal, Spent
from jali.attacks.subsets.subsets import Subsets
from jali.privacy import Adjacency


@dataclass(frozen=True, eq=False)
class Rationed:
    """Hands on the first questions to another oracle.

    Attributes:
        inner: The other one.
        most: How many questions it answers.
        refuses: Whether it says that it refuses the rest, as a ledger does; otherwise nobody asked them.
    """

    inner: Oracle
    most: int
    refuses: bool = False
    _asked: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"{self.inner.name}, {self.most:,} answers"

    @property
    def n(self) -> int:
        """How many people there are."""
        return self.inner.n

    @property
    def prior(self) -> float:
        """The probability that a bit is 1."""
        return self.inner.prior

    @property
    def noise(self) -> Noise:
        """The law of the noise."""
        return self.inner.noise

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the other oracle."""
        return self.inner.adjacency

    def ask(self, subsets: Subsets) -> Doubles:
        """Answer the first questions."""
        left = min(len(subsets), self.most - sum(self._asked))
        self._asked.append(left)
        return self.inner.ask(subsets.first(left)) if left else np.empty(0)

    def spent(self) -> Spent | None:
        """What the other oracle counts."""
        return self.inner.spent()

    def refusal(self) -> Refusal | None:
        """Return where it refuses."""
        return Refusal(sum(self._asked), "No more questions are answered.") if self.refuses else None

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self.inner.mark(guess)
