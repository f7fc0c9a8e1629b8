"""Unknown keys by Laplace noise and a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.keys.noisy_counts import NoisyCounts, threshold_specimens
from jali.mechanisms.keys.shares import failure
from jali.mechanisms.keys.thresholds import laplace_threshold
from jali.mechanisms.laws import DiscreteLaplaceLaw
from jali.mechanisms.mechanism import Specimen, natural, parameter
from jali.noise import DiscreteLaplace
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.approximate import Approximate
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class LaplaceThreshold(NoisyCounts):
    """Release the keys of a table whose number of people, with Laplace noise, reaches a threshold.

    For keys that are not known beforehand: words, places, diagnoses. The value is a mapping from keys to numbers
    of people (`people_per_key` makes one); a key that is in no record can never appear, so the keys themselves
    are told only where many people share them. To learn the keys alone, `OptimalKeys` finds more of them.

    Args:
        epsilon: The loss of the noisy counts.
        delta: The probability, at most, that a key of one person alone is released.
        max_keys: How many keys one person may count for.
        adjacency: When two tables are neighbours.

    Guarantee:
        The release is (epsilon, delta)-DP. The noise has scale max_keys/epsilon, twice that under replace-one. The
        threshold is the least t with Pr[1 + noise >= t] <= 1 - (1-delta)^(1/max_keys), ties counted. The scale
        grows in proportion with max_keys.
    Proof:
        docs/proofs/unknown_keys.md, Theorem 1, after Korolova, Kenthapadi, Mishra and Ntoulas 2009.

    Error:
        `error(c, keys=k)` is the least number of people from which k keys are all released with probability c,
        from the exact law: Pr[lost] = Pr[noise < t - people].

    Example:
        >>> from jali.mechanisms import LaplaceThreshold
        >>> mechanism = LaplaceThreshold(epsilon=1, delta=1e-5, adjacency="add-remove")
        >>> mechanism.threshold, mechanism.error(0.95)
        (13, 15)
        >>> list(mechanism.release({"rare": 1, "zebra": 0, "common": 1000}))
        ['common']
    """

    epsilon: Fraction
    delta: Fraction
    max_keys: int
    adjacency: Adjacency

    def __init__(self, *, epsilon: Number, delta: Number, max_keys: int = 1, adjacency: str | Adjacency) -> None:
        self._fill(epsilon=parameter(epsilon, "epsilon"), delta=failure(delta))
        self._fill(max_keys=natural(max_keys, "max_keys"), adjacency=Adjacency.of(adjacency))
        self.sampler  # noqa: B018 - refuses, before anything is released, a scale that cannot be sampled

    @property
    def loss(self) -> Approximate:
        """Epsilon and delta."""
        return Approximate(self.epsilon, self.delta)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return self.changed / self.epsilon

    @property
    def threshold(self) -> int:
        """The least noisy count that is released."""
        return laplace_threshold(self.scale, self.delta_each)

    @property
    def law(self) -> DiscreteLaplaceLaw:
        """The exact law of the noise."""
        return DiscreteLaplaceLaw(self.scale)

    @property
    def sampler(self) -> DiscreteLaplace:
        """The exact sampler of that law."""
        return DiscreteLaplace(self.scale)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return keys of one person, keys near the threshold, and several keys of one person."""
        single = cls(epsilon=1, delta="1/100", adjacency="add-remove")
        several = cls(epsilon=4, delta="1/10", max_keys=2, adjacency="add-remove")
        replaced = cls(epsilon=4, delta="1/10", adjacency="replace-one")
        return threshold_specimens(single, several, replaced, near=5)
