"""Permute-and-flip, the default selection mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from jali.mechanisms.base import PureMechanism, Specimen
from jali.mechanisms.selection.scores import Exponents
from jali.mechanisms.selection.selection_mechanism import (
    PERMUTE_AND_FLIP,
    PERMUTE_AND_FLIP_PAGE,
    Places,
    SelectionByWeight,
    build_equal_sensitivity_specimens,
    find_maximum,
)
from jali.numbers.quadrature import build_panel_nodes, sum_logs
from jali.sampling import BitSource
from jali.sampling.bernoulli import settle_exp
from jali.sampling.exp_bounds import Doubles
from jali.sampling.interval_bernoulli import Booleans
from jali.sampling.uniform import uniform_below

_WORD = 32
_BLOCK = 1 << 14
_TABLE = 1 << 18  # draws made together at most, where one release does not need more
_ORDER = 48


@dataclass(frozen=True, repr=False, init=False)
class PermuteAndFlip(PureMechanism, SelectionByWeight):
    """Look at the candidates in random order and accept each with probability exp(-(best - score)/scale).

    The first that is accepted is the choice; the scale is 2 sensitivity/epsilon. Its law is that of noisy max with
    exponential noise, and its expected error is never above that of the exponential mechanism (McKenna and
    Sheldon 2020).

    Args:
        sensitivity: How far one score moves between neighbours at most: a number, or a `Sensitivity`, whose
            l_infinity distance and adjacency are used.
        epsilon: The loss.
        monotone: Whether all scores move the same way between neighbours, as counts do when one unit is added or
            removed; then the scale is sensitivity/epsilon. Only under "add-remove".
        adjacency: When two tables are neighbours; needed for monotone scores.
        step: Round real scores to multiples of this; without it scores must be exact.

    Guarantee:
        The choice is epsilon-DP for scores that each move by `sensitivity` at most. It is not of bounded range,
        and is charged epsilon^2/2 in zCDP.
    Proof:
        docs/proofs/permute_and_flip.md, after McKenna and Sheldon 2020 and Ding et al. 2021.

    Error:
        With d candidates and p = exp(-t/scale), the choice is t or more below the best score with a probability of
        at most 1 - (1 - (1-p)**d)/(d p), reached when all others are exactly t below. It grows with d: without
        `candidates=`, `error(confidence)` is about two of them.

    Example:
        >>> from jali.mechanisms import PermuteAndFlip
        >>> mechanism = PermuteAndFlip(sensitivity=1, epsilon=1)
        >>> mechanism.release([3, 1, 2, 0]) in range(4)
        True
        >>> mechanism.probabilities([1, 0]).round(8).tolist()
        [0.69673467, 0.30326533]
        >>> round(mechanism.worst_expected_error(2), 7)
        0.3678794
    """

    tag: ClassVar[str] = "PermuteAndFlip"
    noun: ClassVar[str] = PERMUTE_AND_FLIP
    page: ClassVar[str] = PERMUTE_AND_FLIP_PAGE
    for_pure_loss: ClassVar[bool] = True

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Draw `size` independent choices."""
        return draw_permute_and_flip(exponents, size, bits)

    def log_law(self, x: Doubles) -> Doubles:
        """Return ln of p_y times the integral over [0, 1] of the product of 1 - t p_z over the others."""
        return compute_permute_and_flip_law(x)

    def worst_tail(self, x: float, candidates: int) -> float:
        """Return the probability to miss the best if all others are x scales below it: the worst case."""
        return compute_miss_probability(math.exp(-x), candidates)

    def worst_mean(self, candidates: int) -> float:
        """Return the largest x times that probability: the worst case has all others equal."""
        return find_maximum(lambda x: x * self.worst_tail(x, candidates), 10 + 2 * math.log(candidates))

    def convert_loss(self) -> SelectionByWeight:
        """Return the exponential mechanism at the same epsilon."""
        from jali.mechanisms.selection.exponential_mechanism import Exponential

        return Exponential(
            sensitivity=self.sensitivity, epsilon=self.epsilon, monotone=self.monotone, adjacency=self.adjacency
        )

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small histograms, and a candidate so far behind that its loss is epsilon."""
        return build_equal_sensitivity_specimens(cls)


def draw_permute_and_flip(exponents: Exponents, size: int, bits: BitSource, *, word_bits: int = _WORD) -> Places:
    """Draw `size` independent choices: draw for all, then choose uniformly among the accepted.

    Args:
        exponents: One X >= 0 for each candidate, the least of them 0.
        size: How many.
        bits: Where the random bits come from.
        word_bits: How many bits of a uniform number are drawn at a time; the law does not depend on it.

    Proof:
        docs/proofs/permute_and_flip.md, Theorem 1.
    """
    rows = max(1, _TABLE // len(exponents))
    parts = [min(rows, size - start) for start in range(0, size, rows)]
    chosen = [_choose_among_accepted(_draw_acceptances(exponents, part, bits, word_bits), bits) for part in parts]
    return np.concatenate(chosen) if chosen else np.empty(0, np.intp)


def _draw_acceptances(exponents: Exponents, rows: int, bits: BitSource, width: int) -> Booleans:
    """Draw for all candidates, `rows` times over."""
    count = len(exponents)
    x = exponents.doubles if rows == 1 else np.tile(exponents.doubles, rows)
    coins = np.empty(rows * count, np.bool_)
    for start in range(0, len(x), _BLOCK):
        part = x[start : start + _BLOCK]
        words = bits.integers(len(part), width)
        exact = partial(_read_row_exactly, exponents, start)
        coins[start : start + _BLOCK] = settle_exp(words, width, part, exact, bits)
    return coins.reshape(rows, count)


def _read_row_exactly(exponents: Exponents, start: int, turn: int) -> Fraction:
    return exponents.exact((start + turn) % len(exponents))


def _choose_among_accepted(coins: Booleans, bits: BitSource) -> Places:
    """Choose uniformly among the True of each row; the best candidate is always one of them."""
    counts = np.count_nonzero(coins, axis=1)
    ranks = np.empty(len(coins), np.intp)
    for count in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == count)
        ranks[rows] = uniform_below(count, len(rows), bits=bits)
    places = np.flatnonzero(coins)
    return np.asarray(places[np.cumsum(counts) - counts + ranks] % coins.shape[1])


def compute_permute_and_flip_law(x: Doubles) -> Doubles:
    """Return the logarithms of the probabilities for given exponents, the least of them 0."""
    gaps, back, counts = np.unique(x, return_inverse=True, return_counts=True)
    nodes, log_weights = build_panel_nodes(_list_edges(len(x)), min(_ORDER, len(x) // 2 + 1))
    logs = np.log1p(-nodes[:, None] * np.exp(-gaps))
    all_refused = logs @ counts
    return np.asarray(sum_logs((log_weights + all_refused)[:, None] - logs) - gaps)[back]


def _list_edges(count: int) -> Doubles:
    """One panel where the nodes are exact for the polynomial's degree; otherwise panels that halve towards 0."""
    if count // 2 + 1 <= _ORDER:
        return np.array([0.0, 1.0])
    return np.array([0.0, *(2.0**-k for k in range(count.bit_length() + 6, -1, -1))])


def compute_miss_probability(p: float, candidates: int) -> float:
    """Return the probability to miss the best of several candidates, each of the others accepted with p."""
    if p * candidates < 1e-4:  # the difference below would cancel; its series is (d-1)p/2 - (d-1)(d-2)p^2/6 + ...
        d = candidates
        return (d - 1) * p / 2 - (d - 1) * (d - 2) * p**2 / 6 + (d - 1) * (d - 2) * (d - 3) * p**3 / 24
    none_accepted = candidates * math.log1p(-p) if p < 1 else -math.inf
    return 1 + math.expm1(none_accepted) / (candidates * p)
