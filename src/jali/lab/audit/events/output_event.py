"""Sets of outputs whose probabilities under two neighbours are compared.

The simple ones: one number of the output in an interval, above or below a threshold, and whole outputs out of
a small set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from jali.lab.audit.subject import Outputs


class OutputEvent(ABC):
    """A set of outputs. It says what it is in words, and turns into plain numbers and back.

    Attributes:
        kind: Its name in a file.
    """

    kind: ClassVar[str]

    @abstractmethod
    def contains(self, outputs: Outputs) -> NDArray[np.bool_]:
        """Return which outputs are in it."""

    @abstractmethod
    def __str__(self) -> str:
        """Say it in words."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and texts, from which `of_dict` makes it again."""
        return {"kind": self.kind, **asdict(cast(Any, self))}

    @classmethod
    def of_dict(cls, made: dict[str, Any]) -> Self:
        """Make it again of what `to_dict` returned."""
        return cls(**{name: value for name, value in made.items() if name != "kind"})


def write_lower_end(low: float) -> str:
    """Write a lower end; one that is the next double after a shorter number as what is above that.

    Example:
        >>> write_lower_end(1.5), write_lower_end(float(np.nextafter(0, 1)))
        ('1.5', 'above 0')
    """
    before = float(np.nextafter(low, -np.inf))
    return f"above {before:.6g}" if len(repr(before)) < len(repr(low)) else f"{low:.6g}"


@dataclass(frozen=True)
class Between(OutputEvent):
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
        low, high = write_lower_end(self.low), f"{self.high:.6g}"
        where = f"between {low} and {high}" if low[0] in "-0123456789" else f"{low} and at most {high}"
        return f"number {self.column + 1} of the output is {where}"


@dataclass(frozen=True)
class Threshold(OutputEvent):
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
        low = write_lower_end(self.at)
        bound = (
            f"at most {self.at:.6g}" if not self.above else low if low.startswith("above") else f"at least {low}"
        )
        return f"number {self.column + 1} of the output is {bound}"


# An odd number whose powers spread bits well: Steele and Vigna 2021, table 4.
_SPREAD = 0xD1342543DE82EF95
_SHOWN = 3


@dataclass(frozen=True)
class Atom(OutputEvent):
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
        keys = hash_rows(held)
        order = np.argsort(keys)
        at = order[np.minimum(np.searchsorted(keys[order], hash_rows(outputs)), len(keys) - 1)]
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
        return {"kind": self.kind, "rows": [[to_json_number(x) for x in row] for row in self.rows]}

    @classmethod
    def of_dict(cls, made: dict[str, Any]) -> Self:
        """Make it again of what `to_dict` returned."""
        return cls(tuple(tuple(float(x) for x in row) for row in made["rows"]))


def to_json_number(number: float) -> float | str:
    """Return a number as JSON has it; one that is not finite as a text."""
    return float(number) if np.isfinite(number) else str(float(number))


def hash_rows(outputs: Outputs) -> NDArray[np.uint64]:
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
