"""Attack by asking about single people: the strongest attack on a bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.lab.attacks.noise_models import find_crossing
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.subsets.subset_operators import Singles
from jali.privacy.rationals import positive_integer


@dataclass(frozen=True)
class Singletons(Reconstruction):
    """Ask for the count of each person alone, and read an answer above 1/2 as a 1.

    Error:
        A bit is right with probability 1 - Pr[noise > 1/2]. For discrete Laplace noise of the loss epsilon that is
        e^epsilon / (1 + e^epsilon), which no guess after any epsilon-private release exceeds: where one person is
        asked about with the whole budget, the ceiling is met. Nobody else's bit is learned then.

    Attributes:
        people: About how many people to ask; all of them by default.
    """

    people: int | None = None

    name: ClassVar[str] = "singletons"
    statement: ClassVar[str] = (
        "one count about one person with discrete Laplace noise tells its bit with probability e^eps/(1+e^eps), "
        "and nothing that is eps-private tells more (Wasserman, Zhou 2010)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=1024, noise="geometric:1", each=8)

    def __post_init__(self) -> None:
        if self.people is not None:
            positive_integer(self.people, "people")

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        people = oracle.n if self.people is None else self.people
        if people > oracle.n:
            raise CatalogError("attack-singletons-too-many", n=oracle.n, people=people, name="people")
        progress("asking")
        answers = oracle.ask(Singles(oracle.n, people))
        bits = np.full(oracle.n, oracle.prior > 0.5, np.int8)
        bits[: len(answers)] = answers > 0.5
        wrong = find_crossing(oracle.noise)
        confidence = np.zeros(oracle.n)
        confidence[: len(answers)] = 0.0 if wrong is None else 1 - 2 * wrong
        return Guess(bits, confidence, len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return 1 - Pr[noise > 1/2] for who was asked about, and the likelier value for the others."""
        wrong = find_crossing(facts.noise)
        if wrong is None:
            return None
        asked = facts.questions / facts.n
        others = (1 - asked) * max(facts.prior, 1 - facts.prior)
        return Prediction(asked * (1 - wrong) + others, "1 - Pr[noise > 1/2]", any_prior=True)
