"""What sampled twins have in common: how a subject is made of a sampler, and neighbours that tell much.

The noise is floating-point noise of numpy, which is not private to the last bit: such a twin is honest or broken
in its law alone; float reachability is another stage's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from jali.audit.subject import Outputs, Pair, Subject
from jali.privacy import Adjacency, Loss

# The claim at which the lab's twins are audited.
CLAIM = Fraction(7, 10)

Vector: TypeAlias = tuple[float, ...]
# An input, how many outputs, and where the noise comes from.
Sampler: TypeAlias = Callable[[Any, int, np.random.Generator], Outputs]


def sampled(
    name: str, claim: Loss, adjacency: Adjacency, pairs: Sequence[Pair], sampler: Sampler, source: str
) -> Subject:
    """Return the subject of a sampler; without a generator it draws from a new one."""

    def draw(value: Any, count: int, random: np.random.Generator | None) -> Outputs:
        return sampler(value, count, np.random.default_rng() if random is None else random)

    return Subject(name, claim, adjacency, tuple(pairs), draw, f"{__package__}.{source}")


def level(size: int, value: float = 1.0) -> Vector:
    """Return equal values."""
    return (value,) * size


def all_above(size: int) -> Pair:
    """Return vectors of which the second is larger by one everywhere."""
    return level(size), level(size, 2.0)


def one_above(size: int) -> Pair:
    """Return vectors of which the second is larger by one in its first value."""
    return level(size), (2.0, *level(size - 1))


def one_against_the_rest(size: int) -> Pair:
    """Return vectors of which the second is smaller in its first value and larger in the others."""
    return level(size), (0.0, *level(size - 1, 2.0))


def half_and_half(size: int) -> Pair:
    """Return vectors of which the second is larger in its first half and smaller in the other."""
    half = size // 2
    return level(size), (*level(half, 2.0), *level(size - half, 0.0))


def crossed(size: int) -> Pair:
    """Return vectors that have their ones in opposite halves."""
    half = size // 2
    return (*level(half), *level(size - half, 0.0)), (*level(half, 0.0), *level(size - half))


def last_against_the_rest(size: int, last: float = 1.0) -> Pair:
    """Return vectors of which the second is larger by one everywhere but in its last value, which is smaller."""
    return (*level(size - 1, 0.0), last), (*level(size - 1), last - 1)
