"""What every attack is: questions to an oracle, a guess, and the law that predicts how good it is."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from jali.attacks.arrays import Bits, Doubles
from jali.attacks.noises import Noise
from jali.attacks.oracle import Opponent
from jali.attacks.result import Result
from jali.attacks.setting import Setting

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
    """

    n: int
    noise: str
    trials: int = 1


class Attack(ABC, Generic[Foe]):
    """One attack: a frozen dataclass of its parameters, with a name, a statement, and a guess.

    Attributes:
        name: By which the lab knows it.
        statement: The theorem it acts out, in a sentence, with its source.
        exhibit: How the lab shows it.
        against: What it can be pointed at: "simulator", "jali", "unledgered", "log".
    """

    name: ClassVar[str]
    statement: ClassVar[str]
    exhibit: ClassVar[Exhibit]
    against: ClassVar[tuple[str, ...]] = ("simulator", "jali", "unledgered")

    @abstractmethod
    def guess(self, oracle: Foe, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""

    @abstractmethod
    def predict(self, facts: Facts) -> Prediction | None:
        """Return what theory says with so many answers of this noise; None where it is silent."""

    @abstractmethod
    def opponent(self, setting: Setting) -> Foe:
        """Make what is attacked, with a secret of its own."""

    def run(self, oracle: Foe, *, progress: Progress = silent) -> Result:
        """Attack one secret, and mark the guess."""
        return self.repeat([oracle], progress=progress)

    def repeat(self, oracles: Iterable[Foe], *, progress: Progress = silent) -> Result:
        """Attack one secret after the other, and sum up."""
        start = time.perf_counter()
        runs = [(oracle, self.guess(oracle, progress)) for oracle in oracles]
        seconds = time.perf_counter() - start
        oracle, guess = runs[-1]
        prediction = self.predict(Facts(oracle.n, oracle.noise, guess.questions))
        return Result(
            attack=self.name,
            oracle=oracle.name,
            n=oracle.n,
            trials=len(runs),
            noise=str(oracle.noise),
            guess=np.concatenate([one.bits for _, one in runs]),
            confidence=np.concatenate([one.confidence for _, one in runs]),
            right=sum(place.mark(one.bits) for place, one in runs),
            prior=oracle.prior,
            predicted=None if prediction is None else prediction.fraction,
            law="" if prediction is None else prediction.law,
            law_is_exact=prediction is not None and prediction.exact,
            adjacency=oracle.adjacency,
            questions=guess.questions,
            spent=oracle.spent(),
            refusal=oracle.refusal(),
            figures=dict(guess.figures),
            seconds=seconds,
        )
