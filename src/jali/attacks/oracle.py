"""What is attacked: something that answers how many people of a set have a secret trait."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.noises import Noise
from jali.attacks.subsets.subsets import Subsets
from jali.privacy import Adjacency


@dataclass(frozen=True)
class Refusal:
    """Where a ledger said no.

    Attributes:
        after: How many questions it had answered.
        said: Its words.
        further: How many of those were asked only to meet the refusal, when the attack was over.
    """

    after: int
    said: str
    further: int = 0


@dataclass(frozen=True)
class Spent:
    """The loss that a ledger counted.

    Attributes:
        epsilon: Its epsilon.
        delta: The delta beside it.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)


class Opponent(Protocol):
    """Holds a secret of bits.

    An attack sees how many people there are and what is public about the noise. The bits themselves stay inside:
    a guess is handed in, and marked.
    """

    @property
    def name(self) -> str:
        """What is attacked, in a few words."""

    @property
    def n(self) -> int:
        """How many people there are."""

    @property
    def prior(self) -> float:
        """The probability that a bit is 1, which is public."""

    @property
    def noise(self) -> Noise:
        """The law of the noise in the last answers, which is public."""

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency in which a loss is counted; None for an oracle that promises nothing."""

    def spent(self) -> Spent | None:
        """Return the loss spent; None for an oracle that counts none."""

    def refusal(self) -> Refusal | None:
        """Return where it refuses; one with a budget that has refused nothing yet is asked once more."""

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""


class Oracle(Opponent, Protocol):
    """Answers counts over a secret column of n bits, one for each person."""

    def ask(self, subsets: Subsets) -> Doubles:
        """Answer how many people of each subset have the trait: all of them, or the first ones if it refuses."""
