"""The noise of an oracle as the attacker knows it: a kind and a size."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from jali.errors import CatalogError

_SIZE = re.compile(r"(?:(?P<factor>[^*]+)\*)?sqrt\(n\)")
# Beyond these sizes a count plus noise is the noise alone, or squares of it vanish, in doubles.
LEAST, MOST = 1e-100, 1e15


@dataclass(frozen=True)
class Kind:
    """A kind of noise.

    Attributes:
        meaning: What its size is.
        stddev: The standard deviation at a size; None where there is none to speak of.
        bound: What an error never exceeds at a size; None where it may.
    """

    meaning: str
    stddev: Callable[[float], float | None]
    bound: Callable[[float], float | None]


def _geometric(scale: float) -> float:
    """Return the standard deviation of the discrete Laplace law, sqrt(2 q) / (1 - q) for q = e^(-1/scale)."""
    return math.sqrt(2) * math.exp(-0.5 / scale) / -math.expm1(-1 / scale) if scale else 0.0


def _rounding(step: float) -> float:
    """Return the standard deviation of the error of rounding whole numbers to multiples of a step.

    Its variance is step^2 / 12, that of a uniform law, for a step without a common measure with 1. A whole step
    leaves errors that are whole: (step^2 - 1) / 12 for an odd one, (step^2 + 2) / 12 for an even one, with ties.
    """
    shift = 0 if step != math.floor(step) or step == 0 else -1 if step % 2 else 2
    return math.sqrt((step * step + shift) / 12)


KINDS: dict[str, Kind] = {
    "none": Kind("exact answers", lambda _: 0.0, lambda _: 0.0),
    "uniform": Kind("uniform within ± SIZE", lambda size: size / math.sqrt(3), lambda size: size),
    "worst": Kind("chosen to mislead within ± SIZE", lambda _: None, lambda size: size),
    "gaussian": Kind("normal with standard deviation SIZE", lambda size: size, lambda _: None),
    "laplace": Kind("Laplace with scale SIZE", lambda size: math.sqrt(2) * size, lambda _: None),
    "geometric": Kind("Laplace on whole numbers with scale SIZE", _geometric, lambda _: None),
    "layers": Kind(
        "sticky, in normal layers of standard deviation SIZE: two for each condition of a question",
        lambda size: math.sqrt(2) * size,
        lambda _: None,
    ),
    "rounding": Kind("rounded to multiples of SIZE", _rounding, lambda size: size / 2),
    "garbage": Kind("a share SIZE of the answers is made up", lambda _: None, lambda _: None),
}


@dataclass(frozen=True)
class Noise:
    """A law of noise, which is public: an attacker who knows it loses nothing by Kerckhoffs' principle.

    Attributes:
        kind: One of `KINDS`.
        size: Its size, in people; for garbage a share.

    Example:
        >>> Noise.of("uniform:0.5*sqrt(n)", n=64)
        Noise(kind='uniform', size=4.0)
    """

    kind: str
    size: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise CatalogError("noise-unknown", noise=self.kind, noises=tuple(KINDS))
        if not (math.isfinite(self.size) and self.size >= 0):
            raise CatalogError(
                "noise-size-wrong",
                noise=self.kind,
                finite=math.isfinite(self.size),
                size=self.size,
                name="noise",
            )
        if self.size and not LEAST <= self.size <= MOST:
            raise CatalogError(
                "noise-size-out-of-range", noise=self.kind, least=LEAST, most=MOST, size=self.size, name="noise"
            )
        if self.kind == "none" and self.size:
            raise CatalogError("noise-none-with-size", name="noise")
        if self.kind == "garbage" and self.size > 1:
            raise CatalogError("noise-share-too-large", size=self.size, name="noise")

    @classmethod
    def of(cls, text: str | Noise, *, n: int) -> Noise:
        """Read a noise: KIND:SIZE, where SIZE may be a multiple of sqrt(n)."""
        if isinstance(text, Noise):
            return text
        if not isinstance(text, str):
            raise CatalogError("noise-not-a-text", noise=text, name="noise")
        kind, _, size = text.replace(" ", "").partition(":")
        if kind == "none" and not size:
            return cls("none")
        return cls(kind, _size(text, size, n)) if kind in KINDS else cls(kind)

    @property
    def stddev(self) -> float | None:
        """The standard deviation of one answer's error."""
        return KINDS[self.kind].stddev(self.size)

    @property
    def bound(self) -> float | None:
        """What the error of one answer never exceeds."""
        return KINDS[self.kind].bound(self.size)

    def __str__(self) -> str:
        return "none" if self.kind == "none" else f"{self.kind}:{self.size:g}"


def _size(text: str, size: str, n: int) -> float:
    root = _SIZE.fullmatch(size)
    try:
        return float(size) if root is None else float(root["factor"] or 1) * math.sqrt(n)
    except ValueError:
        raise CatalogError("noise-unreadable", noise=text, name="noise") from None
