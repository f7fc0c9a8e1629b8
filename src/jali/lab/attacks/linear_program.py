"""Attack by linear programs: ask random questions, and take the bits that come nearest to the answers.

`LOSSES` holds the three senses of "nearest", each with its program and the law of its bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError, settle
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, check_entries, silent
from jali.lab.attacks.decoding import convex_limits, dual_program
from jali.lab.attacks.decoding.design import is_settled
from jali.lab.attacks.decoding.dual_program import DualProgram
from jali.lab.attacks.decoding.error_laws import ErrorLaw, find_error_law
from jali.lab.attacks.decoding.round_bits import guess_from_prior, round_cut_estimate
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.subsets.random_subsets import Listed, random_subsets
from jali.privacy.rationals import positive_integer


@dataclass(frozen=True)
class ProgramLoss:
    """What a linear program minimises.

    Attributes:
        meaning: In a few words.
        program: The program, of questions, answers, a bound of their errors, and a source of directions.
        limit: The spread of its bits, by the law of the errors, m/n, and the bound, in units of sqrt(n).
        bounded: Whether it needs a bound.
    """

    meaning: str
    program: Callable[[Listed, Doubles, float, np.random.Generator], DualProgram]
    limit: Callable[[ErrorLaw, float, float], float | None]
    bounded: bool = False


def _build_feasible(subsets: Listed, answers: Doubles, bound: float, random: np.random.Generator) -> DualProgram:
    return dual_program.build_feasible(subsets, answers, bound, random.standard_normal(subsets.shape[1]))


LOSSES: dict[str, ProgramLoss] = {
    "chebyshev": ProgramLoss(
        "the largest |A x - a|",
        lambda subsets, answers, _, __: dual_program.build_chebyshev(subsets, answers),
        lambda errors, ratio, _: convex_limits.find_chebyshev_spread(errors, ratio),
    ),
    "absolute": ProgramLoss(
        "the sum of |A x - a|",
        lambda subsets, answers, _, __: dual_program.build_absolute(subsets, answers),
        lambda errors, ratio, _: convex_limits.find_absolute_spread(errors, ratio),
    ),
    "feasible": ProgramLoss(
        "nothing: any x with |A x - a| <= E", _build_feasible, convex_limits.find_feasible_spread, bounded=True
    ),
}


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
        For independent errors the share of right bits follows the laws in `convex_limits`. For errors within
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
            return guess_from_prior(oracle.n, oracle.prior)
        progress("solving")
        estimate = self.solve(subsets.first(len(answers)), answers, oracle.noise)
        return round_cut_estimate(estimate, self._find_spread(oracle.noise, oracle.n, len(answers)), len(answers))

    def solve(self, subsets: Listed, answers: Doubles, noise: Noise) -> Doubles:
        """Return the bits that come nearest to the answers, as numbers from 0 to 1."""
        random = np.random.default_rng(None if self.seed is None else [self.seed, 1])
        loss = LOSSES[self._choose_loss(noise)]
        people = subsets.shape[1]
        estimate = loss.program(subsets, answers, noise.bound or 0.0, random).bits(people)
        if estimate is None:  # The answers are not what the noise says, so no numbers are within its bound.
            estimate = LOSSES["chebyshev"].program(subsets, answers, 0.0, random).bits(people)
        return np.full(people, 0.5) if estimate is None else estimate

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the share in the limit for independent errors; for others within a bound, a bound."""
        loss = self._choose_loss(facts.noise)
        spread = _find_limit(loss, facts.noise, facts.n, facts.questions)
        if spread is not None:
            return convex_limits.predict_share(spread, facts.n, facts.questions)
        return None if loss == "absolute" else _bound_worst(facts)

    def _choose_loss(self, noise: Noise) -> str:
        """Return the loss that was asked for, or the one that suits the noise."""
        loss = self.loss or ("absolute" if noise.bound is None else "chebyshev")
        if LOSSES[loss].bounded and noise.bound is None:
            raise CatalogError("attack-loss-unbounded", loss=loss, noise=settle(noise), name="loss")
        return loss

    def _find_spread(self, noise: Noise, people: int, questions: int) -> float:
        """Return the spread of a bit's error; without a law, as if errors were uniform within their bound."""
        if noise.bound is None:
            return _find_limit(self._choose_loss(noise), noise, people, questions) or 1.0
        uniform = Noise("uniform", noise.bound)
        known = uniform if noise.kind in _BOUNDED_ONLY else noise
        # Where the loss leaves many solutions, one of them is found as if nothing was minimised.
        spread = _find_limit(self._choose_loss(noise), known, people, questions)
        return spread or _find_limit("feasible", uniform, people, questions) or 1.0


@lru_cache(maxsize=256)
def _find_limit(loss: str, noise: Noise, people: int, questions: int) -> float | None:
    """Return the spread of a bit's error in the limit; None if it is not known."""
    if noise.kind == "garbage" and loss == "absolute" and questions:
        return convex_limits.CERTAIN if convex_limits.survives(noise.size, questions / people) else None
    errors = find_error_law(noise, people)
    if errors is None or not questions:
        return None
    return LOSSES[loss].limit(errors, questions / people, (noise.bound or 0.0) / math.sqrt(people))


def _bound_worst(facts: Facts) -> Prediction | None:
    """Return the bound for any errors within E; None where it says nothing, or singular values are uncertain."""
    if facts.noise.bound is None or not is_settled(facts.n, facts.questions):
        return None
    lost = 64 * facts.noise.bound**2 / (math.sqrt(facts.n) - facts.n / math.sqrt(facts.questions)) ** 2
    law = "1 - 64 E^2 / (sqrt(n) - n / sqrt(m))^2"
    return Prediction(1 - lost, law, "at least", any_prior=True) if lost < 0.5 else None
