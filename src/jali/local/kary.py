"""Randomized response to a question with several answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jali.local.categorical import Categorical
from jali.local.coins import odds_coins
from jali.local.estimate import Chances
from jali.local.randomizer import Reports, whole_column
from jali.mechanisms.mechanism import LogMasses, Specimen
from jali.noise import BitSource
from jali.noise.uniform import uniform_below
from jali.privacy.losses.randomized_response import RandomizedResponseLoss


@dataclass(frozen=True, repr=False, init=False)
class KaryResponse(Categorical):
    """Tell the true category with odds e^epsilon against each other one.

    Args:
        categories: How many there are, k; a value is one of 0 .. k-1.
        epsilon: The loss.

    Guarantee:
        epsilon-DP for one person's value, in the local model (replace-one), with equality. The truth is told with
        probability p = e^epsilon / (e^epsilon + k - 1), exactly, and each other category with q = p e^-epsilon.
    Proof:
        docs/proofs/local_frequencies.md, after Kairouz, Bonawitz and Ramage 2016.

    Error:
        An estimated frequency f has variance (f p (1-p) + (1-f) q (1-q)) / (people (p-q)^2). At small f that is
        less than for unary encoding iff k < 3 e^epsilon + 2.

    Example:
        >>> from jali.local import KaryResponse
        >>> mechanism = KaryResponse(categories=8, epsilon=1)
        >>> round(mechanism.variance(), 7)
        2.9528549
        >>> mechanism.release(3) in range(8)
        True
    """

    @property
    def loss(self) -> RandomizedResponseLoss:
        """The loss of one person's answer."""
        return RandomizedResponseLoss(self.epsilon, self.categories)

    @property
    def chances(self) -> Chances:
        """How often the true category is told, and how often a given other one."""
        shrunk = math.exp(-self.epsilon)
        total = 1 + (self.categories - 1) * shrunk
        return Chances(1 / total, shrunk / total, -math.expm1(-self.epsilon) / total)

    def _randomized(self, values: NDArray[np.int64], bits: BitSource) -> Reports:
        others = self.categories - 1
        lies = np.flatnonzero(~odds_coins(self.epsilon, Fraction(others), len(values), bits=bits))
        reports = values.copy()
        reports[lies] = (values[lies] + 1 + uniform_below(others, len(lies), bits=bits)) % self.categories
        return reports

    def supports(self, reports: ArrayLike) -> NDArray[np.int64]:
        """Count the reports of each category."""
        return np.bincount(whole_column(reports, self.categories), minlength=self.categories)

    def log_masses(self, value: int) -> LogMasses:
        """Return the law of one report."""
        true = -math.log1p((self.categories - 1) * math.exp(-self.epsilon))
        return {other: true - (other != value) * float(self.epsilon) for other in range(self.categories)}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two, three and eight categories."""
        cases = ((2, "1"), (3, "3/4"), (8, "2"))
        return cls._specimens(*(cls(categories=k, epsilon=epsilon) for k, epsilon in cases))
