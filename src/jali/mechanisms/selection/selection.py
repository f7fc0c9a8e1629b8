"""What selections share: exact scores in, the index of a high one out, and laws of how far it is from the best."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, Mechanism, miss, natural, parameter
from jali.mechanisms.monotone import read_monotone
from jali.mechanisms.selection.scores import Exponents, Scores, in_steps, read_scores
from jali.mechanisms.selection.worst_case import least_gap
from jali.mechanisms.sensitivity import Sensitivity, l_infinity_distance
from jali.noise import BitSource, system_bits
from jali.noise.doubles import Doubles
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.privacy.rounding import float_above

Places = NDArray[np.intp]
_LARGEST_DOUBLE = Fraction(10) ** 300
_MOST_CANDIDATES = 1 << 53


class Selection(Mechanism):
    """Chooses a candidate by its score; a subclass says by which law."""

    error_is_exact: ClassVar[bool] = False

    step: Fraction | None

    @abstractmethod
    def exponents(self, scores: Scores) -> Exponents:
        """Return what the law depends on: for each candidate, how far it is behind in units of the noise."""

    @abstractmethod
    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Draw `size` independent choices."""

    @abstractmethod
    def log_law(self, x: Doubles) -> Doubles:
        """Return the logarithms of the probabilities of all candidates with the given exponents."""

    def read(self, scores: Any) -> Scores:
        """Read scores exactly, or on the lattice if there is a step."""
        return read_scores(scores, self.step)

    def release(self, value: Any, *, bits: BitSource | None = None) -> int:
        """Return the index of the chosen candidate.

        Args:
            value: The scores: integers or Fractions; floats and Decimals if it has a step.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        return int(self._choices(value, 1, bits)[0])

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases: for audits and tests."""
        return list(self._choices(value, size, bits).tolist())

    def _choices(self, value: Any, size: int, bits: BitSource | None) -> Places:
        source = system_bits() if bits is None else bits
        return self.draw(self.exponents(self.read(value)), size, source)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the logarithm of the probability of each index."""
        return dict(enumerate(self.log_probabilities(value).tolist()))

    def log_probabilities(self, scores: Any) -> Doubles:
        """Return the logarithm of the probability of each candidate, from the closed form."""
        exponents = self.exponents(self.read(scores))
        exact = (exponents.exact(place) for place in range(len(exponents)))
        return self.log_law(np.array([float(min(x, _LARGEST_DOUBLE)) for x in exact]))

    def probabilities(self, scores: Any) -> Doubles:
        """Return the probability of each candidate, from the closed form; tiny ones may come out as 0."""
        return np.asarray(np.exp(self.log_probabilities(scores)))

    def deviation(self, value: Any, output: Any) -> Fraction:
        """Return how far the score of the chosen candidate is below the best score, as scores are read."""
        return self.read(value).below_best(output)

    def expected_error(self, scores: Any) -> float:
        """Return the expected distance from the best score."""
        read = self.read(scores)
        gaps = np.array([float(min(gap * read.unit, _LARGEST_DOUBLE)) for gap in map(int, read.gaps())])
        return float(self.probabilities(scores) @ gaps)


@dataclass(frozen=True, repr=False, init=False)
class EvenSelection(Selection):
    """A selection whose scores all have the same sensitivity."""

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
        self._fill(
            sensitivity=l_infinity_distance(sensitivity),
            epsilon=parameter(epsilon, "epsilon"),
            monotone=monotone,
            adjacency=named,
            step=None if step is None else parameter(step, "step"),
        )
        refuse_too_wide(self.scale)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in units of the score: 2 sensitivity/epsilon, or half of it if monotone."""
        return (1 if self.monotone else 2) * in_steps(self.sensitivity, self.step) / self.epsilon

    def exponents(self, scores: Scores) -> Exponents:
        """Return, for each candidate, how many scales its score is below the best."""
        return scores.exponents(1 / self.scale)

    @abstractmethod
    def worst_tail(self, x: float, candidates: int) -> float:
        """Return the largest chance, over all scores, to choose a candidate at least x scales below the best."""

    @abstractmethod
    def worst_mean(self, candidates: int) -> float:
        """Return the largest expected distance from the best score, in scales, over all scores."""

    def error(self, confidence: float, *, candidates: int = 2) -> float:
        """Return the least t such that the choice is at most t below the best score, whatever the scores.

        Args:
            confidence: The chance that this holds.
            candidates: How many there are. The error grows with their number: without it the answer is about
                two candidates, and too small for more.
        """
        missed, many = miss(confidence), read_candidates(candidates)
        gap = least_gap(lambda x: self.worst_tail(x, many), missed)
        return float_above(self.scale) * gap * (1 + 1e-12)

    def worst_expected_error(self, candidates: int) -> float:
        """Return the expected distance from the best score for the worst of all scores."""
        return float_above(self.scale) * self.worst_mean(read_candidates(candidates))


def refuse_too_wide(scale: Fraction) -> None:
    """Refuse noise so wide that its error is beyond what a double holds."""
    if scale > _LARGEST_DOUBLE:
        raise MechanismError("selection-scale-too-large")


def read_candidates(candidates: int, *, least: int = 1) -> int:
    """Return a number of candidates, or refuse it."""
    if natural(candidates, "candidates", least=least) > _MOST_CANDIDATES:
        raise MechanismError("candidates-too-many")
    return int(candidates)
