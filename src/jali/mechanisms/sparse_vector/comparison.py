"""What the two sparse-vector mechanisms share: noises, the comparison, the pattern of answers and its error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.lattice import Integers, Lattice, add
from jali.mechanisms.mechanism import Mechanism, natural
from jali.mechanisms.sparse_vector.law import misjudged_by
from jali.mechanisms.sparse_vector.split import threshold_share
from jali.mechanisms.values import numbers_in
from jali.noise import BitSource, DiscreteLaplace
from jali.privacy.adjacency import Adjacency

Values: TypeAlias = Sequence[Any] | NDArray[Any]
# The chance that one of them is misjudged is below what doubles hold if there are more.
_MOST_QUERIES = 10**300


class Comparison(Mechanism):
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
        asked = natural(queries, "queries")
        if asked > _MOST_QUERIES:
            raise MechanismError("sparse-queries-too-large")
        t = misjudged_by(self.threshold_scale, self.query_scale, asked, confidence)
        # On a lattice the value and the threshold are each moved by at most half a step.
        return t if self.step is None else float((t + 1) * self.step)

    def integers(self, values: Any, threshold: Any) -> Integers:
        """Return how far values lie above the threshold, as integers on the lattice."""
        array = numbers_in(values)
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
