"""Doubles in Snowflake's SQL, so that nothing raises.

Snowflake raises on a division by 0, and where a function of numbers would give NaN. A subquery that looks outside
may only filter, so that no value can be bound to a name: values that are used several times are written again, and
what grows too long is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from jali.engines.snowflake.literals import INFINITE, NOT_A_NUMBER
from jali.errors import Unsupported

_LONGEST = 50_000
_INTEGER = "NUMBER(38, 0)"
# The ends of 64 bits.
_LEAST, _BEYOND = "TO_DOUBLE('-9223372036854775808')", "TO_DOUBLE('9223372036854775808')"
# From here on all doubles are whole.
_NO_FRACTIONS = "TO_DOUBLE('4503599627370496')"
# The logarithm of the largest double.
_LARGEST = "TO_DOUBLE('709.782712893384')"


def again(make: Callable[..., str], *written: str) -> str:
    """Use values several times.

    Raises:
        Unsupported: if that is too long: nested calls double the query each time.
    """
    made = make(*written)
    if len(made) > _LONGEST:
        raise Unsupported(
            "This expression is too long for Snowflake.", remedy="Compute a part of it in a column of the table."
        )
    return made


def divided(one: str, other: str) -> str:
    """Divide; by 0 there is nothing."""
    return f"({one} / NULLIF({other}, 0))"


def quotient(value: str, by: str) -> str:
    """Divide whole numbers, and drop the rest, exactly.

    A quotient of whole numbers is a decimal of six places, rounded: 2.9999999 would be 3. Without the rest it is
    whole.
    """
    return f"CAST(({value} - MOD({value}, {by})) / {by} AS {_INTEGER})"


def nearest(value: str, *, fits: bool) -> str:
    """Round a double, halves to even; NULL where it does not fit 64 bits.

    Only decimals are rounded to even. One of 18 places is nearer to a double than another double is to a half, so
    that halves are told exactly.
    """

    def made(x: str) -> str:
        return f"CAST({_half_even(x)} AS {_INTEGER})"

    if fits:
        return made(value)
    return again(lambda x: f"CASE WHEN {x} >= {_LEAST} AND {x} < {_BEYOND} THEN {made(x)} END", value)


def _half_even(value: str) -> str:
    return f"ROUND(CAST({value} AS NUMBER(38, 18)), 0, 'HALF_TO_EVEN')"


def half_even(value: str) -> str:
    """Round a double of any size to a whole one, halves to even."""
    return again(
        lambda x: f"(CASE WHEN ABS({x}) < {_NO_FRACTIONS} THEN CAST({_half_even(x)} AS FLOAT) ELSE {x} END)", value
    )


def rounded(value: str, digits: int) -> str:
    """Round to some digits, halves away from zero; what is too large for that stays as it is."""
    if digits == 0:
        return f"ROUND({value})"
    power = f"TO_DOUBLE('1e{abs(digits)}')"

    def made(x: str) -> str:
        scaled = f"ROUND({x} * {power}) / {power}" if digits > 0 else f"ROUND({x} / {power}) * {power}"
        return f"(CASE WHEN ABS({scaled}) < {INFINITE} THEN {scaled} ELSE {x} END)"

    return again(made, value)


def remainder(one: str, other: str) -> str:
    """The rest of a division, with the sign of what is divided; of an infinity there is NaN."""
    return again(
        lambda a, b: (
            f"(CASE WHEN {a} IS NULL OR {b} IS NULL OR {b} = 0 THEN NULL"
            f" WHEN ABS({a}) >= {INFINITE} OR {b} = {NOT_A_NUMBER} THEN {NOT_A_NUMBER}"
            f" WHEN ABS({b}) = {INFINITE} THEN {a} ELSE MOD({a}, {b}) END)"
        ),
        one,
        other,
    )


def power(one: str, other: str) -> str:
    """A power, as the C library gives it, also where Snowflake raises; 0 has no sign here."""
    return again(
        lambda a, b: (
            f"(CASE WHEN {a} IS NULL OR {b} IS NULL THEN NULL WHEN {a} = 1 OR {b} = 0 THEN 1"
            f" WHEN {a} = {NOT_A_NUMBER} OR {b} = {NOT_A_NUMBER} THEN {NOT_A_NUMBER}"
            f" WHEN {a} = 0 AND {b} < 0 THEN {INFINITE}"
            f" WHEN {a} < 0 AND ABS({a}) < {INFINITE} AND ABS({b}) < {INFINITE} AND {b} <> TRUNC({b})"
            f" THEN {NOT_A_NUMBER} WHEN {a} = -1 AND ABS({b}) = {INFINITE} THEN 1 ELSE POWER({a}, {b}) END)"
        ),
        one,
        other,
    )


def exponential(value: str) -> str:
    """E to a power."""
    return again(
        lambda x: f"(CASE WHEN {x} > {_LARGEST} AND {x} <= {INFINITE} THEN {INFINITE} ELSE EXP({x}) END)", value
    )


def positive(value: str) -> str:
    """Leave out what is not above 0: GREATEST of NULL is NULL."""
    return f"NULLIF(GREATEST({value}, 0), 0)"


def binary_logarithm(value: str) -> str:
    """Write a logarithm to base 2, exact for powers of 2, as that of the C library is."""

    def make(x: str) -> str:
        near = f"LOG(2, {positive(x)})"
        exact = f"ABS({near}) < 1000 AND POWER(2, ROUND({near})) = {x}"
        return f"(CASE WHEN {exact} THEN ROUND({near}) ELSE {near} END)"

    return again(make, value)


def root(value: str) -> str:
    """Write a square root: of what is below 0 there is none."""
    return again(lambda x: f"SQRT(CASE WHEN {x} >= 0 THEN {x} END)", value)


def sign(value: str) -> str:
    """Write a sign; that of NaN is 0."""
    return again(lambda x: f"(CASE WHEN {x} = {NOT_A_NUMBER} THEN 0 ELSE SIGN({x}) END)", value)


def clamped(value: str, low: str, high: str) -> str:
    """Cut a number; NaN, which equals itself, has no place."""
    return f"GREATEST(LEAST(NULLIF({value}, {NOT_A_NUMBER}), {high}), {low})"


def bucket(value: str, low: str, high: str, count: str) -> str:
    """Write the number of the bucket of equal width."""
    return again(
        lambda v: (
            f"(CASE WHEN {v} < {low} THEN 0 WHEN {v} < {high}"
            f" THEN LEAST(FLOOR(({v} - {low}) * {count} / ({high} - {low})), {count} - 1) + 1"
            f" WHEN {v} <= {INFINITE} THEN {count} + 1 END)"
        ),
        value,
    )
