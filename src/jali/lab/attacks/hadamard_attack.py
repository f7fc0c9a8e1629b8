"""Attack by the rows of a Hadamard matrix: n fixed questions, n log n steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

from jali.lab.attacks.attack_base import Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.lab.attacks.attack_result import find_limit_sense
from jali.lab.attacks.decoding.design import round_estimate
from jali.lab.attacks.noise_models import Noise, is_coarse
from jali.lab.attacks.opponents import Reconstruction
from jali.lab.attacks.oracle import Oracle
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows


@dataclass(frozen=True)
class Hadamard(Reconstruction):
    """Ask the n rows of a Hadamard matrix, transform the answers back, and round.

    With q the answers, q_0 the count of everybody and H the matrix, x = H (2 q - q_0) / n without noise. If only
    m rows were answered, the others count as what the prior expects of them, and H's share is divided by m.

    Error:
        H 1 = n at person 0 and 0 elsewhere: the error of q_0 enters nobody's estimate but through its own row, and
        person 0's, who is in every subset. With errors e the estimate of j > 0 is off by 2 (H e)_j / n. So noise
        of standard deviation s leaves these n - 1 bits uncorrelated errors of variance 4 s^2 / n, independent
        ones if it is normal, and person 0 one of variance s^2: a share Phi(sqrt(n) / (4 s)) is right, and person
        0 with probability Phi(1 / (2 s)). With m < n rows, drawn at random, the others' bits add (n - m) / (4 m)
        to the variance, and 4 s^2 / n becomes s^2 (5 - m / n) / m.
        Errors within E, however chosen: the squares of 2 H e / n sum to at most 4 E^2, and a wrong bit takes 1/4,
        so at most 16 E^2 + 1 are wrong; and at most 36 E^2, by the squares of H (2 e - e_0) / n, for E below 0.22.
    """

    name: ClassVar[str] = "hadamard"
    statement: ClassVar[str] = (
        "n fixed questions with errors o(sqrt(n)) give all but o(n) bits in n log n steps (Dwork, Yekhanin 2008)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=4096, noise="uniform:0.25*sqrt(n)")

    def check(self, people: int) -> None:
        """Refuse a number of people that no Hadamard matrix of Sylvester's has."""
        super().check(people)
        HadamardRows(people)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        subsets = HadamardRows(oracle.n)
        progress("asking")
        answers = oracle.ask(subsets)
        progress("transforming")
        asked = len(answers)
        centred = 2.0 * answers
        if asked:
            centred -= answers[0]
            centred[0] -= oracle.n * oracle.prior
        estimate = subsets.first(asked).contrast(centred)
        estimate *= 1 / max(1, asked)
        estimate += oracle.prior
        return round_estimate(
            estimate, math.sqrt(_estimate_variance(oracle.n, asked, _assume_stddev(oracle.noise, oracle.n))), asked
        )

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the law for independent noise, and the theorem for errors that are chosen."""
        n, stddev = facts.n, facts.noise.stddev
        if facts.noise.kind == "worst" and facts.questions == n:
            square = facts.noise.size**2
            least = 1 - min(n, 16 * square + 1, 36 * square) / n
            return Prediction(least, _CHOSEN, "at least", any_prior=True)
        # Once everybody's count is given, the others have a standard deviation of sqrt(n) / 4.
        if stddev is None or is_coarse(facts.noise, math.sqrt(n) / 4):
            return None
        others = _predict_right(_estimate_variance(n, facts.questions, stddev))
        alone = _predict_right(_estimate_variance(n, facts.questions, 0.0) + stddev**2)
        share = ((n - 1) * others + alone) / n
        if facts.questions < n:
            return Prediction(share, _REFUSED, find_limit_sense(facts.questions))
        return Prediction(
            share, _LAW, "equal" if facts.noise.kind in _NORMAL else find_limit_sense(n), any_prior=True
        )


_CHOSEN = "at most 16 E^2 + 1 wrong, whatever the errors"
_NORMAL = ("none", "gaussian", "layers")
_LAW = "Phi(sqrt(n) / (4 stddev))"
_REFUSED = "Phi(sqrt(m / (4 (5 - m / n) variance + n - m)))"


def _estimate_variance(n: int, questions: int, stddev: float) -> float:
    """Return the variance of one estimated bit."""
    if questions == 0:
        return math.inf
    return (stddev**2 * (5 - questions / n) + (n - questions) / 4) / questions


def _predict_right(variance: float) -> float:
    """Return the probability that a normal error leaves a bit on its side of 1/2."""
    return 1.0 if variance == 0 else NormalDist().cdf(0.5 / math.sqrt(variance))


def _assume_stddev(noise: Noise, n: int) -> float:
    """Return what to take for the standard deviation of an error, whatever its law."""
    if noise.kind == "garbage":  # A uniform number within n for a count close to n / 4, in a share of the answers.
        return n * math.sqrt(noise.size * 7 / 48)
    return noise.stddev if noise.stddev is not None else noise.bound or 0.0
