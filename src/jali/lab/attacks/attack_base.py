"""Define what every attack is: questions to an oracle, a guess, and the law that predicts how good it is.

A `Setting` says what the lab sets up for an attack. `check_entries` refuses questions that would not fit into
memory, or into a minute or two.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.attack_result import CalibrationBin, Result, Sense, add_bins, mark_by_confidence
from jali.lab.attacks.noise_models import KINDS, Noise
from jali.lab.attacks.oracle import (
    Opponent,
    Refusal,
    ReportsProgress,
    Spent,
    UnpaidLoss,
    check_distinct,
    check_offer,
)
from jali.privacy import Adjacency


@dataclass(frozen=True)
class Setting:
    """One secret, and what answers about it.

    Attributes:
        n: How many people.
        noise: The noise of a simulator.
        against: "simulator", "jali", "unledgered" (Jali without a ledger) or the path of a log.
        epsilon: The whole budget, where there is a ledger.
        delta: The delta of that budget; with one, questions are asked with Gaussian noise.
        each: What one question spends of it; by default the budget is spread over the questions.
        adjacency: When two tables are neighbours, where that matters.
        seed: Where the secret and a simulator's noise come from; new ones if it is None. Jali's noise has no seed.
    """

    n: int
    noise: Noise
    against: str = "simulator"
    epsilon: Fraction = Fraction(1)
    delta: Fraction = Fraction(0)
    each: Fraction | None = None
    adjacency: Adjacency = Adjacency.REPLACE_ONE
    seed: int | None = None


def check_entries(name: str, questions: int, members: int, *, most: int) -> None:
    """Refuse questions which together name more people than that, each as often as it is named."""
    if questions * members > most:
        raise CatalogError(
            "attack-too-large",
            attack=name,
            questions=questions,
            people=members,
            entries=questions * members,
            most=most,
            name="n",
        )


Progress: TypeAlias = Callable[[str], None]
Foe = TypeVar("Foe", bound=Opponent)
# What fits into memory, several times over.
MOST_PEOPLE = 1 << 24
_FAIR_PRIOR = 0.5


def silent(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, eq=False)
class Guess:
    """What an attack submits.

    Attributes:
        bits: The secret, as guessed.
        confidence: For each bit how sure the attack is, from 0 (a coin) to 1; by its own model.
        questions: How many answers it used.
        figures: Other numbers that it found, by name.
        notes: What it found in words, by a label each; people are shown these and not the figures.
    """

    bits: Bits
    confidence: Doubles
    questions: int
    figures: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What a prediction rests on, all of it public.

    Attributes:
        n: How many people there are.
        noise: The law of the noise.
        questions: How many answers there are.
        prior: The probability that a bit is 1.
    """

    n: int
    noise: Noise
    questions: int
    prior: float = 0.5


@dataclass(frozen=True)
class Prediction:
    """What theory says about an attack.

    Attributes:
        fraction: The share of bits that are guessed right.
        law: The statement, in a line.
        sense: "equal" if the share should be met within chance, "about" if the law is a limit and the sizes are
            small, "at least" for a bound from below.
        any_prior: Whether it holds for bits that are not fair, too.
    """

    fraction: float
    law: str
    sense: Sense = "equal"
    any_prior: bool = False

    @property
    def exact(self) -> bool:
        """Whether the share should be met within chance."""
        return self.sense == "equal"


@dataclass(frozen=True)
class Exhibit:
    """How the lab shows an attack to someone who asks for nothing in particular.

    Attributes:
        n: How many people.
        noise: The noise of the simulator.
        trials: How many secrets are attacked, one after the other.
        few: How many people at most where a database is asked, one question after the other: a matter of seconds.
        each: What a question spends without a ledger, if that is not the budget: nobody stops a larger one there.
    """

    n: int
    noise: str
    trials: int = 1
    few: int = 256
    each: int | None = None


class Attack(ABC, Generic[Foe]):
    """One attack: a frozen dataclass of its parameters, with a name, a statement, and a guess.

    `guess` is all that it must have. A member of the lab also has a statement and an exhibit.

    Attributes:
        name: By which the lab knows it; its class's name by default.
        statement: The theorem it acts out, in a sentence, with its source.
        exhibit: How the lab shows it.
        against: What it can be pointed at: "simulator", "jali", "unledgered", "log".
        attacks: What its opponents offer, one of `OFFERS`; anything, where it is empty.
        noises: The kinds of noise that its simulator can have.
        most: How many people it can be shown on: what fits into a minute or two, and into memory.
        things: What is guessed, in the plural.
    """

    name: ClassVar[str]
    statement: ClassVar[str] = ""
    exhibit: ClassVar[Exhibit] = Exhibit(n=64, noise="uniform:1", few=64)
    against: ClassVar[tuple[str, ...]] = ("simulator", "jali", "unledgered")
    attacks: ClassVar[str] = ""
    noises: ClassVar[tuple[str, ...]] = tuple(KINDS)
    most: ClassVar[int] = MOST_PEOPLE
    things: ClassVar[str] = "bits"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()

    @abstractmethod
    def guess(self, oracle: Foe, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""

    def predict(self, _: Facts) -> Prediction | None:
        """Return what theory says with this many answers of this noise; None where it is silent."""
        return None

    @abstractmethod
    def opponent(self, setting: Setting) -> Foe:
        """Make what is attacked, with a secret of its own."""

    def chance(self, _: Foe) -> float | None:
        """Return the probability of a right guess without a release, if it is not that of the likelier bit."""
        return None

    def refusal(self, oracle: Foe, _: Guess) -> Refusal | None:
        """Return where the oracle refused; one that has not is asked on, to see that it does."""
        return oracle.refusal()

    def check(self, people: int) -> None:
        """Refuse more people than the attack can be shown on."""
        if people > self.most:
            raise CatalogError("attack-too-many-people", most=self.most, attack=self.name, people=people, name="n")

    def run(self, oracle: Foe, *, progress: Progress = silent) -> Result:
        """Attack one secret, and mark the guess."""
        return self.repeat([oracle], progress=progress)

    def repeat(self, oracles: Iterable[Foe], *, progress: Progress = silent) -> Result:
        """Attack one secret after the other, and sum up."""
        marked = [self._attack_one(oracle, progress) for oracle in check_distinct(oracles)]
        if not marked:
            raise CatalogError("attack-without-oracle")
        last = marked[-1]
        prediction = self._predict_prior(Facts(last.n, last.noise, last.guess.questions, last.prior))
        spent = _find_largest_loss([one.spent for one in marked])
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
            sense="equal" if prediction is None else prediction.sense,
            adjacency=last.adjacency,
            questions=last.guess.questions,
            spent=None if spent is None else spent.epsilon,
            delta=Fraction(0) if spent is None else spent.delta,
            refusal=last.refusal,
            figures=_average_figures([one.guess.figures for one in marked]),
            seconds=sum(one.seconds for one in marked),
            calibration=add_bins(one.calibration for one in marked),
            things=self.things,
            chance=last.chance,
            notes=dict(last.guess.notes) if len(marked) == 1 else {},
            unpaid=last.unpaid,
            rights=tuple(one.right for one in marked),
        )

    def _predict_prior(self, facts: Facts) -> Prediction | None:
        """Return what theory says about bits of this prior; most laws are about fair ones."""
        found = self.predict(facts)
        return found if found is None or found.any_prior or facts.prior == _FAIR_PRIOR else None

    def _attack_one(self, oracle: Foe, progress: Progress) -> _Outcome:
        """Attack one secret; what is left of the oracle fits many runs into memory."""
        check_offer(self.attacks, oracle, self.name)
        self.check(oracle.n)
        foe: object = oracle
        if isinstance(foe, ReportsProgress):
            foe.watch(progress)
        start = time.perf_counter()
        guess = self.guess(oracle, progress)
        seconds = time.perf_counter() - start
        chance = self.chance(oracle)
        return _Outcome(
            name=oracle.name,
            n=oracle.n,
            noise=oracle.noise,
            prior=oracle.prior,
            adjacency=oracle.adjacency,
            guess=guess,
            right=oracle.mark(guess.bits),
            # A guess that is not of bits has no bits to be flipped.
            calibration=mark_by_confidence(oracle, guess.bits, guess.confidence) if chance is None else (),
            chance=chance,
            spent=oracle.spent(),
            unpaid=foe.unpaid() if isinstance(foe, UnpaidLoss) else None,
            refusal=self.refusal(oracle, guess),
            seconds=seconds,
        )


@dataclass(frozen=True, eq=False)
class _Outcome:
    """A marked guess, and what is reported of the oracle."""

    name: str
    n: int
    noise: Noise
    prior: float
    adjacency: Adjacency | None
    guess: Guess
    right: int
    calibration: tuple[CalibrationBin, ...]
    chance: float | None
    spent: Spent | None
    unpaid: Spent | None
    refusal: Refusal | None
    seconds: float


def _find_largest_loss(spent: Sequence[Spent | None]) -> Spent | None:
    """Return the largest loss among those of several secrets."""
    counted = [one for one in spent if one is not None]
    return Spent(max(one.epsilon for one in counted), max(one.delta for one in counted)) if counted else None


def _average_figures(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure over the secrets."""
    return {
        name: sum(run[name] for run in runs) / len(runs) for name in runs[-1] if all(name in run for run in runs)
    }
