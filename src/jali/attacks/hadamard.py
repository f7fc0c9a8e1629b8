"""The attack by Hadamard's questions: n fixed questions, n log n steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from jali.attacks.attack import Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.attacks.noises import Noise
from jali.attacks.oracle import Oracle
from jali.attacks.reconstruction import Reconstruction
from jali.attacks.rounding import rounded
from jali.attacks.subsets.hadamard_rows import HadamardRows


@dataclass(frozen=True)
class Hadamard(Reconstruction):
    """Ask the n rows of a Hadamard matrix, transform the answers back, and round.

    With q the answers, q_0 the count of everybody and H the matrix, x = H (2 q - q_0) / n without noise.

    Error:
        Noise of standard deviation s leaves each bit a normal error of variance close to 4 s^2 / n: a share
        Phi(sqrt(n) / (4 s)) is right. Errors within E, however chosen, leave at most 36 E^2 bits wrong.
    """

    name: ClassVar[str] = "hadamard"
    statement: ClassVar[str] = (
        "n fixed questions with errors o(sqrt(n)) give all but o(n) bits in n log n steps (Dwork, Yekhanin 2008)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=4096, noise="uniform:0.25*sqrt(n)")

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        subsets = HadamardRows(oracle.n)
        progress("asking")
        answers = oracle.ask(subsets)
        progress("transforming")
        asked = subsets.first(len(answers))
        centred = 2 * answers - (answers[0] if len(answers) else 0.0)
        # What was refused counts as its mean, which adds nothing; the share of H that is left is unbiased.
        estimate = 2 * asked.rmatvec(centred) - centred.sum()
        return rounded(estimate / max(1, len(answers)), self._spread(oracle.noise, len(answers)), len(answers))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return Phi(sqrt(m) / (4 s)) for independent noise."""
        if facts.noise.stddev is None:
            return None
        spread = self._spread(facts.noise, facts.questions)
        fraction = 1.0 if spread == 0 else NormalDist().cdf(0.5 / spread)
        return Prediction(fraction, "Phi(sqrt(m) / (4 stddev))")

    @staticmethod
    def _spread(noise: Noise, questions: int) -> float:
        """Return the standard deviation of one estimated bit."""
        stddev = noise.stddev if noise.stddev is not None else noise.bound or 0.0
        return 2 * stddev / math.sqrt(max(1, questions))
