"""Attack by tracing: find out whether somebody is in a group, from the means of the group.

`ScoreLaw` is the law of the scores by which members are distinguished from outsiders, and `Roc` the curve of true
against false positives at every threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles
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
from jali.lab.attacks.attack_result import find_limit_sense
from jali.lab.attacks.noise_models import KINDS, Noise, is_coarse
from jali.lab.attacks.oracle import LEAST_FREQUENCY, GroupOracle, spread_frequencies
from jali.privacy.rationals import positive_integer


@dataclass(frozen=True, eq=False)
class Roc:
    """The shares of outsiders and of members above each threshold, from the highest on.

    Attributes:
        false_positives: The share of outsiders, from 0 to 1.
        true_positives: The share of members at the same threshold.

    Example:
        >>> curve = Roc.of(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
        >>> curve.area, curve.at(0.5)
        (0.75, 1.0)
    """

    false_positives: Doubles
    true_positives: Doubles

    @classmethod
    def of(cls, members: Doubles, outsiders: Doubles) -> Roc:
        """Draw the curve from scores."""
        thresholds = np.unique(np.concatenate([members, outsiders]))[::-1]
        return cls(_count_shares(outsiders, thresholds), _count_shares(members, thresholds))

    @property
    def area(self) -> float:
        """The share of pairs in which the member has the higher score; ties count half."""
        steps = np.diff(self.false_positives)
        return float((steps * (self.true_positives[1:] + self.true_positives[:-1]) / 2).sum())

    def at(self, false_positives: float) -> float:
        """Return the share of members found when at most this share of the outsiders is taken for members."""
        return float(self.true_positives[self.false_positives <= false_positives].max())


def _count_shares(scores: Doubles, thresholds: Doubles) -> Doubles:
    """Return the share of scores that reach each threshold, after a first one that none reaches."""
    below = np.searchsorted(np.sort(scores), thresholds)
    return np.concatenate([[0.0], (len(scores) - below) / len(scores)])


_NORMAL = NormalDist()


def weigh_attributes(frequencies: Doubles, n: int, stddev: float) -> Doubles:
    """Return the weights of the attributes that distinguish members best: 1 / the variance of each published mean.

    With v = p (1 - p), a mean of n people whose count has noise of standard deviation s varies by v/n + (s/n)^2.
    A member moves the score by the sum of w v / n and an outsider's varies by the sum of w^2 v (v/n + (s/n)^2);
    their ratio is largest, by Cauchy and Schwarz, for these weights.
    """
    return 1 / (frequencies * (1 - frequencies) / n + (stddev / n) ** 2)


@dataclass(frozen=True)
class ScoreLaw:
    """Scores sum w (y - p) (q - p) are normal: around 0 for outsiders, around a gap for members.

    With the weights above both the variance of an outsider's score and n times the gap are sum(w v), so that
    gap / spread is sqrt(sum(w v)) / n: that is sqrt(d / n) for d exact means, and about sqrt(sum(v)) / s for
    counts with noise s well above sqrt(n). A mean with noise a = s / n thus needs d in proportion to (a n)^2
    attributes (Dwork, Smith, Steinke, Ullman and Vadhan 2015).

    Attributes:
        gap: The mean of a member's score, in standard deviations of an outsider's.
        spread: The standard deviation of a member's score, in the same unit.
    """

    gap: float
    spread: float

    @classmethod
    def of(cls, frequencies: Doubles, n: int, stddev: float) -> ScoreLaw:
        """Return the law for means of n people whose counts have noise of a standard deviation.

        A member's own term is w (q - p)^2 / n, and (q - p)^2 has the variance v (1 - 4 v).
        """
        variances = frequencies * (1 - frequencies)
        weight = weigh_attributes(frequencies, n, stddev)
        outsiders = float((weight * variances).sum())
        if not outsiders:
            return cls(0.0, 1.0)
        own = float((weight**2 * variances * (1 - 5 * variances)).sum()) / n**2
        return cls(math.sqrt(outsiders) / n, math.sqrt(max(0.0, 1 + own / outsiders)))

    def true_positives(self, false_positives: float) -> float:
        """Return the share of members above the score that a share of the outsiders exceeds."""
        if not 0 < false_positives < 1:
            return float(false_positives > 0)
        excess = self.gap + _NORMAL.inv_cdf(false_positives)
        return _NORMAL.cdf(excess / self.spread) if self.spread else float(excess > 0)

    @property
    def area(self) -> float:
        """The probability that a member has a higher score than an outsider: the area under the curve."""
        return _NORMAL.cdf(self.gap / math.sqrt(1 + self.spread**2))


# With a thousand attributes of 25,000 people.
_MOST_ENTRIES = 25_000_000
# Where terms of order 1 / n matter.
_FEW = 16
_LAW = "Phi(sqrt(r / 2)), where r is 1/n times the sum of v / (v + s^2 / n), v = p (1 - p)"


@dataclass(frozen=True)
class Tracing(Attack[GroupOracle]):
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

    def guess(self, oracle: GroupOracle, progress: Progress = silent) -> Guess:
        """Ask for all means, and guess who sits in each seat."""
        scores, answered = self._score_candidates(oracle, progress)
        first, second = scores.T
        law = ScoreLaw.of(oracle.frequencies[:answered], oracle.n, _find_stddev(oracle))
        # Two normal laws with the same variance: the odds are exp(gap * difference).
        confidence = np.tanh(law.gap * np.abs(second - first) / 2)
        return Guess((second > first).astype(np.int8), confidence, answered, self._count_figures(oracle, scores))

    def predict(self, facts: Facts) -> Prediction | None:
        """Return the probability that a member's score is above an outsider's."""
        if facts.noise.stddev is None or is_coarse(
            facts.noise, math.sqrt(facts.n * LEAST_FREQUENCY * (1 - LEAST_FREQUENCY))
        ):
            return None
        law = ScoreLaw.of(spread_frequencies(facts.questions), facts.n, facts.noise.stddev)
        return Prediction(law.area, _LAW, "about" if facts.n < _FEW else find_limit_sense(facts.questions))

    def opponent(self, setting: Setting) -> GroupOracle:
        """Make a group with seats of its own."""
        if setting.against == "simulator":
            from jali.lab.attacks.oracles.simulator import SimulatedMeans

            return SimulatedMeans.of(
                n=setting.n, attributes=self.attributes, noise=setting.noise, seed=setting.seed
            )
        from jali.lab.attacks.oracles.protected_oracles import ProtectedMeans

        return ProtectedMeans.of(setting, self.attributes)

    def roc(self, *groups: GroupOracle) -> Roc:
        """Ask for all means, and draw how many members and outsiders of all groups exceed each threshold."""
        apart = [group.split_scores(self._score_candidates(group, silent)[0]) for group in groups]
        members, outsiders = (np.concatenate(scores) for scores in zip(*apart, strict=True))
        return Roc.of(members, outsiders)

    def _score_candidates(self, oracle: GroupOracle, progress: Progress) -> tuple[Doubles, int]:
        """Return the scores of the candidates, in an outsider's standard deviations, and the number of means."""
        progress("asking")
        counts = oracle.ask()
        progress("scoring")
        answered = len(counts)
        known = oracle.frequencies[:answered]
        lean = weigh_attributes(known, oracle.n, _find_stddev(oracle)) * (counts / oracle.n - known)
        spread = math.sqrt(float((lean**2 * known * (1 - known)).sum()))
        scores = oracle.candidates[:, :, :answered] @ lean - float(known @ lean)
        return (scores / spread if spread else np.zeros_like(scores)), answered

    def _count_figures(self, oracle: GroupOracle, scores: Doubles) -> dict[str, float]:
        members, outsiders = oracle.split_scores(scores)
        threshold = NormalDist().inv_cdf(1 - self.false_positives)
        return {
            "true positive rate": float((members > threshold).mean()),
            "false positive rate": float((outsiders > threshold).mean()),
            "auc": Roc.of(members, outsiders).area,
        }


def _find_stddev(oracle: GroupOracle) -> float:
    """Return the standard deviation of one count's noise, as far as there is one."""
    return oracle.noise.stddev or 0.0
