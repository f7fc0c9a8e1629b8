"""Partition selection by Gaussian noise and a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jali.mechanisms.additive.gaussian_mechanism import GAUSSIAN_PAGE
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.base import Specimen, read_natural, read_parameter
from jali.mechanisms.measurement import Description
from jali.mechanisms.partition_selection.group_selection import find_adjacency, read_delta
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts, build_threshold_specimens
from jali.mechanisms.partition_selection.thresholds import find_gaussian_coin, find_gaussian_threshold
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.charged_loss import Charged
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.rationals import Number
from jali.sampling import DiscreteGaussian


@dataclass(frozen=True, repr=False)
class GaussianThreshold(ThresholdedCounts):
    """Release the keys of a table whose number of people, with Gaussian noise, reaches a threshold.

    As `LaplaceThreshold`, for people with many keys: the noise grows with the square root of `max_keys` only.
    What the released counts mean is said there.

    Args:
        rho: The loss of the noisy counts, in zCDP.
        delta: The probability, at most, that a key is released which without one person never would be.
        max_keys: How many keys one person may count for.
        adjacency: When two tables are neighbours.
        least_people: A key of fewer people than this is never released; one of more is released as often as one
            of least_people - 1 fewer would be without this rule.

    Guarantee:
        The release is a mixture: rho-zCDP with weight 1-delta, anything with weight delta. The noise has
        variance max_keys/(2 rho), twice that under replace-one. The threshold is the least t with
        Pr[least_people + noise >= t] <= 1 - (1-delta)^(1/max_keys), ties counted; a noisy count of t-1 is released
        by a Bernoulli draw, which spends what is left to that bound. The variance grows in proportion with
        max_keys. A key of fewer than `least_people` is never released. A filter adds rho and delta;
        `loss.epsilon(d)` reads it at any d above delta.
    Proof:
        docs/proofs/unknown_keys.md, Theorem 1; the noise after Canonne, Kamath and Steinke 2020, Theorem 14; for
        `least_people` Theorem 3.

    Error:
        `error(c, keys=k)` is the least number of people from which k keys are all released with probability c,
        from the exact law: Pr[lost] = Pr[noise < t-1 - people] + (1 - coin) Pr[noise = t-1 - people], and 1 for
        fewer than least_people.

    Example:
        >>> from jali.mechanisms import GaussianThreshold
        >>> mechanism = GaussianThreshold(rho=0.125, delta=1e-5, max_keys=4, adjacency="add-remove")
        >>> mechanism.threshold, mechanism.error(0.95)
        (20, 26)
        >>> list(mechanism.release({"rare": 1, "zebra": 0, "common": 1000}))
        ['common']
    """

    tag: ClassVar[str] = "GaussianThreshold"
    stored_parts: ClassVar[str] = "rho delta max_keys adjacency least_people"

    rho: Fraction
    delta: Fraction
    max_keys: int
    adjacency: Adjacency
    least_people: int = 1

    def __init__(
        self,
        *,
        rho: Number,
        delta: Number,
        max_keys: int = 1,
        adjacency: str | Adjacency,
        least_people: int = 1,
    ) -> None:
        self._fill(rho=read_parameter(rho, "rho"), delta=read_delta(delta))
        self._fill(max_keys=read_natural(max_keys, "max_keys"), adjacency=Adjacency.of(adjacency))
        self._fill(least_people=read_natural(least_people, "least_people"))
        self.sampler  # noqa: B018 - refuses, before anything is released, a variance that cannot be sampled

    @property
    def loss(self) -> Charged:
        """Rho in zCDP, except with probability delta."""
        return Charged(Event(None, self.rho, self.delta))

    @property
    def variance(self) -> Fraction:
        """The variance parameter of the noise."""
        return self.changed / (2 * self.rho)

    @property
    def threshold(self) -> int:
        """The least noisy count that is always released."""
        return self.least_people - 1 + find_gaussian_threshold(self.variance, self.delta_each)

    @property
    def coin(self) -> Fraction:
        """With what probability a noisy count one below the threshold is released."""
        return find_gaussian_coin(self.variance, self.delta_each)

    @property
    def law(self) -> DiscreteGaussianLaw:
        """The exact law of the noise."""
        return DiscreteGaussianLaw(self.variance)

    @property
    def sampler(self) -> DiscreteGaussian:
        """The exact sampler of that law."""
        return DiscreteGaussian(self.variance)

    @property
    def loss_of_counts(self) -> Concentrated:
        """Rho, in zCDP."""
        return Concentrated(self.rho)

    @classmethod
    def calibrate(
        cls, loss: Loss, delta: Fraction, *, max_keys: int, changes: int, least_people: int
    ) -> GaussianThreshold | None:
        """Return the selection for a loss in zCDP."""
        event, adjacency = loss.event, find_adjacency(changes)
        if event.epsilon is not None:
            return None
        return cls(rho=event.rho, delta=delta, max_keys=max_keys, adjacency=adjacency, least_people=least_people)

    def _charge_counts(self, moved: int) -> Event:
        return Event(None, moved / (2 * self.variance), self.delta)

    def describe(self) -> Description:
        """Name the noise, its scale and its theorem."""
        return Description("discrete Gaussian", "L2", "sigma", math.sqrt(self.variance), (GAUSSIAN_PAGE,))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return keys of one person, keys near the threshold, several keys of one person, and a rule for more."""
        single = cls(rho="1/8", delta="1/100", adjacency="add-remove")
        several = cls(rho=2, delta="1/10", max_keys=2, adjacency="add-remove")
        replaced = cls(rho=2, delta="1/1000", adjacency="replace-one")
        many = cls(rho=2, delta="1/1000", adjacency="replace-one", least_people=3)
        return build_threshold_specimens(single, several, replaced, many, near=6, tight=False)
