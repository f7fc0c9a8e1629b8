"""Write plans as aligned text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jali.numbers.rounding import rational_above

NOTHING = "-"
# From here on digits are no longer counted by eye, and columns of them no longer fit a terminal.
_LARGE = 1e8


def amount(value: float | None) -> str:
    """Write an error or a loss with four significant digits, rounded up: a bound stays a bound.

    Example:
        >>> amount(4.2246788893), amount(110545.1), amount(0.25), amount(1414213561.0), amount(None)
        ('4.225', '110,546', '0.25', '1.415e+09', '-')
    """
    if value is None:
        return NOTHING
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    # What the bound itself was rounded up by does not count.
    bound = value * (1 - 1e-9)
    places = max(0, 3 - math.floor(math.log10(value)))
    if places > 12 or value >= _LARGE:
        return f"{float(rational_above(bound, digits=4)):.4g}"
    whole = math.ceil(bound * 10**places)
    shown = f"{whole / 10**places:,.{places}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def write_number(value: float) -> str:
    """Write a number that was given, with six significant digits, and an exponent only where it is extreme.

    Example:
        >>> write_number(158.11388), write_number(1e6), write_number(0.25), write_number(1e30)
        ('158.114', '1,000,000', '0.25', '1e+30')
    """
    if not 1e-6 <= value < 1e12:
        return f"{value:.6g}"
    shown = f"{value:,.{max(0, 5 - math.floor(math.log10(value)))}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def write_count(number: int, noun: str) -> str:
    """Write how many there are of something.

    Example:
        >>> write_count(1, "count"), write_count(1000, "row")
        ('1 count', '1,000 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def align(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Set rows under headings: the first column to the left, numbers to the right.

    Example:
        >>> print(align(["noise", "error"], [["Laplace", "9"], ["l_inf", "5.1"]]))
        noise    error
        Laplace      9
        l_inf      5.1
    """
    widths = [max(len(row[j]) for row in (headings, *rows)) for j in range(len(headings))]
    return "\n".join(_line(row, widths) for row in (headings, *rows))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        f"{cell:>{width}}" if j else f"{cell:<{width}}"
        for j, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()
