"""Forms of keys: what equals each other is told in one way, whoever came first.

1, 1.0 and True are equal, and so are 0.0 and -0.0: a table that kept the form of its first record would tell
whose it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

_REAL = (int, np.integer, np.bool_, float, np.floating, Fraction, Decimal)
_MOST_DIGITS = 2000  # above and below the line of a fraction: Python refuses to print 4300 and more
_LARGE = 10 ** (_MOST_DIGITS + 1)
_LARGE_BITS = _LARGE.bit_length()


@dataclass(frozen=True)
class Form:
    """How a category looks: its type and its printed form. Categories of one form count as one.

    Attributes:
        kind: The type.
        text: The printed form.
        category: The category itself; forms are compared by the other two alone.
    """

    kind: type
    text: str
    category: Any = field(compare=False)


def one_form(key: Any) -> Any:
    """Return a key in the form in which all numbers and texts that are equal to it are told.

    Whole numbers of any type become ints, others floats where a double is exact and Fractions elsewhere; NaN is
    one key, and so are all numbers of more than 2000 digits. Tuples and frozensets are read item by item. Every
    other key stays as it is.

    Guarantee:
        It is a function of the key alone. Numbers and texts that are equal get the same type and printed form.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 5.

    Example:
        >>> [one_form(key) for key in (True, 1.0, -0.0, 2.5, "a", (1.0, "b"))]
        [1, 1, 0, 2.5, 'a', (1, 'b')]
    """
    if type(key) is str or (type(key) is int and key.bit_length() < _LARGE_BITS):
        return key
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bytes):
        return bytes.__add__(key, b"")
    if isinstance(key, tuple | frozenset):
        return (tuple if isinstance(key, tuple) else frozenset)(one_form(item) for item in key)
    return _one_number(key)


def _one_number(key: Any) -> Any:
    if isinstance(key, complex | np.complexfloating):
        plain = complex(key)
        return _one_number(plain.real) if plain.imag == 0 else complex(plain.real + 0.0, plain.imag + 0.0)
    if isinstance(key, np.timedelta64) or not isinstance(key, _REAL):  # numpy calls time spans integers
        return key
    if isinstance(key, Decimal):
        return _one_decimal(key)
    if isinstance(key, float | np.floating) and not np.isfinite(key):
        return math.nan if np.isnan(key) else math.inf if key > 0 else -math.inf
    if isinstance(key, float | np.float32 | np.float16):  # the same as below, in less time
        return _shortened(float(key))
    exact = int(key) if isinstance(key, np.integer | np.bool_) else key
    return _one_rational(Fraction(*exact.as_integer_ratio()))


def _one_decimal(key: Decimal) -> int | float | Fraction:
    """Return the value of a Decimal, of which very large and very small ones are not written out."""
    if key.is_nan():
        return math.nan
    if key.is_infinite() or (key and key.adjusted() > _MOST_DIGITS):
        return -math.inf if key.is_signed() else math.inf
    return 0 if not key or key.adjusted() <= -_MOST_DIGITS - 2 else _one_rational(Fraction(key))


def _one_rational(exact: Fraction) -> int | float | Fraction:
    if abs(exact) >= _LARGE:
        return math.inf if exact > 0 else -math.inf
    if abs(exact) * _LARGE < 1:
        return 0
    if exact.denominator == 1:
        return exact.numerator
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = round(exact)
    # A denominator that is too long to print gives way to the nearest number.
    return exact if nearest != exact and exact.denominator < _LARGE else _shortened(nearest)


def _shortened(nearest: float) -> int | float:
    """Return a whole number as an int."""
    return int(nearest) if nearest == int(nearest) else nearest
