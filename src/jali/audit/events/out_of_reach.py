"""Outputs that floating-point noise on a value cannot give.

A sum in floating point is rounded, and a logarithm of a random number of 53 bits takes few of the values that a
double can have. So noise on x reaches only some doubles, and mostly others than noise on x' does: one output then
tells which of the two it was (Mironov 2012). As an event, "out of reach of x'" is sound whatever made the outputs:
if they are not floating-point noise, it is as likely under both, up to the loss.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.event import Event
from jali.audit.subject import Outputs

Doubles = NDArray[np.float64]

# numpy's SIMD logarithm may differ from the C library's, which its generators call, in the last place.
_log = np.frompyfunc(math.log, 1, 1)
# An exponential, a difference and a quotient are off by less than two steps of the random number.
_AROUND = np.arange(-3.0, 4.0)
_AT_ONCE = 1 << 16


def beyond_addition(outputs: Doubles, value: float) -> NDArray[np.bool_]:
    """Return which outputs are no rounded sum of the value and a double.

    Statement:
        If y = fl(value + n) for a double n, then the double nearest to y - value, or the one beside it towards n,
        is such a number too: it lies between y - value and n, and rounding is monotone. Three doubles are tried.

    Example:
        >>> beyond_addition(np.array([0.5, 1e-20]), 1.0).tolist()
        [False, True]
    """
    with np.errstate(all="ignore"):
        nearest = outputs - value
        tried = (nearest, np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf))
        return np.asarray(np.all([value + noise != outputs for noise in tried], axis=0))


def beyond_numpy_laplace(outputs: Doubles, value: float, scale: float) -> NDArray[np.bool_]:
    """Return which outputs numpy's Laplace noise of a scale on the value never gives.

    Statement:
        numpy draws U = k 2^-53 and returns value + scale ln(U + U) if U < 1/2, otherwise
        value - scale ln((2 - U) - U), all in doubles. The k that could give an output is known up to a few, and
        all of those are tried. (Where a compiler fuses the product with the sum, others are out of reach.)
    """
    parts = [outputs[start : start + _AT_ONCE] for start in range(0, len(outputs), _AT_ONCE)]
    return np.concatenate([np.zeros(0, np.bool_), *(_beyond(part, value, scale) for part in parts)])


def _beyond(outputs: Doubles, value: float, scale: float) -> NDArray[np.bool_]:
    with np.errstate(all="ignore"):
        tail = np.nan_to_num(np.exp(-np.abs(outputs - value) / scale))
    steps = np.clip(np.rint(np.ldexp(tail, 52))[:, None] + _AROUND, 1.0, 2.0**52)
    low = np.ldexp(steps, -53)
    high = 1.0 - low
    below = (outputs < value)[:, None]
    noise = scale * _log(np.where(below, low + low, (2.0 - high) - high)).astype(np.float64)
    return np.asarray(np.all(value + np.where(below, noise, -noise) != outputs[:, None], axis=1))


@dataclass(frozen=True)
class OutOfReach(Event):
    """A number of the output cannot come from floating-point noise on a value.

    Attributes:
        column: Which number of the output.
        value: What the noise would be added to.
        scale: For numpy's Laplace noise, its scale; None for noise of any kind that is added in floating point.

    Example:
        >>> OutOfReach(0, 1.0).contains(np.array([[0.5], [1e-20]])).tolist()
        [False, True]
    """

    kind: ClassVar[str] = "out of reach"

    column: int
    value: float
    scale: float | None = None

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        values = outputs[:, self.column]
        if self.scale is None:
            return beyond_addition(values, self.value)
        return beyond_numpy_laplace(values, self.value, self.scale)

    def __str__(self) -> str:
        noise = "a double" if self.scale is None else f"numpy's Laplace noise of scale {self.scale:g}"
        return f"number {self.column + 1} of the output is no floating-point sum of {self.value:g} and {noise}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"kind": self.kind, **asdict(self)}
