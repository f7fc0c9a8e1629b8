"""Attack a real system from the log of its answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.attack_base import Attack, Exhibit, Facts, Guess, Prediction, Progress, Setting, silent
from jali.lab.attacks.attack_result import Result
from jali.lab.attacks.decoding.conjugate_gradients import fit
from jali.lab.attacks.decoding.design import Design
from jali.lab.attacks.decoding.round_bits import round_estimate
from jali.lab.attacks.opponents import logs
from jali.lab.attacks.oracles.answer_log import AnswerLog, AnswerLogs

_GRADIENT = 1e-4


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
        found = fit(log.asked, answers, density=design.density, gradient=_GRADIENT)
        return round_estimate(found.estimate, design.spread(found.stddev), len(answers))
