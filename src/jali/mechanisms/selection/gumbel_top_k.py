"""Choose the top k by peeling: repeat the exponential mechanism, each time without those already picked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from jali.mechanisms.base import (
    LogMasses,
    Mechanism,
    Specimen,
    read_miss_probability,
    read_natural,
    read_parameter,
)
from jali.mechanisms.global_sensitivity import Sensitivity
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.scores import Scores, read_at_least
from jali.mechanisms.selection.selection_mechanism import Places, find_least_gap, read_candidates
from jali.mechanisms.selection.top_k_counts import find_largest_gap
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.composition.compose import Composition, compose
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.rationals import Number
from jali.sampling import BitSource, system_bits

Ranking: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, repr=False)
class GumbelTopK(Mechanism):
    """Pick k candidates in turn by the exponential mechanism, each from those that are left.

    Adding Gumbel noise to every score once and ranking the sums has the same law.

    Args:
        k: How many candidates to pick.
        sensitivity: How far one score can move between neighbouring tables.
        epsilon: The loss of the whole ranking; every pick has epsilon/k.
        monotone: Whether all scores move the same way between neighbours; only under add-remove.
        adjacency: When two tables are neighbours; required if the scores are monotone.
        step: Round real scores to multiples of this; without it they must be exact.

    Guarantee:
        The ranking is epsilon-DP and (epsilon^2/(8k))-zCDP: a composition of k picks of bounded range epsilon/k.
    Proof:
        docs/proofs/gumbel_top_k.md, after Durfee and Rogers 2019, Section 4.1.

    Error:
        With d candidates and s = 2 k sensitivity/epsilon, half of it if monotone, every place i has a score within
        t of the i-th largest with a probability of at least prod_i 1/(1 + (d-i) exp(-t/s)). It grows with d:
        without `candidates=`, `error(confidence)` is about k + 1 of them.

    Example:
        >>> from jali.mechanisms import GumbelTopK
        >>> mechanism = GumbelTopK(k=2, sensitivity=1, epsilon=4, monotone=True, adjacency="add-remove")
        >>> len(set(mechanism.release([80, 5, 70, 4])))
        2
        >>> mechanism.loss.event.rho
        Fraction(1, 1)
    """

    error_is_exact = False

    k: int
    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool
    adjacency: Adjacency | None
    step: Fraction | None

    def __init__(
        self,
        *,
        k: int,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool = False,
        adjacency: str | Adjacency | None = None,
        step: Number | None = None,
    ) -> None:
        picks = read_natural(k, "k")
        total = read_parameter(epsilon, "epsilon")
        pick = Exponential(
            sensitivity=sensitivity, epsilon=total / picks, monotone=monotone, adjacency=adjacency, step=step
        )
        self._fill(
            k=picks,
            sensitivity=pick.sensitivity,
            epsilon=total,
            monotone=pick.monotone,
            adjacency=pick.adjacency,
            step=pick.step,
        )

    @property
    def pick(self) -> Exponential:
        """The mechanism of one pick."""
        return Exponential(
            sensitivity=self.sensitivity,
            epsilon=self.epsilon / self.k,
            monotone=self.monotone,
            adjacency=self.adjacency,
            step=self.step,
        )

    @property
    def loss(self) -> Composition:
        """K times a bounded range of epsilon/k."""
        return compose((BoundedRange(self.epsilon / self.k), self.k))

    def error(self, confidence: float, *, candidates: int | None = None) -> float:
        """Return a t such that every place is within t of its target with this probability, whatever the scores.

        Args:
            confidence: The probability that this holds.
            candidates: How many there are. The error grows with their number: without it the answer is about
                k + 1 candidates, and too small for more.
        """
        count = read_candidates(self.k + 1 if candidates is None else candidates, least=self.k)
        others = count - np.arange(1, self.k + 1)
        failing = read_miss_probability(confidence)
        gap = find_least_gap(lambda x: -math.expm1(-float(np.log1p(others * math.exp(-x)).sum())), failing)
        return float_above(self.pick.scale) * gap * (1 + 1e-12)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Ranking:
        """Return the indices of k candidates, first pick first.

        Args:
            value: The scores: integers or Fractions; floats and Decimals if there is a step.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        return self._rankings(value, 1, bits)[0]

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        return list(self._rankings(value, size, bits))

    def _rankings(self, value: Any, size: int, bits: BitSource | None) -> list[Ranking]:
        """Draw rankings, those with the same picks so far together."""
        scores, source = self.read(value), system_bits() if bits is None else bits
        shares = [_SharedPicks((), scores, np.arange(len(scores)), np.arange(size))]
        pick = self.pick
        for _ in range(self.k):
            shares = [longer for share in shares for longer in share.pick_next(pick, source)]
        rankings: list[Ranking] = [()] * size
        for share in shares:
            for turn in share.turns.tolist():
                rankings[turn] = share.chosen
        return rankings

    def read(self, scores: Any) -> Scores:
        """Read scores exactly, or on the lattice if there is a step."""
        return read_at_least(self.k, scores, self.step)

    def deviation(self, value: Any, output: Ranking) -> Fraction:
        """Return by how much a place misses the score of its place, at most."""
        return find_largest_gap(self.read(value), output)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the logarithm of the probability of each ranking of a few candidates (Plackett and Luce)."""
        exponents = self.pick.exponents(self.read(value))
        logs = [-float(exponents.exact(place)) for place in range(len(exponents))]
        rankings = itertools.permutations(range(len(logs)), self.k)
        return {ranking: math.fsum(_list_log_picks(ranking, logs)) for ranking in rankings}

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return a few scores that move either way, and counts to which a record is added."""
        either = cls(k=2, sensitivity=1, epsilon=3)
        added = cls(k=2, sensitivity=1, epsilon=2, monotone=True, adjacency=Adjacency.ADD_REMOVE)
        moved = (((3, 1, 2, 0), (2, 2, 1, 1)), ((60, 0, 0), (59, 1, 1)))
        grown = (((3, 1, 2, 0), (3, 2, 2, 1)), ((40, 0, 0), (41, 0, 0)))
        return (
            Specimen(either, Adjacency.REPLACE_ONE, moved, {"candidates": 4}),
            Specimen(added, Adjacency.ADD_REMOVE, grown, {"candidates": 4}),
        )


@dataclass(frozen=True, eq=False)
class _SharedPicks:
    """Releases that have made the same picks so far.

    Attributes:
        chosen: The picks.
        scores: The scores of the candidates that are left.
        places: Their indices.
        turns: Which releases these are.
    """

    chosen: Ranking
    scores: Scores
    places: Places
    turns: Places

    def pick_next(self, mechanism: Exponential, bits: BitSource) -> Iterator[_SharedPicks]:
        """Make the next pick of every release."""
        drawn = mechanism.draw(mechanism.exponents(self.scores), len(self.turns), bits)
        for place in np.unique(drawn).tolist():
            chosen = (*self.chosen, int(self.places[place]))
            left = self.scores.without(place) if len(self.scores) > 1 else self.scores
            yield _SharedPicks(chosen, left, np.delete(self.places, place), self.turns[drawn == place])


def _list_log_picks(ranking: Ranking, logs: list[float]) -> Iterator[float]:
    """Yield ln of weight/sum of the weights that are left, for each pick."""
    left = set(range(len(logs)))
    for place in ranking:
        top = max(logs[other] for other in left)
        yield logs[place] - top - math.log(math.fsum(math.exp(logs[other] - top) for other in left))
        left.remove(place)
