"""Privacy-loss distributions of subsampled mechanisms.

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
from dataclasses import replace

import numpy as np

from jali.privacy.pld.discretize import ERROR, total_mass
from jali.privacy.pld.loss_distribution import Array, LossDistribution, Piece

Map = Callable[[Array], Array]


def subsample_removal(base: LossDistribution, rate: float) -> LossDistribution:
    """Return the spread of ((1-q) Q + q P, Q)."""
    some = base.masses > 0
    weights = np.log(base.masses[some]) + _mixture_weight(base.losses[some], rate)
    pieces = tuple(_removal_piece(piece, rate) for piece in base.pieces)
    spread = LossDistribution(_mix(base.losses[some], rate), np.exp(weights), pieces, rate * base.infinite)
    # What only Q gives, and what P gives less often than a double can say, has the loss ln(1-q).
    alone = max(0.0, 1 - total_mass(spread))
    return replace(
        spread, losses=np.append(spread.losses, math.log1p(-rate)), masses=np.append(spread.masses, alone)
    )


def subsample_addition(base: LossDistribution, rate: float) -> LossDistribution:
    """Return the spread of (P, (1-q) P + q Q)."""
    losses, masses = -_mix(-base.losses, rate), base.masses
    if base.infinite:
        losses, masses = np.append(losses, -math.log1p(-rate)), np.append(masses, base.infinite)
    return LossDistribution(losses, masses, tuple(_addition_piece(piece, rate) for piece in base.pieces))


def subsample_replacement(base: LossDistribution, rate: float) -> LossDistribution:
    """Return the spread whose profile is `subsample_removal` for e >= 0 and `subsample_addition` for e < 0."""
    upper, lower = _half(base, upper=True), _half(base, upper=False)
    up, down = subsample_removal(upper, rate), subsample_addition(lower, rate)
    above = up.losses > 0
    # By symmetry Q has below 0 what P has above, and the other way round.
    over, under = total_mass(upper), total_mass(lower)
    still = max(0.0, 1 - (1 - rate) * under - rate * over - under) + ERROR
    return LossDistribution(
        np.concatenate((up.losses[above], down.losses, [0.0])),
        np.concatenate((up.masses[above], down.masses, [still])),
        up.pieces + down.pieces,
        up.infinite,
    )


def _mix(losses: Array, rate: float) -> Array:
    """Return ln(1 - q + q e^l), accurate also near 0; beyond where doubles end, with e^l taken out."""
    large = losses > 600
    result = np.log1p(rate * np.expm1(np.where(large, 0.0, losses)))
    return np.where(large, losses + math.log(rate), result) if large.any() else result


def _unmix(losses: Array, rate: float) -> Array:
    """Return the inverse of `_mix`; -inf at and below ln(1-q)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        small = np.log1p(np.maximum(np.expm1(np.minimum(losses, 1.0)) / rate, -1.0))
        large = losses + np.log1p(-(1 - rate) * np.exp(-losses)) - math.log(rate)
    return np.where(losses <= 1.0, small, large)


def _mixture_weight(losses: Array, rate: float) -> Array:
    """Return ln((1-q) e^-l + q): what a mass under P weighs under (1-q) Q + q P."""
    return _mix(losses, rate) - losses


def _removal_piece(piece: Piece, rate: float) -> Piece:
    def log_density(x: Array) -> Array:
        return piece.log_density(x) + _mixture_weight(piece.loss(x), rate)

    return Piece(
        piece.start,
        piece.stop,
        lambda x: _mix(piece.loss(x), rate),
        lambda loss: np.clip(piece.position(_unmix(loss, rate)), piece.start, piece.stop),
        log_density,
        piece.endless,
    )


def _addition_piece(piece: Piece, rate: float) -> Piece:
    return Piece(
        piece.start,
        piece.stop,
        lambda x: -_mix(-piece.loss(x), rate),
        lambda loss: np.clip(piece.position(-_unmix(-loss, rate)), piece.start, piece.stop),
        piece.log_density,
        piece.endless,
    )


def _half(base: LossDistribution, *, upper: bool) -> LossDistribution:
    """Return the part of a spread with losses above 0, or below."""
    kept = base.losses > 0 if upper else base.losses < 0
    pieces = tuple(half for piece in base.pieces if (half := _half_piece(piece, upper=upper)) is not None)
    return LossDistribution(base.losses[kept], base.masses[kept], pieces, base.infinite if upper else 0.0)


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
