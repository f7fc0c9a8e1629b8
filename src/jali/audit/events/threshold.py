"""Outputs with one number above or below a threshold."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.between import lower_end
from jali.audit.events.event import Event
from jali.audit.subject import Outputs


@dataclass(frozen=True)
class Threshold(Event):
    """A number of the output is at least a threshold, or at most.

    Attributes:
        column: Which number.
        at: The threshold.
        above: At least it, or at most.

    Example:
        >>> Threshold(0, 1.5).contains(np.array([[1.0], [2.0]])).tolist()
        [False, True]
    """

    kind: ClassVar[str] = "threshold"

    column: int
    at: float
    above: bool = True

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""
        values = outputs[:, self.column]
        return np.asarray(values >= self.at if self.above else values <= self.at)

    def __str__(self) -> str:
        low = lower_end(self.at)
        bound = (
            f"at most {self.at:.6g}" if not self.above else low if low.startswith("above") else f"at least {low}"
        )
        return f"number {self.column + 1} of the output is {bound}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts."""
        return {"kind": self.kind, **asdict(self)}
