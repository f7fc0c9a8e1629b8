"""Read numbers exactly by their type, and round them to a lattice and back.

numpy reads [2**63, 1] and [2**60 + 1, 0.5] as doubles, so lists are read item by item. A value is rejected for
its type only: a refusal that depended on a value would reveal something about it. Rounding uses doubles where
they are proven right and rationals elsewhere.

Proof:
    docs/proofs/laplace.md, Lattice.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError

Doubles = NDArray[np.float64]

_LARGEST_POWER = 900
_EXACT = 2.0**53
_SAFE = 2.0**62
_MOST_DIGITS = 5000
_LARGEST: int = 10**_MOST_DIGITS
# Between a quotient of doubles and the true one there are three roundings, and one more after adding 1/2.
_MARGIN = 2.0**-49


def round_to_lattice(values: NDArray[Any], step: Fraction) -> NDArray[Any]:
    """Return floor(x/step + 1/2) for each x, exactly: int64, or Python ints if one of them does not fit.

    A value that is not finite counts as 0: an error would reveal that it was there. One beyond 10^5000 in size
    counts as 10^5000 with its sign, which moves no two values further apart.
    """
    doubles = _read_as_doubles(values)
    extreme = abs(step.numerator.bit_length() - step.denominator.bit_length()) > _LARGEST_POWER
    if doubles is None or extreme:
        return _pack_points([round_one_to_lattice(item, step) for item in values.ravel().tolist()], values.shape)
    power = _find_power_of_two(step)
    with np.errstate(all="ignore"):  # a warning would reveal a value; what overflows is settled by rationals
        return _round_by_quotient(doubles, step) if power is None else _round_by_scaling(doubles, step, power)


def convert_points_to_doubles(points: NDArray[Any], step: Fraction) -> Doubles:
    """Return the double nearest to each integer times the step; beyond the doubles, the largest of them."""
    if points.dtype.kind in "iu":
        power = _find_power_of_two(step)
        if power is not None:
            return np.ldexp(points.astype(np.float64), power)
        if step.denominator < _EXACT and _find_largest(points) * step.numerator < _EXACT:
            return points.astype(np.float64) * float(step.numerator) / float(step.denominator)
    doubles = [_round_to_double(int(item) * step) for item in points.ravel().tolist()]
    return np.array(doubles, np.float64).reshape(points.shape)


def round_one_to_lattice(value: Any, step: Fraction) -> int:
    """Return floor(x/step + 1/2) for a number of any kind: in time that huge and tiny Decimals do not stretch."""
    return math.floor(_read_rational(value, step) / step + Fraction(1, 2))


def _read_rational(value: Any, step: Fraction) -> Fraction | int:
    """Return a number as the rational it is, within 10^5000; 0 for what is not finite, or far below a step."""
    if isinstance(value, float | np.floating):
        return _clamp_size(Fraction(*value.as_integer_ratio())) if np.isfinite(value) else 0
    if not isinstance(value, Decimal):
        return _clamp_size(int(value) if isinstance(value, np.integer | np.bool_) else value)
    if not value.is_finite() or value.is_zero() or _is_tiny(value, step):
        return 0
    if value.adjusted() > _MOST_DIGITS:
        return -_LARGEST if value.is_signed() else _LARGEST
    return _clamp_size(Fraction(value))


def _clamp_size(value: Fraction | int) -> Fraction | int:
    return value if -_LARGEST <= value <= _LARGEST else _LARGEST if value > 0 else -_LARGEST


def _is_tiny(value: Decimal, step: Fraction) -> bool:
    """Return whether |x| < step/2, from sizes alone: |x| < 10^n <= 8^n for n <= 0, and the bits of the step."""
    digits = value.adjusted() + 1
    return digits <= 0 and 3 * digits < step.numerator.bit_length() - step.denominator.bit_length() - 2


def _read_as_doubles(values: NDArray[Any]) -> Doubles | None:
    """Return the values as doubles if nothing is lost."""
    if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        return values.astype(np.float64, copy=False)
    if values.dtype.kind in "iub" and _find_largest(values) <= _EXACT:
        return values.astype(np.float64)
    return None


def _round_by_scaling(values: Doubles, step: Fraction, power: int) -> NDArray[Any]:
    """Round to multiples of a power of 2: the quotient is exact, or far from where rounding could matter."""
    quotients = _compute_quotients(values, math.ldexp(1.0, -power))
    whole = np.floor(quotients)
    np.subtract(quotients, whole, out=quotients)
    whole += quotients >= 0.5
    return _settle_doubtful(whole, np.zeros(0, np.intp), values, step)


def _round_by_quotient(values: Doubles, step: Fraction) -> NDArray[Any]:
    """Round to multiples of any step: by doubles where they are far from the next integer, else by rationals."""
    shifted = _compute_quotients(values, float(1 / step))
    shifted += 0.5
    whole = np.floor(shifted)
    margin = (np.abs(shifted) + 1) * _MARGIN
    clear = (shifted - whole > margin) & (whole + 1 - shifted > margin)
    return _settle_doubtful(whole, np.flatnonzero(~clear), values, step)


def _compute_quotients(values: Doubles, inverse: float) -> Doubles:
    """Multiply by 1/step, where what is not finite counts as 0."""
    return np.where(np.isfinite(values), values * inverse, 0.0)


def _settle_doubtful(whole: Doubles, doubtful: NDArray[np.intp], values: Doubles, step: Fraction) -> NDArray[Any]:
    """Turn rounded quotients into integers; settle the doubtful ones, and those too large, by rationals."""
    doubtful = np.union1d(doubtful, np.flatnonzero(~(np.abs(whole) < _SAFE)))
    if not len(doubtful):
        return np.asarray(whole.astype(np.int64))
    flat = whole.ravel()
    flat[doubtful] = 0.0  # these follow
    points = flat.astype(np.int64)
    exact = [round_one_to_lattice(item, step) for item in values.ravel()[doubtful].tolist()]
    if max(map(abs, exact)) >= _SAFE:
        points = points.astype(object)
    points[doubtful] = exact
    return points.reshape(values.shape)


def _find_power_of_two(step: Fraction) -> int | None:
    """Return e if the step is 2^e, for an e of moderate size."""
    for above, below, sign in ((step.numerator, step.denominator, 1), (step.denominator, step.numerator, -1)):
        power = above.bit_length() - 1
        if below == 1 and above == 1 << power and power <= _LARGEST_POWER:
            return sign * power
    return None


def _round_to_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max


def _find_largest(points: NDArray[Any]) -> int:
    return 0 if points.size == 0 else max(abs(int(points.min())), abs(int(points.max())))


def _pack_points(points: list[int], shape: tuple[int, ...]) -> NDArray[Any]:
    fits = all(abs(point) < _SAFE for point in points)
    return np.array(points, np.int64 if fits else object).reshape(shape)


WHOLE = (int, np.integer, np.bool_)
REAL = (*WHOLE, float, np.floating, Fraction, Decimal)
_BUFFERS = (str, bytes, bytearray, memoryview)
_INT64 = 1 << 63


def read_integers(value: Any) -> NDArray[Any]:
    """Return a number or an array of numbers, all of them integers by type: of a numpy type, or Python ints.

    Example:
        >>> read_integers([2**63, -1]).tolist()
        [9223372036854775808, -1]
    """
    array = read_numbers(value)
    if array.dtype.kind not in "iub" and not all(issubclass(kind, WHOLE) for kind in _list_kinds(array)):
        raise MechanismError("values-not-integers")
    return array


def read_numbers(value: Any) -> NDArray[Any]:
    """Return a number or an array of numbers as an array that holds them exactly.

    Integers, floats, Fractions and Decimals are numbers, and so are numpy's; text, None, dates, complex numbers
    and collections that are no rectangular arrays are not.
    """
    if isinstance(value, np.ma.MaskedArray):  # numpy would release what is under the mask
        raise _refuse_kind(type(value))
    array = np.asarray(value) if hasattr(value, "__array__") else _list_items(value)
    if array.dtype != object:
        if array.dtype.kind not in "iubf":
            raise _refuse_kind(array.dtype.type)
        return array
    kinds = _list_kinds(array)
    for kind in kinds:
        if kind is np.timedelta64 or not issubclass(kind, REAL):  # numpy calls time spans integers
            raise _refuse_kind(kind)
    return _pack_array(array, kinds)


def narrow(integers: NDArray[Any]) -> NDArray[Any]:
    """Return integers as int64 if each of them fits, else as Python ints: the type says what the integers do."""
    if integers.dtype == np.int64:
        return integers
    fits = not integers.size or (int(integers.min()) >= -_INT64 and int(integers.max()) < _INT64)
    return integers.astype(np.int64 if fits else object)


def _list_items(value: Any) -> NDArray[Any]:
    if isinstance(value, _BUFFERS):
        raise _refuse_kind(type(value))
    try:
        return np.array(value, dtype=object)
    except (ValueError, TypeError):
        raise MechanismError("values-not-rectangular") from None


def _pack_array(array: NDArray[Any], kinds: set[type]) -> NDArray[Any]:
    """Return the array with a numeric type if all items are of one kind, so that nothing is lost."""
    if all(issubclass(kind, WHOLE) for kind in kinds):
        return narrow(array if kinds <= {int} else _convert_to_ints(array))
    if all(issubclass(kind, float | np.float32 | np.float16) for kind in kinds):
        return array.astype(np.float64)
    return array


def _convert_to_ints(array: NDArray[Any]) -> NDArray[Any]:
    return np.array([int(item) for item in array.ravel().tolist()], dtype=object).reshape(array.shape)


def _list_kinds(array: NDArray[Any]) -> set[type]:
    return set(map(type, array.ravel().tolist())) if array.dtype == object else {array.dtype.type}


def _refuse_kind(kind: type) -> MechanismError:
    return MechanismError("values-not-numbers", kind=kind.__name__)
