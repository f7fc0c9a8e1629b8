"""The curve of the lab: which share of made-up bits is recovered by noise, drawn by the server in any width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jali.server.pages.bars import Mark

# Heights of the drawing, and the shares between which it is.
_TOP, _HEIGHT, _LEAST = 24.0, 224.0, 0.4
_SHARES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Slider:
    """A slider: its ends and its place are logarithms, what it says is the number."""

    least: float
    most: float
    value: float
    said: str


@dataclass(frozen=True)
class Curve:
    """What is drawn, and what the sliders beside it say.

    Attributes:
        people: The slider of the people,
        noise: of the noise,
        loss: and of the epsilon. Their ends are those of the drawing.
        line: The law, in thousandths.
        shares: The axis upwards, in pixels.
        marks: Round numbers across, in percent,
        places: and the two places that the law is about.
        dot: Where the measured share is, in percent and pixels; None where nothing was measured.
        span: Its interval, in pixels.
        said: All of it in a sentence.
    """

    people: Slider
    noise: Slider
    loss: Slider
    line: str
    shares: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    places: tuple[Mark, ...]
    dot: tuple[float, float] | None
    span: tuple[float, float]
    said: str


def curve_of(people: int, told: dict[str, Any], noises: tuple[float, float], losses: tuple[float, float]) -> Curve:
    """Draw what was recovered."""
    first, last = (math.log10(end) for end in noises)

    def across(noise: float) -> float:
        return 100 * (min(max(math.log10(noise), first), last) - first) / (last - first)

    powers = range(math.ceil(first), math.floor(last) + 1)
    held = {"√n": told["sqrt_n"], "n": float(told["n"])}
    measured = told["fraction"] is not None
    ends = told["interval"] if measured else (0.5, 0.5)
    epsilon = told["epsilon"] or losses[1]
    return Curve(
        Slider(2, 14, people, f"{told['n']:,}"),
        Slider(first, last, math.log10(told["noise"]), short(told["noise"])),
        Slider(math.log10(losses[0]), math.log10(losses[1]), math.log10(epsilon), short(epsilon)),
        " ".join(f"{10 * across(x):.1f},{1000 * (_up(y) - _TOP) / _HEIGHT:.1f}" for x, y in told["curve"]),
        tuple(Mark(f"{share:.0%}".replace("%", " %"), _up(share)) for share in _SHARES),
        tuple(_mark(short(10.0**power), across(10.0**power)) for power in powers),
        tuple(_mark(f"{name} = {short(value)}", across(value)) for name, value in held.items()),
        (across(told["noise"]), _up(told["fraction"])) if measured else None,
        (_up(ends[0]), _up(ends[1])),
        _said(told),
    )


def _mark(text: str, place: float) -> Mark:
    return Mark(text, place, "start" if place < 5 else "end" if place > 92 else "middle")


def _up(share: float) -> float:
    return _TOP + (1 - max(share, _LEAST)) / (1 - _LEAST) * _HEIGHT


def _said(told: dict[str, Any]) -> str:
    law = f"the law says {_percent(told['law'])}, guessing gets 50 %."
    if told["fraction"] is None:
        return f"Too much is under way to measure it now; {law}"
    low, high = told["interval"]
    share = f"Recovered {_percent(told['fraction'])} of {told['n']:,} bits"
    return f"{share} (interval {_percent(low)} to {_percent(high)}); {law}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def short(value: float) -> str:
    """Write a number with three digits.

    Example:
        >>> short(31.6228), short(1024.0), short(0.1)
        ('31.6', '1,024', '0.1')
    """
    return f"{round(value):,}" if value >= 1000 else f"{float(f'{value:.3g}'):g}"
