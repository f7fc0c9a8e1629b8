"""The sparse vector technique: many comparisons with a threshold, charged for the few that are above it.

`AboveThreshold` stops at the first value above the threshold, `SparseVector` after `cutoff` of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.base import LogMasses, PureMechanism, Specimen, read_natural, read_parameter
from jali.mechanisms.global_sensitivity import Sensitivity, read_l_infinity_distance, read_monotone
from jali.mechanisms.lattice import Integers, Lattice, add, read_step
from jali.mechanisms.noisy_threshold import ThresholdComparison, Values, Watch, pattern_masses
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import BitSource, DiscreteLaplace


@dataclass(frozen=True, repr=False)
class AboveThreshold(PureMechanism, ThresholdComparison):
    """Find the first of many values that is above a threshold, for the loss of one answer.

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
        self._fill(sensitivity=read_l_infinity_distance(sensitivity), epsilon=read_parameter(epsilon, "epsilon"))
        self._fill(monotone=monotone, adjacency=named, step=read_step(step))
        # Refuse, before anything is released, a scale that cannot be sampled.
        DiscreteLaplace(max(self.threshold_scale, self.query_scale))

    @property
    def positives(self) -> int:
        """One: the first."""
        return 1

    def release(self, value: Values, *, threshold: Any = 0, bits: BitSource | None = None) -> int | None:
        """Return the index of the first value found above the threshold; None if no value is."""
        return self._firsts(value, 1, threshold=threshold, bits=bits)[0]

    def start(self, *, threshold: Any = 0, bits: BitSource | None = None) -> Watch:
        """Start to ask one value at a time; every start spends the loss again."""
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

        Laws are checked on values of which some are misjudged with probability just above 5 %, near `error(0.95)`.
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


# What the windows of all numeric answers together leave out.
_LEFT_OUT = 1e-13


@dataclass(frozen=True, repr=False)
class SparseVector(ThresholdComparison):
    """Release which of many values are above a threshold, until `cutoff` of them were; then stop.

    Only answers "above" are charged. `release` takes all values at once; `start` takes one at a time, each
    chosen after the answers before it, and refuses to go on after the cut-off. Where all values are known
    beforehand, top-k selection errs less for the same loss: use this for streams.

    Args:
        cutoff: How many values may be found above.
        sensitivity: How far any one value can move between neighbouring tables.
        epsilon: The loss of all comparisons together.
        epsilon_answers: The further loss of noisy values for those found above; None: they are not released.
        monotone: Whether all values move the same way between neighbours, as counts do under add-remove.
        adjacency: When two tables are neighbours; must be said where `monotone` is.
        step: The lattice for real values; without it the values must be integers.

    Guarantee:
        All answers together are (epsilon + epsilon_answers)-DP, for any number of values, chosen adaptively or
        not. With c = cutoff, the noises are integers of scale sensitivity/e1 on the threshold, drawn once,
        2c sensitivity/e2 (monotone: c sensitivity/e2) on each value, fresh, and c sensitivity/epsilon_answers on
        each value that is released, fresh again; e1 + e2 = epsilon, e1 : e2 near 1 : (2c)^(2/3) (monotone:
        1 : c^(2/3)). Ties count as above. The loss is linear in the sensitivity: k times the sensitivity at k
        times epsilon and k times epsilon_answers is the same noise.
    Proof:
        docs/proofs/sparse_vector.md, after Lyu, Su and Li 2017, Theorems 2, 4 and 5.

    Error:
        `error(c, queries=k)` is a t such that with probability c no value further than t from the threshold is
        misjudged, k values being asked about: the least t with sum_z Pr[z] Pr[z-t-1 <= x <= z+t]^k >= c, z and
        x the noises. `answer_error(c)` is the exact quantile of one numeric answer.

    Example:
        >>> from jali.mechanisms import SparseVector
        >>> mechanism = SparseVector(cutoff=2, sensitivity=1, epsilon=1)
        >>> mechanism.release([-900, 900, -900, 900, 900])
        (False, True, False, True)
        >>> watch = mechanism.start()
        >>> watch.ask(900), watch.ask(-900), watch.left
        (True, False, 1)
    """

    # Two losses: the docstring says how they grow together.
    loss_power: ClassVar[int | None] = None

    cutoff: int
    sensitivity: Fraction
    epsilon: Fraction
    epsilon_answers: Fraction | None
    monotone: bool
    adjacency: Adjacency | None
    step: Fraction | None

    def __init__(
        self,
        *,
        cutoff: int,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        epsilon_answers: Number | None = None,
        monotone: bool = False,
        adjacency: str | Adjacency | None = None,
        step: Number | None = None,
    ) -> None:
        monotone, named = read_monotone(sensitivity, adjacency, monotone=monotone)
        told = None if epsilon_answers is None else read_parameter(epsilon_answers, "epsilon_answers")
        self._fill(cutoff=read_natural(cutoff, "cutoff"), sensitivity=read_l_infinity_distance(sensitivity))
        self._fill(epsilon=read_parameter(epsilon, "epsilon"), epsilon_answers=told)
        self._fill(monotone=monotone, adjacency=named, step=read_step(step))
        # Refuse, before anything is released, a scale that cannot be sampled.
        DiscreteLaplace(max(self.threshold_scale, self.query_scale, self.answer_scale or Fraction(0)))

    @property
    def loss(self) -> Pure:
        """Epsilon, and epsilon_answers where values are released; pure."""
        return Pure(self.epsilon + (self.epsilon_answers or 0))

    @property
    def positives(self) -> int:
        """The cut-off."""
        return self.cutoff

    @property
    def answer_scale(self) -> Fraction | None:
        """The scale of the noise on a value that is released, in steps of the lattice."""
        return None if self.epsilon_answers is None else self.cutoff * self._distance / self.epsilon_answers

    def answer_error(self, confidence: float) -> Any:
        """Return the least t with Pr[|noise of one numeric answer| <= t] >= confidence."""
        if self.answer_scale is None:
            raise MechanismError("sparse-answers-unpaid")
        return Lattice(self.step).real(DiscreteLaplaceLaw(self.answer_scale).quantile(confidence))

    def release(self, value: Values, *, threshold: Any = 0, bits: BitSource | None = None) -> tuple[Any, ...]:
        """Return an answer for each value up to the last permitted "above".

        True and False; or, with `epsilon_answers`, a noisy value for those above and None for the others.
        """
        return self._patterns(value, 1, threshold=threshold, bits=bits)[0]

    def start(self, *, threshold: Any = 0, bits: BitSource | None = None) -> Watch:
        """Start to ask one value at a time; every start spends the loss again."""
        return Watch(self, self.loss, threshold=threshold, bits=bits, answer_scale=self.answer_scale)

    def sample(
        self, value: Values, size: int, *, threshold: Any = 0, bits: BitSource | None = None
    ) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        return list(self._patterns(value, size, threshold=threshold, bits=bits))

    def _patterns(
        self, values: Values, size: int, *, threshold: Any, bits: BitSource | None
    ) -> list[tuple[Any, ...]]:
        places = self.integers(values, threshold)
        patterns = [self.cut(row) for row in self.answers(places, size, bits=bits)]
        if self.answer_scale is None:
            return [tuple(pattern.tolist()) for pattern in patterns]
        told = DiscreteLaplace(self.answer_scale).sample(sum(int(p.sum()) for p in patterns), bits=bits)
        return self._add_noisy_values(
            add(places, np.array([self.place(threshold)], dtype=object)), patterns, iter(told.tolist())
        )

    def _add_noisy_values(
        self, places: Integers, patterns: list[NDArray[np.bool_]], noise: Iterator[int]
    ) -> list[tuple[Any, ...]]:
        """Replace True by the value with fresh noise, and False by None."""
        real, exact = Lattice(self.step).real, places.tolist()
        return [
            tuple(real(exact[i] + next(noise)) if above else None for i, above in enumerate(pattern.tolist()))
            for pattern in patterns
        ]

    def log_masses(self, value: Values) -> LogMasses:
        """Return the law of the answers, for the threshold 0."""
        places = [int(place) for place in self.integers(value, 0)]
        patterns = pattern_masses(places, self.cutoff, self.threshold_scale, self.query_scale)
        if self.answer_scale is None:
            return patterns
        columns = self._columns(places, DiscreteLaplaceLaw(self.answer_scale))
        return {
            tuple(answer for answer, _ in cell): log + sum(part for _, part in cell)
            for pattern, log in patterns.items()
            for cell in itertools.product(*map(_cells, columns, pattern))
        }

    def _columns(self, places: list[int], law: DiscreteLaplaceLaw) -> list[list[tuple[Any, float]]]:
        """List each value's noisy answers in one window for all, so that neighbours share it."""
        reach = law.bound_tail(_LEFT_OUT / self.cutoff) + max(map(abs, places), default=0)
        window = range(-reach, reach + 1)
        real = Lattice(self.step).real
        return [[(real(answer), law.log_mass(answer - place)) for answer in window] for place in places]

    def deviation(self, value: Values, output: Sequence[Any]) -> Any:
        """Return how far the worst misjudged value lies from the threshold 0."""
        return self.misjudged(value, [answer is not None and answer is not False for answer in output])

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return values that must be found below against the odds, then some that must be found above.

        Laws are checked on values of which some are misjudged with probability just above 5 %, near `error(0.95)`.
        """
        counts = cls(cutoff=2, sensitivity=1, epsilon=1, monotone=True, adjacency="add-remove")
        told = cls(cutoff=1, sensitivity=1, epsilon=1, epsilon_answers=2)
        both = cls(cutoff=2, sensitivity=1, epsilon=16, epsilon_answers=20)
        shape = {"queries": 4}
        free = (((*(80,) * 7, 1, 1), (*(81,) * 7, 0, 0)),)
        rising = (((*(80,) * 7, 0, 0), (*(81,) * 7, 0, 0)),)
        numeric = (((80, 80, 80, 80, 1), (81, 81, 81, 81, 0)),)
        pairs = (((*(10,) * 5, 1, 1), (*(11,) * 5, 0, 0)),)
        plain, moved = cls(cutoff=2, sensitivity=1, epsilon=1), Adjacency.REPLACE_ONE
        return (
            Specimen(plain, moved, free, shape, (-21, -21, -21, 1)),
            Specimen(counts, Adjacency.ADD_REMOVE, rising, shape, (-13, -13, -13, 1)),
            Specimen(told, moved, numeric, {"queries": 2}, (-10, 0)),
            Specimen(both, moved, pairs, {"queries": 3}, (-1, -1, 0)),
        )


def _cells(column: list[tuple[Any, float]], above: bool) -> list[tuple[Any, float]]:
    return column if above else [(None, 0.0)]
