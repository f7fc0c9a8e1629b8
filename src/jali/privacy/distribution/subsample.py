"""Spreads of subsampled mechanisms, from the spread of the mechanism itself.

For a mechanism whose neighbours are dominated by the pair (P, Q), symmetric in the two (Zhu, Dong and Wang 2022,
Theorem 11; Balle, Barthe and Gaboardi 2018):
- Poisson sampling, add-remove: removing a person is dominated by ((1-q) Q + q P, Q), adding by
  (P, (1-q) P + q Q);
- sampling without replacement, replace-one: the profile is that of the first pair for e >= 0 and that of the
  second for e < 0, in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from jali.privacy.distribution.mesh import ERROR, quadrature
from jali.privacy.distribution.spread import Array, Piece, Spread, dot

Map = Callable[[Array], Array]


def removed(base: Spread, rate: float) -> Spread:
    """Return the spread of ((1-q) Q + q P, Q)."""
    losses = _mixed(base.losses, rate)
    masses = base.masses * np.exp(_mixed_weight(base.losses, rate))
    pieces = tuple(_removed_piece(piece, rate) for piece in base.pieces)
    # What only Q can give has the loss ln(1-q); by symmetry its mass under Q is the infinite mass of P.
    alone = (1 - rate) * base.infinite
    if alone:
        losses, masses = np.append(losses, math.log1p(-rate)), np.append(masses, alone)
    return Spread(losses, masses, pieces, rate * base.infinite)


def added(base: Spread, rate: float) -> Spread:
    """Return the spread of (P, (1-q) P + q Q)."""
    losses, masses = -_mixed(-base.losses, rate), base.masses
    if base.infinite:
        losses, masses = np.append(losses, -math.log1p(-rate)), np.append(masses, base.infinite)
    return Spread(losses, masses, tuple(_added_piece(piece, rate) for piece in base.pieces))


def replaced(base: Spread, rate: float) -> Spread:
    """Return the spread whose profile is `removed` for e >= 0 and `added` for e < 0."""
    up, down = removed(_half(base, upper=True), rate), added(_half(base, upper=False), rate)
    still = 1 - (1 - rate) * _mass(base, upper=False) - rate * _other_mass(base, upper=False)
    still = max(0.0, still - rate * base.infinite - _other_mass(base, upper=True)) + ERROR
    upper = up.losses >= 0
    return Spread(
        np.concatenate((up.losses[upper], down.losses, [0.0])),
        np.concatenate((up.masses[upper], down.masses, [still])),
        up.pieces + down.pieces,
        up.infinite,
    )


def _mixed(losses: Array, rate: float) -> Array:
    """Return ln(1 - q + q e^l), accurate also near 0; beyond where doubles end, with e^l taken out."""
    large = losses > 600
    result = np.log1p(rate * np.expm1(np.where(large, 0.0, losses)))
    return np.where(large, losses + math.log(rate), result) if large.any() else result


def _unmixed(losses: Array, rate: float) -> Array:
    """Return the inverse of `_mixed`; -inf at and below ln(1-q)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.log1p(np.maximum(np.expm1(np.minimum(losses, 1.0)) / rate, -1.0))
        large = losses + np.log1p(-(1 - rate) * np.exp(-losses)) - math.log(rate)
    return np.where(losses <= 1.0, small, large)


def _mixed_weight(losses: Array, rate: float) -> Array:
    """Return ln((1-q) e^-l + q): what a mass under P weighs under (1-q) Q + q P."""
    return _mixed(losses, rate) - losses


def _removed_piece(piece: Piece, rate: float) -> Piece:
    def log_density(x: Array) -> Array:
        return piece.log_density(x) + _mixed_weight(piece.loss(x), rate)

    return Piece(
        piece.start,
        piece.stop,
        lambda x: _mixed(piece.loss(x), rate),
        lambda loss: np.clip(piece.position(_unmixed(loss, rate)), piece.start, piece.stop),
        log_density,
        piece.endless,
    )


def _added_piece(piece: Piece, rate: float) -> Piece:
    return Piece(
        piece.start,
        piece.stop,
        lambda x: -_mixed(-piece.loss(x), rate),
        lambda loss: np.clip(piece.position(-_unmixed(-loss, rate)), piece.start, piece.stop),
        piece.log_density,
        piece.endless,
    )


def _half(base: Spread, *, upper: bool) -> Spread:
    """Return the part of a spread with losses above 0, or below."""
    kept = base.losses > 0 if upper else base.losses < 0
    pieces = tuple(half for piece in base.pieces if (half := _half_piece(piece, upper=upper)) is not None)
    return Spread(base.losses[kept], base.masses[kept], pieces, base.infinite if upper else 0.0)


def _half_piece(piece: Piece, *, upper: bool) -> Piece | None:
    middle = float(np.clip(piece.position(np.zeros(1)), piece.start, piece.stop)[0])
    start, stop = (middle, piece.stop) if upper else (piece.start, middle)
    if start >= stop:
        return None
    return Piece(
        start,
        stop,
        piece.loss,
        lambda loss: np.clip(piece.position(loss), start, stop),
        piece.log_density,
        piece.endless,
    )


def _nodes(base: Spread, *, upper: bool) -> tuple[Array, Array]:
    half = _half(base, upper=upper)
    parts = [(half.losses, half.masses), *(quadrature(piece) for piece in half.pieces)]
    return np.concatenate([losses for losses, _ in parts]), np.concatenate([masses for _, masses in parts])


def _mass(base: Spread, *, upper: bool) -> float:
    """Return the mass under P of the finite losses above 0, or below."""
    return float(_nodes(base, upper=upper)[1].sum())


def _other_mass(base: Spread, *, upper: bool) -> float:
    """Return the mass under Q of the finite losses above 0, or below."""
    losses, masses = _nodes(base, upper=upper)
    return float(dot(masses, np.exp(-losses)))
