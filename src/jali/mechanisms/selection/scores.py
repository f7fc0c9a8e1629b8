"""Read the scores of candidates exactly, and turn them into the exponents of a selection.

Scores become integers times one rational unit. A selection then needs, for each candidate, the exponent
rate * (best score - score), an exact rational that is also known in double within a proven error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError, settle
from jali.mechanisms.exact_values import REAL, round_to_lattice
from jali.sampling.exp_bounds import Doubles

FAR = 2.0**40
"""Exponents beyond this one are not distinguished in double; exp(-FAR) is far below anything that is drawn."""

_WIDE = 1 << 62


@dataclass(frozen=True)
class Exponents:
    """Rationals X >= 0, one for each candidate: a draw for candidate i is True with probability exp(-X[i]).

    Attributes:
        doubles: Each X in double, x. Where X <= FAR, |x - X| <= 2**-50 X + 2**-900; elsewhere
            FAR (1 - 2**-50) <= x <= X (1 + 2**-50).
        exact: Gives X at a place.
    """

    doubles: Doubles
    exact: Callable[[int], Fraction]

    def __len__(self) -> int:
        return len(self.doubles)

    @classmethod
    def from_list(cls, exponents: Sequence[Fraction]) -> Exponents:
        """Take exponents that are listed as rationals."""
        return cls(np.array([float(min(x, Fraction(FAR))) for x in exponents]), lambda place: exponents[place])


@dataclass(frozen=True)
class Scores:
    """Exact scores: integers times a unit.

    Attributes:
        integers: One for each candidate, at least one: int64, or Python ints where those could overflow.
        unit: A rational above 0; score i is integers[i] * unit.

    Example:
        >>> scores = read_scores([Fraction(1, 2), Fraction(1, 3), 2])
        >>> scores.integers.tolist(), scores.unit
        ([3, 2, 12], Fraction(1, 6))
        >>> scores.exponents(Fraction(3)).exact(0)
        Fraction(9, 2)
    """

    integers: NDArray[Any]
    unit: Fraction

    def __len__(self) -> int:
        return len(self.integers)

    def gaps(self) -> NDArray[Any]:
        """Return how many units each score lies below the best one: integers at or above 0."""
        return np.asarray(self.integers.max() - self.integers)

    def below_best(self, place: int) -> Fraction:
        """Return how far a score lies below the best one."""
        return (int(self.integers.max()) - int(self.integers[place])) * self.unit

    def exponents(self, rate: Fraction) -> Exponents:
        """Return rate * (best score - score) for each candidate."""
        gaps, each = self.gaps(), rate * self.unit
        return Exponents(_multiply_gaps(gaps, each), lambda place: int(gaps[place]) * each)

    def without(self, place: int) -> Scores:
        """Return the scores of the other candidates, in their order."""
        return Scores(np.delete(self.integers, place), self.unit)


def read_scores(values: Any, step: Fraction | None = None, *, name: str = "scores") -> Scores:
    """Read a list or array of scores.

    Args:
        values: One-dimensional, not empty: integers or Fractions; floats and Decimals with `step` only, because
            their exponents are data and one of 10^9 must not take more time than there is. What is not a
            finite number counts as 0: an error would reveal that it was there.
        step: Round every score x to floor(x/step + 1/2) steps. Scores at most s apart, in either direction, become
            at most ceil(s/step) steps apart in the same direction.
        name: What a refusal calls them.
    """
    listed = _list_scores(values, name)
    if isinstance(listed, np.ndarray) and listed.dtype.kind in "iub" and step is None:
        return Scores(_widen_integers(listed), Fraction(1))
    if step is None:
        return _put_over_common_denominator([_read_exact(item, name) for item in listed])
    return Scores(_widen_integers(round_to_lattice(_read_reals(listed, name), step)), step)


def read_at_least(k: int, values: Any, step: Fraction | None) -> Scores:
    """Read the scores of at least k candidates; how many there are is public."""
    scores = read_scores(values, step)
    if len(scores) < k:
        raise MechanismError("top-k-too-few-candidates", k=k, count=len(scores))
    return scores


def round_up_to_steps(sensitivity: Fraction, step: Fraction | None) -> Fraction:
    """Return the sensitivity of scores after rounding to multiples of `step`: ceil(sensitivity/step) steps."""
    return sensitivity if step is None else math.ceil(sensitivity / step) * step


def _list_scores(values: Any, name: str) -> NDArray[Any] | list[Any]:
    """Return a numeric array where that loses nothing, a plain list otherwise."""
    array = np.asanyarray(values) if hasattr(values, "__array__") else _pack_items(values, name)
    if isinstance(array, np.ndarray):
        if array.ndim != 1:
            raise MechanismError("parameter-not-a-column", name=name)
        if array.dtype.kind not in "iubfO" or isinstance(array, np.ma.MaskedArray):
            kind = "masked" if isinstance(array, np.ma.MaskedArray) else array.dtype
            raise MechanismError("parameter-not-a-plain-array", name=name, kind=settle(kind))
        if array.dtype.kind == "O" or array.dtype.itemsize > 8:
            array = list(array)
    if len(array) == 0:
        raise MechanismError("nothing-to-choose-from", name=name)
    return array


def _pack_items(values: Any, name: str) -> NDArray[Any] | list[Any]:
    """Turn a list of ints or of floats, and of nothing else, into an array."""
    if isinstance(values, Mapping):
        raise MechanismError("scores-as-mapping", name=name)
    if isinstance(values, str | bytes | Set) or not isinstance(values, Iterable):
        raise MechanismError("parameter-not-a-list-of-numbers", name=name, kind=type(values).__name__)
    items = list(values)
    kinds = set(map(type, items))
    if kinds == {int}:
        return _pack_integers(items)
    return np.array(items, np.float64) if kinds == {float} else items


def _pack_integers(items: Iterable[int]) -> NDArray[Any]:
    """Put Python ints into an array: int64 if all fit."""
    listed = list(items)
    try:
        return np.array(listed, np.int64)
    except OverflowError:
        wide = np.empty(len(listed), object)
        wide[:] = listed
        return wide


def _widen_integers(integers: NDArray[Any]) -> NDArray[Any]:
    """Return int64 if no difference of two entries can overflow, Python ints otherwise."""
    if integers.dtype == object or (int(integers.min()) > -_WIDE and int(integers.max()) < _WIDE):
        return integers if integers.dtype == object else integers.astype(np.int64, copy=False)
    return integers.astype(object)


def _put_over_common_denominator(items: list[Fraction]) -> Scores:
    denominator = math.lcm(*(item.denominator for item in items))
    integers = _pack_integers(item.numerator * (denominator // item.denominator) for item in items)
    return Scores(_widen_integers(integers), Fraction(1, denominator))


def _read_exact(item: Any, name: str) -> Fraction:
    """Read one score that is an exact rational by its type."""
    if isinstance(item, int | np.integer | np.bool_):
        return Fraction(int(item))
    if isinstance(item, Fraction):
        return item
    if isinstance(item, REAL):
        raise MechanismError("scores-not-exact", name=name, kind=type(item).__name__)
    raise MechanismError("parameter-not-numbers", name=name, kind=type(item).__name__)


def _read_reals(listed: NDArray[Any] | list[Any], name: str) -> NDArray[Any]:
    """Return numbers of any real type in an array that holds them as they are."""
    if isinstance(listed, np.ndarray):
        return listed
    for kind in set(map(type, listed)):
        if not issubclass(kind, REAL):
            raise MechanismError("parameter-not-numbers", name=name, kind=kind.__name__)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _multiply_gaps(gaps: NDArray[Any], rate: Fraction) -> Doubles:
    """Return gaps * rate in double, as `Exponents` wants it."""
    if gaps.dtype == object:
        far = int(FAR) * rate.denominator
        return np.array([min(int(gap) * rate.numerator, far) / rate.denominator for gap in gaps.tolist()])
    return np.asarray(gaps.astype(np.float64) * float(min(rate, Fraction(FAR))))
