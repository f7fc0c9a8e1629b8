"""Outputs whose last binary digit is very small: floating-point noise leaves its own kind behind."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.event import Event
from jali.audit.subject import Outputs

_MANTISSA = 53
# Zero, infinities and NaN have no last digit that is one; this is above that of every double.
NONE = 2000


def lowest_bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the exponent e of the last binary digit 2^e of each number that is one.

    Example:
        >>> lowest_bits(np.array([1.0, 0.75, 6.0, 0.1])).tolist()
        [0, -2, 1, -55]
    """
    some = np.isfinite(values) & (values != 0)
    fraction, exponent = np.frexp(np.where(some, values, 1.0))
    whole = np.ldexp(fraction, _MANTISSA).astype(np.int64)
    last = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(some, exponent.astype(np.int64) - _MANTISSA + last, NONE)


@dataclass(frozen=True)
class LowBits(Event):
    """The last binary digit of a number is smaller than a power of two, or is not.

    Noise that is added in floating point to 0 keeps digits which the same noise added to 1 has lost to rounding
    (Mironov 2012).

    Attributes:
        column: Which number of the output.
        exponent: The last digit is below 2^exponent.
        below: That it is, or that it is not.

    Example:
        >>> LowBits(0, -1).contains(np.array([[0.5], [0.25]])).tolist()
        [False, True]
    """

    kind: ClassVar[str] = "low bits"

    column: int
    exponent: int
    below: bool = True

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        last = lowest_bits(outputs[:, self.column])
        return np.asarray(last < self.exponent if self.below else last >= self.exponent)

    def __str__(self) -> str:
        if self.exponent == NONE:
            said = "has a last binary digit" if self.below else "is 0 or not finite"
            return f"number {self.column + 1} of the output {said}"
        where = "below" if self.below else "at or above"
        return f"the last binary digit of number {self.column + 1} of the output is {where} 2^{self.exponent}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"kind": self.kind, **asdict(self)}
