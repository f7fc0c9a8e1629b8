"""Inputs several neighbours apart, for functions of numbers that may have any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jali.audit.subject import Pair
from jali.errors import CatalogError

STEPS = (2, 4, 8, 16, 32, 64, 128)


def distant(pairs: Sequence[Pair], steps: Sequence[int] = STEPS) -> tuple[tuple[Pair, int], ...]:
    """Return the pairs that one reaches by the same step several times: (x, y) becomes (x, x + n (y - x)).

    For numbers and vectors of numbers, where each such step leads to a neighbour: answers to questions of bounded
    sensitivity, say, but not columns of a bounded range.

    Example:
        >>> distant([((0.0, 1.0), (1.0, 1.0))], steps=(4,))
        ((((0.0, 1.0), (4.0, 1.0)), 4),)
    """
    return tuple(((one, _reached(one, other, count)), count) for count in steps for one, other in pairs)


def _reached(one: Any, other: Any, count: int) -> Any:
    if isinstance(one, tuple | list):
        if not isinstance(other, tuple | list) or len(one) != len(other):
            raise _not_numbers(one)
        return type(one)(_reached(first, second, count) for first, second in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and one.dtype.kind in "iuf":
        return one + count * (other - one)
    if isinstance(one, bool) or not isinstance(one, int | float | np.number):
        raise _not_numbers(one)
    return one + count * (other - one)


def _not_numbers(value: Any) -> CatalogError:
    return CatalogError("audited-input-without-steps", value=str(value)[:60])
