"""How much of a secret is recovered as the noise, the loss or the number of questions changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from jali.attacks.laws.sense import Sense
from jali.attacks.result import Result


@dataclass(frozen=True)
class SweepPoint:
    """The outcome at one place.

    Attributes:
        at: The place: a size of noise in sqrt(n), an epsilon, or a number of questions.
        fraction: The share of right bits.
        interval: For the probability of a right guess, at 95 %.
        predicted: The share that theory says; None where it is silent.
        sense: Whether that should be met within chance ("equal"), is close ("about"), or a bound ("at least").
        questions: How many answers there were.
        refused: Whether more were asked for.
        ceiling: The largest probability of a right guess that the loss allows; None where none is counted.
    """

    at: float
    fraction: float
    interval: tuple[float, float]
    predicted: float | None
    sense: Sense
    questions: int
    refused: bool
    ceiling: float | None = None

    @classmethod
    def of(cls, at: float, result: Result) -> SweepPoint:
        """Take from a result what a sweep shows."""
        return cls(
            at,
            result.fraction,
            result.interval,
            result.predicted,
            result.sense,
            result.questions,
            result.refusal is not None,
        )


@dataclass(frozen=True)
class SweepLine:
    """One attack against one kind of noise.

    Attributes:
        attack: Its name.
        against: The noise, or what else was attacked, in a word or two.
        points: In the order of their places.
    """

    attack: str
    against: str
    points: tuple[SweepPoint, ...]

    @property
    def name(self) -> str:
        """What is written beside the line."""
        return f"{self.attack}, {self.against}"


@dataclass(frozen=True, repr=False)
class Sweep:
    """Shares of right bits at many places, for several attacks.

    Attributes:
        by: What changes: "noise", "epsilon" or "questions".
        n: How many people one secret has.
        trials: How many secrets were attacked at each place.
        lines: One for each attack and each kind of noise.
        marks: Places of note, by name.
        ceiling: At each of some places the largest probability of a right guess that the loss allows.
        each: What one question spends, where questions change.
        baseline: The share without a release.
    """

    by: str
    n: int
    trials: int
    lines: tuple[SweepLine, ...]
    marks: Mapping[str, float] = field(default_factory=dict)
    ceiling: tuple[tuple[float, float], ...] = ()
    each: float | None = None
    baseline: float = 0.5

    def __repr__(self) -> str:
        return f"Sweep(by={self.by!r}, n={self.n}, {', '.join(line.name for line in self.lines)})"

    def __str__(self) -> str:
        from jali.attacks.report import sweep_report

        return sweep_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and texts."""
        return asdict(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the sweep, and return the axes (needs matplotlib)."""
        from jali.display.pictures.attack_sweep import attack_sweep

        return attack_sweep(self, axes=axes)
