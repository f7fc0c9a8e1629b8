"""Shares of a whole, as numbers and as strips of letters."""

from __future__ import annotations

from collections.abc import Mapping

CELLS = 41
_FULL, _EMPTY, _SIGNS = "█", "░", "┃╏┋"


def exact_percent(share: float) -> str:
    """Write a share with one decimal; all and nothing only where they are meant.

    Example:
        >>> exact_percent(0.9731), exact_percent(1.0), exact_percent(0.9999), exact_percent(0.5)
        ('97.3 %', '100 %', '>99.9 %', '50.0 %')
    """
    if 0.9995 <= share < 1:
        return ">99.9 %"
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{100 * share:.1f} %"


def share_strip(share: float, signs: Mapping[str, float], cells: int = CELLS) -> str:
    """Draw a share as a strip, and mark the places of up to three others on it.

    Example:
        >>> share_strip(0.75, {"half": 0.5}, cells=9)
        '████┃██░░  ┃ half'
    """
    full = round(share * cells)
    drawn = [_FULL if i < full else _EMPTY for i in range(cells)]
    for sign, place in zip(_SIGNS, signs.values(), strict=False):
        drawn[round(place * (cells - 1))] = sign
    named = "  ".join(f"{sign} {name}" for sign, name in zip(_SIGNS, signs, strict=False))
    return "".join(drawn) + (f"  {named}" if named else "")
