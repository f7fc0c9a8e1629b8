"""Write numbers, dates and shares as people read them: no more digits than the error bar carries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

# Two ends: numbers, dates or times.
Interval: TypeAlias = tuple[Any, Any] | None
# How far from the middle of its interval a value may be shown with ±, in half-widths.
_CENTRED = 0.05
# Numbers from here on are written with an exponent.
_MANY = 1e18


class Ends(NamedTuple):
    """An interval that is shown by its two ends, also around its middle: as those that stand beside it are."""

    low: Any
    high: Any


def half_width(interval: Interval) -> float | None:
    """Return half the length of an interval; None where there is none, or it is unbounded or one of dates."""
    if interval is None or not all(is_number(end) and math.isfinite(end) for end in interval):
        return None
    return (float(interval[1]) - float(interval[0])) / 2


def is_number(value: Any) -> bool:
    """Return whether a value is a number, which a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def digits_for(width: float | None) -> int:
    """Return how many decimals carry information beside an error of this size: two significant ones."""
    if width is None or width <= 0 or not math.isfinite(width):
        return 2
    return max(0, min(9, 1 - math.floor(math.log10(width))))


def show_number(value: Any, width: float | None = None) -> str:
    """Write a value with the decimals that its error bar justifies.

    Example:
        >>> show_number(1234.5678, 20.0), show_number(3.14159, 0.031), show_number(None), show_number("A")
        ('1,235', '3.142', 'NULL', 'A')

    What rounds to zero has no sign, and what is very large has an exponent:

        >>> show_number(-0.04, 1.2), show_number(1.25e300, 1e299)
        ('0.0', '1.25e+300')
    """
    if value is None:
        return "NULL"
    if not is_number(value):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return _show_double(value, digits_for(width))


def _show_double(value: float, digits: int) -> str:
    """Write a double with this many decimals; a very large one with an exponent."""
    return f"{value:z,.{digits}f}" if abs(value) < _MANY else f"{value:.6g}"


def show_key(value: Any) -> str:
    """Write a key, a label or a chosen word: a year is 2025, not 2,025.

    Example:
        >>> show_key(2025), show_key(0.5), show_key(None), show_key("A"), show_key(-0.0)
        ('2025', '0.5', 'NULL', 'A', '0.0')
    """
    if isinstance(value, float) and value == 0:
        return "0.0"
    return "NULL" if value is None else str(value)


def show_width(width: float | None) -> str:
    """Write an error bar, with a plus-minus sign."""
    return "" if width is None else f"± {_show_double(width, digits_for(width))}"


def is_centred(value: Any, interval: Interval) -> bool:
    """Return whether a value is so close to the middle of its interval that ± says what the interval says.

    Example:
        >>> is_centred(10.0, (8.0, 12.0)), is_centred(0.0, (0.0, 2.24)), is_centred(None, (0.0, 100.0))
        (True, False, False)
        >>> is_centred(10.0, Ends(8.0, 12.0))
        False

    Ends that are whole numbers were chosen among values, as those of a quantile are: they are shown themselves.
    """
    width = half_width(interval)
    if isinstance(interval, Ends) or (interval is not None and all(isinstance(end, int) for end in interval)):
        return False
    if interval is None or width is None or not is_number(value) or not math.isfinite(value):
        return False
    middle = float(interval[0]) + width
    return abs(float(value) - middle) <= _CENTRED * width + 1e-12 * abs(middle)


def show_interval(interval: Interval) -> str:
    """Write the two ends of an interval.

    Example:
        >>> show_interval((0.0, 2.24)), show_interval((-math.inf, 12.0)), show_interval((44, 54))
        ('0.0 … 2.2', '-∞ … 12.00', '44 … 54')
    """
    if interval is None:
        return ""
    digits = digits_for(half_width(interval))
    return " … ".join(_show_end(end, digits) for end in interval)


def show_error(value: Any, interval: Interval) -> str:
    """Write the error bar of a value: ± where the value is in the middle of its interval, else the two ends.

    Example:
        >>> show_error(48.6, (44.5, 52.7)), show_error(0.0, (0.0, 2.24)), show_error(None, (0.0, 100.0))
        ('± 4.1', '0.0 … 2.2', '0 … 100')
    """
    return show_width(half_width(interval)) if is_centred(value, interval) else show_interval(interval)


def _show_end(end: Any, digits: int) -> str:
    if not is_number(end):
        return str(end)
    if isinstance(end, int):
        return f"{end:,}"
    if math.isfinite(end):
        return _show_double(end, digits)
    return "∞" if end > 0 else "-∞"


def show_amount(value: float) -> str:
    """Write a scale, sensitivity or forecast: at least three significant digits, and never an exponent in between.

    Example:
        >>> show_amount(36.97), show_amount(110545.1), show_amount(5.0), show_amount(0.012345)
        ('37', '110,545', '5', '0.0123')
    """
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    shown = f"{value:z.3g}"
    return shown if "e" not in shown or abs(value) < 1e-6 else f"{value:.9f}".rstrip("0")


def show_percent(share: float) -> str:
    """Write a share of one as a percentage.

    Example:
        >>> show_percent(0.049), show_percent(0.5), show_percent(1.0), show_percent(0.00012)
        ('4.9 %', '50 %', '100 %', '0.012 %')
    """
    percent = 100 * share
    return f"{percent:.0f} %" if abs(percent) >= 10 or percent == 0 else f"{percent:.2g} %"


def show_at_least(value: float) -> str:
    """Write a lower bound with three digits, never rounded up.

    Example:
        >>> show_at_least(0.6859), show_at_least(7.0299), show_at_least(1234.5), show_at_least(0.0)
        ('0.685', '7.02', '1230', '0')
    """
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    scale = 10.0 ** (2 - math.floor(math.log10(value)))
    return f"{math.floor(value * scale) / scale:g}"


def show_rows(amount: float) -> str:
    """Write a number of rows that need not be whole.

    Example:
        >>> show_rows(1.0), show_rows(0.5)
        ('1 row', '0.5 rows')
    """
    return f"{show_amount(amount)} {'row' if amount == 1 else 'rows'}"


STRIP_CELLS = 41
_FULL, _EMPTY, _SIGNS = "█", "░", "┃╏┋"


def show_share(share: float) -> str:
    """Write a share with one decimal; all and nothing only where they are meant.

    Example:
        >>> show_share(0.9731), show_share(1.0), show_share(0.9999), show_share(0.5)
        ('97.3 %', '100 %', '>99.9 %', '50.0 %')
    """
    if 0.9995 <= share < 1:
        return ">99.9 %"
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{100 * share:.1f} %"


def draw_share_strip(share: float, signs: Mapping[str, float], cells: int = STRIP_CELLS) -> str:
    """Draw a share as a strip, and mark the places of up to three others on it.

    Example:
        >>> draw_share_strip(0.75, {"half": 0.5}, cells=9)
        '████┃██░░  ┃ half'
    """
    full = round(share * cells)
    drawn = [_FULL if i < full else _EMPTY for i in range(cells)]
    for sign, place in zip(_SIGNS, signs.values(), strict=False):
        drawn[round(place * (cells - 1))] = sign
    named = "  ".join(f"{sign} {name}" for sign, name in zip(_SIGNS, signs, strict=False))
    return "".join(drawn) + (f"  {named}" if named else "")
