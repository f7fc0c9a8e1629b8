"""Attack by least squares: take the bits that fit the answers best.

The answers are those to random questions, or those in the log of a real system.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.attack_base import (
    Attack,
    Exhibit,
    Facts,
    Guess,
    Prediction,
    Progress,
    Setting,
    check_entries,
    silent,
)
from jali.lab.attacks.attack_result import Result, Sense, find_limit_sense
from jali.lab.attacks.decoding.design import Design, is_settled, round_estimate
from jali.lab.attacks.decoding.solvers import LOG_GRADIENT, fit, fit_answers
from jali.lab.attacks.noise_models import is_coarse
from jali.lab.attacks.opponents import Reconstruction, logs
from jali.lab.attacks.oracle import Oracle, RecordedAnswers
from jali.lab.attacks.oracles.answer_log import AnswerLog, AnswerLogs
from jali.lab.attacks.subsets.random_subsets import draw_packed_subsets, draw_sparse_subsets
from jali.lab.attacks.subsets.subset_operators import Subsets

_QUESTIONS_EACH = 4
# Plain least squares are no good near m = n, where their spread is without bounds.
_ENOUGH = 2
_VARIANCE = 0.25
# In bits, and in numbers of members.
_MOST_BITS, _MOST_MEMBERS = 4 * 10**9, 10**8
_SOLVERS = ("plain", "ridge")


@dataclass(frozen=True)
class LeastSquares(Reconstruction):
    """Ask random subsets, take the real numbers that fit the answers best, and round.

    Attributes:
        questions: How many; four for each person by default. Of a log, this many from the start.
        members: How many people a question counts; half of them, at random, by default.
        solver: "plain" for least squares as they are, which need more answers than people, or "ridge" to draw bits
            towards the middle as far as the noise makes them doubtful; by default a ridge where there are fewer
            than two answers for each person.
        seed: Where the questions come from.

    Error:
        With m answers of standard deviation s the error of a bit is close to normal with variance 4 s^2 / (m - n):
        a share Phi(sqrt(m - n) / (4 s)) is right. For few members, and for a ridge, see `Design`. Errors within E,
        however chosen, move all bits together by at most sqrt(m) E / t, where t is the smallest singular value,
        close to (sqrt(m) - sqrt(n)) / 2. A wrong bit is moved by 1/2 or more: at most 16 E^2 / (1 - sqrt(n/m))^2
        are wrong, as n grows.
    """

    name: ClassVar[str] = "least-squares"
    statement: ClassVar[str] = (
        "4n random questions with errors o(sqrt(n)) give all but o(n) bits by least squares "
        "(Kasiviswanathan, Rudelson, Smith, Ullman 2010)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=8192, noise="uniform:0.25*sqrt(n)", few=64)
    against: ClassVar[tuple[str, ...]] = ("simulator", "jali", "unledgered", "log")
    most: ClassVar[int] = 31_622

    questions: int | None = None
    members: int | None = None
    solver: str | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        for what, number in (("questions", self.questions), ("members", self.members)):
            if number is not None and number < 1:
                raise CatalogError("parameter-below-one", name=what, value=number)
        if self.solver not in (None, *_SOLVERS):
            raise CatalogError("attack-solver-unknown", solver=self.solver, solvers=tuple(_SOLVERS))

    def check(self, people: int) -> None:
        """Refuse more people and questions than fit; with few members each there may be more."""
        questions = self.questions or _QUESTIONS_EACH * people
        if self.members is None:
            check_entries(self.name, questions, people, most=_MOST_BITS)
        else:
            check_entries(self.name, questions, self.members, most=_MOST_MEMBERS)

    def guess(self, oracle: Oracle, progress: Progress = silent) -> Guess:
        """Ask, and guess the secret."""
        progress("drawing")
        subsets = self._choose_subsets(oracle)
        progress("asking")
        answers = oracle.ask(subsets)[: self.questions]
        progress("fitting")
        design = Design(oracle.n, len(answers), self.members)
        stddev = oracle.noise.bound if oracle.noise.stddev is None else oracle.noise.stddev
        variance = self._choose_variance(design)
        found = fit_answers(subsets, answers, design, stddev or 0.0, variance)
        spread = design.spread(found.stddev if stddev is None else stddev, variance)
        guess = round_estimate(found.estimate, _find_doubt(spread, variance), len(answers))
        return replace(guess, figures={"steps": float(found.steps)})

    def predict(self, facts: Facts) -> Prediction | None:
        """Return Phi(1 / (2 spread)) for independent noise; for bounded errors, what they leave at least."""
        design = Design(facts.n, facts.questions, self.members)
        variance = self._choose_variance(design)
        if facts.noise.stddev is None:
            return (
                None
                if facts.noise.bound is None or variance is not None
                else _bound_worst(design, facts.noise.bound)
            )
        if is_coarse(facts.noise, design.deviation):
            return None
        spread = design.spread(facts.noise.stddev, variance)
        fraction = 1.0 if spread == 0 else NormalDist().cdf(0.5 / spread)
        law = "Phi(sqrt(m - n) / (4 stddev))"
        if self.members is not None or variance is not None:
            law = f"Phi(1 / (2 s)), s = {spread:.3g} the standard deviation of a bit's error"
        return Prediction(fraction, law, _choose_sense(design, variance), any_prior=variance is None)

    def _choose_subsets(self, oracle: Oracle) -> Subsets:
        """Return the questions of a log, or random ones."""
        recorded = oracle.asked if isinstance(oracle, RecordedAnswers) else None
        asked = recorded if isinstance(recorded, Subsets) else None
        if asked is not None and self.members is not None:
            raise CatalogError("attack-members-of-log")
        if asked is not None:
            return asked
        questions = self.questions or _QUESTIONS_EACH * oracle.n
        if self.members is None:
            return draw_packed_subsets(questions, oracle.n, seed=self.seed)
        if 2 * self.members > oracle.n:
            raise CatalogError("attack-members-too-many", people=oracle.n, members=self.members, name="members")
        return draw_sparse_subsets(questions, oracle.n, self.members, seed=self.seed)

    def _choose_variance(self, design: Design) -> float | None:
        """Return the variance of a bit for a ridge; None for plain least squares."""
        few = design.questions < _ENOUGH * design.people
        return _VARIANCE if self.solver == "ridge" or (self.solver is None and few) else None


def _find_doubt(spread: float, variance: float | None) -> float:
    """Return the standard deviation of a bit in view of its estimate, which a ridge has drawn in by as much."""
    if variance is None or spread == 0:
        return spread
    return 1 / math.sqrt(1 / variance + spread**-2)


def _choose_sense(design: Design, variance: float | None) -> Sense:
    """Return the sense of the law, a limit that knows neither of m near n nor of the same question again."""
    near = variance is None and design.questions < _ENOUGH * design.people
    return "about" if near or design.members == 1 else find_limit_sense(design.people, design.questions)


def _bound_worst(design: Design, bound: float) -> Prediction | None:
    """Return the share that errors within a bound leave right."""
    if not is_settled(design.people, design.questions) or design.least == 0:
        return None
    wrong = 4 * design.questions * bound**2 / design.least
    law = "1 - 4 m E^2 / (n t^2), t the smallest singular value"
    return Prediction(max(0.0, 1 - wrong / design.people), law, "at least", any_prior=True)


@dataclass(frozen=True)
class Replay(Attack[AnswerLog | AnswerLogs]):
    """Fit all answers of a log by least squares, and round.

    Error:
        With m answers of standard deviation s about n people a share Phi(sqrt(m - n) / (4 s)) is right, if the
        noise is independent. The noise of the system behind the known logs is not, quite: its layers are sticky.
    """

    name: ClassVar[str] = "replay"
    statement: ClassVar[str] = (
        "a production system with sticky Gaussian noise and no budget gave away every bit (Cohen, Nissim 2020)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=313, noise="gaussian:3.65")
    against: ClassVar[tuple[str, ...]] = ("log",)
    attacks: ClassVar[str] = "logs"

    def guess(self, oracle: AnswerLog | AnswerLogs, progress: Progress = silent) -> Guess:
        """Guess the secret of each log."""
        guesses = [self._guess(log, progress) for log in oracle.logs]
        return Guess(
            np.concatenate([one.bits for one in guesses]),
            np.concatenate([one.confidence for one in guesses]),
            sum(one.questions for one in guesses),
            {"noise_stddev": oracle.noise.size},
        )

    def predict(self, facts: Facts) -> Prediction:
        """Return Phi(sqrt(m - n) / (4 s)) for one log, about: its noise is not quite independent."""
        spread = Design(facts.n, facts.questions).spread(facts.noise.size)
        fraction = 1.0 if spread == 0 else NormalDist().cdf(0.5 / spread)
        law = "Phi(sqrt(m - n) / (4 stddev)), from the residuals"
        return Prediction(fraction, law, "about", any_prior=True)

    def opponent(self, setting: Setting) -> AnswerLogs:
        """Read the log, or the logs of a folder; where they are, the environment may say."""
        return logs(None if setting.against == "log" else setting.against)

    def repeat(self, oracles: Iterable[AnswerLog | AnswerLogs], *, progress: Progress = silent) -> Result:
        """Attack the logs, and sum up; the law is that of each log, over all people."""
        every = list(oracles)
        if len(every) > 1:
            raise CatalogError("log-attacked-twice", count=len(every))
        result = super().repeat(every, progress=progress)
        last = every[-1]
        laws = [self.predict(Facts(log.n, log.noise, len(log.answers))).fraction for log in last.logs]
        people = [log.n for log in last.logs]
        return replace(result, predicted=float(np.average(laws, weights=people)))

    @staticmethod
    def _guess(log: AnswerLog, progress: Progress) -> Guess:
        progress(f"reading {log.name}")
        answers = log.ask(log.asked)
        progress("fitting")
        design = Design(log.n, len(answers))
        found = fit(log.asked, answers, density=design.density, gradient=LOG_GRADIENT)
        return round_estimate(found.estimate, design.spread(found.stddev), len(answers))
