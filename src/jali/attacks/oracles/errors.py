"""The errors of a simulator's answers, by the kind of its noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.subsets.subsets import Subsets

if TYPE_CHECKING:
    from jali.attacks.oracles.simulator import Simulator


def _none(_: Simulator, __: Subsets, counts: Doubles) -> Doubles:
    return np.zeros(len(counts))


def _uniform(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.uniform(-place.noise.size, place.noise.size, len(counts))


def _gaussian(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.normal(0, place.noise.size, len(counts))


def _laplace(place: Simulator, _: Subsets, counts: Doubles) -> Doubles:
    return place.random.laplace(0, place.noise.size, len(counts))


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
    "gaussian": _gaussian,
    "laplace": _laplace,
    "rounding": _rounding,
    "garbage": _garbage,
}
