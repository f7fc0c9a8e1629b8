"""The errors of a simulator's answers, by the kind of its noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.oracles.layers import sticky
from jali.attacks.oracles.worst import misleading
from jali.attacks.subsets.subsets import Subsets

if TYPE_CHECKING:
    from jali.attacks.oracles.simulator import Simulator


def _none(_: Simulator, __: Subsets, counts: Doubles) -> Doubles:
    return np.zeros(len(counts))


def _uniform(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.uniform(-place.noise.size, place.noise.size, len(counts))


def _worst(place: Simulator, subsets: Subsets, _: Doubles) -> Doubles:
    return misleading(place.secret.bits, subsets, place.noise.size, place.random)


def _gaussian(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.normal(0, place.noise.size, len(counts))


def _laplace(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.laplace(0, place.noise.size, len(counts))


def _geometric(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    """Draw from the discrete Laplace law: the difference of two geometric numbers."""
    if place.noise.size == 0:
        return np.zeros(len(counts))
    stop = -math.expm1(-1 / place.noise.size)
    up, down = place.random.geometric(stop, (2, len(counts)))
    return np.asarray(up - down, np.float64)


def _layers(place: Simulator, subsets: Subsets, _: Doubles) -> Doubles:
    return sticky(place.secret.bits, subsets, place.noise.size, place.salt)


def _rounding(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    if place.noise.size == 0:
        return np.zeros(len(counts))
    return np.round(counts / place.noise.size) * place.noise.size - counts


def _garbage(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    """Replace a share of the answers by anything between 0 and n."""
    made_up = place.random.random(len(counts)) < place.noise.size
    return np.where(made_up, place.random.uniform(0, place.n, len(counts)) - counts, 0.0)


ERRORS: dict[str, Callable[[Simulator, Subsets, Doubles], Doubles]] = {
    "none": _none,
    "uniform": _uniform,
    "worst": _worst,
    "gaussian": _gaussian,
    "laplace": _laplace,
    "geometric": _geometric,
    "layers": _layers,
    "rounding": _rounding,
    "garbage": _garbage,
}
