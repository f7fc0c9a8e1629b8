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
    from jali.attacks.calibration import Bin
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
        delta: The delta beside the epsilon spent.
        figures: Other numbers that the attack found, on average over the secrets.
        seconds: How long it took.
        calibration: The marks of the bits, by how sure the attack was of them.
        things: What is guessed, if it is not bits.
        chance: The probability of a right guess without a release, if it is not of bits.
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
    delta: Fraction = Fraction(0)
    figures: Mapping[str, float] = field(default_factory=dict)
    calibration: tuple[Bin, ...] = ()
    things: str = "bits"
    chance: float | None = None

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
        return max(self.prior, 1 - self.prior) if self.chance is None else self.chance

    @cached_property
    def interval(self) -> tuple[float, float]:
        """An interval for the probability of a right guess, at 95 %."""
        return evidence.interval(self.right, self.guessed)

    @cached_property
    def epsilon_lower_bound(self) -> LowerBound:
        """A loss that the oracle has, whatever it claims, at 95 %; for replace-one if it names no adjacency.

        It is an epsilon beside the delta of what was spent.
        """
        return evidence.lower_bound(
            self.right,
            self.guessed,
            self.adjacency or Adjacency.REPLACE_ONE,
            prior=self.prior,
            chance=self.chance,
            delta=float(self.delta),
        )

    @property
    def ceiling(self) -> float | None:
        """The largest probability of a right guess that the spent loss allows; None without a ledger."""
        if self.spent is None or self.adjacency is None:
            return None
        epsilon, delta = float(self.spent), float(self.delta)
        return evidence.ceiling(epsilon, self.adjacency, self.prior, chance=self.chance, delta=delta)

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"{self.attack} against {self.oracle}: {self.fraction:.3f} of {self.guessed:,} {self.things} right "
            f"[{low:.3f}, {high:.3f}], {self.baseline:.3f} without a release"
        )

    def __str__(self) -> str:
        from jali.attacks.report import report

        return report(self)

    def _repr_html_(self) -> str:
        from jali.attacks.report import told
        from jali.display.html import facts

        return facts(told(self))

    def plot(self, axes: Any = None) -> Any:
        """Draw the share of right bits against how sure the attack was, and return the axes (needs matplotlib)."""
        from jali.display.pictures.attack_calibration import attack_calibration

        return attack_calibration(self, axes=axes)

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
            "law_is_exact": self.law_is_exact,
            "epsilon_lower_bound": {
                "epsilon": bound.epsilon,
                "delta": bound.delta,
                "adjacency": bound.adjacency.value,
                "confidence": bound.confidence,
            },
            "epsilon_spent": None if self.spent is None else str(self.spent),
            "delta": None if self.spent is None else str(self.delta),
            "ceiling": self.ceiling,
            "refused": None if self.refusal is None else {"after": self.refusal.after, "said": self.refusal.said},
            "figures": dict(self.figures),
            "calibration": [[one.claim, one.right, one.guessed] for one in self.calibration],
            "seconds": self.seconds,
        }
