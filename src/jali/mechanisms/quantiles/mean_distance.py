"""The expected distance of a drawn mark from a given value, in closed form: for comparisons, not for releases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.quantiles.ranks import LinearRanks, Ranks

Doubles = NDArray[np.float64]

_SMALL = 1e-3  # below this the first terms of a series are exact to 1e-12


@dataclass(frozen=True)
class Runs:
    """Runs of consecutive marks, all on one side of a value, along which the rank's distance grows evenly.

    Attributes:
        away: How far the first mark of each run is from the value.
        outwards: 1.0 where a run leads away from the value, -1.0 where it leads towards it.
        lengths: How many marks each has, at least 1.
        distances: The distance of the rank of the first mark.
        slopes: How much it grows from mark to mark.
    """

    away: Doubles
    outwards: Doubles
    lengths: Doubles
    distances: Doubles
    slopes: Doubles


def mean_distance(ranks: Ranks, rate: Fraction, value: Fraction) -> float:
    """Return E|mark - value| for masses proportional to exp(-rate * distance), in doubles."""
    runs = _linear_runs(ranks, value) if isinstance(ranks, LinearRanks) else _step_runs(ranks, value)
    per_mark = float(rate) * runs.slopes
    logs = -float(rate) * runs.distances + _log_sums(per_mark, runs.lengths)
    masses = np.exp(logs - logs.max())
    means = runs.away + runs.outwards * _mean_places(per_mark, runs.lengths)
    return float(masses @ means / masses.sum())


def _log_sums(rates: Doubles, lengths: Doubles) -> Doubles:
    """Return ln of 1 + e^-r + ... + e^-(n-1)r for each rate r and length n."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.log(np.expm1(-rates * lengths) / np.expm1(-rates))
    return np.where(rates == 0, np.log(lengths), steep)


def _mean_places(rates: Doubles, lengths: Doubles) -> Doubles:
    """Return the mean of 0, 1, ..., n-1 under weights e^-rj."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steep = 1 / np.expm1(rates) - lengths / np.expm1(rates * lengths)
    gentle = (lengths - 1) / 2 - rates * (lengths**2 - 1) / 12
    return np.where(rates * lengths < _SMALL, gentle, steep)


def _linear_runs(ranks: LinearRanks, value: Fraction) -> Runs:
    """Cut at the knots, and at the value itself, which has the wanted rank."""
    knots = np.concatenate(([ranks.first], ranks.values, [ranks.last]))
    gaps = np.diff(knots).astype(np.float64)
    lower, upper = math.floor(ranks.target), math.ceil(ranks.target)
    aim, target = float(value), float(ranks.target)
    with np.errstate(divide="ignore"):
        slopes = 1 / gaps
    left, right = np.arange(lower)[gaps[:lower] > 0], np.arange(upper, len(gaps))[gaps[upper:] > 0]
    starts = np.concatenate((knots[left + 1] - 1, knots[right] + 1))
    distances = np.concatenate((target - (left + 1) + slopes[left], right - target + slopes[right]))
    sides = np.concatenate((left, right))
    middle = _middle_runs(ranks, value, int(knots[lower]), int(knots[upper]))
    away = np.concatenate((np.abs(starts - aim), [run[0] for run in middle]))
    return Runs(
        away,
        np.ones(len(away)),
        np.concatenate((gaps[sides], [run[1] for run in middle])),
        np.concatenate((distances, [run[2] for run in middle])),
        np.concatenate((slopes[sides], [run[3] for run in middle])),
    )


def _middle_runs(ranks: Ranks, value: Fraction, start: int, end: int) -> list[tuple[float, float, float, float]]:
    """Return (away, length, distance, slope) of the marks on both sides of the value in its own gap."""
    slope = 0.0 if start == end else 1 / (end - start)
    below, above = math.floor(value), math.floor(value) + 1
    runs = [(float(value - below), below - start + 1.0, float(ranks.distance(below)), slope)]
    if above <= end:
        runs.append((float(above - value), end - above + 1.0, float(ranks.distance(above)), slope))
    return runs


def _step_runs(ranks: Ranks, value: Fraction) -> Runs:
    """Cut beside every value of the column and at the given one; each run is level."""
    below = math.floor(value)
    cuts = np.concatenate(([ranks.first, below + 1, ranks.last + 1], ranks.values, ranks.values + 1))
    edges = np.unique(np.clip(cuts, ranks.first, ranks.last + 1))
    starts, lengths = edges[:-1], np.diff(edges).astype(np.float64)
    target = float(ranks.target)
    least = np.searchsorted(ranks.values, starts, "left") - target
    most = target - np.searchsorted(ranks.values, starts, "right")
    outwards = np.where(starts > below, 1.0, -1.0)
    distances = np.maximum(0.0, np.maximum(least, most))
    return Runs(np.abs(starts - float(value)), outwards, lengths, distances, np.zeros(len(starts)))
