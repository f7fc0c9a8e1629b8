"""True against false positives: what a score is worth at every threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles


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
        return cls(_shares_from(outsiders, thresholds), _shares_from(members, thresholds))

    @property
    def area(self) -> float:
        """The share of pairs in which the member has the higher score; ties count half."""
        steps = np.diff(self.false_positives)
        return float((steps * (self.true_positives[1:] + self.true_positives[:-1]) / 2).sum())

    def at(self, false_positives: float) -> float:
        """Return the share of members found when at most this share of the outsiders is taken for members."""
        return float(self.true_positives[self.false_positives <= false_positives].max())


def _shares_from(scores: Doubles, thresholds: Doubles) -> Doubles:
    """Return the share of scores that reach each threshold, after a first one that none reaches."""
    below = np.searchsorted(np.sort(scores), thresholds)
    return np.concatenate([[0.0], (len(scores) - below) / len(scores)])
