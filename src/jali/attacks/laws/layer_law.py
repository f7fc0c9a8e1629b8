"""The law of the differences that sticky noise leaves, and the test that reads them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.laws.chi_square import noncentral_cdf


@dataclass(frozen=True)
class LayerLaw:
    """A difference of two counts, one of which has an additional condition that excludes the victim alone.

    Each condition adds a static layer, which depends on it alone, and a dynamic layer, which depends on it and on
    who is counted; both are normal with standard deviation s. The static layers of the k common conditions cancel.
    Without the trait the victim is in neither count: the same people are counted twice, the dynamic layers cancel
    too, and what is left are the two layers of the additional condition: N(0, 2 s^2). With it, nothing else
    cancels: N(1, (2 k + 2) s^2) (Gadotti, Houssiau, Rocher, Livshits and de Montjoye 2019).

    Attributes:
        common: How many conditions both questions have.
        stddev: The standard deviation of a layer.
    """

    common: int
    stddev: float

    @property
    def without(self) -> float:
        """The variance of a difference without the trait."""
        return 2 * self.stddev**2

    @property
    def beside(self) -> float:
        """The variance of a difference with the trait."""
        return (2 * self.common + 2) * self.stddev**2

    def log_odds(self, differences: Doubles) -> Doubles:
        """Return the logarithm of the likelihood ratio of each difference, of the trait to none."""
        if self.stddev == 0:
            return np.where(differences > 0.5, math.inf, -math.inf)
        swing = differences**2 / self.without - (differences - 1) ** 2 / self.beside
        return np.asarray((swing - math.log(self.beside / self.without)) / 2)

    def right(self, splits: int) -> float:
        """Return the probability that so many independent differences tell the trait, a fair bit, right.

        Completing the square, the log-likelihood ratio exceeds 0 where the sum of (difference + c)^2 exceeds a
        threshold, with c = 1 / k: in units of either variance that sum is a noncentral chi-square variable.
        """
        if self.stddev == 0 or splits == 0:
            return 1.0 if splits else 0.5
        shift = 1 / self.common
        slope = 1 / self.without - 1 / self.beside
        level = slope * shift**2 + 1 / self.beside + math.log(self.beside / self.without)
        threshold = splits * level / slope
        none = noncentral_cdf(threshold / self.without, splits, splits * shift**2 / self.without)
        some = noncentral_cdf(threshold / self.beside, splits, splits * (1 + shift) ** 2 / self.beside)
        return (none + 1 - some) / 2
