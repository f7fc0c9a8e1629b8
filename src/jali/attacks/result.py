"""What an attack achieved, beside what was to be expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jali.attacks import evidence
from jali.attacks.arrays import Bits, Doubles
from jali.attacks.evidence import LowerBound
from jali.privacy import Adjacency

if TYPE_CHECKING:
    from jali.attacks.oracle import Refusal


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of an attack on one secret, or on many of them.

    Attributes:
        attack: Its name.
        oracle: What was attacked.
        n: How many people one secret has.
        trials: How many secrets were attacked.
        noise: The law of the noise.
        guess: The guessed bits, of one secret after the other.
        confidence: How sure the attack was of each.
        right: How many are right.
        prior: The probability that a bit is 1.
        predicted: The share of right bits that theory says; None where it is silent.
        law: The statement behind it.
        law_is_exact: Whether the share should be met within chance; otherwise it is a bound from below.
        adjacency: The adjacency of the oracle; None for one that promises nothing.
        questions: How many answers one guess used.
        spent: The epsilon that one secret's ledger counted; None without a ledger.
        refusal: Where the ledger refused; None if it did not, or if there is none.
        figures: Other numbers that the attack found.
        seconds: How long it took.
    """

    attack: str
    oracle: str
    n: int
    trials: int
    noise: str
    guess: Bits
    confidence: Doubles
    right: int
    prior: float
    predicted: float | None
    law: str
    law_is_exact: bool
    adjacency: Adjacency | None
    questions: int
    spent: Fraction | None
    refusal: Refusal | None
    seconds: float
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def guessed(self) -> int:
        """How many bits were guessed."""
        return len(self.guess)

    @property
    def fraction(self) -> float:
        """The share of right bits."""
        return self.right / self.guessed

    @property
    def baseline(self) -> float:
        """The share that anybody guesses right without a release: the likelier value, for everybody."""
        return max(self.prior, 1 - self.prior)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """An interval for the probability of a right guess, at 95 %."""
        return evidence.interval(self.right, self.guessed)

    @cached_property
    def epsilon_lower_bound(self) -> LowerBound:
        """A loss that the oracle has, whatever it claims, at 95 %; for replace-one if it names no adjacency."""
        adjacency = self.adjacency or Adjacency.REPLACE_ONE
        return evidence.lower_bound(self.right, self.guessed, adjacency, prior=self.prior)

    @property
    def ceiling(self) -> float | None:
        """The largest probability of a right guess that the spent loss allows; None without a ledger."""
        if self.spent is None or self.adjacency is None:
            return None
        return evidence.ceiling(float(self.spent), self.adjacency, self.prior)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"{self.attack} against {self.oracle}: {self.fraction:.3f} of {self.guessed:,} bits right "
            f"[{low:.3f}, {high:.3f}], {self.baseline:.3f} without a release"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the bits as plain numbers and texts."""
        bound = self.epsilon_lower_bound
        return {
            "attack": self.attack,
            "against": self.oracle,
            "n": self.n,
            "trials": self.trials,
            "noise": self.noise,
            "questions": self.questions,
            "fraction": self.fraction,
            "right": self.right,
            "guessed": self.guessed,
            "interval": list(self.interval),
            "baseline": self.baseline,
            "predicted": self.predicted,
            "law": self.law,
            "epsilon_lower_bound": {
                "epsilon": bound.epsilon,
                "adjacency": bound.adjacency.value,
                "confidence": bound.confidence,
            },
            "epsilon_spent": None if self.spent is None else str(self.spent),
            "ceiling": self.ceiling,
            "refused": None if self.refusal is None else {"after": self.refusal.after, "said": self.refusal.said},
            "figures": dict(self.figures),
            "seconds": self.seconds,
        }
