"""The attack by slabs: random questions, and first-order steps towards all that the answers allow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from jali.attacks.attack import Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.attacks.convex import limits
from jali.attacks.convex.cut_bits import from_cut, from_prior
from jali.attacks.convex.slabs import nearest
from jali.attacks.convex.tails import errors_of
from jali.attacks.effort import check_entries
from jali.attacks.noises import Noise
from jali.attacks.oracle import Oracle
from jali.attacks.reconstruction import Reconstruction
from jali.attacks.subsets.listed import random_subsets
from jali.errors import CatalogError
from jali.privacy.rationals import positive_integer

_QUESTIONS_EACH = 8
# With eight questions for each of 3,500 people.
_MOST_ENTRIES = 8 * 3500**2


@dataclass(frozen=True)
class Slab(Reconstruction):
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
        For independent errors the share of right bits follows the law `slab` in `convex/limits.py`, as long as the
        shrunk slabs have no point in common.
    """

    name: ClassVar[str] = "slab"
    statement: ClassVar[str] = (
        "8n random questions with errors within sqrt(n) give all but a few bits by projections "
        "(Dinur, Nissim 2003; Beck, Teboulle 2009)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=512, noise="uniform:sqrt(n)", few=64)
    most: ClassVar[int] = 3500

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
        progress("stepping")
        width = self._width(oracle.noise)
        found = nearest(subsets.first(len(answers)), answers, width, steps=self.steps)
        spread = self._spread(oracle.noise, oracle.n, len(answers))
        guess = from_cut(found.bits, 1.0 if spread is None else spread, len(answers))
        return replace(guess, figures={"steps": float(found.steps)})

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the share in the limit for independent errors; None where slabs may have a point in common."""
        spread = self._spread(facts.noise, facts.n, facts.questions)
        return None if spread is None else limits.prediction(spread, facts.n, facts.questions)

    def _width(self, noise: Noise) -> float:
        """Return half the width of a slab."""
        within = math.sqrt(3) * (noise.stddev or 0.0) if noise.bound is None else noise.bound
        return self.shrink * within

    def _spread(self, noise: Noise, people: int, questions: int) -> float | None:
        """Return the spread of a bit's error in the limit."""
        errors = errors_of(noise, people)
        if errors is None or not questions:
            return None
        return limits.slab(errors, questions / people, self._width(noise) / math.sqrt(people))
