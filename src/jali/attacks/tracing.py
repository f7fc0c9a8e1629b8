"""Tracing: whether somebody is in a group, from the means of the group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.attack import Attack, Exhibit, Facts, Guess, Prediction, Progress, silent
from jali.attacks.effort import check_entries
from jali.attacks.group import LEAST, Group, frequencies
from jali.attacks.laws.coarse import coarse
from jali.attacks.laws.score_law import ScoreLaw, weights
from jali.attacks.laws.sense import limit_sense
from jali.attacks.noises import KINDS, Noise
from jali.attacks.roc import Roc
from jali.attacks.setting import Setting
from jali.errors import CatalogError
from jali.privacy.rationals import positive_integer

# With a thousand attributes of 25,000 people.
_MOST_ENTRIES = 25_000_000
# Where terms of order 1 / n matter.
_FEW = 16
_LAW = "Phi(sqrt(r / 2)), where r is 1/n times the sum of v / (v + s^2 / n), v = p (1 - p)"


@dataclass(frozen=True)
class Tracing(Attack[Group]):
    """Score people by how the means y of a group lean their way: sum w (y - p) (q - p), and compare.

    For each seat of the group the candidate with the higher score is taken for the member. Candidates are also
    judged alone: given y, an outsider's score is a sum of independent terms with known variances, so that the
    threshold that a share of the outsiders exceeds is known, and nobody's score is needed to set it.

    Error:
        With d exact means of n people, a share Phi(sqrt(d / n) - z) of the members exceeds the threshold that a
        share 1 - Phi(z) of the outsiders exceeds, up to terms of order 1 / n; see `ScoreLaw` for noisy means.

    Attributes:
        attributes: How many means are published.
        false_positives: The share of outsiders that the threshold of the figures lets pass.
    """

    attributes: int = 1000
    false_positives: float = 0.01

    name: ClassVar[str] = "tracing"
    statement: ClassVar[str] = (
        "means of many attributes tell who is in the group (Homer et al. 2008; Dwork, Smith, Steinke, Ullman, "
        "Vadhan 2015)"
    )
    exhibit: ClassVar[Exhibit] = Exhibit(n=100, noise="none")
    attacks: ClassVar[str] = "the means of a group"
    noises: ClassVar[tuple[str, ...]] = tuple(kind for kind in KINDS if Noise(kind).stddev is not None)
    most: ClassVar[int] = 25_000
    things: ClassVar[str] = "seats"

    def __post_init__(self) -> None:
        positive_integer(self.attributes, "attributes")
        if not 0 < self.false_positives < 1:
            raise CatalogError(
                "tracing-false-positives-out-of-range",
                false_positives=self.false_positives,
                name="false_positives",
            )

    def check(self, people: int) -> None:
        """Refuse more people and attributes than fit."""
        check_entries(self.name, self.attributes, people, most=_MOST_ENTRIES)

    def guess(self, oracle: Group, progress: Progress = silent) -> Guess:
        """Ask for all means, and guess who sits in each seat."""
        scores, answered = self._scores(oracle, progress)
        first, second = scores.T
        law = ScoreLaw.of(oracle.frequencies[:answered], oracle.n, _stddev(oracle))
        # Two normal laws with the same variance: the odds are exp(gap * difference).
        confidence = np.tanh(law.gap * np.abs(second - first) / 2)
        return Guess((second > first).astype(np.int8), confidence, answered, self._figures(oracle, scores))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the probability that a member's score is above an outsider's."""
        if facts.noise.stddev is None or coarse(facts.noise, math.sqrt(facts.n * LEAST * (1 - LEAST))):
            return None
        law = ScoreLaw.of(frequencies(facts.questions), facts.n, facts.noise.stddev)
        return Prediction(law.area, _LAW, "about" if facts.n < _FEW else limit_sense(facts.questions))

    def opponent(self, setting: Setting) -> Group:
        """Make a group with seats of its own."""
        if setting.against == "simulator":
            from jali.attacks.oracles.means import Means

            return Means.of(n=setting.n, attributes=self.attributes, noise=setting.noise, seed=setting.seed)
        from jali.attacks.oracles.protected_means import ProtectedMeans

        return ProtectedMeans.of(setting, self.attributes)

    def roc(self, *groups: Group) -> Roc:
        """Ask for all means, and draw how many members and outsiders of all groups exceed each threshold."""
        apart = [group.told_apart(self._scores(group, silent)[0]) for group in groups]
        members, outsiders = (np.concatenate(scores) for scores in zip(*apart, strict=True))
        return Roc.of(members, outsiders)

    def _scores(self, oracle: Group, progress: Progress) -> tuple[Doubles, int]:
        """Return the scores of the candidates, in an outsider's standard deviations, and the number of means."""
        progress("asking")
        counts = oracle.ask()
        progress("scoring")
        answered = len(counts)
        known = oracle.frequencies[:answered]
        lean = weights(known, oracle.n, _stddev(oracle)) * (counts / oracle.n - known)
        spread = math.sqrt(float((lean**2 * known * (1 - known)).sum()))
        scores = oracle.candidates[:, :, :answered] @ lean - float(known @ lean)
        return (scores / spread if spread else np.zeros_like(scores)), answered

    def _figures(self, oracle: Group, scores: Doubles) -> dict[str, float]:
        members, outsiders = oracle.told_apart(scores)
        threshold = NormalDist().inv_cdf(1 - self.false_positives)
        return {
            "true positive rate": float((members > threshold).mean()),
            "false positive rate": float((outsiders > threshold).mean()),
            "auc": Roc.of(members, outsiders).area,
        }


def _stddev(oracle: Group) -> float:
    """Return the standard deviation of one count's noise, as far as there is one."""
    return oracle.noise.stddev or 0.0
