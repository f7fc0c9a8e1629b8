"""Write exact numbers as short decimals, rounded to the safe side."""

from __future__ import annotations

import re
from fractions import Fraction


def below(value: Fraction, digits: int = 6) -> Fraction:
    """Round down to `digits` significant decimal digits: the form in which what is left is shown.

    Example:
        >>> below(Fraction(2, 3), digits=3)
        Fraction(333, 500)
    """
    if value <= 0:
        return Fraction(0)
    unit = Fraction(10) ** (_magnitude(value) - digits + 1)
    return (value // unit) * unit


def decimal(value: Fraction, digits: int = 6) -> str:
    """Write a rational as a short decimal that never exceeds it in size.

    Example:
        >>> decimal(Fraction(2, 3)), decimal(Fraction(1, 10)), decimal(Fraction(3))
        ('0.666666', '0.1', '3')
    """
    if value < 0:
        return "-" + decimal(-value, digits)
    return f"{float(below(value, digits)):.{digits}g}"


def decimal_above(value: Fraction, digits: int = 6) -> str:
    """Write a rational as a short decimal that is never below it in size: the form in which a loss is shown.

    Example:
        >>> decimal_above(Fraction(2, 3)), decimal_above(Fraction(1, 10)), decimal_above(Fraction(0))
        ('0.666667', '0.1', '0')
    """
    short = below(value, digits)
    if short < value:
        short += Fraction(10) ** (_magnitude(value) - digits + 1)
    return f"{float(short):.{digits}g}"


def _magnitude(value: Fraction) -> int:
    """Return floor(log10(value)) for value > 0, exactly."""
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if Fraction(10) ** guess <= value else guess - 1


def is_sized(written: str, most: int) -> bool:
    """Say whether a written number is one that somebody can mean: 1e999999999 would take all memory to be read.

    Example:
        >>> is_sized("0.1", 100), is_sized("1e999999999", 100)
        (True, False)
    """
    exponent = re.search(r"[eE]([+-]?[\d_]+)$", written.strip()[-most:])
    return len(written) <= most and not (exponent and abs(int(exponent[1])) > _LARGEST_EXPONENT)


_LARGEST_EXPONENT = 300
