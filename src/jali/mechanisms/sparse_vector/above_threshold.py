"""AboveThreshold: which is the first value above a threshold?"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.mechanisms.lattice import step_of
from jali.mechanisms.mechanism import LogMasses, Specimen, parameter
from jali.mechanisms.monotone import read_monotone
from jali.mechanisms.sensitivity import Sensitivity, l_infinity_distance
from jali.mechanisms.sparse_vector.comparison import Comparison, Values
from jali.mechanisms.sparse_vector.law import pattern_masses
from jali.mechanisms.sparse_vector.watch import Watch
from jali.noise import BitSource, DiscreteLaplace
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class AboveThreshold(Comparison):
    """Find the first of many values that is above a threshold, for the price of one answer.

    Values below the threshold cost nothing, however many there are. `release` takes all values at once;
    `start` takes one at a time, each chosen after the answers before it. Where all values are known beforehand
    and the largest is wanted, selection (`PermuteAndFlip`, top-k) errs less for the same loss: use this for
    streams.

    Args:
        sensitivity: How far any one value can move between neighbouring tables.
        epsilon: The loss of all answers together.
        monotone: Whether all values move the same way between neighbours, as counts do under add-remove.
        adjacency: When two tables are neighbours; must be said where `monotone` is.
        step: The lattice for real values; without it the values must be integers.

    Guarantee:
        The answers are epsilon-DP, for any number of values, chosen adaptively or not. The noises are integers
        of scale sensitivity/e1 on the threshold and 2 sensitivity/e2 (monotone: sensitivity/e2) on each value,
        e1 + e2 = epsilon, e1 : e2 near 1 : 2^(2/3) (monotone: 1 : 1). Ties count as above.
    Proof:
        docs/proofs/sparse_vector.md, after Lyu, Su and Li 2017, Theorem 2.

    Error:
        `error(c, queries=k)` is a t such that with probability c no value further than t from the threshold is
        misjudged, k values being asked about: the least t with sum_z Pr[z] Pr[z-t-1 <= x <= z+t]^k >= c, z and
        x the noises. It is at most 6 (ln k + ln(2/(1-c))) sensitivity/epsilon + 2 on integers; Dwork and Roth
        2014, Theorem 3.24, have 8 (ln k + ln(2/(1-c))).

    Example:
        >>> from jali.mechanisms import AboveThreshold
        >>> mechanism = AboveThreshold(sensitivity=1, epsilon=1)
        >>> mechanism.release([10, 20, 1000, 30], threshold=500)
        2
        >>> mechanism.error(0.95, queries=4)
        16
        >>> watch = mechanism.start(threshold=500)
        >>> watch.ask(-1000), watch.ask(2000), watch.left
        (False, True, 0)
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool
    adjacency: Adjacency | None
    step: Fraction | None

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool = False,
        adjacency: str | Adjacency | None = None,
        step: Number | None = None,
    ) -> None:
        monotone, named = read_monotone(sensitivity, adjacency, monotone=monotone)
        self._fill(sensitivity=l_infinity_distance(sensitivity), epsilon=parameter(epsilon, "epsilon"))
        self._fill(monotone=monotone, adjacency=named, step=step_of(step))
        # Refuse, before anything is released, a scale that cannot be sampled.
        DiscreteLaplace(max(self.threshold_scale, self.query_scale))

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def positives(self) -> int:
        """One: the first."""
        return 1

    def release(self, value: Values, *, threshold: Any = 0, bits: BitSource | None = None) -> int | None:
        """Return the index of the first value found above the threshold; None if no value is."""
        return self._firsts(value, 1, threshold=threshold, bits=bits)[0]

    def start(self, *, threshold: Any = 0, bits: BitSource | None = None) -> Watch:
        """Start to ask one value at a time; every start spends the loss anew."""
        return Watch(self, self.loss, threshold=threshold, bits=bits)

    def sample(
        self, value: Values, size: int, *, threshold: Any = 0, bits: BitSource | None = None
    ) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        return list(self._firsts(value, size, threshold=threshold, bits=bits))

    def _firsts(self, values: Values, size: int, *, threshold: Any, bits: BitSource | None) -> list[int | None]:
        answers = self.answers(self.integers(values, threshold), size, bits=bits)
        if not answers.shape[1]:
            return [None] * size
        places: list[int] = answers.argmax(axis=1).tolist()
        found = np.any(answers, axis=1).tolist()
        return [place if above else None for place, above in zip(places, found, strict=True)]

    def log_masses(self, value: Values) -> LogMasses:
        """Return the law of the index, for the threshold 0."""
        places = [int(place) for place in self.integers(value, 0)]
        patterns = pattern_masses(places, 1, self.threshold_scale, self.query_scale)
        return {len(p) - 1 if any(p) else None: log for p, log in patterns.items()}

    def deviation(self, value: Values, output: int | None) -> Any:
        """Return how far the worst misjudged value lies from the threshold 0."""
        last = len(value) if output is None else output
        return self.misjudged(value, [False] * last + [True] * (output is not None))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return values that must be found below against the odds, then one that must be found above.

        Laws are checked on values of which some are misjudged with a chance just above 5 %, near `error(0.95)`.
        """
        counts = cls(sensitivity=1, epsilon="3/2", monotone=True, adjacency="add-remove")
        lattice = cls(sensitivity="1/2", epsilon=2, step="1/4")
        shape = {"queries": 4}
        free = (((80, 80, 80, 80, 1), (81, 81, 81, 81, 0)),)
        rising = (((80, 80, 80, 80, 0), (81, 81, 81, 81, 0)),)
        reals = (((20.1, 20.1, 20.1, 20.1, 0.6), (20.6, 20.6, 20.6, 20.6, 0.1)),)
        return (
            Specimen(cls(sensitivity=1, epsilon=1), Adjacency.REPLACE_ONE, free, shape, (-13, -13, -13, 1)),
            Specimen(counts, Adjacency.ADD_REMOVE, rising, shape, (-6, -6, -6, 1)),
            Specimen(lattice, Adjacency.REPLACE_ONE, reals, shape, (-3.25, -3.25, -3.25, 0.3)),
        )
