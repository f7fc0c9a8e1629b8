"""Attack by differences: count a set of people with somebody in it, and without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.lab.attacks.noise_models import find_difference_crossing
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.subsets.subset_operators import WithAndWithout


@dataclass(frozen=True)
class Difference(Reconstruction):
    """Ask for a large count with a person and without, and read a difference above 1/2 as a 1.

    No question is about few people: a rule against small counts does not help.

    Error:
        A bit is right with probability 1 - Pr[X - Y > 1/2] for the noises X and Y of the two answers, where they
        are independent.
    """

    name: ClassVar[str] = "difference"
    statement: ClassVar[str] = (
        "the counts of a set with and without somebody differ by that person's bit, however large the set is "
        "(Denning, Denning and Schwartz 1979 on trackers)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=1024, noise="geometric:0.25", few=64, each=8)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        progress("asking")
        answers = oracle.ask(WithAndWithout(oracle.n))
        pairs = len(answers) // 2
        differences = answers[0 : 2 * pairs : 2] - answers[1 : 2 * pairs : 2]
        bits = np.full(oracle.n, oracle.prior > 0.5, np.int8)
        bits[:pairs] = differences > 0.5
        wrong = find_difference_crossing(oracle.noise)
        confidence = np.zeros(oracle.n)
        confidence[:pairs] = 0.0 if wrong is None else 1 - 2 * wrong
        return Guess(bits, confidence, len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return 1 - Pr[X - Y > 1/2] for who was asked about, and the likelier value for the others."""
        wrong = find_difference_crossing(facts.noise)
        if wrong is None:
            return None
        asked = (facts.questions // 2) / facts.n
        others = (1 - asked) * max(facts.prior, 1 - facts.prior)
        return Prediction(asked * (1 - wrong) + others, "1 - Pr[noise - noise' > 1/2]", any_prior=True)
