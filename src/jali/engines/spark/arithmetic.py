"""Whole numbers of doubles, and sums that no number of rows can overflow, in Spark's SQL.

Spark's casts cut, and its FLOOR and CEIL give integers that saturate. RINT gives the nearest whole double, halves
to even, and keeps NaN, infinities and the sign of zero: the other roundings are made of it.

Spark's own sums wrap around at 64 bits, silently. So a number of 64 bits is cut into limbs of 23 bits, the lower
ones without a sign. The sum of 2^40 limbs stays below 2^63, so that each limb is summed in 64 bits; together they
make a decimal of 38 digits, once for each group. No table has 2^40 rows in one group: that is eight terabytes of
the group's key alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jali.engines.sql.dialect import LONG

# The double that BIGINT is just too small for; Spark takes it for the largest BIGINT.
_TOO_LARGE = "double('9.223372036854775807E18')"


def bind(written: str, name: str, body: str) -> str:
    """Write an expression in which a name stands for a value."""
    return f"transform(array({written}), {name} -> {body})[0]"


def bind_value(written: str, make: Callable[[str], str]) -> str:
    """Use a value several times. A long one is bound to a name: nested calls would double the query each time."""
    return make(written) if len(written) <= LONG else bind(written, "v", make("v"))


def bind_values(values: Mapping[str, str], make: Callable[..., str]) -> str:
    """Use several values several times, each under its name."""
    if all(len(written) <= LONG for written in values.values()):
        return make(**values)
    fields = ", ".join(f"{written} AS {name}" for name, written in values.items())
    # Another letter than above, so that one may be used inside of the other.
    return bind(f"struct({fields})", "w", make(**{name: f"w.{name}" for name in values}))


def floor(written: str) -> str:
    """Write the largest whole double that is no larger."""
    return bind_value(written, lambda v: f"CASE WHEN rint({v}) > {v} THEN rint({v}) - 1D ELSE rint({v}) END")


def ceil(written: str) -> str:
    """Write the least whole double that is no less; -0.0 where C says so."""
    return f"(-{floor(f'(-{written})')})"


def trunc(written: str) -> str:
    """Cut a double toward zero."""
    return bind_value(written, lambda v: f"(signum({v}) * {floor(f'abs({v})')})")


def round_half_away(written: str) -> str:
    """Round a double to a whole one, halves away from zero: v - rint(v) is exact."""
    return bind_value(
        written,
        lambda v: (
            f"CASE WHEN {v} > 0D AND {v} - rint({v}) = 0.5D THEN rint({v}) + 1D"
            f" WHEN {v} < 0D AND {v} - rint({v}) = -0.5D THEN rint({v}) - 1D ELSE rint({v}) END"
        ),
    )


def round_half_even(written: str, width: str, *, fits: bool) -> str:
    """Round a double, halves to even, to a type of whole numbers; NULL where it does not fit."""
    if fits:
        return f"CAST(rint({written}) AS {width})"
    if width == "BIGINT":
        return f"try_cast(nullif(rint({written}), {_TOO_LARGE}) AS BIGINT)"
    return f"try_cast(rint({written}) AS {width})"


# Bits of a limb without its sign, and so many rows are summed at most: 63 = LIMB + ROWS.
LIMB, ROWS = 23, 40
_WIDE = "DECIMAL(38, 0)"


def total(value: str, most: int) -> str:
    """Write the sum of whole numbers v with |v| <= most <= 2^63: BIGINT where one limb does, else DECIMAL(38, 0).

    Proof:
        v = sum of limb_i(v) * 2^(23 i), where the last limb is v shifted right with its sign, below 2^23 in size,
        and the others are 23 bits of v. Each limb is at most 2^23 in size, so that 2^39 of them sum to less than
        2^63 in size; the sums times 2^(23 i) add up to less than 2^102 < 10^38.
    """
    limbs = max(1, -(-most.bit_length() // LIMB))
    if limbs == 1:
        return f"sum({value})"
    written = [_limb(value, place, last=place == limbs - 1) for place in range(limbs)]
    parts = [
        f"CAST(sum({limb}) AS {_WIDE}) * {1 << LIMB * place}" if place else f"CAST(sum({limb}) AS {_WIDE})"
        for place, limb in enumerate(written)
    ]
    return f"({' + '.join(parts)})"


def _limb(value: str, place: int, *, last: bool) -> str:
    shifted = f"shiftright({value}, {LIMB * place})" if place else f"({value})"
    return shifted if last else f"({shifted} & {(1 << LIMB) - 1})"
