"""Reading values: by their types, never by what they are. Nothing is rounded here.

numpy reads [2**63, 1] and [2**60 + 1, 0.5] as doubles, so that lists are read item by item. What is refused is
refused for its type: a refusal that depended on a value would tell of it.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError

WHOLE = (int, np.integer, np.bool_)
REAL = (*WHOLE, float, np.floating, Fraction, Decimal)
_BUFFERS = (str, bytes, bytearray, memoryview)
_INT64 = 1 << 63


def integers_in(value: Any) -> NDArray[Any]:
    """Return a number or an array of numbers, all of them integers by type: of a numpy type, or Python ints.

    Example:
        >>> integers_in([2**63, -1]).tolist()
        [9223372036854775808, -1]
    """
    array = numbers_in(value)
    if array.dtype.kind not in "iub" and not all(issubclass(kind, WHOLE) for kind in _kinds(array)):
        raise MechanismError("values-not-integers")
    return array


def numbers_in(value: Any) -> NDArray[Any]:
    """Return a number or an array of numbers as an array that holds them exactly.

    Integers, floats, Fractions and Decimals are numbers, and so are numpy's; text, None, dates, complex numbers
    and collections that are no rectangular arrays are not.
    """
    if isinstance(value, np.ma.MaskedArray):  # numpy would release what is under the mask
        raise _no_number(type(value))
    array = np.asarray(value) if hasattr(value, "__array__") else _listed(value)
    if array.dtype != object:
        if array.dtype.kind not in "iubf":
            raise _no_number(array.dtype.type)
        return array
    kinds = _kinds(array)
    for kind in kinds:
        if kind is np.timedelta64 or not issubclass(kind, REAL):  # numpy calls time spans integers
            raise _no_number(kind)
    return _packed(array, kinds)


def narrow(integers: NDArray[Any]) -> NDArray[Any]:
    """Return integers as int64 if each of them fits, else as Python ints: the type tells what the integers do."""
    if integers.dtype == np.int64:
        return integers
    fits = not integers.size or (int(integers.min()) >= -_INT64 and int(integers.max()) < _INT64)
    return integers.astype(np.int64 if fits else object)


def _listed(value: Any) -> NDArray[Any]:
    if isinstance(value, _BUFFERS):
        raise _no_number(type(value))
    try:
        return np.array(value, dtype=object)
    except (ValueError, TypeError):
        raise MechanismError("values-not-rectangular") from None


def _packed(array: NDArray[Any], kinds: set[type]) -> NDArray[Any]:
    """Return the array with a numeric type if all items are of one kind, so that nothing is lost."""
    if all(issubclass(kind, WHOLE) for kind in kinds):
        return narrow(array if kinds <= {int} else _plain(array))
    if all(issubclass(kind, float | np.float32 | np.float16) for kind in kinds):
        return array.astype(np.float64)
    return array


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    return np.array([int(item) for item in array.ravel().tolist()], dtype=object).reshape(array.shape)


def _kinds(array: NDArray[Any]) -> set[type]:
    return set(map(type, array.ravel().tolist())) if array.dtype == object else {array.dtype.type}


def _no_number(kind: type) -> MechanismError:
    return MechanismError("values-not-numbers", kind=kind.__name__)
