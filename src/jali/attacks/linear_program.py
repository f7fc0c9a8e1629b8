"""The attack by linear programs: random questions, and the bits that come nearest to the answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.attack import Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.attacks.convex import limits
from jali.attacks.convex.cut_bits import from_cut, from_prior
from jali.attacks.convex.losses import LOSSES
from jali.attacks.convex.tails import errors_of
from jali.attacks.effort import check_entries
from jali.attacks.laws.design import settled
from jali.attacks.noises import Noise
from jali.attacks.oracle import Oracle
from jali.attacks.reconstruction import Reconstruction
from jali.attacks.subsets.listed import Listed, random_subsets
from jali.errors import CatalogError, settle
from jali.privacy.rationals import positive_integer

_QUESTIONS_EACH = 8
# With eight questions for each of 768 people.
_MOST_ENTRIES = 8 * 768**2
# Noises whose errors are within a bound, but not independent of the questions.
_BOUNDED_ONLY = ("worst", "rounding")


@dataclass(frozen=True)
class LinearProgram(Reconstruction):
    """Ask random subsets, find numbers from 0 to 1 that come nearest to the answers, and round.

    Attributes:
        questions: How many; eight for each person by default.
        loss: What "nearest" means: "chebyshev" for the largest error (for errors within a bound), "absolute" for
            the sum of the errors (for answers of which some are garbage, and for heavy tails), or "feasible" for
            any numbers within the bound (Dinur and Nissim 2003), here the farthest in a random direction. By
            default the largest error where there is a bound, and the sum elsewhere.
        seed: Where the questions come from.

    Error:
        For independent errors the share of right bits follows the laws in `convex/limits.py`. For errors within
        E that are chosen to mislead, "chebyshev" and "feasible" leave at most 64 E^2 / (1 - sqrt(n/m))^2 bits
        wrong: the secret and x are both within E of the answers, so |A(x - secret)|^2 <= 4 m E^2, the least
        singular value of A is close to (sqrt(m) - sqrt(n)) / 2, and a wrong bit is off by 1/2. A share below
        23.9 % of garbage, however chosen, is survived by "absolute" with enough questions (Dwork, McSherry and
        Talwar 2007), and more than that if it is made up without looking.
    """

    name: ClassVar[str] = "linear-program"
    statement: ClassVar[str] = (
        "O(n) random questions with errors o(sqrt(n)) give all but o(n) bits by a linear program "
        "(Dinur, Nissim 2003), even if 23.9 % of the answers are garbage (Dwork, McSherry, Talwar 2007)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=256, noise="uniform:sqrt(n)", few=64)
    most: ClassVar[int] = 768

    questions: int | None = None
    loss: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.questions is not None:
            positive_integer(self.questions, "questions")
        if self.loss is not None and self.loss not in LOSSES:
            raise CatalogError("attack-loss-unknown", loss=self.loss, losses=tuple(LOSSES))

    def check(self, people: int) -> None:
        """Refuse more people and questions than fit."""
        check_entries(self.name, self.questions or _QUESTIONS_EACH * people, people, most=_MOST_ENTRIES)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        subsets = random_subsets(self.questions or _QUESTIONS_EACH * oracle.n, oracle.n, seed=self.seed)
        progress("asking")
        answers = oracle.ask(subsets)
        if not len(answers):
            return from_prior(oracle.n, oracle.prior)
        progress("solving")
        estimate = self.solve(subsets.first(len(answers)), answers, oracle.noise)
        return from_cut(estimate, self._spread(oracle.noise, oracle.n, len(answers)), len(answers))

    def solve(self, subsets: Listed, answers: Doubles, noise: Noise) -> Doubles:
        """Return the bits that come nearest to the answers, as numbers from 0 to 1."""
        random = np.random.default_rng(None if self.seed is None else [self.seed, 1])
        loss = LOSSES[self._loss(noise)]
        people = subsets.shape[1]
        estimate = loss.program(subsets, answers, noise.bound or 0.0, random).bits(people)
        if estimate is None:  # The answers are not what the noise says, so no numbers are within its bound.
            estimate = LOSSES["chebyshev"].program(subsets, answers, 0.0, random).bits(people)
        return np.full(people, 0.5) if estimate is None else estimate

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the share in the limit for independent errors; for others within a bound, a bound."""
        loss = self._loss(facts.noise)
        spread = _limit(loss, facts.noise, facts.n, facts.questions)
        if spread is not None:
            return limits.prediction(spread, facts.n, facts.questions)
        return None if loss == "absolute" else _worst(facts)

    def _loss(self, noise: Noise) -> str:
        """Return the loss that was asked for, or the one that suits the noise."""
        loss = self.loss or ("absolute" if noise.bound is None else "chebyshev")
        if LOSSES[loss].bounded and noise.bound is None:
            raise CatalogError("attack-loss-unbounded", loss=loss, noise=settle(noise), name="loss")
        return loss

    def _spread(self, noise: Noise, people: int, questions: int) -> float:
        """Return the spread of a bit's error; without a law, as if errors were uniform within their bound."""
        if noise.bound is None:
            return _limit(self._loss(noise), noise, people, questions) or 1.0
        uniform = Noise("uniform", noise.bound)
        known = uniform if noise.kind in _BOUNDED_ONLY else noise
        # Where the loss leaves many solutions, one of them is found as if nothing was minimised.
        spread = _limit(self._loss(noise), known, people, questions)
        return spread or _limit("feasible", uniform, people, questions) or 1.0


@lru_cache(maxsize=256)
def _limit(loss: str, noise: Noise, people: int, questions: int) -> float | None:
    """Return the spread of a bit's error in the limit; None if it is not known."""
    if noise.kind == "garbage" and loss == "absolute" and questions:
        return limits.CERTAIN if limits.survives(noise.size, questions / people) else None
    errors = errors_of(noise, people)
    if errors is None or not questions:
        return None
    return LOSSES[loss].limit(errors, questions / people, (noise.bound or 0.0) / math.sqrt(people))


def _worst(facts: Facts) -> Prediction | None:
    """Return the bound for any errors within E; None where it says nothing, or singular values are uncertain."""
    if facts.noise.bound is None or not settled(facts.n, facts.questions):
        return None
    lost = 64 * facts.noise.bound**2 / (math.sqrt(facts.n) - facts.n / math.sqrt(facts.questions)) ** 2
    law = "1 - 64 E^2 / (sqrt(n) - n / sqrt(m))^2"
    return Prediction(1 - lost, law, "at least", any_prior=True) if lost < 0.5 else None
