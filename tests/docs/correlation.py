"""The attack by correlation: are counts larger with somebody in them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.lab.attacks import Exhibit, Guess, Oracle, Progress, Reconstruction, random_subsets, silent


@dataclass(frozen=True)
class Correlation(Reconstruction):
    """Ask random subsets, and take for ones those people whose presence goes with larger counts.

    Error:
        The covariance of a count with somebody's presence is a quarter of their bit. Four times its estimate has a
        variance of about (n + 4 s^2) / m for m answers with noise of standard deviation s.

    Attributes:
        questions: How many.
        seed: Where the questions come from.
    """

    name: ClassVar[str] = "correlation"
    statement: ClassVar[str] = "random counts correlate with the bits they are made of (Dinur, Nissim 2003)"
    exhibit: ClassVar[Exhibit] = Exhibit(n=64, noise="uniform:2", few=16)
    most: ClassVar[int] = 10_000

    questions: int = 2000
    seed: int | None = None

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        progress("asking")
        subsets = random_subsets(self.questions, oracle.n, seed=self.seed)
        answers = oracle.ask(subsets)  # all of them, or the first ones if a ledger refuses
        if not len(answers):
            return Guess(np.zeros(oracle.n, np.int8), np.zeros(oracle.n), 0)
        progress("correlating")
        presence = subsets.first(len(answers)).rmatvec(answers - answers.mean())
        bits = (4 * presence / len(answers) > 0.5).astype(np.int8)
        return Guess(bits, confidence=np.zeros(oracle.n), questions=len(answers))
