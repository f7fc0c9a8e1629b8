"""The law of the scores by which tracing tells members from outsiders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from jali.attacks.arrays import Doubles

_NORMAL = NormalDist()


def weights(frequencies: Doubles, n: int, stddev: float) -> Doubles:
    """Return the weights of the attributes that tell members apart best: 1 / the variance of each published mean.

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
        weight = weights(frequencies, n, stddev)
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
