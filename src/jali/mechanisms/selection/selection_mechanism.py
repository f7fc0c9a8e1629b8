"""Base classes of mechanisms that choose among candidates by their scores.

Selections of cells by weight, specimens, worst-case errors and the quadrature for exact laws are here too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import (
    LogMasses,
    Mechanism,
    Specimen,
    read_miss_probability,
    read_natural,
    read_parameter,
)
from jali.mechanisms.global_sensitivity import Sensitivity, read_l_infinity_distance, read_monotone
from jali.mechanisms.measurement import (
    Description,
    MeasurementSensitivity,
    PickMeasurement,
    SparseCells,
    charge_picks,
    expand_cells,
    find_choice_epsilon,
    pick_one_by_one,
)
from jali.mechanisms.selection.scores import Exponents, Scores, read_scores, round_up_to_steps
from jali.numbers.rounding import float_above
from jali.numbers.search import bisect, bracket, golden_section
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits
from jali.sampling.exp_bounds import Doubles

_HALVINGS = 100
_GRID = 400


def find_least_gap(tail: Callable[[float], float], missed: float) -> float:
    """Return the least x >= 0 with tail(x) <= missed, for a falling tail; at or above it by a rounding at most."""
    if tail(0.0) <= missed:
        return 0.0

    def small(x: float) -> bool:
        return tail(x) <= missed

    return bisect(small, *bracket(small, 0.0, 1.0), steps=_HALVINGS)[1]


def find_maximum(mean: Callable[[float], float], end: float) -> float:
    """Return the maximum over [0, end] of a smooth function that rises and then falls, to about 1e-14."""
    best = max(range(1, _GRID), key=lambda i: mean(i * end / _GRID))
    low, high = (best - 1) * end / _GRID, (best + 1) * end / _GRID
    # Mirrored: of places that are equally high the search keeps the further ones.
    top = golden_section(lambda x: -mean(-x), -high, -low, steps=_HALVINGS, fresh=True)
    return mean(-(top.low + top.high) / 2)


Places = NDArray[np.intp]
_LARGEST_DOUBLE = Fraction(10) ** 300
_MOST_CANDIDATES = 1 << 53


class SelectionMechanism(Mechanism):
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
class EqualSensitivitySelection(SelectionMechanism):
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
            sensitivity=read_l_infinity_distance(sensitivity),
            epsilon=read_parameter(epsilon, "epsilon"),
            monotone=monotone,
            adjacency=named,
            step=None if step is None else read_parameter(step, "step"),
        )
        refuse_too_wide(self.scale)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in units of the score: 2 sensitivity/epsilon, or half of it if monotone."""
        return (1 if self.monotone else 2) * round_up_to_steps(self.sensitivity, self.step) / self.epsilon

    def exponents(self, scores: Scores) -> Exponents:
        """Return, for each candidate, how many scales its score is below the best."""
        return scores.exponents(1 / self.scale)

    @abstractmethod
    def worst_tail(self, x: float, candidates: int) -> float:
        """Return the largest probability, over all scores, to choose one at least x scales below the best."""

    @abstractmethod
    def worst_mean(self, candidates: int) -> float:
        """Return the largest expected distance from the best score, in scales, over all scores."""

    def error(self, confidence: float, *, candidates: int = 2) -> float:
        """Return the least t such that the choice is at most t below the best score, whatever the scores.

        Args:
            confidence: The probability that this holds.
            candidates: How many there are. The error grows with their number: without it the answer is about
                two candidates, and too small for more.
        """
        missed, many = read_miss_probability(confidence), read_candidates(candidates)
        gap = find_least_gap(lambda x: self.worst_tail(x, many), missed)
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
    if read_natural(candidates, "candidates", least=least) > _MOST_CANDIDATES:
        raise MechanismError("candidates-too-many")
    return int(candidates)


Pair = tuple[tuple[Any, ...], tuple[Any, ...]]
_HISTOGRAM = (3, 1, 2, 0, 0, 3, 1, 0)


def build_equal_sensitivity_specimens(
    kind: type[EqualSensitivitySelection], **options: Any
) -> tuple[Specimen, ...]:
    """Return cases of replaced records and, with monotone scores, of added ones."""
    replaced = [
        _build_replaced_specimen(kind(sensitivity=1, epsilon=epsilon, **options)) for epsilon in ("1/2", 1, 3)
    ]
    added = [
        _build_added_specimen(
            kind(sensitivity=1, epsilon=epsilon, monotone=True, adjacency="add-remove", **options)
        )
        for epsilon in ("1/2", 2)
    ]
    return (*replaced, *added)


def _build_replaced_specimen(mechanism: EqualSensitivitySelection) -> Specimen:
    """Scores that move by 1 each, in either direction."""
    far = int(60 / mechanism.epsilon)
    pairs: tuple[Pair, ...] = (
        ((3, 1, 2, 0), (2, 2, 1, 1)),
        ((0, 0, 0), (1, -1, -1)),
        ((1, 0, 0), (0, 1, 1)),
        ((far, 0), (far - 1, 1)),
        ((Fraction(1, 2), 0, 0), (Fraction(-1, 2), 1, -1)),
    )
    return Specimen(mechanism, Adjacency.REPLACE_ONE, _add_reverses(pairs), {"candidates": 8}, _HISTOGRAM)


def _build_added_specimen(mechanism: EqualSensitivitySelection) -> Specimen:
    """Scores that rise by at most 1 when a record is added."""
    far = int(30 / mechanism.epsilon)
    pairs: tuple[Pair, ...] = (
        ((3, 1, 2, 0), (3, 2, 2, 1)),
        ((0, 0, 0), (1, 0, 0)),
        ((0, 0, 0), (1, 1, 0)),
        ((far, 0), (far, 1)),
        ((far, 0), (far + 1, 0)),
    )
    return Specimen(mechanism, Adjacency.ADD_REMOVE, _add_reverses(pairs), {"candidates": 8}, _HISTOGRAM)


def _add_reverses(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
    return (*pairs, *((b, a) for a, b in pairs))


EXPONENTIAL, PERMUTE_AND_FLIP = "exponential mechanism", "permute-and-flip"
EXPONENTIAL_PAGE = "docs/proofs/exponential.md (McSherry and Talwar 2007)"
PERMUTE_AND_FLIP_PAGE = "docs/proofs/permute_and_flip.md (McKenna and Sheldon 2020)"


class SelectionByWeight(EqualSensitivitySelection, PickMeasurement):
    """A selection that a question may pick cells by."""

    stored_parts: ClassVar[str] = "sensitivity epsilon monotone adjacency step"
    looks_at: ClassVar[str] = "weight"
    noun: ClassVar[str]
    page: ClassVar[str]

    @classmethod
    def calibrate(cls, sensitivity: MeasurementSensitivity, loss: Loss) -> Self | None:
        """Return the pick for the loss of one of them, or None if the loss is not of its kind."""
        if (loss.event.epsilon is not None) is not cls.for_pure_loss:
            return None
        monotone = sensitivity.changes == 1
        return cls(
            sensitivity=sensitivity.cell,
            epsilon=find_choice_epsilon(loss),
            monotone=monotone,
            adjacency=Adjacency.ADD_REMOVE if monotone else None,
        )

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return a loss that is proportional to how far a cell moves, and to the number of picks."""
        moved = sensitivity.cell / self.sensitivity
        if self.monotone and sensitivity.changes > 1:
            moved *= 2
        return charge_picks(self, self.epsilon * moved, sensitivity.picks)

    def describe(self) -> Description:
        """Name the choice, the scale on which weights are distinguished, and the theorem."""
        return Description(self.noun, "weight", "scale", float(self.scale), (self.page,))

    def bound_error(self, confidence: float, cells: int) -> float:
        """Return how much lighter the pick is at most than the heaviest, whatever the weights."""
        return self.error(confidence, candidates=cells)

    @abstractmethod
    def convert_loss(self) -> SelectionByWeight:
        """Return the pick of the other kind of loss."""

    def release_cells(self, groups: Sequence[SparseCells], width: int, picks: int) -> tuple[Any, ...]:
        """Pick cells of each group one after the other."""
        return tuple(pick_one_by_one(self, expand_cells(group, width), picks) for group in groups)
