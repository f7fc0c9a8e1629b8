"""Plans as aligned text."""

from __future__ import annotations

import math
from collections.abc import Sequence

NOTHING = "-"


def amount(value: float | None) -> str:
    """Write an error or a loss with four significant digits, rounded up: a bound stays a bound.

    Example:
        >>> amount(4.2246788893), amount(110545.1), amount(0.25), amount(None)
        ('4.225', '110,546', '0.25', '-')
    """
    if value is None:
        return NOTHING
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    places = max(0, 3 - math.floor(math.log10(value)))
    if places > 12:
        return f"{value:.3e}"
    # What the bound itself was rounded up by does not count.
    whole = math.ceil(value * 10**places * (1 - 1e-9))
    shown = f"{whole / 10**places:,.{places}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def written(value: float) -> str:
    """Write a number that was given, with at most six significant digits and without an exponent.

    Example:
        >>> written(158.11388), written(1e6), written(0.25)
        ('158.114', '1,000,000', '0.25')
    """
    shown = f"{value:,.{max(0, 5 - math.floor(math.log10(value)))}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Set rows under headings: the first column to the left, numbers to the right.

    Example:
        >>> print(aligned(["noise", "error"], [["Laplace", "9"], ["l_inf", "5.1"]]))
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
