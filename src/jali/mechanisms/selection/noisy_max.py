"""Report noisy max with exponential, Gumbel or Laplace noise.

The noise is real: of each candidate's noise only as many digits are drawn as it takes to find the winner. The
law with Laplace noise of scale 1 is computed by quadrature between the kinks of its densities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import Specimen
from jali.mechanisms.global_sensitivity import Sensitivity
from jali.mechanisms.selection.exponential_mechanism import Exponential, draw_exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip, compute_miss_probability
from jali.mechanisms.selection.scores import FAR, Exponents
from jali.mechanisms.selection.selection_mechanism import (
    EqualSensitivitySelection,
    Places,
    build_equal_sensitivity_specimens,
    find_maximum,
)
from jali.numbers.quadrature import build_panel_nodes, sum_logs
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import BitSource, Geometric
from jali.sampling.exp_bounds import Doubles
from jali.sampling.guide_table import BitWidths, BlockSampler
from jali.sampling.lazy_exponential import further_digits

_ORDER = 32
_REACH = 50.0  # exp(-50) is below the rounding of doubles
_LN2 = math.log(2)
_POWERS = np.arange(1.0, 61.0)  # series in exp(-y)/2 <= 1/2: what is left out is 2**-60 of the first term


def compute_laplace_race_law(x: Doubles) -> Doubles:
    """Return ln Pr[noise_i - x_i is the largest] for each i, given exponents of which the least is 0.

    Candidate i wins with the integral of f(v + x_i) times the product of F(v + x_j) over all others j. Between
    neighbouring kinks -x_j the integrand is smooth; it varies near the kinks only, so that the middle of a long
    piece is one panel. On a piece, candidates on the one side of it enter by their number and their sum, those on
    the other side by 60 power sums: time grows with the number of different scores, half a second for 3,000.

    Proof:
        docs/proofs/noisy_max.md, Law by quadrature.
    """
    gaps, back, counts = np.unique(x, return_inverse=True, return_counts=True)
    field = _CandidateField.of(gaps, counts)
    pieces = np.array([field.moments(piece) for piece in range(len(gaps))])
    # Behind candidate i: on pieces left of its kink the others' product is all there is.
    left_of = np.append(pieces[1:, 0], field.log_far_left)
    behind = np.logaddexp.accumulate(left_of[::-1])[::-1]
    shifts = gaps[:, None] * _POWERS
    ahead = np.logaddexp.accumulate(pieces[:, 1:] + shifts) - shifts - _LN2 * _POWERS
    return np.logaddexp(behind, sum_logs(ahead.T))[back]


@dataclass(frozen=True, eq=False)
class _CandidateField:
    """The candidates as seen from the pieces between their kinks; piece q ends at kink -gaps[q] on its left.

    Attributes:
        gaps: The different exponents, in rising order.
        nearer: How many candidates have a smaller exponent than gaps[q].
        sums: The sum of gaps[q-1] - x over those.
        powers: For m = 1 .. 60, the sum of exp(-m (x - gaps[q])) over all others.
        candidates: How many there are.
    """

    gaps: Doubles
    nearer: NDArray[np.intp]
    sums: Doubles
    powers: Doubles
    candidates: int

    @classmethod
    def of(cls, gaps: Doubles, counts: NDArray[np.intp]) -> _CandidateField:
        """Sum up the candidates to either side of each piece; no sum has terms of both signs."""
        steps, nearer = np.diff(gaps), np.append(0, np.cumsum(counts))
        sums = np.append([0.0, 0.0], np.cumsum(nearer[1:-1] * steps))
        powers = np.empty((len(gaps), len(_POWERS)))
        powers[-1] = counts[-1]
        for q in range(len(gaps) - 2, -1, -1):
            powers[q] = counts[q] + np.exp(-steps[q] * _POWERS) * powers[q + 1]
        return cls(gaps, nearer, sums, powers, int(nearer[-1]))

    @property
    def log_far_left(self) -> float:
        """The integral of the product left of all kinks: ln of exp(-sum) 2**-d / d."""
        return float(-self.sums[-1] - self.candidates * _LN2 - math.log(self.candidates))

    def moments(self, q: int) -> Doubles:
        """Return ln of the integral over piece q of exp(-m t) times the product, t = v + gaps[q], m = 0 .. 60."""
        right = math.inf if q == 0 else self.gaps[q] - self.gaps[q - 1]
        parts = [self._integrals(q, *part) for part in _cut_panels(right, self.candidates)]
        return sum_logs(np.array(parts))

    def _integrals(self, q: int, base: float, edges: Doubles) -> Doubles:
        """Integrate over t = base + offset; offsets from the right end of the piece are kept as they are."""
        offsets, log_weights = build_panel_nodes(edges, _ORDER)
        t = base + offsets
        decays = -t[:, None] * _POWERS
        logs = log_weights - np.exp(decays - _LN2 * _POWERS) @ (self.powers[q] / _POWERS)
        if q:
            u = offsets if base else offsets - (self.gaps[q] - self.gaps[q - 1])
            logs += self.nearer[q] * (u - _LN2) - self.sums[q]
        return sum_logs(np.column_stack([logs, logs[:, None] + decays]))


def _cut_panels(length: float, candidates: int) -> Iterator[tuple[float, Doubles]]:
    """Yield, for a piece of this length, an end of it and the edges of panels, as offsets from there."""
    reach = math.ceil(_REACH + math.log(candidates))
    leftward = _list_growing_edges(1 / candidates, 3 * reach)
    if length > 3 * reach:
        yield 0.0, np.arange(reach + 1.0)
        if length < math.inf:
            yield length, np.array([reach - length, -float(reach)])
            yield length, -leftward[leftward <= reach][::-1]
    else:
        yield length, -np.append(leftward[leftward < length], length)[::-1]


def _list_growing_edges(finest: float, end: int) -> Doubles:
    """Return edges from 0 to `end` whose panels double until they have length 1.

    The integrand is log-concave and its logarithm falls at a rate of 1 at most to the right, but of one for each
    candidate to the left: where a panel is too long for it there, next to nothing is left.
    """
    doubling = finest * 2.0 ** np.arange(math.ceil(-math.log2(finest)))
    return np.array([0.0, *doubling.tolist(), *range(1, end + 1)])


def compute_laplace_miss_probability(x: float, candidates: int) -> float:
    """Return the probability to miss the best of several candidates when all others are x scales below it.

    It is the integral of f(v) (1 - F(v + x)**others), all of it above 0, so that small probabilities are exact
    too.
    """
    others, half = candidates - 1, math.exp(-x) / 2
    below = half * (1 - 0.5**others / candidates)  # v < -x
    above = compute_miss_probability(half, candidates) / 2  # v > 0
    return below + above + _compute_miss_between(x, others)


def _compute_miss_between(x: float, others: int) -> float:
    """Return half of the integral over w in [0, x] of exp(w - x) (1 - (1 - exp(-w)/2)**others)."""
    if x == 0:
        return 0.0
    w, log_weights = build_panel_nodes(np.linspace(0, x, math.ceil(x) + 1), _ORDER)
    return -math.fsum(np.exp(log_weights + w - x) * np.expm1(others * np.log1p(-np.exp(-w) / 2))) / 2


_TABLE = 1 << 18
_LOOSE = 2.0**-48


@dataclass(frozen=True)
class NoiseRace:
    """Finds which of the real numbers noise_i - X_i is largest; ties have probability 0.

    The noise is exponential of scale 1, with a random sign if `two_sided` (Laplace). All digits of all noises
    would be the ideal; the answer is the same, for a candidate is given up only when it is surely behind.

    Args:
        two_sided: Whether the noise has a sign.
        precision: The digits behind the point that every candidate gets at first. Speed depends on this and the
            next two, the law does not.
        digits: How many more are drawn at a time for those that are still in the race.
        plan: How the first digits are sampled, if not as usual.
        word_bits: How many bits the draws of further digits take at a time.

    Proof:
        docs/proofs/noisy_max.md, Theorem 2.
    """

    two_sided: bool
    precision: int = 20
    digits: int = 32
    plan: BitWidths | None = None
    word_bits: int = 64

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Run `size` independent races and return the winners."""
        rows = max(1, _TABLE // len(exponents))
        parts = [min(rows, size - start) for start in range(0, size, rows)]
        won = [self._winners(exponents, part, bits) for part in parts]
        return np.concatenate(won) if won else np.empty(0, np.intp)

    def _winners(self, exponents: Exponents, rows: int, bits: BitSource) -> Places:
        shape = rows, len(exponents)
        noise = self._first_digits(rows * len(exponents), bits).reshape(shape)
        signs = self._signs(rows * len(exponents), bits).reshape(shape)
        ahead = self._contenders(exponents.doubles, noise, signs)
        winners = np.asarray(ahead.argmax(axis=1))
        for row in np.flatnonzero(np.count_nonzero(ahead, axis=1) > 1).tolist():
            places = np.flatnonzero(ahead[row]).tolist()
            runners = [
                _Runner(place, exponents.exact(place), int(noise[row, place]), int(signs[row, place]))
                for place in places
            ]
            winners[row] = self._finish(runners, bits)
        return winners

    def _first_digits(self, count: int, bits: BitSource) -> NDArray[Any]:
        law = Geometric(Fraction(1 << self.precision))
        return (
            law.sample(count, bits=bits) if self.plan is None else BlockSampler(law, self.plan).sample(count, bits)
        )

    def _signs(self, count: int, bits: BitSource) -> NDArray[np.int8]:
        if not self.two_sided:
            return np.ones(count, np.int8)
        return 1 - 2 * bits.integers(count, 1).astype(np.int8)

    def _contenders(self, x: Doubles, noise: NDArray[Any], signs: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return which candidates the first digits leave in each race: all that may win, in double."""
        width = 2.0**-self.precision
        size = noise.astype(np.float64) * width
        low = size * signs
        low -= x
        low -= (signs < 0) * width
        size += x + 1
        size *= _LOOSE  # more than the error of low
        # A candidate beyond FAR may be further behind than x says: it sets no mark for the others.
        mark = np.where(x < FAR / 2, low - size, -np.inf).max(axis=1, keepdims=True)
        return np.asarray(low + (width + size) >= mark)

    def _finish(self, runners: list[_Runner], bits: BitSource) -> int:
        """Give more digits to those still in the race until one is left."""
        precision = self.precision
        while True:
            mark = max(runner.low(precision) for runner in runners)
            runners = [runner for runner in runners if runner.high(precision) > mark]
            if len(runners) == 1:
                return runners[0].place
            for runner in runners:
                runner.noise = further_digits(
                    runner.noise, precision, self.digits, bits=bits, word_bits=self.word_bits
                )
            precision += self.digits


@dataclass
class _Runner:
    """A candidate: its noise lies in [noise, noise + 1) / 2**precision, times its sign; its score is -x."""

    place: int
    x: Fraction
    noise: int
    sign: int

    def low(self, precision: int) -> Fraction:
        return Fraction(self.noise if self.sign > 0 else -self.noise - 1, 1 << precision) - self.x

    def high(self, precision: int) -> Fraction:
        return self.low(precision) + Fraction(1, 1 << precision)


RealNoise = Literal["exponential", "gumbel", "laplace"]


@dataclass(frozen=True, repr=False, init=False)
class NoisyMax(EqualSensitivitySelection):
    """Add real noise of scale 2 sensitivity/epsilon to every score and report the index of the largest.

    Args:
        sensitivity: How far one score moves between neighbours at most: a number, or a `Sensitivity`, whose
            l_infinity distance and adjacency are used.
        epsilon: The loss.
        noise: "exponential" (the law of permute-and-flip), "gumbel" (the law of the exponential mechanism) or
            "laplace" (the one of the textbooks).
        monotone: Whether all scores move the same way between neighbours, as counts do when one unit is added or
            removed; then the scale is sensitivity/epsilon. Only under "add-remove".
        adjacency: When two tables are neighbours; needed for monotone scores.
        step: Round real scores to multiples of this; without it scores must be exact.

    Guarantee:
        The index is epsilon-DP for scores that each move by `sensitivity` at most. With Gumbel noise it is of
        bounded range besides; with the others it is not. The noise is real, not discrete: ties have probability 0.
    Proof:
        docs/proofs/noisy_max.md, after Dwork and Roth 2014, Claim 3.9, and Ding et al. 2021.

    Error:
        The worst case has all others equally far below the best: with exponential and Gumbel noise the laws of
        `PermuteAndFlip` and `Exponential`; with Laplace noise the same by quadrature. The largest of d exponential
        noises has the expectation scale * (1 + 1/2 + ... + 1/d). Errors grow with the number of candidates:
        without `candidates=`, `error(confidence)` is about two of them.

    Example:
        >>> from jali.mechanisms import NoisyMax
        >>> mechanism = NoisyMax(sensitivity=1, epsilon=1, noise="laplace")
        >>> mechanism.release([3, 1, 2, 0]) in range(4)
        True
        >>> mechanism.probabilities([1, 0]).round(8).tolist()
        [0.62091834, 0.37908166]
    """

    noise: RealNoise

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        noise: RealNoise = "exponential",
        monotone: bool = False,
        adjacency: str | Adjacency | None = None,
        step: Number | None = None,
    ) -> None:
        super().__init__(
            sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, adjacency=adjacency, step=step
        )
        if noise not in get_args(RealNoise):
            raise MechanismError("selection-noise-unknown", noise=noise)
        self._fill(noise=noise)

    @property
    def loss(self) -> Loss:
        """Epsilon: pure, and with Gumbel noise as a range of losses."""
        return BoundedRange(self.epsilon) if self.noise == "gumbel" else Pure(self.epsilon)

    def draw(self, exponents: Exponents, size: int, bits: BitSource) -> Places:
        """Draw `size` independent choices: by a race or, with Gumbel noise, by the law it is known to have."""
        if self.noise == "gumbel":
            return draw_exponential(exponents, size, bits)
        return NoiseRace(two_sided=self.noise == "laplace").draw(exponents, size, bits)

    def log_law(self, x: Doubles) -> Doubles:
        """Return the logarithms of the probabilities of all candidates with the given exponents."""
        return compute_laplace_race_law(x) if self.noise == "laplace" else self._twin.log_law(x)

    def worst_tail(self, x: float, candidates: int) -> float:
        """Return the probability to miss the best if all others are x scales below it: the worst case."""
        return (
            compute_laplace_miss_probability(x, candidates)
            if self.noise == "laplace"
            else self._twin.worst_tail(x, candidates)
        )

    def worst_mean(self, candidates: int) -> float:
        """Return the largest expected distance in scales.

        For Laplace noise and more than two candidates it is a bound, the integral of the worst tail.
        """
        if self.noise != "laplace":
            return self._twin.worst_mean(candidates)
        if candidates <= 2:
            return find_maximum(lambda x: x * compute_laplace_miss_probability(x, candidates), 10)
        x, log_weights = build_panel_nodes(np.linspace(0, 50 + 2 * math.log(candidates), 64), 12)
        return math.fsum(
            math.exp(w) * compute_laplace_miss_probability(gap, candidates)
            for gap, w in zip(x, log_weights, strict=True)
        )

    @property
    def _twin(self) -> EqualSensitivitySelection:
        """The mechanism with the same law."""
        kind = Exponential if self.noise == "gumbel" else PermuteAndFlip
        return kind(sensitivity=self.sensitivity, epsilon=self.epsilon)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small histograms and a candidate far behind, for each noise; Laplace noise nears its loss."""
        return tuple(
            replace(specimen, tight=noise != "laplace")
            for noise in get_args(RealNoise)
            for specimen in build_equal_sensitivity_specimens(cls, noise=noise)
        )
