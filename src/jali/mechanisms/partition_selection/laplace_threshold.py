"""Partition selection by Laplace noise and a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jali.mechanisms.additive.laplace_mechanism import LAPLACE_PAGE
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.base import ApproximateMechanism, Specimen, read_natural, read_parameter
from jali.mechanisms.measurement import Description
from jali.mechanisms.partition_selection.group_selection import find_adjacency, read_delta
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts, build_threshold_specimens
from jali.mechanisms.partition_selection.thresholds import find_laplace_coin, find_laplace_threshold
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import DiscreteLaplace


@dataclass(frozen=True, repr=False)
class LaplaceThreshold(ApproximateMechanism, ThresholdedCounts):
    """Release the keys of a table whose number of people, with Laplace noise, reaches a threshold.

    For keys that are not known beforehand: words, places, diagnoses. The value is a mapping from keys to numbers
    of people (`people_per_key` makes one); a key that is in no record can never appear, so the keys themselves
    are released only where many people share them. To learn the keys alone, `OptimalKeys` finds more of them.

    A key of n people, at least `least_people`, is released with the count n + noise of all its people, if that
    reaches the threshold, or by a Bernoulli draw if it is one below it. Before this cut the count is unbiased;
    given that it is released it is too large on average, by E[noise | released]: little for keys nearly sure to be
    released, and for those below the threshold it says no more than that they came near. `interval` counts this
    in.

    Args:
        epsilon: The loss of the noisy counts.
        delta: The probability, at most, that a key is released which without one person never would be.
        max_keys: How many keys one person may count for.
        adjacency: When two tables are neighbours.
        least_people: A key of fewer people than this is never released; one of more is released as often as one
            of least_people - 1 fewer would be without this rule.

    Guarantee:
        The release is (epsilon, delta)-DP. The noise has scale max_keys/epsilon, twice that under replace-one. The
        threshold is the least t with Pr[least_people + noise >= t] <= 1 - (1-delta)^(1/max_keys), ties counted; a
        noisy count of t-1 is released by a Bernoulli draw, which spends what is left to that bound. The scale
        grows in proportion with max_keys. A key of fewer than `least_people` is never released.
    Proof:
        docs/proofs/unknown_keys.md, Theorem 1, after Korolova, Kenthapadi, Mishra and Ntoulas 2009, and Theorem 3
        for `least_people`, after Wilson et al. 2020.

    Error:
        `error(c, keys=k)` is the least number of people from which k keys are all released with probability c,
        from the exact law: Pr[lost] = Pr[noise < t-1 - people] + (1 - coin) Pr[noise = t-1 - people], and 1 for
        fewer than least_people.

    Example:
        >>> from jali.mechanisms import LaplaceThreshold
        >>> mechanism = LaplaceThreshold(epsilon=1, delta=1e-5, adjacency="add-remove")
        >>> mechanism.threshold, round(float(mechanism.coin), 6), mechanism.error(0.95)
        (13, 0.713672, 15)
        >>> list(mechanism.release({"rare": 1, "zebra": 0, "common": 1000}))
        ['common']
        >>> mechanism.interval(1000, 0.95), mechanism.interval(14, 0.95)
        ((997, 1003), (1, 17))
    """

    tag: ClassVar[str] = "LaplaceThreshold"
    stored_parts: ClassVar[str] = "epsilon delta max_keys adjacency least_people"

    epsilon: Fraction
    delta: Fraction
    max_keys: int
    adjacency: Adjacency
    least_people: int = 1

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        max_keys: int = 1,
        adjacency: str | Adjacency,
        least_people: int = 1,
    ) -> None:
        self._fill(epsilon=read_parameter(epsilon, "epsilon"), delta=read_delta(delta))
        self._fill(max_keys=read_natural(max_keys, "max_keys"), adjacency=Adjacency.of(adjacency))
        self._fill(least_people=read_natural(least_people, "least_people"))
        self.sampler  # noqa: B018 - refuses, before anything is released, a scale that cannot be sampled

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return self.changed / self.epsilon

    @property
    def threshold(self) -> int:
        """The least noisy count that is always released."""
        return self.least_people - 1 + find_laplace_threshold(self.scale, self.delta_each)

    @property
    def coin(self) -> Fraction:
        """With what probability a noisy count one below the threshold is released."""
        return find_laplace_coin(self.scale, self.delta_each)

    @property
    def law(self) -> DiscreteLaplaceLaw:
        """The exact law of the noise."""
        return DiscreteLaplaceLaw(self.scale)

    @property
    def sampler(self) -> DiscreteLaplace:
        """The exact sampler of that law."""
        return DiscreteLaplace(self.scale)

    @property
    def loss_of_counts(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @classmethod
    def calibrate(
        cls, loss: Loss, delta: Fraction, *, max_keys: int, changes: int, least_people: int
    ) -> LaplaceThreshold | None:
        """Return the selection for a pure loss."""
        epsilon, adjacency = loss.event.epsilon, find_adjacency(changes)
        if epsilon is None:
            return None
        return cls(epsilon=epsilon, delta=delta, max_keys=max_keys, adjacency=adjacency, least_people=least_people)

    def _charge_counts(self, moved: int) -> Event:
        epsilon = moved / self.scale
        return Event(epsilon, epsilon**2 / 2, self.delta)

    def describe(self) -> Description:
        """Name the noise, its scale and its theorem."""
        return Description("discrete Laplace", "L1", "scale", float(self.scale), (LAPLACE_PAGE,))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return keys of one person, keys near the threshold, several keys of one person, and a rule for more."""
        single = cls(epsilon=1, delta="1/100", adjacency="add-remove")
        several = cls(epsilon=4, delta="1/10", max_keys=2, adjacency="add-remove")
        replaced = cls(epsilon=4, delta="1/10", adjacency="replace-one")
        many = cls(epsilon=4, delta="1/10", adjacency="replace-one", least_people=3)
        return build_threshold_specimens(single, several, replaced, many, near=5, tight=True)
