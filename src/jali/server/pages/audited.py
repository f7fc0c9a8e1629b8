"""Audits as a page shows them: the auditor's own words, and bounds that are cut off, never rounded up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

_LOSSES = ("epsilon", "rho", "delta")


@dataclass(frozen=True)
class Audited:
    """One line of the list.

    Attributes:
        name: What is audited.
        claims: How many claims it has.
        claimed: The first of them, in words.
        found: The loss that was shown, and of which claim where there are several.
        verdict: In a sentence.
        alarm: Whether a claim was proved false.
        others: What was said of each claim, where there are several.
        tried: Whether it was audited now.
    """

    name: str
    claims: int
    claimed: str
    found: str = ""
    verdict: str = "not tried yet"
    alarm: bool = False
    others: tuple[str, ...] = ()
    tried: bool = False


def untried(one: dict[str, Any]) -> Audited:
    """Return the line of something that was not audited yet."""
    return Audited(one["name"], one["claims"], one["such_as"])


def audited_row(one: dict[str, Any], told: dict[str, Any]) -> Audited:
    """Return the line of what was audited: with the claim that came nearest to being proved false."""
    audits = told["audits"]
    best = max(audits, key=_weight)
    several = len(audits) > 1
    claim = f" of {best['kind']} {best['claimed']:.6g}" if several else ""
    others = tuple(f"{each['name']}: {each['said']}" for each in audits) if several else ()
    return Audited(
        one["name"],
        one["claims"],
        one["such_as"],
        f"{_shown(best)}{claim}",
        best["said"],
        told["verdict"] == "violation",
        others,
        tried=True,
    )


def _weight(told: dict[str, Any]) -> float:
    share = math.inf if told["found"] is None else told["found"] / (told["claimed"] or 1e-9)
    return (1e9 if told["verdict"] == "violation" else 0) + (min(share, 1e6) if told["kind"] in _LOSSES else 0)


def _shown(told: dict[str, Any]) -> str:
    low, high = told["interval"]
    if low is not None and low == high:
        return f"{told['found']:.6g}"
    return f"≥ {cut(told['found'])}"


def cut(value: float | None) -> str:
    """Write a lower bound with three digits, cut off.

    Example:
        >>> cut(0.69999), cut(0.0), cut(None)
        ('0.699', '0', 'everything')
    """
    if value is None:
        return "everything"
    if value <= 0:
        return "0"
    scale = 10.0 ** (2 - math.floor(math.log10(value)))
    return f"{math.floor(value * scale + 1e-9) / scale:.3g}"
