"""What every attack is: questions to an oracle, a guess, and the law that predicts how good it is."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.calibration import Bin, by_confidence, together
from jali.attacks.noises import Noise
from jali.attacks.oracle import Opponent, Refusal, Spent
from jali.attacks.result import Result
from jali.attacks.setting import Setting
from jali.privacy import Adjacency

Progress: TypeAlias = Callable[[str], None]
Foe = TypeVar("Foe", bound=Opponent)


def silent(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, eq=False)
class Guess:
    """What an attack hands in.

    Attributes:
        bits: The secret, as guessed.
        confidence: For each bit how sure the attack is, from 0 (a coin) to 1; by its own model.
        questions: How many answers it used.
        figures: Other numbers that it found, by name.
    """

    bits: Bits
    confidence: Doubles
    questions: int
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What a prediction rests on, all of it public.

    Attributes:
        n: How many people there are.
        noise: The law of the noise.
        questions: How many answers there are.
    """

    n: int
    noise: Noise
    questions: int


@dataclass(frozen=True)
class Prediction:
    """What theory says about an attack.

    Attributes:
        fraction: The share of bits that are guessed right.
        law: The statement, in a line.
        exact: Whether the share should be met within chance; otherwise it is a bound from below.
    """

    fraction: float
    law: str
    exact: bool = True


@dataclass(frozen=True)
class Exhibit:
    """How the lab shows an attack to someone who asks for nothing in particular.

    Attributes:
        n: How many people.
        noise: The noise of the simulator.
        trials: How many secrets are attacked, one after the other.
        few: How many people at most where a database is asked, one question after the other: a matter of seconds.
    """

    n: int
    noise: str
    trials: int = 1
    few: int = 256


class Attack(ABC, Generic[Foe]):
    """One attack: a frozen dataclass of its parameters, with a name, a statement, and a guess.

    Attributes:
        name: By which the lab knows it.
        statement: The theorem it acts out, in a sentence, with its source.
        exhibit: How the lab shows it.
        against: What it can be pointed at: "simulator", "jali", "unledgered", "log".
        things: What is guessed, in the plural.
    """

    name: ClassVar[str]
    statement: ClassVar[str]
    exhibit: ClassVar[Exhibit]
    against: ClassVar[tuple[str, ...]] = ("simulator", "jali", "unledgered")
    things: ClassVar[str] = "bits"

    @abstractmethod
    def guess(self, oracle: Foe, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""

    @abstractmethod
    def predict(self, facts: Facts) -> Prediction | None:
        """Return what theory says with so many answers of this noise; None where it is silent."""

    @abstractmethod
    def opponent(self, setting: Setting) -> Foe:
        """Make what is attacked, with a secret of its own."""

    def chance(self, _: Foe) -> float | None:
        """Return the probability of a right guess without a release, if it is not that of the likelier bit."""
        return None

    def run(self, oracle: Foe, *, progress: Progress = silent) -> Result:
        """Attack one secret, and mark the guess."""
        return self.repeat([oracle], progress=progress)

    def repeat(self, oracles: Iterable[Foe], *, progress: Progress = silent) -> Result:
        """Attack one secret after the other, and sum up."""
        marked = [self._marked(oracle, progress) for oracle in oracles]
        last = marked[-1]
        prediction = self.predict(Facts(last.n, last.noise, last.guess.questions))
        return Result(
            attack=self.name,
            oracle=last.name,
            n=last.n,
            trials=len(marked),
            noise=str(last.noise),
            guess=np.concatenate([one.guess.bits for one in marked]),
            confidence=np.concatenate([one.guess.confidence for one in marked]),
            right=sum(one.right for one in marked),
            prior=last.prior,
            predicted=None if prediction is None else prediction.fraction,
            law="" if prediction is None else prediction.law,
            law_is_exact=prediction is not None and prediction.exact,
            adjacency=last.adjacency,
            questions=last.guess.questions,
            spent=None if last.spent is None else last.spent.epsilon,
            delta=Fraction(0) if last.spent is None else last.spent.delta,
            refusal=last.refusal,
            figures=_averaged([one.guess.figures for one in marked]),
            seconds=sum(one.seconds for one in marked),
            calibration=together(one.calibration for one in marked),
            things=self.things,
            chance=last.chance,
        )

    def _marked(self, oracle: Foe, progress: Progress) -> _Marked:
        """Attack one secret; what is left of the oracle fits many runs into memory."""
        start = time.perf_counter()
        guess = self.guess(oracle, progress)
        seconds = time.perf_counter() - start
        return _Marked(
            name=oracle.name,
            n=oracle.n,
            noise=oracle.noise,
            prior=oracle.prior,
            adjacency=oracle.adjacency,
            guess=guess,
            right=oracle.mark(guess.bits),
            calibration=by_confidence(oracle, guess.bits, guess.confidence),
            chance=self.chance(oracle),
            spent=oracle.spent(),
            refusal=oracle.refusal(),
            seconds=seconds,
        )


@dataclass(frozen=True, eq=False)
class _Marked:
    """A marked guess, and what is to be told of the oracle."""

    name: str
    n: int
    noise: Noise
    prior: float
    adjacency: Adjacency | None
    guess: Guess
    right: int
    calibration: tuple[Bin, ...]
    chance: float | None
    spent: Spent | None
    refusal: Refusal | None
    seconds: float


def _averaged(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure over the secrets."""
    return {
        name: sum(run[name] for run in runs) / len(runs) for name in runs[-1] if all(name in run for run in runs)
    }
