"""Attack by linear programs or by slabs: ask random questions, and take the bits that come nearest to the answers.

`LOSSES` holds the three senses of "nearest" of linear programs, each with its program and the law of its bits.
An answer within E of the truth puts the secret between two planes, a slab. `find_nearest_point` minimizes the
squared violation of slabs by accelerated gradient steps (Beck and Teboulle 2009; O'Donoghue and Candes 2015).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError, settle
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, check_entries, silent
from jali.lab.attacks.decoding import convex_limits, solvers
from jali.lab.attacks.decoding.convex_limits import ErrorLaw, find_error_law
from jali.lab.attacks.decoding.design import guess_from_prior, is_settled, round_cut_estimate
from jali.lab.attacks.decoding.solvers import DualProgram
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.subsets.random_subsets import Listed, random_subsets
from jali.lab.attacks.subsets.subset_operators import Subsets
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
    return solvers.build_feasible(subsets, answers, bound, random.standard_normal(subsets.shape[1]))


LOSSES: dict[str, ProgramLoss] = {
    "chebyshev": ProgramLoss(
        "the largest |A x - a|",
        lambda subsets, answers, _, __: solvers.build_chebyshev(subsets, answers),
        lambda errors, ratio, _: convex_limits.find_chebyshev_spread(errors, ratio),
    ),
    "absolute": ProgramLoss(
        "the sum of |A x - a|",
        lambda subsets, answers, _, __: solvers.build_absolute(subsets, answers),
        lambda errors, ratio, _: convex_limits.find_absolute_spread(errors, ratio),
    ),
    "feasible": ProgramLoss(
        "nothing: any x with |A x - a| <= E", _build_feasible, convex_limits.find_feasible_spread, bounded=True
    ),
}


_QUESTIONS_EACH = 8
# Noises whose errors are within a bound, but not independent of the questions.
_BOUNDED_ONLY = ("worst", "rounding")


class RandomSubsetAttack(Reconstruction):
    """Asks random subsets, and decodes all answers together."""

    # How often people may be named in all questions together.
    _most_entries: ClassVar[int]

    questions: int | None
    seed: int | None

    def check(self, people: int) -> None:
        """Refuse more people and questions than fit."""
        check_entries(self.name, self._count_questions(people), people, most=self._most_entries)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        subsets = random_subsets(self._count_questions(oracle.n), oracle.n, seed=self.seed)
        progress("asking")
        answers = oracle.ask(subsets)
        if not len(answers):
            return guess_from_prior(oracle.n, oracle.prior)
        return self._decode(subsets.first(len(answers)), answers, oracle.noise, progress)

    def _count_questions(self, people: int) -> int:
        return self.questions or _QUESTIONS_EACH * people

    @abstractmethod
    def _decode(self, subsets: Listed, answers: Doubles, noise: Noise, progress: Progress) -> Guess:
        """Guess the secret from answers to questions about these subsets."""


@dataclass(frozen=True)
class LinearProgram(RandomSubsetAttack):
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
    _most_entries: ClassVar[int] = 8 * 768**2

    questions: int | None = None
    loss: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.questions is not None:
            positive_integer(self.questions, "questions")
        if self.loss is not None and self.loss not in LOSSES:
            raise CatalogError("attack-loss-unknown", loss=self.loss, losses=tuple(LOSSES))

    def _decode(self, subsets: Listed, answers: Doubles, noise: Noise, progress: Progress) -> Guess:
        """Solve the program, and round."""
        progress("solving")
        spread = self._find_spread(noise, subsets.shape[1], len(answers))
        return round_cut_estimate(self.solve(subsets, answers, noise), spread, len(answers))

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


# The chance that a random matrix is longer than its law by so much is below e^-8 (Davidson and Szarek 2001).
_SLACK = 4.0
_STILL = 1e-4


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """Where the violation is least.

    Attributes:
        bits: Each bit, as a number from 0 to 1.
        steps: How many steps it took.
    """

    bits: Doubles
    steps: int


def find_nearest_point(subsets: Subsets, answers: Doubles, width: float, *, steps: int) -> NearestPoint:
    """Minimise the sum of squares by which A x leaves the slabs |A x - answers| <= width, where 0 <= x <= 1.

    By the accelerated gradient steps of Beck and Teboulle 2009 (FISTA), which begin again whenever they go
    uphill (O'Donoghue and Candes 2015). A random matrix of zeros and ones has one singular value of about
    sqrt(m n) / 2, along the mean of x, and the others up to (sqrt(m) + sqrt(n)) / 2. So the mean is taken out
    of A, and the number of ones is a variable of its own: steps can be n / (1 + sqrt(n/m))^2 times as long, and
    one equation is given up.

    Args:
        subsets: Random subsets, which hold everybody with probability 1/2.
        answers: As many as there are subsets.
        width: Half the width of the slabs.
        steps: How many steps to go at most, each with two products.
    """
    questions, people = subsets.shape
    length = (2 / (math.sqrt(questions) + math.sqrt(people + 1) + _SLACK)) ** 2
    # All of it in single precision, which Python's own numbers leave as it is.
    target = np.asarray(answers - subsets.matvec(np.full(people, 0.5, np.float32)), np.float32)
    here = np.zeros(people + 1, np.float32)
    here[-1] = 2 * float(target.mean())
    ahead, pace, taken, moved = here, 1.0, 0, math.inf
    while taken < steps and moved > _STILL:
        taken += 1
        slope = _compute_slope(subsets, target, float(width), ahead)
        there = ahead - length * slope
        np.clip(there[:-1], -0.5, 0.5, out=there[:-1])
        move = there - here
        if float(slope @ move) > 0:
            ahead, pace = here, 1.0
            continue
        faster = (1 + math.sqrt(1 + 4 * pace**2)) / 2
        ahead, here, pace = there + (pace - 1) / faster * move, there, faster
        moved = float(np.abs(move).max())
    return NearestPoint(here[:-1] + 0.5, taken)


def _compute_slope(subsets: Subsets, target: Doubles, width: float, point: Doubles) -> Doubles:
    """Return half the gradient of the squared violation, for each person and the number of ones."""
    off = subsets.matvec(point[:-1])
    off += 0.5 * float(point[-1] - point[:-1].sum()) - target
    off -= np.clip(off, -width, width)
    half = 0.5 * float(off.sum())
    slope = np.empty_like(point)
    np.subtract(subsets.rmatvec(off), half, out=slope[:-1])
    slope[-1] = half
    return slope


@dataclass(frozen=True)
class Slab(RandomSubsetAttack):
    """Ask random subsets; errors within E put the secret into the slabs |A x - a| <= E. Shrink them, and go near.

    Slabs of width E have too many points in common, of which few are near the secret. Shrunk, they have none, and
    the point with the least squared violation is as good as that of a linear program, in a fraction of the time.

    Attributes:
        questions: How many; eight for each person by default.
        shrink: The width of the slabs, as a share of E. Noise without a bound has E = sqrt(3) standard
            deviations here, as if it were uniform.
        steps: How many steps to go at most.
        seed: Where the questions come from.

    Error:
        For independent errors the share of right bits follows `convex_limits.find_slab_spread`, as long as the
        shrunk slabs have no point in common.
    """

    name: ClassVar[str] = "slab"
    statement: ClassVar[str] = (
        "8n random questions with errors within sqrt(n) give all but a few bits by projections "
        "(Dinur, Nissim 2003; Beck, Teboulle 2009)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=512, noise="uniform:sqrt(n)", few=64)
    most: ClassVar[int] = 3500
    _most_entries: ClassVar[int] = 8 * 3500**2

    questions: int | None = None
    shrink: float = 0.8
    steps: int = 600
    seed: int | None = None

    def __post_init__(self) -> None:
        positive_integer(self.steps, "steps")
        if self.questions is not None:
            positive_integer(self.questions, "questions")
        if not 0 <= self.shrink <= 1:
            raise CatalogError("attack-shrink-out-of-range", shrink=self.shrink, name="shrink")

    def _decode(self, subsets: Listed, answers: Doubles, noise: Noise, progress: Progress) -> Guess:
        """Step towards the slabs, and round."""
        progress("stepping")
        found = find_nearest_point(subsets, answers, self._find_width(noise), steps=self.steps)
        spread = self._find_spread(noise, subsets.shape[1], len(answers))
        guess = round_cut_estimate(found.bits, 1.0 if spread is None else spread, len(answers))
        return replace(guess, figures={"steps": float(found.steps)})

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the share in the limit for independent errors; None where slabs may have a point in common."""
        spread = self._find_spread(facts.noise, facts.n, facts.questions)
        return None if spread is None else convex_limits.predict_share(spread, facts.n, facts.questions)

    def _find_width(self, noise: Noise) -> float:
        """Return half the width of a slab."""
        within = math.sqrt(3) * (noise.stddev or 0.0) if noise.bound is None else noise.bound
        return self.shrink * within

    def _find_spread(self, noise: Noise, people: int, questions: int) -> float | None:
        """Return the spread of a bit's error in the limit."""
        errors = find_error_law(noise, people)
        if errors is None or not questions:
            return None
        return convex_limits.find_slab_spread(
            errors, questions / people, self._find_width(noise) / math.sqrt(people)
        )
