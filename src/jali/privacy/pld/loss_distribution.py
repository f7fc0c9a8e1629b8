"""Spreads, the laws of the privacy loss L(r) = ln p(r)/q(r) for r drawn from p.

A spread has atoms, smooth pieces, and the probability that the loss is infinite. A loss whose worst pair (p, q) is
the same in both directions has one spread; one that differs between removing and adding a person has two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
# Beyond 38 standard deviations a normal law has less than 1e-300.
_REACH = 38.0
# Laws that are farther apart have nothing in common that a double could hold.
_FARTHEST = 1000.0
# A density that falls by e^-1/2 with each unit of loss ends here for a double.
_LONGEST_PIECE = 1500.0


@dataclass(frozen=True)
class Piece:
    """A smooth part of the law, in a coordinate x in which its density is simple; the loss grows with x.

    Attributes:
        start: The least x; what lies below has no weight that a double could hold.
        stop: The largest x, likewise.
        loss: The loss at x.
        position: The x at a loss, within [start, stop]: the inverse of `loss`.
        log_density: ln of the density of x under p; it changes by a small factor over a quarter of x.
        endless: Whether the law goes on beyond start and stop, too light for a double.
    """

    start: float
    stop: float
    loss: Callable[[Array], Array]
    position: Callable[[Array], Array]
    log_density: Callable[[Array], Array]
    endless: bool = False


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """The law of a privacy loss.

    Attributes:
        losses: The losses of the atoms.
        masses: The probabilities of the atoms under p.
        pieces: The smooth parts.
        infinite: The probability of an infinite loss, rounded up.
        spacing: A number of which all atoms are multiples, if there is one: a mesh that it is a multiple of
            holds them without rounding.
    """

    losses: Array
    masses: Array
    pieces: tuple[Piece, ...] = ()
    infinite: float = 0.0
    spacing: Fraction | None = None


def atoms(
    losses: Sequence[float] | Array,
    masses: Sequence[float] | Array,
    *,
    infinite: float = 0.0,
    spacing: Fraction | None = None,
) -> LossDistribution:
    """Return a spread of atoms alone."""
    return LossDistribution(
        np.asarray(losses, float), np.asarray(masses, float), infinite=infinite, spacing=spacing
    )


def response(epsilon: float, *, infinite: float = 0.0, spacing: Fraction | None = None) -> LossDistribution:
    """Return the spread of randomized response: epsilon with odds e^epsilon, or -epsilon."""
    truth = 1 / (1 + math.exp(-epsilon))
    finite = 1 - infinite
    lie = math.exp(-epsilon) * truth
    return atoms([-epsilon, epsilon], [finite * lie, finite * truth], infinite=infinite, spacing=spacing)


def smooth(low: float, high: float, log_density: Callable[[Array], Array]) -> Piece:
    """Return a piece whose coordinate is the loss itself and whose density grows by e^(1/2) with each unit."""
    low = max(low, high - _LONGEST_PIECE)
    return Piece(low, high, lambda x: x, lambda loss: np.clip(loss, low, high), log_density)


def bounded_range(epsilon: float) -> LossDistribution:
    """Return the spread with profile (e^(epsilon/2) - e^(e/2))^2 / (e^epsilon - 1).

    By y = e^e, delta''(y) = (A/2) y^(-3/2) / (A^2 - 1) with A = e^(epsilon/2), so that the loss has the density
    e^(2l) delta''(e^l) = (A/2) e^(l/2) / (A^2 - 1) on [-epsilon, epsilon] under p, and no atoms.
    """
    constant = -math.log(2) - epsilon / 2 - math.log(-math.expm1(-epsilon))
    return LossDistribution(np.empty(0), np.empty(0), (smooth(-epsilon, epsilon, lambda x: constant + x / 2),))


def dot(first: Array, second: Array) -> float:
    """Return the sum of products, by pairwise summation on one core: BLAS would wake the others for it."""
    return float(np.sum(first * second))


def gaussian(shift: float) -> LossDistribution:
    """Return the spread of N(0, 1) against N(-shift, 1): the loss shift x + shift^2/2 at x."""
    constant = math.log(2 * math.pi) / 2
    # As far as either law has weight: what a sample mixes in is the second one.
    start = -_REACH - min(shift, _FARTHEST)
    piece = Piece(
        start=start,
        stop=_REACH,
        loss=lambda x: shift * x + shift**2 / 2,
        position=lambda loss: np.clip(loss / shift - shift / 2, start, _REACH),
        log_density=lambda x: -(x**2) / 2 - constant,
        endless=True,
    )
    return LossDistribution(np.empty(0), np.empty(0), (piece,))


def laplace(epsilon: float, spacing: Fraction) -> LossDistribution:
    """Return the spread of Laplace noise: atoms at both ends, and e^(-(epsilon - l)/2) / 4 between them."""
    ends = np.array([-epsilon, epsilon])
    between = smooth(-epsilon, epsilon, lambda x: (x - epsilon) / 2 - math.log(4))
    return LossDistribution(ends, np.array([math.exp(-epsilon) / 2, 0.5]), (between,), spacing=spacing)
