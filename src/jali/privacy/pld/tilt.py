"""Choose the tilt, step and range of a discretised sum of privacy losses from its quadrature nodes.

From the nodes of the quadrature alone a `Pilot` knows the cumulant generating function of the sum, and so the
tilt that suits a delta or an epsilon, the epsilon to expect, and the step and range that the mesh needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.numbers.search import golden_section
from jali.privacy.pld.discretize import quadrature
from jali.privacy.pld.loss_distribution import Array, LossDistribution, dot

# The discretisation may raise epsilon by this part of it, if the mesh does not grow too long for that.
_TOLERANCE = 1e-7
# What lies beyond the range of the mesh, as a part of delta.
_CUT = 1e-8
_LONGEST = 2**19
_LONGEST_OF_ALL = 2**23
# How much wider the steps of a rough mesh are.
_ROUGH = 6
LIGHTEST = 1e-300
_TILTS = math.log(1e-4), math.log(1e5)
# Until two of them are 1e-3 apart.
_STEPS = 22


@dataclass(frozen=True, eq=False)
class Pilot:
    """A sum of `count` independent losses of each spread, known by its nodes."""

    spreads: tuple[LossDistribution, ...]
    counts: tuple[int, ...]
    nodes: tuple[tuple[Array, Array], ...]

    @property
    def infinite(self) -> float:
        """The probability of an infinite loss, rounded up."""
        pairs = zip(self.spreads, self.counts, strict=True)
        return min(1.0, -math.expm1(sum(k * math.log1p(-min(s.infinite, 1 - 1e-16)) for s, k in pairs)))

    @property
    def largest(self) -> float:
        """The largest finite loss of the sum; infinite if there is none."""
        if any(piece.endless for spread in self.spreads for piece in spread.pieces):
            return math.inf
        pairs = zip(self.spreads, self.nodes, strict=True)
        return sum(k * _ends(s, losses)[1] for k, (s, (losses, _)) in zip(self.counts, pairs, strict=True))

    @property
    def _pair_counts(self) -> list[tuple[tuple[Array, Array], int]]:
        return list(zip(self.nodes, self.counts, strict=True))

    def cumulant(self, tilt: float) -> float:
        """Return ln E[e^(tilt L)] of the sum L."""
        return sum(count * _log_mean(losses, masses, tilt) for (losses, masses), count in self._pair_counts)

    def reaches(self, tilt: float) -> bool:
        """Say whether the nodes hold all that the tilted law weighs: an endless law may go on beyond them."""
        pairs = zip(self.spreads, self.nodes, strict=True)
        return all(_ends_light(*nodes, tilt) for spread, nodes in pairs if any(p.endless for p in spread.pieces))

    def stddev(self, tilt: float) -> float:
        """Return the standard deviation of the tilted sum."""
        total = 0.0
        for (losses, masses), count in self._pair_counts:
            exponents = tilt * losses + np.log(masses) - _log_mean(losses, masses, tilt)
            weights = np.exp(np.minimum(exponents, 0.0))
            mean = float(dot(weights, losses))
            total += count * float(dot(weights, (losses - mean) ** 2))
        return math.sqrt(max(total, 0.0))

    def tilt_for_delta(self, delta: float) -> tuple[float, float]:
        """Return the tilt that suits a delta, and the epsilon which that tilt proves (as a Rényi bound does)."""
        rest = math.log(max(delta - self.infinite, 1e-9 * delta))
        return _least(lambda tilt: (self.cumulant(tilt) - rest + _gain(tilt)) / tilt)

    def tilt_for_epsilon(self, epsilon: float) -> tuple[float, float]:
        """Return the tilt that suits an epsilon, and ln of the delta which that tilt proves."""
        return _least(lambda tilt: self.cumulant(tilt) - tilt * epsilon + _gain(tilt))

    def ranges(self, delta: float) -> list[tuple[float, float]]:
        """Return, for each spread, the losses outside of which there is nothing that delta could notice."""
        cut = _CUT * delta / sum(self.counts)
        pairs = zip(self.spreads, self.nodes, strict=True)
        return [_range(spread, losses, masses, cut) for spread, (losses, masses) in pairs]

    def step(self, epsilon: float, tilt: float, ranges: Sequence[tuple[float, float]], rough: bool) -> float:
        """Return the step of the mesh at which the discretisation costs little of epsilon.

        Splitting a loss over a cell of width h adds about h^2/12 (tilt + tilt^2) to its cumulant generating
        function, so count h^2/12 (1 + tilt) to epsilon.
        """
        count, stddev = sum(self.counts), self.stddev(tilt)
        allowed = _TOLERANCE * max(epsilon, 0.01 * stddev, 1e-12)
        wanted = math.sqrt(12 * allowed / (count * (1 + tilt)))
        widest = max(high - low for low, high in ranges)
        # A mesh that is coarser than a single loss would say nothing; a longer one is the lesser evil.
        single = max(wanted, stddev / math.sqrt(count) / 4)
        step = min(max(wanted, 13 * stddev / _LONGEST), single)
        step = max(step, 2 * widest / _LONGEST, 13 * stddev / _LONGEST_OF_ALL)
        return self._snap_step(step * (_ROUGH if rough else 1))

    def _snap_step(self, step: float) -> float:
        """Return a step that divides the spacing of all atoms, if that costs little."""
        spacings = [spread.spacing for spread in self.spreads if spread.spacing is not None]
        common = _common_divisor(spacings)
        if common is None or common < step / 4:
            return step
        # Atoms that lie on the mesh need no finer one.
        alone = len(spacings) == len(self.spreads) and not any(spread.pieces for spread in self.spreads)
        return float(common) if alone else float(common / math.ceil(common / Fraction(step)))


def pilot(spreads: Sequence[LossDistribution], counts: Sequence[int]) -> Pilot:
    """Return the pilot of a sum of losses."""
    return Pilot(tuple(spreads), tuple(counts), tuple(_nodes(spread) for spread in spreads))


def _nodes(spread: LossDistribution) -> tuple[Array, Array]:
    parts = [(spread.losses, spread.masses), *(quadrature(piece) for piece in spread.pieces)]
    losses, masses = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    order = np.argsort(losses, kind="stable")
    losses, masses = losses[order], masses[order]
    # Denormal masses carry no digits; what they stand for is below what any delta could notice.
    return losses[masses > LIGHTEST], masses[masses > LIGHTEST]


def _log_mean(losses: Array, masses: Array, tilt: float) -> float:
    exponents = tilt * losses
    top = float(np.max(exponents))
    return top + math.log(float(dot(masses, np.exp(exponents - top))))


def _ends_light(losses: Array, masses: Array, tilt: float) -> bool:
    exponents = tilt * losses + np.log(masses)
    return bool(max(exponents[0], exponents[-1]) < exponents.max() - 50)


def _gain(tilt: float) -> float:
    """Return ln of the largest e^(-tilt u) (1 - e^-u) over u > 0."""
    return tilt * math.log(tilt) - (1 + tilt) * math.log1p(tilt)


def _range(spread: LossDistribution, losses: Array, masses: Array, cut: float) -> tuple[float, float]:
    """Return the losses below and above which the mass is at most `cut`; a node stands for all up to the next."""
    first, last = _ends(spread, losses)
    marks = np.concatenate(([first], losses, [last]))
    low = marks[np.searchsorted(np.cumsum(masses), cut, side="right")]
    high = marks[-1 - np.searchsorted(np.cumsum(masses[::-1]), cut, side="right")]
    return float(low), float(max(high, low))


def _ends(spread: LossDistribution, losses: Array) -> tuple[float, float]:
    """Return the least and the largest finite loss."""
    ends = [piece.loss(np.array([piece.start, piece.stop])) for piece in spread.pieces]
    edges = np.concatenate((losses[:1], losses[-1:], *ends))
    return float(edges.min()), float(edges.max())


def _least(function: Callable[[float], float]) -> tuple[float, float]:
    """Return where a unimodal function of a tilt is least, and its value there."""
    found = golden_section(lambda log: function(math.exp(log)), *_TILTS, steps=_STEPS)
    return math.exp(found.at), found.value


def _common_divisor(values: Sequence[Fraction]) -> Fraction | None:
    if not values:
        return None
    result = values[0]
    for value in values[1:]:
        result = Fraction(
            math.gcd(result.numerator * value.denominator, value.numerator * result.denominator),
            result.denominator * value.denominator,
        )
    return result
