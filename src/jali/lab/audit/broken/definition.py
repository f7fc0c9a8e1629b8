"""Definitions of sampled mechanisms: a name, a claim, neighbours that reveal much, and how outputs are drawn.

The noise of sampled ones is floating-point noise of numpy, which is not private to the last bit: such a mechanism
is honest or broken in its law alone; float reachability is another stage's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import wraps
from typing import Any, ParamSpec, TypeAlias

import numpy as np

from jali.lab.audit.subject import Outputs, Pair, Subject
from jali.privacy import Adjacency, Loss

# The claim at which the lab's mechanisms are audited.
CLAIM = Fraction(7, 10)

Vector: TypeAlias = tuple[float, ...]
# An input, how many outputs, and where the noise comes from.
Sampler: TypeAlias = Callable[[Any, int, np.random.Generator], Outputs]
Maker: TypeAlias = Callable[..., Subject]
Given = ParamSpec("Given")
Sampled: TypeAlias = tuple[Loss, Sequence[Pair], Sampler]
Definition: TypeAlias = Callable[Given, Sampled]

BROKEN: list[Maker] = []
HONEST: list[Maker] = []


def define_subject(
    name: str, adjacency: Adjacency, makers: list[Maker] | None = None
) -> Callable[[Definition[Given]], Callable[Given, Subject]]:
    """Make subjects of what a function returns: a claim, neighbours and a sampler. List the maker, if asked to.

    Without a generator the sampler draws from a new one. The function's place is the subject's source.
    """

    def make_subjects(define: Definition[Given]) -> Callable[Given, Subject]:
        @wraps(define)
        def make(*values: Given.args, **named: Given.kwargs) -> Subject:
            claim, pairs, sampler = define(*values, **named)

            def draw(value: Any, count: int, random: np.random.Generator | None) -> Outputs:
                return sampler(value, count, np.random.default_rng() if random is None else random)

            return Subject(name, claim, adjacency, tuple(pairs), draw, source_of(define))

        if makers is not None:
            makers.append(make)
        return make

    return make_subjects


def source_of(function: Callable[..., Any]) -> str:
    """Return where a function is found again."""
    return f"{function.__module__}:{function.__name__}"


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


def opposite_halves(size: int) -> Pair:
    """Return vectors that have their ones in opposite halves."""
    half = size // 2
    return (*level(half), *level(size - half, 0.0)), (*level(half, 0.0), *level(size - half))


def last_against_the_rest(size: int, last: float = 1.0) -> Pair:
    """Return vectors of which the second is larger by one everywhere but in its last value, which is smaller."""
    return (*level(size - 1, 0.0), last), (*level(size - 1), last - 1)
