"""Outputs with one number in an interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.event import Event
from jali.audit.subject import Outputs


def lower_end(low: float) -> str:
    """Write a lower end; one that is the next double after a shorter number as what is above that.

    Example:
        >>> lower_end(1.5), lower_end(float(np.nextafter(0, 1)))
        ('1.5', 'above 0')
    """
    before = float(np.nextafter(low, -np.inf))
    return f"above {before:.6g}" if len(repr(before)) < len(repr(low)) else f"{low:.6g}"


@dataclass(frozen=True)
class Between(Event):
    """A number of the output is at least one bound and at most another.

    Attributes:
        column: Which number.
        low: The lower bound.
        high: The upper bound.

    Example:
        >>> Between(0, 1, 2).contains(np.array([[1.0], [2.5], [np.nan]])).tolist()
        [True, False, False]
    """

    kind: ClassVar[str] = "between"

    column: int
    low: float
    high: float

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        values = outputs[:, self.column]
        return np.asarray((values >= self.low) & (values <= self.high))

    def __str__(self) -> str:
        low, high = lower_end(self.low), f"{self.high:.6g}"
        where = f"between {low} and {high}" if low[0] in "-0123456789" else f"{low} and at most {high}"
        return f"number {self.column + 1} of the output is {where}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"kind": self.kind, **asdict(self)}
