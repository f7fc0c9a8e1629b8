"""Broken twins of sparse vector: published mistakes, with discrete noise.

The first four are the variants that Lyu, Su and Li 2017 (section 3) showed not to be private. They take generated
data only, and nothing else in the package may import them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from jali.audit.registry import Registration
from jali.mechanisms.laws import DiscreteLaplaceLaw
from jali.mechanisms.mechanism import LogMasses
from jali.mechanisms.sparse_vector.law import pattern_masses
from jali.mechanisms.sparse_vector.sparse_vector import SparseVector
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure

_BELOW, _ABOVE = (0,) * 12, (1,) * 12


def lee_and_clifton(values: Sequence[int], cutoff: int) -> LogMasses:
    """Answer `cutoff` values with noise for one, and without the factor 2: epsilon 1 as 1/4 and 3/4."""
    return pattern_masses(values, cutoff, Fraction(4), Fraction(4, 3))


def chen(values: Sequence[int]) -> LogMasses:
    """Never stop: half of epsilon 1 on the threshold, half on each value."""
    return pattern_masses(values, None, Fraction(2), Fraction(2))


def stoddard(values: Sequence[int]) -> LogMasses:
    """Put noise on the threshold only, at epsilon 1/2."""
    law, reach = DiscreteLaplaceLaw(Fraction(2)), 200
    masses: dict[tuple[bool, ...], float] = {}
    for noise in range(-reach, reach + 1):
        pattern = tuple(value >= noise for value in values)
        masses[pattern] = masses.get(pattern, 0.0) + math.exp(law.log_mass(noise))
    return {pattern: math.log(mass) for pattern, mass in masses.items()}


def roth(values: Sequence[int]) -> LogMasses:
    """Tell the noisy value that passed the test, instead of one with fresh noise; one positive at epsilon 1."""
    law, reach = DiscreteLaplaceLaw(Fraction(2)), 80
    found: dict[Any, float] = {}
    for noise in range(-reach, reach + 1):
        start = math.exp(law.log_mass(noise))
        for told in range(-reach, reach + 1):
            _tell(found, values, law, noise, told, start)
        none_above = start * math.prod(_below(law, noise - value) for value in values)
        found[(None,) * len(values)] = found.get((None,) * len(values), 0.0) + none_above
    return {output: math.log(mass) for output, mass in found.items() if mass > 0}


def _tell(
    found: dict[Any, float], values: Sequence[int], law: DiscreteLaplaceLaw, noise: int, told: int, start: float
) -> None:
    if told < noise:
        return
    for place, value in enumerate(values):
        output = ((None,) * place) + (told,)
        found[output] = found.get(output, 0.0) + start * math.exp(law.log_mass(told - value))
        start *= _below(law, noise - value)


def _below(law: DiscreteLaplaceLaw, point: int) -> float:
    """Return Pr[X < point]."""
    return 1 - law.tail(point - 1) / 2 if point > 0 else law.tail(-point) / 2


def _twin(
    name: str, neighbours: tuple[Any, Any], law: Callable[[Any], LogMasses], adjacency: Adjacency
) -> Registration:
    return Registration(name, SparseVector, Pure(1), adjacency, (neighbours,), law)


def _without_restraint(values: Sequence[int]) -> LogMasses:
    once = SparseVector(cutoff=1, sensitivity=1, epsilon=1)
    return pattern_masses(values, 2, once.threshold_scale, once.query_scale)


_COUNTS = SparseVector(cutoff=1, sensitivity=1, epsilon=1, monotone=True, adjacency="add-remove")

TWINS: tuple[Registration, ...] = (
    _twin(
        "sparse vector of Lee and Clifton",
        ((*_BELOW, 1), (*_ABOVE, 0)),
        partial(lee_and_clifton, cutoff=1),
        Adjacency.REPLACE_ONE,
    ),
    _twin(
        "sparse vector of Chen, without cut-off", ((0,) * 10, (1,) * 5 + (-1,) * 5), chen, Adjacency.REPLACE_ONE
    ),
    _twin("sparse vector of Stoddard, without noise on values", ((0, 1), (1, 0)), stoddard, Adjacency.REPLACE_ONE),
    _twin("sparse vector of Roth, tells what it tested", ((0,) * 6, (1,) * 6), roth, Adjacency.ADD_REMOVE),
    _twin(
        "sparse vector that goes on after its cut-off",
        ((*_BELOW, 1, 1), (*_ABOVE, 0, 0)),
        _without_restraint,
        Adjacency.REPLACE_ONE,
    ),
    _twin(
        "sparse vector with monotone noise under replace-one",
        ((80, 80, 80, 80, 1), (81, 81, 81, 81, 0)),
        _COUNTS.log_masses,
        Adjacency.REPLACE_ONE,
    ),
)
