"""Search for numbers by bisection, doubling and golden sections.

Theorem:
    Let a condition hold from some number on, and not before. Where it fails at `low` and holds at `high`, each
    step of a bisection keeps both. So of integers the search ends with the least one at which it holds; of reals
    with two ends on either side of the first such number, and the caller takes the end that is safe: the upper one
    where the condition is that there is enough noise, the lower one of what may not be exceeded. Roundings move
    what is asked, and never an end to the wrong side.

The two ends that are given are known, and never asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T", int, float)
Real = TypeVar("Real", float, Fraction)
Place = TypeVar("Place", float, Decimal)

_GOLDEN = (math.sqrt(5) - 1) / 2
_GOLDEN_DECIMAL = Decimal("0.6180339887498948482045868343656")


def least_integer(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least integer above `low` that satisfies a condition; it fails at `low` and holds from `high` on.

    Example:
        >>> least_integer(lambda n: n * n >= 50, 0, 50)
        8
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def greatest_integer(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the greatest integer below `high` that satisfies a condition; it holds up to `low`, not at `high`.

    Example:
        >>> greatest_integer(lambda n: n * n <= 50, 0, 50)
        7
    """
    return max(low, least_integer(lambda n: not holds(n), low, high) - 1)


def least_integer_near(holds: Callable[[int], bool], near: int, *, first: int = 0) -> int:
    """Return the least integer from `first` on that satisfies a condition; look around `near` by doubled steps.

    Example:
        >>> least_integer_near(lambda n: n * n >= 50, 3), least_integer_near(lambda n: True, 3)
        (8, 0)
    """
    low, high, step = near - 1, near, 1
    if holds(high):
        while low >= first and holds(low):
            low, high, step = max(first - 1, low - step), low, 2 * step
        return least_integer(holds, low, high)
    while not holds(high):
        low, high, step = high, high + step, 2 * step
    return least_integer(holds, low, high)


def bracket(holds: Callable[[T], bool], low: T, high: T, *, most: float = math.inf) -> tuple[T, T]:
    """Double `high` until a condition holds there; return the last number at which it failed, and this one.

    Where `high` is above `most` the condition was not seen to hold.

    Example:
        >>> bracket(lambda n: n * n >= 50, 0, 1)
        (4, 8)
    """
    while high <= most and not holds(high):
        low, high = high, 2 * high
    return low, high


def bracket_around(
    holds: Callable[[float], bool], start: float, *, least: float, most: float
) -> tuple[float, float]:
    """Return two positive numbers, a factor of 2 apart, of which the condition holds at the larger one only.

    The larger one is above `most`, or the smaller one at most `least`, if there are none between.

    Example:
        >>> bracket_around(lambda x: x * x >= 2, 100.0, least=1e-9, most=1e9)
        (0.78125, 1.5625)
    """
    _, high = bracket(holds, 0.0, start, most=most)
    while least < high <= most and holds(high / 2):
        high /= 2
    return high / 2, high


def bisect(
    holds: Callable[[Real], bool],
    low: Real,
    high: Real,
    *,
    steps: int | None = None,
    close: Callable[[Real, Real], bool] | None = None,
    middle: Callable[[Real, Real], Real] | None = None,
) -> tuple[Real, Real]:
    """Return two numbers, close to each other, at the lower of which a condition fails, and at the upper holds.

    Args:
        holds: The condition; it fails at `low` and holds at `high`.
        low: The lower end.
        high: The upper end.
        steps: How often to halve at most.
        close: Whether two ends are close enough.
        middle: What to ask between two ends, unless it is their mean.

    Example:
        >>> bisect(lambda x: x * x >= 2, Fraction(1), Fraction(2), steps=4)
        (Fraction(11, 8), Fraction(23, 16))
    """
    for _ in count() if steps is None else range(steps):
        if close is not None and close(low, high):
            break
        between = (low + high) / 2 if middle is None else middle(low, high)
        if between in (low, high):  # doubles end here
            break
        low, high = (low, between) if holds(between) else (between, high)
    return low, high


def bisect_each(
    holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    *,
    steps: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same for each entry of two arrays, of which `low` may also be the larger one.

    Example:
        >>> import numpy as np
        >>> _, high = bisect_each(lambda x: x * x >= [2, 9], np.zeros(2), np.full(2, 10.0), steps=50)
        >>> high.round(9).tolist()
        [1.414213562, 3.0]
    """
    import numpy as np  # planning a budget needs no arrays, and starts sooner without them

    for _ in range(steps):
        middle = (low + high) / 2
        held = holds(middle)
        low, high = np.where(held, low, middle), np.where(held, middle, high)
    return low, high


@dataclass(frozen=True)
class Valley(Generic[Place]):
    """Where a golden-section search ended.

    Attributes:
        low: The lower end of the last interval.
        high: Its upper end.
        at: The place with the least value seen inside.
        value: That value.
    """

    low: Place
    high: Place
    at: Place
    value: Any


def golden_section(
    function: Callable[[Place], Any],
    low: Place,
    high: Place,
    *,
    steps: int = 1000,
    close: Callable[[Place, Place], bool] | None = None,
    fresh: bool = False,
) -> Valley[Place]:
    """Narrow an interval around the least value of a function with one valley (Kiefer 1953).

    Args:
        function: Its values are numbers, or tuples that compare.
        low: The lower end of the interval; the ends are not asked.
        high: The upper end.
        steps: How often to narrow at most, at least once; each time the interval shrinks by 0.618.
        close: Whether two ends are close enough.
        fresh: Ask at two places in each step, rather than at one beside one that was kept. The roundings of kept
            places grow by 1.618 a step: after some 70 steps they are no longer inside.

    Example:
        >>> round(golden_section(lambda x: (x - 2) ** 2, 0.0, 10.0, steps=60).at, 6)
        2.0
    """
    ratio: Any = _GOLDEN_DECIMAL if isinstance(low, Decimal) else _GOLDEN

    def ask(place: Place) -> tuple[Place, Any]:
        return place, function(place)

    left: tuple[Place, Any] | None = None
    right: tuple[Place, Any] | None = None
    best: tuple[Place, Any] | None = None
    for _ in range(steps):
        if close is not None and close(low, high):
            break
        left = left or ask(high - ratio * (high - low))
        right = right or ask(low + ratio * (high - low))
        best = _lower(_lower(left, right), best or right)
        if left[1] <= right[1]:
            high, left, right = right[0], None, None if fresh else left
        else:
            low, left, right = left[0], None if fresh else right, None
    assert best is not None
    return Valley(low, high, *best)


def _lower(one: tuple[Place, Any], other: tuple[Place, Any]) -> tuple[Place, Any]:
    return one if one[1] <= other[1] else other
