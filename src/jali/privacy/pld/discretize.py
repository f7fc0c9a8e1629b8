"""Discretise a privacy-loss distribution on a mesh of multiples of a step, pessimistically and optimistically.

Pessimistic (connect the dots; Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022): each loss l between two
points of the mesh is split between them so that its mass under p and its mass under q = e^-l p are both kept. The
profile then agrees with the true one at the points, and runs above it between them: e^-l is convex.

Optimistic: outcomes whose losses are near a point are merged into one outcome. That is post-processing, so the
profile falls. The merged loss is near the point, not at it; a little of a neighbour's mass (a random part of it:
still post-processing) is mixed in so that it lies at the point, or above it, from where rounding down only loses
less.

Both err by the square of the step. Masses come from Gauss-Legendre quadrature with positive weights, so that their
error is relative; `ERROR` bounds it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jali.numbers.quadrature import build_unit_nodes
from jali.privacy.pld.loss_distribution import Array, LossDistribution, Piece

ERROR = 1e-12
# Widths of panels up to which so many nodes err by less than 1e-13 where a normal density has any weight.
_NODES = ((0.01, 3), (0.05, 4), (math.inf, 6))
_PANEL = 0.25
# A few units in the last place: from a loss in doubles to a whole number of steps, themselves a double.
_WHOLE = 2e-15
# The mixing converges by a factor of about the share that is mixed, which is limited to this.
_LARGEST_SHARE = 0.3
_ROUNDS = 80


@dataclass(frozen=True, eq=False)
class Masses:
    """Masses under p at the losses (first + i) * step.

    Attributes:
        first: The index of the first point.
        values: The mass at each point.
        infinite: The mass of an infinite loss.
        slip: How far a loss may lie on the wrong side of the point that holds it: above it on the pessimistic
            side, below it on the optimistic one.
    """

    first: int
    values: Array
    infinite: float
    slip: float


def quadrature(
    piece: Piece, step: float | None = None, low: float = 0.0, high: float = 0.0
) -> tuple[Array, Array]:
    """Return losses and masses of the nodes of a piece; between low and high no panel crosses a half step."""
    panels = max(1, int(np.ceil((piece.stop - piece.start) / _PANEL)))
    cuts = np.linspace(piece.start, piece.stop, panels + 1)
    if step is not None:
        cuts = np.unique(np.concatenate((cuts, _marks(piece, step, low, high))))
    x, weights = _panels(cuts)
    return piece.loss(x), np.exp(piece.log_density(x)) * weights


def total_mass(spread: LossDistribution) -> float:
    """Return the mass of all losses under p, the infinite one included."""
    pieces = math.fsum(float(quadrature(piece)[1].sum()) for piece in spread.pieces)
    return float(spread.masses.sum()) + pieces + spread.infinite


def _panels(cuts: Array) -> tuple[Array, Array]:
    """Return nodes and weights for the intervals between cuts: fewer nodes where they are narrow."""
    widths, narrowest = np.diff(cuts), 0.0
    places, weights = [], []
    for widest, count in _NODES:
        chosen = (widths > narrowest) & (widths <= widest)
        nodes, shares = build_unit_nodes(count)
        places.append((cuts[:-1][chosen, None] + widths[chosen, None] * nodes).ravel())
        weights.append((widths[chosen, None] * shares).ravel())
        narrowest = widest
    return np.concatenate(places), np.concatenate(weights)


def _marks(piece: Piece, step: float, low: float, high: float) -> Array:
    """Return the x at the half steps of the mesh."""
    ends = piece.loss(np.array([piece.start, piece.stop]))
    first, last = np.ceil(max(ends[0], low) / (step / 2)), np.floor(min(ends[1], high) / (step / 2))
    return piece.position(np.arange(first, last + 1) * (step / 2)) if last >= first else np.empty(0)


def pessimistic(spread: LossDistribution, step: float, low: float, high: float) -> Masses:
    """Return masses that dominate the spread; a loss above `high` counts as infinite, one below `low` as `low`."""
    first, last = int(np.floor(low / step)), int(np.ceil(high / step))
    values = np.zeros(last - first + 2)
    infinite = spread.infinite
    for losses, masses in _parts(spread, step, first * step, last * step):
        steps = _steps(losses, step) - first
        infinite += float(masses[steps > last - first].sum())
        kept = steps <= last - first
        place = np.maximum(steps[kept], 0.0)
        cell = np.floor(place)
        # The right point gets the share (1 - e^-u) / (1 - e^-step) of a loss that lies u beyond the left one.
        right = masses[kept] * np.clip(np.expm1(-(place - cell) * step) / np.expm1(-step), 0.0, 1.0)
        index = cell.astype(np.int64)
        values += np.bincount(index, masses[kept] - right, len(values))
        values += np.bincount(index + 1, right, len(values))
    return Masses(first, values * (1 + ERROR), min(1.0, infinite * (1 + ERROR)), _rounding(low, high))


def optimistic(spread: LossDistribution, step: float, low: float, high: float) -> Masses:
    """Return masses that the spread dominates; losses outside [low, high] count as nothing."""
    first, last = int(np.floor(low / step)), int(np.ceil(high / step))
    values = np.zeros(last - first + 1)
    slip = 0.0
    for losses, masses in _parts(spread, step, first * step, last * step):
        place = _steps(losses, step) - first
        kept = (place >= 0) & (place <= last - first)
        merged, lowest = _merge(place[kept], masses[kept], step, len(values))
        values += merged
        slip = max(slip, lowest)
    return Masses(first, values * (1 - ERROR), spread.infinite * (1 - ERROR), slip + _rounding(low, high))


def _parts(spread: LossDistribution, step: float, low: float, high: float) -> list[tuple[Array, Array]]:
    """Return atoms and pieces apart: a heavy atom must not be dragged along by the light edge of a piece."""
    pieces = [quadrature(piece, step, low, high) for piece in spread.pieces]
    return [(spread.losses, spread.masses), *pieces] if len(spread.losses) else pieces


def _steps(losses: Array, step: float) -> Array:
    """Return losses in steps; those that are whole but for the rounding of doubles are whole."""
    steps = losses / step
    whole = np.round(steps)
    return np.where(np.abs(steps - whole) <= _WHOLE * np.abs(whole), whole, steps)


def _rounding(low: float, high: float) -> float:
    """Return how far a loss may lie from the multiple of the step that stands for it."""
    return 2 * _WHOLE * max(abs(low), abs(high))


def _merge(place: Array, masses: Array, step: float, size: int) -> tuple[Array, float]:
    """Merge outcomes around each point, mix until no loss is below its point, and return masses and the slip."""
    index = np.round(place).astype(np.int64)
    mass: Array = np.bincount(index, masses, size).astype(float)
    # The excess p - e^(point) q of each merged outcome: positive if its loss is above the point.
    excess: Array = np.bincount(index, -masses * np.expm1(-(place - index) * step), size).astype(float)
    upper = np.append(mass[1:] * -np.expm1(-step) + excess[1:] * np.exp(-step), 0.0)
    # Across so wide a step nothing from below is mixed in: what lies above its point is rounded down.
    growth = math.expm1(step) if step < 30 else 0.0
    lower = np.insert(growth * mass[:-1] - (growth + 1) * excess[:-1], 0, 0.0) if growth else np.zeros(size)
    rise = _shares(-excess, upper)
    fall = _shares(excess, lower)
    # Where a loss is below its point and no neighbour can lift it, it goes to the point below.
    stuck = (excess < 0) & (rise == 0)
    kept = np.ones(size)
    for _ in range(_ROUNDS):
        given = np.append(rise[:-1] * kept[:-1], 0.0)
        taken = np.insert(given[:-1], 0, 0.0) + np.append((fall * kept)[1:], 0.0)
        before, kept = kept, 1.0 - taken
        if np.max(np.abs(kept - before), initial=0.0) < 1e-15:
            break
    return _mix_rounding(mass, excess, (upper, lower), (rise * kept, fall * kept), kept, stuck)


def _shares(need: Array, supply: Array) -> Array:
    """Return the share of the neighbour that brings a merged loss to its point; 0 where it is too large."""
    share = np.divide(need, supply, out=np.zeros_like(need), where=(need > 0) & (supply > 0))
    return np.where(share <= _LARGEST_SHARE, share, 0.0)


def _mix_rounding(
    mass: Array,
    excess: Array,
    supplies: tuple[Array, Array],
    shares: tuple[Array, Array],
    kept: Array,
    stuck: NDArray[np.bool_],
) -> tuple[Array, float]:
    (upper, lower), (rise, fall) = supplies, shares
    above, below = np.append(mass[1:], 0.0), np.insert(mass[:-1], 0, 0.0)
    total = kept * mass + rise * above + fall * below
    left = kept * excess + rise * upper - fall * lower
    # What is so light that its rounding could not be bounded counts as nothing.
    total = np.where(total > 1e-250, total, 0.0)
    short = (left < 0) & ~stuck & (total > 0)
    slip = 2 * float(np.max(-left[short] / total[short], initial=0.0))
    moved = np.where(stuck, total, 0.0)
    values = total - moved + np.append(moved[1:], 0.0)
    return values, slip
