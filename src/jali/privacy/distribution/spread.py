"""Spreads: the law of the privacy loss L(r) = ln p(r)/q(r) for r drawn from p.

A spread has atoms, smooth pieces, and the probability that the loss is infinite. Two of them describe a loss that
differs between adding and removing a person.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Piece:
    """A smooth part of the law, in a coordinate x in which its density is simple; the loss grows with x.

    Attributes:
        low: The least loss of the piece; may be -inf.
        high: The largest loss; may be inf.
        loss: The loss at x.
        position: The x at a loss: the inverse of `loss`.
        log_density: ln of the density of x under p.
        above: The probability under p of a loss above a number, of the whole piece's law; rounded up.
        below: The probability under p of a loss below a number; rounded up.
    """

    low: float
    high: float
    loss: Callable[[Array], Array]
    position: Callable[[Array], Array]
    log_density: Callable[[Array], Array]
    above: Callable[[float], float]
    below: Callable[[float], float]


@dataclass(frozen=True, eq=False)
class Spread:
    """The law of a privacy loss.

    Attributes:
        losses: The losses of the atoms, ascending.
        masses: The probabilities of the atoms under p.
        pieces: The smooth parts.
        infinite: The probability of an infinite loss, rounded up.
    """

    losses: Array
    masses: Array
    pieces: tuple[Piece, ...] = ()
    infinite: float = 0.0


def atoms(losses: list[float], masses: list[float], *, infinite: float = 0.0) -> Spread:
    """Return a spread of atoms alone."""
    order = np.argsort(losses)
    return Spread(np.asarray(losses, float)[order], np.asarray(masses, float)[order], infinite=infinite)


def response(epsilon: float, *, infinite: float = 0.0) -> Spread:
    """Return the spread of randomized response: epsilon with odds e^epsilon, or -epsilon."""
    truth = 1 / (1 + math.exp(-epsilon))
    lie = math.exp(-epsilon) * truth
    return atoms([-epsilon, epsilon], [(1 - infinite) * lie, (1 - infinite) * truth], infinite=infinite)


def bounded_range(epsilon: float) -> Spread:
    """Return the spread with profile (e^(epsilon/2) - e^(e/2))^2 / (e^epsilon - 1).

    By y = e^e, delta''(y) = (A/2) y^(-3/2) / (A^2 - 1) with A = e^(epsilon/2), so that the loss has the density
    e^(2l) delta''(e^l) = (A/2) e^(l/2) / (A^2 - 1) on [-epsilon, epsilon] under p, and no atoms.
    """
    constant = -math.log(2) - epsilon / 2 - math.log(-math.expm1(-epsilon))

    def mass(low: float, high: float) -> float:
        low, high = max(low, -epsilon), min(high, epsilon)
        return 2 * math.exp(constant) * (math.exp(high / 2) - math.exp(low / 2)) if low < high else 0.0

    piece = Piece(
        low=-epsilon,
        high=epsilon,
        loss=lambda x: x,
        position=lambda loss: loss,
        log_density=lambda x: constant + x / 2,
        above=lambda loss: mass(loss, epsilon),
        below=lambda loss: mass(-epsilon, loss),
    )
    return Spread(np.empty(0), np.empty(0), (piece,))
