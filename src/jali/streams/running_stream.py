"""A running stream: its secret state between two ticks, and arithmetic on integers of any size."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.exact_values import WHOLE, read_numbers
from jali.mechanisms.workloads.linear_release import convert_to_doubles
from jali.mechanisms.workloads.workload import Floats

if TYPE_CHECKING:
    from jali.streams.counter import Counter, Published


class Running(ABC):
    """One stream of one or several keys, after some ticks.

    It is one release of its counter: the loss is spent once, whatever is read from it. Its state is secret: it
    has the exact sums, and noise that was drawn and is still to be used.

    Attributes:
        counter: The mechanism.
        width: How many keys are counted side by side.
        tick: How many ticks have passed.
    """

    counter: Counter
    width: int
    tick: int

    @abstractmethod
    def advance(self, increments: NDArray[Any]) -> Published:
        """Pass one tick for each of the increments: integers, one for each tick, or a row for several keys."""

    @abstractmethod
    def state(self) -> str:
        """Return everything that is needed to go on, as text. It is as secret as the data."""

    def append(self, increment: Any) -> Any:
        """Pass one tick and return the noisy sum so far: a number, or an array with one for each key."""
        row = increments_in(increment).reshape(1, -1)
        values = self.advance(self.checked(row[0] if row.size == self.width == 1 else row)).values
        return float(values[0]) if self.width == 1 else values[0]

    def extend(self, increments: Any) -> Floats:
        """Pass many ticks at once and return the noisy sums after each."""
        return self.advance(self.checked(increments_in(increments))).values

    def checked(self, increments: NDArray[Any]) -> NDArray[Any]:
        """Refuse increments of another shape, and ticks beyond the horizon."""
        wanted = (*increments.shape[:1], self.width)[: 1 if self.width == 1 else 2]
        if not increments.ndim or increments.shape != wanted:
            raise MechanismError("increments-count-wrong", width=self.width)
        if self.tick + len(increments) > self.counter.horizon:
            raise MechanismError("horizon-over", horizon=self.counter.horizon)
        return increments

    @property
    def exhausted(self) -> bool:
        """Whether the horizon is over."""
        return self.tick >= self.counter.horizon


def increments_in(value: Any) -> NDArray[Any]:
    """Return what is given as increments: integers, by their types.

    Example:
        >>> increments_in([3, 4]).tolist()
        [3, 4]
    """
    array = read_numbers(value)
    if array.dtype.kind in "iub" or all(isinstance(item, WHOLE) for item in array.ravel().tolist()):
        return array
    raise MechanismError("increments-not-integers")


class StreamState(dict[str, Any]):
    """The parts of a stored state, by name; one that is missing is refused."""

    def __missing__(self, name: str) -> Any:
        raise _no_state()


def read_state(text: Any) -> StreamState:
    """Read what `Running.state` wrote. Anything else is refused without being shown: states are secret."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise _no_state()
    return StreamState(found)


def _no_state() -> MechanismError:
    return MechanismError("counter-state-wrong")


def running_sums(increments: NDArray[Any]) -> NDArray[Any]:
    """Return running sums of integers along the first axis, exactly: in machine words where they fit."""
    if increments.dtype != object and increments.size:
        most = max(abs(int(increments.min())), abs(int(increments.max())))
        if most * len(increments) < 1 << 62:
            return np.cumsum(increments, axis=0, dtype=np.int64)
    return np.cumsum(increments.astype(object), axis=0)


# Many ticks are passed this many at a time: what fits into a processor's cache is passed faster.
CHUNK = 1 << 16
_HUGE = 1 << 900
_SAFE = 1 << 61


def largest_size(array: Any) -> int:
    """Return the largest absolute value; 0 if there is none."""
    array = np.asarray(array)
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


def kind_for(size: int) -> type:
    """Return the type in which integers of at most some size can be added and subtracted once more."""
    return np.int64 if size < _SAFE else object


def as_double(number: int) -> float:
    """Return an integer as a double; what is beyond 2^900 is cut to it, as `as_doubles` does."""
    return float(number) if -_HUGE < number < _HUGE else float(max(-_HUGE, min(_HUGE, number)))


def as_doubles(rows: NDArray[Any]) -> Floats:
    """Return integers as doubles, in an array of their own; what is beyond 2^900 is cut to it."""
    return (
        rows.astype(np.float64) if rows.dtype != object else convert_to_doubles(rows.ravel()).reshape(rows.shape)
    )


def number_or_row(row: NDArray[Any]) -> Any:
    """Return the number in a row of one, or a copy of a longer row."""
    return row.item() if row.size == 1 else row.copy()
