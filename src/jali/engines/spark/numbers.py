"""Whole numbers of doubles: Spark's casts cut, its FLOOR and CEIL give integers that saturate.

RINT gives the nearest whole double, halves to even, and keeps NaN, infinities and the sign of zero: the others
are made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

# Above this many characters a value that is used several times is bound to a name.
_LONG = 100
# So many NULLIFs may stand inside another before its argument is bound to a name.
_COPIED = 2
# The double that BIGINT is just too small for; Spark takes it for the largest BIGINT.
_TOO_LARGE = "double('9.223372036854775807E18')"


def once(written: str, make: Callable[[str], str]) -> str:
    """Use a value several times. A long one is bound to a name: nested calls would double the query each time."""
    if len(written) <= _LONG:
        return make(written)
    return f"transform(array({written}), v -> {make('v')})[0]"


def unless(written: str, other: str) -> str:
    """Write a value, or NULL where it is another one.

    Spark makes two copies of the first argument of NULLIF, and so 2^n of n inside each other: from the third on
    the value is bound to a name of its own.
    """
    if written.count("nullif(") < _COPIED:
        return f"nullif({written}, {other})"
    name = f"n{(written + other).count(' -> ')}"
    return f"transform(array({written}), {name} -> nullif({name}, {other}))[0]"


def bound(values: Mapping[str, str], make: Callable[..., str]) -> str:
    """Use several values several times, each under its name."""
    if all(len(written) <= _LONG for written in values.values()):
        return make(**values)
    fields = ", ".join(f"{written} AS {name}" for name, written in values.items())
    # Another letter than above, so that one may be used inside of the other.
    return f"transform(array(struct({fields})), w -> {make(**{name: f'w.{name}' for name in values})})[0]"


def floor(written: str) -> str:
    """Write the largest whole double that is no larger."""
    return once(written, lambda v: f"CASE WHEN rint({v}) > {v} THEN rint({v}) - 1D ELSE rint({v}) END")


def ceil(written: str) -> str:
    """Write the least whole double that is no less; -0.0 where C says so."""
    return f"(-{floor(f'(-{written})')})"


def trunc(written: str) -> str:
    """Cut a double toward zero."""
    return once(written, lambda v: f"(signum({v}) * {floor(f'abs({v})')})")


def half_away(written: str) -> str:
    """Round a double to a whole one, halves away from zero: v - rint(v) is exact."""
    return once(
        written,
        lambda v: (
            f"CASE WHEN {v} > 0D AND {v} - rint({v}) = 0.5D THEN rint({v}) + 1D"
            f" WHEN {v} < 0D AND {v} - rint({v}) = -0.5D THEN rint({v}) - 1D ELSE rint({v}) END"
        ),
    )


def nearest(written: str, width: str, *, fits: bool) -> str:
    """Round a double, halves to even, to a type of whole numbers; NULL where it does not fit."""
    if fits:
        return f"CAST(rint({written}) AS {width})"
    if width == "BIGINT":
        return f"try_cast(nullif(rint({written}), {_TOO_LARGE}) AS BIGINT)"
    return f"try_cast(rint({written}) AS {width})"
