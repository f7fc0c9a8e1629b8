"""The attack on a real system, from its log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from jali.attacks.attack import Attack, Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.attacks.decoding.fit import fit
from jali.attacks.decoding.rounding import rounded
from jali.attacks.laws.design import Design
from jali.attacks.opponents import logs
from jali.attacks.oracles.log import Log
from jali.attacks.oracles.logs import Logs
from jali.attacks.result import Result
from jali.attacks.setting import Setting
from jali.errors import CatalogError

_GRADIENT = 1e-4


@dataclass(frozen=True)
class Replay(Attack[Log | Logs]):
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

    def guess(self, oracle: Log | Logs, progress: Progress = silent) -> Guess:
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

    def opponent(self, setting: Setting) -> Logs:
        """Read the log, or the logs of a folder; where they are, the environment may say."""
        return logs(None if setting.against == "log" else setting.against)

    def repeat(self, oracles: Iterable[Log | Logs], *, progress: Progress = silent) -> Result:
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
    def _guess(log: Log, progress: Progress) -> Guess:
        progress(f"reading {log.name}")
        answers = log.ask(log.asked)
        progress("fitting")
        design = Design(log.n, len(answers))
        found = fit(log.asked, answers, density=design.density, gradient=_GRADIENT)
        return rounded(found.estimate, design.spread(found.stddev), len(answers))
