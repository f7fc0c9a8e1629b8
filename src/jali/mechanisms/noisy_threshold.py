"""Base classes of mechanisms that compare values with a noisy threshold.

The law gives the probability of every pattern of answers, and how far from the threshold a value can be misjudged
(docs/proofs/sparse_vector.md).
"""

from __future__ import annotations

import math
import os
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Mechanism, read_miss_probability, read_natural
from jali.mechanisms.exact_values import read_numbers
from jali.mechanisms.lattice import Integers, Lattice, add
from jali.numbers.quadrature import sum_all_logs
from jali.numbers.search import bracket, greatest_integer, least_integer
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure_loss import Pure
from jali.sampling import BitSource, DiscreteLaplace

Floats: TypeAlias = NDArray[np.float64]
AnswerPattern: TypeAlias = tuple[bool, ...]
# So many scales from 0 the threshold's noise has e^-100 of its mass left.
_FAR = 100
# For the error the mass of a block of a 512th of the scale is counted at its worse end, from so many scales on.
_BLOCKS, _ENOUGH = 512, 45


def at_least(scale: Fraction, points: Floats) -> Floats:
    """Return Pr[X >= x] for discrete Laplace noise and integers x: q^x / (1+q), or its complement below 1."""
    rate = float(1 / scale)
    tail = np.exp(-rate * np.where(points > 0, points, 1 - points)) / (1 + math.exp(-rate))
    return np.where(points > 0, tail, 1 - tail)


def log_at_least(scale: Fraction, points: Floats) -> Floats:
    """Return ln Pr[X >= x], also where the probability is below all doubles."""
    rate = float(1 / scale)
    far = -rate * points - math.log1p(math.exp(-rate))
    return np.where(points > 0, far, np.log1p(-at_least(scale, np.maximum(1 - points, 1))))


def log_mass(scale: Fraction, points: Floats) -> Floats:
    """Return ln Pr[X = x], where Pr[X = x] = tanh(1 / (2 scale)) exp(-|x| / scale)."""
    rate = float(1 / scale)
    return np.asarray(math.log(math.tanh(rate / 2)) - rate * np.abs(points))


def pattern_masses(
    values: Sequence[int], cutoff: int | None, threshold_scale: Fraction, query_scale: Fraction
) -> dict[AnswerPattern, float]:
    """Return ln Pr[pattern] for every pattern of answers to `values` against the threshold 0.

    Given the threshold's noise z the answers are independent: Pr[above] = Pr[noise >= z - value]. The products
    are summed over z. A pattern ends with its `cutoff`-th True; None: it never ends.
    """
    reach = math.ceil(_FAR * threshold_scale) + max(map(abs, values), default=0)
    noises = np.arange(-reach, reach + 1, dtype=np.float64)
    above = [log_at_least(query_scale, noises - value) for value in values]
    below = [log_at_least(query_scale, 1 - noises + value) for value in values]
    pending: list[tuple[AnswerPattern, Floats]] = [((), log_mass(threshold_scale, noises))]
    found: dict[AnswerPattern, float] = {}
    while pending:
        pattern, logs = pending.pop()
        if len(pattern) == len(values) or (cutoff is not None and sum(pattern) >= cutoff):
            found[pattern] = sum_all_logs(logs)
        else:
            place = len(pattern)
            pending += [((*pattern, True), logs + above[place]), ((*pattern, False), logs + below[place])]
    return found


@lru_cache(maxsize=256)
def bound_misjudgement(threshold_scale: Fraction, query_scale: Fraction, queries: int, confidence: float) -> int:
    """Return a t such that, with the given confidence, no value further than t from the threshold is misjudged.

    Guarantee:
        A value is misjudged by more than t only if its noise x leaves [z-t-1, z+t], where z is the threshold's.
        The noises are independent given z, so all of them stay inside with probability
        sum_z Pr[z] Pr[z-t-1 <= x <= z+t]^queries, however the values are chosen; t is the least with that sum
        at least the confidence. Where the scale is above 512 the sum is bounded from below by blocks.
    Proof:
        docs/proofs/sparse_vector.md, Lemma 3.
    """
    allowed = read_miss_probability(confidence)
    starts, ends, masses = _blocks(threshold_scale)

    def holds(t: int) -> bool:
        worse = np.maximum(_outside(query_scale, starts, t), _outside(query_scale, ends, t))
        inside = np.exp(queries * np.log1p(-np.minimum(worse, 1 - 1e-16)))
        return float(1 - (masses * inside).sum()) <= allowed

    return _least(holds)


def _blocks(scale: Fraction) -> tuple[Floats, Floats, Floats]:
    width = max(1, math.floor(scale / _BLOCKS))
    count = math.ceil(_ENOUGH * scale / width)
    starts = np.arange(-count, count, dtype=np.float64) * width
    masses = at_least(scale, starts) - at_least(scale, starts + width)
    return starts, starts + (width - 1), masses


def _outside(scale: Fraction, noises: Floats, t: int) -> Floats:
    """Return Pr[x < z-t-1] + Pr[x > z+t]."""
    return np.asarray(at_least(scale, noises + (t + 1)) + at_least(scale, t + 2 - noises))


def _least(holds: Callable[[int], bool]) -> int:
    """Return the least t >= 0 that satisfies a monotone condition."""
    return least_integer(holds, -1, bracket(holds, -1, 1)[1])


_UNIT = 1 << 10


def threshold_share(weight: int) -> Fraction:
    """Return a rational near 1 / (1 + weight^(2/3)): the threshold's share of epsilon.

    The sum of two Laplace noises of scales 1/e1 and weight/e2 has the least variance, for e1 + e2 given, at
    e1 : e2 = 1 : weight^(2/3) (Lyu, Su and Li 2017, section 4.2). Every split is private; the root is an integer
    one, so that it is the same on every machine.

    Example:
        >>> float(threshold_share(1)), round(float(threshold_share(2)), 3)
        (0.5, 0.387)
    """
    return Fraction(_UNIT, _UNIT + _cube_root(weight**2 * _UNIT**3))


def _cube_root(value: int) -> int:
    """Return the integer part of a cube root."""
    return greatest_integer(lambda root: root**3 <= value, 0, 1 << value.bit_length() // 3 + 1)


Values: TypeAlias = Sequence[Any] | NDArray[Any]
# The probability that one of them is misjudged is below what doubles hold if there are more.
_MOST_QUERIES = 10**300


class ThresholdComparison(Mechanism):
    """Values compared with a threshold: noise on the threshold once, noise on every value."""

    error_is_exact = False

    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool
    adjacency: Adjacency | None
    step: Fraction | None

    @property
    @abstractmethod
    def positives(self) -> int:
        """How many values may be found above."""

    @property
    def weight(self) -> int:
        """The noise of a value, per sensitivity over its loss: 2 positives, or positives where monotone."""
        return self.positives if self.monotone else 2 * self.positives

    @property
    def threshold_epsilon(self) -> Fraction:
        """The part of epsilon that the threshold's noise spends."""
        return threshold_share(self.weight) * self.epsilon

    @property
    def query_epsilon(self) -> Fraction:
        """The part of epsilon that the noise of the values spends."""
        return self.epsilon - self.threshold_epsilon

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the threshold's noise, in steps of the lattice."""
        return self._distance / self.threshold_epsilon

    @property
    def query_scale(self) -> Fraction:
        """The scale of each value's noise, in steps of the lattice."""
        return self.weight * self._distance / self.query_epsilon

    @property
    def _distance(self) -> Fraction:
        return Lattice(self.step).steps(self.sensitivity)

    def error(self, confidence: float, *, queries: int = 1) -> Any:
        """Return a t such that, with this confidence, no value further than t from the threshold is misjudged.

        Args:
            confidence: Strictly between 0 and 1.
            queries: How many values are asked about; they may be chosen by earlier answers.
        """
        asked = read_natural(queries, "queries")
        if asked > _MOST_QUERIES:
            raise MechanismError("sparse-queries-too-large")
        t = bound_misjudgement(self.threshold_scale, self.query_scale, asked, confidence)
        # On a lattice the value and the threshold are each moved by at most half a step.
        return t if self.step is None else float((t + 1) * self.step)

    def integers(self, values: Any, threshold: Any) -> Integers:
        """Return how far values lie above the threshold, as integers on the lattice."""
        array = read_numbers(values)
        if array.ndim != 1:
            raise MechanismError("sparse-values-not-a-sequence")
        if not array.size:
            return np.zeros(0, np.int64)
        places = Lattice(self.step, array.size).integers(array)
        return add(places, np.array([-self.place(threshold)], dtype=object))

    def place(self, number: Any) -> int:
        """Put one number on the lattice."""
        place = Lattice(self.step).integers(number)
        if place.ndim:
            raise MechanismError("sparse-value-not-one")
        return int(place)

    def answers(self, values: Integers, size: int, *, bits: BitSource | None) -> NDArray[np.bool_]:
        """Compare each of `size` copies of the values with a noisy threshold of its own: a row for each copy."""
        thresholds = DiscreteLaplace(self.threshold_scale).sample(size, bits=bits)
        noise = DiscreteLaplace(self.query_scale).sample(size * len(values), bits=bits)
        noisy = add(np.broadcast_to(values, (size, len(values))), noise.reshape(size, len(values)))
        return np.asarray(noisy >= thresholds[:, None], np.bool_)

    def cut(self, answers: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """End a row of answers with its last permitted True."""
        ends = np.flatnonzero(answers)[self.positives - 1 : self.positives]
        return answers[: int(ends[0]) + 1] if len(ends) else answers

    def misjudged(self, values: Values, pattern: Sequence[bool]) -> Any:
        """Return how far the worst of the values that were misjudged lies from the threshold 0."""
        far = [-v if above else v for v, above in zip(values, pattern, strict=False)]
        return max(0, *far) if far else 0


class Watch:
    """One run of a sparse-vector mechanism; made by `start`, it spends the whole loss once.

    The threshold's noise is drawn when the watch is made and serves until the cut-off. A watch cannot be copied,
    stored, reset or carried into a forked process, for each copy would give all its positive answers with the
    same noise. Threads may share it: questions are answered one after the other.

    Guarantee:
        The answers to adaptively chosen values are `loss`-DP together. That `ask` refuses after the cut-off
        depends on earlier answers alone.
    Proof:
        docs/proofs/sparse_vector.md, Theorem 2.
    """

    def __init__(
        self,
        mechanism: ThresholdComparison,
        loss: Pure,
        *,
        threshold: Any,
        bits: BitSource | None,
        answer_scale: Fraction | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.loss = loss
        self._bits = bits
        self._answer_scale = answer_scale
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._left = mechanism.positives
        self.__noisy_threshold = mechanism.place(threshold) + self._noise(mechanism.threshold_scale)

    def __repr__(self) -> str:
        return f"Watch({type(self.mechanism).__name__}, left={self._left})"

    def __reduce__(self) -> NoReturn:
        raise MechanismError("watch-copied")

    @property
    def left(self) -> int:
        """How many values may still be found above."""
        return self._left

    def ask(self, value: Any) -> Any:
        """Return whether a value is above the threshold.

        Returns:
            True or False; or, with numeric answers, a noisy value if it is above and None if not.
        """
        place = self.mechanism.place(value)
        with self._lock:
            self._refuse_if_over()
            above = place + self._noise(self.mechanism.query_scale) >= self.__noisy_threshold
            self._left -= above
            return self._answer(place, above=above)

    def _answer(self, place: int, *, above: bool) -> Any:
        if self._answer_scale is None:
            return above
        if not above:
            return None
        return Lattice(self.mechanism.step).real(place + self._noise(self._answer_scale))

    def _noise(self, scale: Fraction) -> int:
        return int(DiscreteLaplace(scale).sample(1, bits=self._bits)[0])

    def _refuse_if_over(self) -> None:
        if self._process != os.getpid():
            raise MechanismError("watch-other-process")
        if self._left == 0:
            raise MechanismError("watch-positives-used-up", positives=self.mechanism.positives)
