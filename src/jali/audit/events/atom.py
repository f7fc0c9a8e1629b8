"""Single outputs, or a small set of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jali.audit.events.event import Event
from jali.audit.subject import Outputs

# An odd number whose powers spread bits well: Steele and Vigna 2021, table 4.
_SPREAD = 0xD1342543DE82EF95
_SHOWN = 3


@dataclass(frozen=True)
class Atom(Event):
    """The output is one of a set, to the last digit.

    Attributes:
        rows: The outputs.

    Example:
        >>> Atom(((1.0, np.nan),)).contains(np.array([[1.0, np.nan], [1.0, 0.0]])).tolist()
        [True, False]
    """

    kind: ClassVar[str] = "atom"

    rows: tuple[tuple[float, ...], ...]

    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it; NaN is equal to NaN here."""
        held = np.array(self.rows, np.float64)
        keys = row_keys(held)
        order = np.argsort(keys)
        at = order[np.minimum(np.searchsorted(keys[order], row_keys(outputs)), len(keys) - 1)]
        found = held[at]
        return np.asarray(((outputs == found) | (np.isnan(outputs) & np.isnan(found))).all(axis=1))

    def __str__(self) -> str:
        shown = ", ".join("(" + ", ".join(f"{x:g}" for x in row) + ")" for row in self.rows[:_SHOWN])
        if len(self.rows) == 1:
            return f"the output is {shown}"
        more = f" or {len(self.rows) - _SHOWN} more" if len(self.rows) > _SHOWN else ""
        return f"the output is one of {shown}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts; numbers that JSON does not have as texts."""
        return {"kind": self.kind, "rows": [[plain(x) for x in row] for row in self.rows]}

    @classmethod
    def of_dict(cls, made: dict[str, Any]) -> Self:
        """Make it again of what `to_dict` returned."""
        return cls(tuple(tuple(float(x) for x in row) for row in made["rows"]))


def plain(number: float) -> float | str:
    """Return a number as JSON has it; one that is not finite as a text."""
    return float(number) if np.isfinite(number) else str(float(number))


def row_keys(outputs: Outputs) -> NDArray[np.uint64]:
    """Return one whole number for each row; equal rows have equal ones, and others hardly ever.

    A negative zero counts as zero, and every NaN as the same.
    """
    factors = np.array([pow(_SPREAD, place + 1, 1 << 64) for place in range(outputs.shape[1])], np.uint64)
    keys = np.zeros(len(outputs), np.uint64)
    for column, factor in enumerate(factors):
        values = outputs[:, column] + 0.0
        values[np.isnan(values)] = np.nan
        bits = values.view(np.uint64)
        # A sum alone would add up low bits with low bits: numbers of few digits have none.
        keys += (bits ^ (bits >> np.uint64(32))) * factor
    return keys
