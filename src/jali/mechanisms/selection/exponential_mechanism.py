"""The exponential mechanism among finitely many candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.mechanisms.base import BoundedRangeMechanism, Specimen
from jali.mechanisms.selection.scores import Exponents
from jali.mechanisms.selection.selection_mechanism import (
    EXPONENTIAL,
    EXPONENTIAL_PAGE,
    Places,
    SelectionByWeight,
    build_equal_sensitivity_specimens,
)
from jali.sampling import BitSource
from jali.sampling.bernoulli import settle_exp
from jali.sampling.exp_bounds import Doubles
from jali.sampling.interval_bernoulli import WORD
from jali.sampling.uniform import uniform_below

_DEPTH = 40
_HALVES = 1.4426  # below 1/ln 2, so that 2**-floor(1.4426 x) >= exp(-x)


@dataclass(frozen=True, repr=False, init=False)
class Exponential(BoundedRangeMechanism, SelectionByWeight):
    """Choose candidate i with probability proportional to exp(epsilon * score_i / (2 * sensitivity)).

    Args:
        sensitivity: How far one score moves between neighbours at most: a number, or a `Sensitivity`, whose
            l_infinity distance and adjacency are used.
        epsilon: The loss.
        monotone: Whether all scores move the same way between neighbours, as counts do when one unit is added or
            removed; then the exponent is epsilon * score_i / sensitivity. Only under "add-remove".
        adjacency: When two tables are neighbours; needed for monotone scores.
        step: Round real scores to multiples of this; without it scores must be exact.

    Guarantee:
        The losses of all outcomes lie in an interval of length epsilon (bounded range), for scores that each move
        by `sensitivity` at most. So the choice is epsilon-DP and (epsilon^2/8)-zCDP; also with monotone scores.
    Proof:
        docs/proofs/exponential.md, after McSherry and Talwar 2007, Theorem 6, and Dong, Durfee and Rogers 2020.

    Error:
        With d candidates and the scale s = 2 sensitivity/epsilon (half of it if monotone), the choice is more than
        t below the best score with a probability of at most (d-1)/(d-1 + exp(t/s)), reached when all others are
        equal; the expected distance is at most s W((d-1)/e), with Lambert's function W. It grows with d: without
        `candidates=`, `error(confidence)` is about two of them.

    Example:
        >>> from jali.mechanisms import Exponential
        >>> mechanism = Exponential(sensitivity=1, epsilon=1)
        >>> mechanism.release([3, 1, 2, 0]) in range(4)
        True
        >>> mechanism.probabilities([1, 0]).round(8).tolist()
        [0.62245933, 0.37754067]
        >>> round(mechanism.error(0.95, candidates=8), 4)
        9.7807
    """

    tag: ClassVar[str] = "Exponential"
    noun: ClassVar[str] = EXPONENTIAL
    page: ClassVar[str] = EXPONENTIAL_PAGE
    for_pure_loss: ClassVar[bool] = False

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Draw `size` independent choices."""
        return draw_exponential(exponents, size, bits)

    def log_law(self, x: Doubles) -> Doubles:
        """Return -x - ln(sum of exp(-x))."""
        return np.asarray(-x - math.log(math.fsum(np.exp(-x))))

    def worst_tail(self, x: float, candidates: int) -> float:
        """Return the probability to miss the best if all others are x scales below it: the worst case."""
        return (candidates - 1) / (candidates - 1 + math.exp(min(x, 700.0)))

    def worst_mean(self, candidates: int) -> float:
        """Return W((candidates-1)/e): the worst gap is 1 + W for all others."""
        return compute_lambert((candidates - 1) / math.e)

    def convert_loss(self) -> SelectionByWeight:
        """Return permute-and-flip of the same rho, which has half the epsilon: it has no bounded range."""
        from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip

        return PermuteAndFlip(
            sensitivity=self.sensitivity,
            epsilon=self.epsilon / 2,
            monotone=self.monotone,
            adjacency=self.adjacency,
        )

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small histograms, and a candidate so far behind that its loss is epsilon."""
        return build_equal_sensitivity_specimens(cls)


def draw_exponential(
    exponents: Exponents, size: int, bits: BitSource, *, depth: int = _DEPTH, word_bits: int = WORD
) -> Places:
    """Draw `size` independent indices, index i with probability proportional to exp(-X[i]) exactly.

    A candidate with exp(-X) <= 2**-l is proposed with weight 2**-l and kept with probability 2**l exp(-X): a
    uniform number below 2**-l is compared with exp(-X). About half of the proposals or more are kept.

    Args:
        exponents: One X >= 0 for each candidate, the least of them 0.
        size: How many.
        bits: Where the random bits come from.
        depth: The largest l; speed depends on it, the law does not.
        word_bits: How many bits are drawn at a time, more than `depth`; the law does not depend on it.

    Proof:
        docs/proofs/exponential.md, Theorem 2.
    """
    propose = _Proposals(exponents.doubles, min(depth, 62 - len(exponents).bit_length()))
    chosen = np.empty(size, np.intp)
    waiting = np.arange(size)
    while len(waiting):
        places, levels = propose.draw(len(waiting), bits)
        words = bits.integers(len(waiting), word_bits) >> levels.astype(np.uint64)
        kept = _keep(exponents, places, words, word_bits, bits)
        chosen[waiting[kept]] = places[kept]
        waiting = waiting[~kept]
    return chosen


def _keep(exponents: Exponents, places: Places, words: np.ndarray, width: int, bits: BitSource) -> np.ndarray:
    x = exponents.doubles[places]
    return settle_exp(words, width, x, lambda turn: exponents.exact(int(places[turn])), bits)


class _Proposals:
    """Candidates sorted by level l, each with weight 2**(depth - l)."""

    def __init__(self, x: Doubles, depth: int) -> None:
        levels = np.minimum(x * _HALVES, depth).astype(np.uint8)
        counts = np.bincount(levels, minlength=depth + 1)
        self._order = np.argsort(levels, kind="stable")
        self._shifts = depth - np.arange(depth + 1)
        self._first = np.cumsum(counts) - counts
        self._ends = np.cumsum(counts << self._shifts)
        self._starts = self._ends - (counts << self._shifts)

    def draw(self, size: int, bits: BitSource) -> tuple[Places, Places]:
        """Propose `size` candidates, and return their levels."""
        tickets = uniform_below(int(self._ends[-1]), size, bits=bits)
        levels = np.searchsorted(self._ends, tickets, "right")
        ranks = (tickets - self._starts[levels]) >> self._shifts[levels]
        return self._order[self._first[levels] + ranks], levels


def compute_lambert(y: float) -> float:
    """Return W with W exp(W) = y, for y >= 0, by Newton's method."""
    w = math.log1p(y)
    for _ in range(50):
        w -= (w - y * math.exp(-w)) / (1 + w)
    return w
