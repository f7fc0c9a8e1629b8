"""Doubles in BigQuery's SQL, so that nothing raises.

BigQuery raises where a result of finite numbers is infinite, and where a function has no value. SAFE_ADD and the
prefix SAFE. make NULL of that, of which the infinity of IEEE 754 is made again; IEEE_DIVIDE does so by itself. A
value that is used several times is bound to a name, lest nested calls double the query each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from jali.engines.bigquery.literals import INFINITE, NOT_A_NUMBER

_SHORT = 80
_ALIAS = re.compile(r"\bbound(\d+)\b")
_WHOLE = "4611686018427387904.0"
# From here on all doubles are whole.
_NO_FRACTIONS = "4503599627370496.0"
_SAFE = {"+": "SAFE_ADD", "-": "SAFE_SUBTRACT"}


def bound(make: Callable[..., str], *written: str) -> str:
    """Use values several times: each is computed once."""
    if all(len(value) <= _SHORT for value in written):
        return make(*written)
    names = [f"v{i}" for i in range(len(written))]
    values = ", ".join(f"{value} AS {name}" for value, name in zip(written, names, strict=True))
    # A name that is not used inside: what is nested would be taken for what is outside.
    alias = f"bound{1 + max(map(int, _ALIAS.findall(values + make(*names))), default=0)}"
    made = make(*(f"{alias}.{name}" for name in names))
    # A subquery over an array is computed row by row: BigQuery needs no join for it.
    return f"(SELECT {made} FROM UNNEST([STRUCT({values})]) AS {alias})"


def plus(one: str, sign: str, other: str) -> str:
    """Add or subtract. What overflows has the sign of the first number."""
    return bound(
        lambda a, b: f"IFNULL({_SAFE[sign]}({a}, {b}), IF({b} IS NULL, NULL, SIGN({a}) * {INFINITE}))", one, other
    )


def times(one: str, other: str) -> str:
    """Multiply."""
    return bound(lambda a, b: f"IFNULL(SAFE_MULTIPLY({a}, {b}), SIGN({a}) * SIGN({b}) * {INFINITE})", one, other)


def divided(one: str, other: str) -> str:
    """Divide; by 0 there is nothing."""
    return f"IEEE_DIVIDE({one}, NULLIF({other}, 0))"


def nearest(value: str) -> str:
    """Round a double, halves to even; NULL where it does not fit 64 bits.

    A cast would round halves away from zero. A decimal of 38 places is nearer to a double than another double is
    to a half, so that halves are told exactly.
    """
    return f"SAFE_CAST({_half_even(value)} AS INT64)"


def _half_even(value: str) -> str:
    return f"ROUND(SAFE_CAST({value} AS BIGNUMERIC), 0, 'ROUND_HALF_EVEN')"


def half_even(value: str) -> str:
    """Round a double of any size to a whole one, halves to even."""
    return bound(lambda x: f"IF(ABS({x}) < {_NO_FRACTIONS}, CAST({_half_even(x)} AS FLOAT64), {x})", value)


def rounded(value: str, digits: int) -> str:
    """Round to some digits, halves away from zero; what is too large for that stays as it is."""
    if digits == 0:
        return f"ROUND({value})"
    power = f"1e{abs(digits)}"
    if digits > 0:
        return bound(lambda x: f"IFNULL(ROUND(SAFE_MULTIPLY({x}, {power})) / {power}, {x})", value)
    return bound(lambda x: f"IFNULL(SAFE_MULTIPLY(ROUND({x} / {power}), {power}), {x})", value)


def remainder(one: str, other: str) -> str:
    """The rest of a division, with the sign of what is divided: BigQuery has one for whole numbers and decimals.

    It is exact for numbers below 2^62 that are multiples of 2^-62. For others the quotient is a double, and the
    rest no better than that.
    """

    def make(a: str, b: str) -> str:
        whole = f"ABS({a}) < {_WHOLE} AND ABS({b}) < {_WHOLE} AND {_fine(a)} AND {_fine(b)}"
        exact = f"CAST(MOD({_enlarged(a)}, {_enlarged(b)}) AS FLOAT64) / {_WHOLE}"
        rest = bound(
            lambda r: f"IF(ABS({r}) < ABS({b}) AND {r} * SIGN({a}) >= 0, {r}, 0.0)",
            plus(a, "-", times(b, f"TRUNC({divided(a, b)})")),
        )
        finite = f"ABS({a}) < {INFINITE}"
        return (
            f"CASE WHEN {a} IS NULL OR {b} IS NULL OR {b} = 0 THEN NULL WHEN {whole} THEN {exact}"
            f" WHEN {finite} AND ABS({b}) = {INFINITE} THEN {a}"
            f" WHEN {finite} AND ABS({b}) < {INFINITE} THEN {rest} ELSE {NOT_A_NUMBER} END"
        )

    return f"({bound(make, one, other)})"


def _fine(x: str) -> str:
    """Whether a double below 2^62 is a multiple of 2^-62."""
    return f"{x} * {_WHOLE} = TRUNC({x} * {_WHOLE})"


def _enlarged(x: str) -> str:
    return f"CAST({x} * {_WHOLE} AS BIGNUMERIC)"


def power(one: str, other: str) -> str:
    """A power, as the C library gives it, also where BigQuery raises."""

    def make(a: str, b: str) -> str:
        odd = f"{b} = TRUNC({b}) AND ABS({b}) < 9e15 AND MOD(SAFE_CAST({b} AS INT64), 2) <> 0"
        beyond = f"IF({a} < 0 AND {odd}, -1, 1) * {INFINITE}"
        at_zero = f"IF(IEEE_DIVIDE(1, {a}) < 0 AND {odd}, -1, 1) * {INFINITE}"
        return (
            f"CASE WHEN {a} IS NULL OR {b} IS NULL THEN NULL WHEN {a} = 1 OR {b} = 0 THEN 1.0"
            f" WHEN {a} = 0 AND {b} < 0 THEN {at_zero}"
            f" WHEN {a} < 0 AND ABS({a}) < {INFINITE} AND ABS({b}) < {INFINITE} AND {b} <> TRUNC({b})"
            f" THEN {NOT_A_NUMBER} ELSE IFNULL(SAFE.POW({a}, {b}), {beyond}) END"
        )

    return f"({bound(make, one, other)})"


def exponential(value: str) -> str:
    """E to a power. Only a number above 0 overflows."""
    return bound(lambda x: f"IFNULL(SAFE.EXP({x}), ABS({x}) * {INFINITE})", value)


def logarithm(function: str, value: str) -> str:
    """Write a logarithm: of what is not above 0 there is none."""
    return f"{function}(NULLIF(GREATEST({value}, 0), 0))"


def binary_logarithm(value: str) -> str:
    """Write a logarithm to base 2, exact for powers of 2, as that of the C library is."""

    def make(x: str) -> str:
        near = f"LOG(NULLIF(GREATEST({x}, 0), 0), 2)"
        return f"IF(SAFE.POW(2, ROUND({near})) = {x}, ROUND({near}), {near})"

    return bound(make, value)


def root(value: str) -> str:
    """Write a square root: of what is below 0 there is none."""
    return bound(lambda x: f"SQRT(IF({x} < 0, NULL, {x}))", value)


def clamped(value: str, low: str, high: str) -> str:
    """Cut a number; NaN has no place."""
    return bound(lambda v: f"(CASE WHEN {v} <= {INFINITE} THEN GREATEST(LEAST({v}, {high}), {low}) END)", value)


def bucket(value: str, low: str, high: str, count: str) -> str:
    """Write the number of the bucket of equal width."""

    def make(v: str) -> str:
        # Constants low < high: only the product may be too large, and then the place is beyond the last one.
        place = divided(times(plus(v, "-", low), count), plus(high, "-", low))
        return (
            f"(CASE WHEN {v} < {low} THEN 0.0 WHEN {v} < {high} THEN LEAST(FLOOR({place}), {count} - 1) + 1"
            f" WHEN {v} <= {INFINITE} THEN {count} + 1 END)"
        )

    return bound(make, value)
