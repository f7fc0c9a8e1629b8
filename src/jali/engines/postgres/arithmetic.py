"""Doubles and times in Postgres's SQL, so that nothing raises.

Postgres raises where a finite result overflows, and where a result that is not 0 rounds to 0. Products, quotients
and powers are therefore computed where the logarithms say that they can be: up to e^709.7 = 1.6e308 and down to
e^-744 = 7.6e-324; beyond they are infinite, or 0. A value that is used several times is bound to a name, lest
nested calls double the query each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

INFINITE = "'Infinity'::float8"
NOT_A_NUMBER = "'NaN'::float8"
# The whole doubles next to the ends of 64 bits, inside.
LEAST_64, MOST_64 = "'-9223372036854775808'::float8", "'9223372036854774784'::float8"
_SHORT = 60
_WHOLE = "'4611686018427387904'::float8"
_ALIAS = re.compile(r"\bbound(\d+)\b")
# Logarithms of what is just below the largest double and just above the least.
_TOO_LARGE, _TOO_SMALL = "709.7", "-744"
# Far times, for which parts and sums would be out of range, are no times here.
FIRST, LAST = "TIMESTAMP '4000-01-01 BC'", "TIMESTAMP '294000-01-01'"


def double(value: float) -> str:
    """Write a double."""
    return f"'{value!r}'::float8"


def bind_values(make: Callable[..., str], *written: str) -> str:
    """Use values several times: each is computed once."""
    if all(len(value) <= _SHORT for value in written):
        return make(*written)
    names = [f"v{i}" for i in range(len(written))]
    values = ", ".join(f"{value} AS {name}" for value, name in zip(written, names, strict=True))
    # A name that is not used inside: what is nested would be taken for what is outside.
    alias = f"bound{1 + max(map(int, _ALIAS.findall(values + make(*names))), default=0)}"
    # OFFSET 0 keeps Postgres from putting the values back in their places.
    return f"(SELECT {make(*(f'{alias}.{name}' for name in names))} FROM (SELECT {values} OFFSET 0) AS {alias})"


def _special(a: str, b: str) -> str:
    """Where arithmetic cannot raise: infinities and NaN give what IEEE 754 says."""
    return f"NOT (abs({a}) < {INFINITE}) OR NOT (abs({b}) < {INFINITE})"


def plus(one: str, sign: str, other: str) -> str:
    """Add or subtract."""

    def make(a: str, b: str) -> str:
        half = "'8.9e307'::float8"
        near = f"abs({a}) <= {half} AND abs({b}) <= {half}"
        apart = f"sign({a}) {'<>' if sign == '+' else '='} sign({b})"
        halves = f"greatest(abs({a}), 1) / 2 + greatest(abs({b}), 1) / 2 <= {half}"
        safe = f"{near} OR {_special(a, b)} OR {apart} OR {halves}"
        return f"(CASE WHEN {safe} THEN {a} {sign} {b} ELSE sign({a}) * {INFINITE} END)"

    return bind_values(make, one, other)


def times(one: str, other: str) -> str:
    """Multiply."""

    def make(a: str, b: str) -> str:
        size = f"ln(abs({a})) + ln(abs({b}))"
        return _guard_size(
            f"{a} * {b}", f"{_ordinary(a, b)} OR {a} = 0 OR {b} = 0 OR {_special(a, b)}", size, (a, b)
        )

    return bind_values(make, one, other)


def divide(one: str, other: str) -> str:
    """Divide; by 0 there is nothing."""

    def make(a: str, b: str) -> str:
        size = f"ln(abs({a})) - ln(abs({b}))"
        found = _guard_size(f"{a} / {b}", f"{_ordinary(a, b)} OR {a} = 0 OR {_special(a, b)}", size, (a, b))
        return f"(CASE WHEN {b} <> 0 THEN {found} END)"

    return bind_values(make, one, other)


def _ordinary(a: str, b: str) -> str:
    low, high = "'1e-150'::float8", "'1e150'::float8"
    return f"(abs({a}) BETWEEN {low} AND {high} AND abs({b}) BETWEEN {low} AND {high})"


def _guard_size(result: str, safe: str, size: str, signs: tuple[str, str]) -> str:
    a, b = signs
    return (
        f"(CASE WHEN {safe} THEN {result} WHEN {size} > {_TOO_LARGE} THEN sign({a}) * sign({b}) * {INFINITE}"
        f" WHEN {size} < {_TOO_SMALL} THEN 0 ELSE {result} END)"
    )


def remainder(one: str, other: str) -> str:
    """The rest of a division, with the sign of what is divided, as the C library gives it.

    It is exact for numbers below 2^62 that are multiples of 2^-62: both are made whole, and divided as such. For
    others the quotient is a double, and the rest no better than that.
    """

    def make(a: str, b: str) -> str:
        whole = f"abs({a}) < {_WHOLE} AND abs({b}) < {_WHOLE} AND {_fine(a)} AND {_fine(b)}"
        exact = f"CAST(mod({_enlarge(a)}, {_enlarge(b)}) AS double precision) / {_WHOLE}"
        near = plus(a, "-", times(b, f"trunc({divide(a, b)})"))
        inside = f"abs({{r}}) < abs({b}) AND {{r}} * sign({a}) >= 0"
        rest = bind_values(lambda r: f"(CASE WHEN {inside.format(r=r)} THEN {r} ELSE 0 END)", near)
        return (
            f"(CASE WHEN {b} = 0 OR {a} IS NULL OR {b} IS NULL THEN NULL WHEN {whole} THEN {exact}"
            f" WHEN abs({a}) < {INFINITE} AND abs({b}) = {INFINITE} THEN {a}"
            f" WHEN abs({a}) < {INFINITE} AND abs({b}) < {INFINITE} THEN {rest} ELSE {NOT_A_NUMBER} END)"
        )

    return bind_values(make, one, other)


def _fine(x: str) -> str:
    """Whether a double is a multiple of 2^-62; what is near 0 is none, lest the product be lost."""
    return f"({x} = 0 OR abs({x}) > 1e-18 AND {x} * {_WHOLE} = trunc({x} * {_WHOLE}))"


def _enlarge(x: str) -> str:
    """A number times 2^62, exactly: its cast to a decimal would keep 15 digits."""
    rest = f"CAST(({x} - trunc({x})) * {_WHOLE} AS bigint)"
    return f"(CAST(CAST(trunc({x}) AS bigint) AS numeric) * {1 << 62} + {rest})"


def power(one: str, other: str) -> str:
    """A power: NaN of a number below 0 and a broken exponent, infinity of 0 and a negative one."""

    def make(a: str, b: str) -> str:
        size = f"{b} * ln(abs({a}))"
        whole = f"{b} = trunc({b}) AND abs({b}) < 9e15"
        odd = f"(CASE WHEN {a} <= 0 AND {whole} AND mod({b}::numeric, 2) <> 0 THEN -1 ELSE 1 END)"
        return (
            f"(CASE WHEN {a} IS NULL OR {b} IS NULL THEN NULL"
            f" WHEN {a} = 0 AND {b} < 0 THEN CASE WHEN CAST({a} AS text) = '-0' THEN {odd} ELSE 1 END * {INFINITE}"
            f" WHEN {a} = -{INFINITE} AND abs({b}) < {INFINITE} AND {b} <> trunc({b})"
            f" THEN CASE WHEN {b} > 0 THEN {INFINITE} ELSE 0 END"
            f" WHEN {a} = 0 OR {b} = 0 OR {_special(a, b)} THEN power({a}, {b})"
            f" WHEN {a} < 0 AND {b} <> trunc({b}) THEN {NOT_A_NUMBER}"
            f" WHEN abs({b}) > 1e290 AND abs({a}) = 1 THEN 1"
            f" WHEN abs({b}) > 1e290 THEN CASE WHEN (abs({a}) > 1) = ({b} > 0) THEN {INFINITE} ELSE 0 END"
            f" WHEN {size} > {_TOO_LARGE} THEN {odd} * {INFINITE} WHEN {size} < {_TOO_SMALL} THEN 0"
            f" ELSE power({a}, {b}) END)"
        )

    return bind_values(make, one, other)


def exponential(one: str) -> str:
    """E to a power."""
    return bind_values(
        lambda x: (
            f"(CASE WHEN NOT (abs({x}) < {INFINITE}) OR {x} BETWEEN -745.1 AND 709.78 THEN exp({x})"
            f" WHEN {x} > 0 THEN {INFINITE} WHEN {x} < 0 THEN 0 END)"
        ),
        one,
    )


def round_half_away(one: str) -> str:
    """Round, halves away from zero: what is cut off is exact."""
    return bind_values(
        lambda x: (
            f"(trunc({x}) + CASE WHEN abs({x}) < 1e300 AND abs({x} - trunc({x})) >= 0.5 THEN sign({x}) ELSE 0 END)"
        ),
        one,
    )


def timestamp(one: str) -> str:
    """Write a date or a time as a time: far ones, and what is always NULL, are none."""
    if one == "NULL":
        return "CAST(NULL AS timestamp)"
    return bind_values(
        lambda d: (
            f"(CASE WHEN {d} BETWEEN {FIRST} AND {LAST} OR NOT isfinite({d}) THEN CAST({d} AS timestamp) END)"
        ),
        one,
    )


def within(make: Callable[[str], str], moment: str) -> str:
    """Use a time where its parts and sums are within range, and nothing is infinite."""
    return bind_values(lambda t: f"(CASE WHEN {t} BETWEEN {FIRST} AND {LAST} THEN {make(t)} END)", moment)
