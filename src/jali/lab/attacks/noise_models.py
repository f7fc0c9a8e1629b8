"""Describe the noise of an oracle as the attacker knows it: its kind, its size, and what follows from them.

A count and the next are one apart, so noise beyond 1/2 changes how a bit is read: `find_crossing` says how often
that happens. Coarse rounding is not like independent noise: `is_coarse` says when.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

from jali.errors import CatalogError

_SIZE_PATTERN = re.compile(r"(?:(?P<factor>[^*]+)\*)?sqrt\(n\)")
# Beyond these sizes a count plus noise is the noise alone, or squares of it vanish, in doubles.
LEAST_SIZE, MOST_SIZE = 1e-100, 1e15


@dataclass(frozen=True)
class NoiseKind:
    """A kind of noise.

    Attributes:
        meaning: What its size is.
        stddev: The standard deviation at a size; None where there is none to speak of.
        bound: What an error never exceeds at a size; None where it may.
    """

    meaning: str
    stddev: Callable[[float], float | None]
    bound: Callable[[float], float | None]


def _find_geometric_stddev(scale: float) -> float:
    """Return the standard deviation of the discrete Laplace law, sqrt(2 q) / (1 - q) for q = e^(-1/scale)."""
    return math.sqrt(2) * math.exp(-0.5 / scale) / -math.expm1(-1 / scale) if scale else 0.0


def _find_rounding_stddev(step: float) -> float:
    """Return the standard deviation of the error of rounding whole numbers to multiples of a step.

    Its variance is step^2 / 12, that of a uniform law, for a step without a common measure with 1. A whole step
    leaves errors that are whole: (step^2 - 1) / 12 for an odd one, (step^2 + 2) / 12 for an even one, with ties.
    """
    shift = 0 if step != math.floor(step) or step == 0 else -1 if step % 2 else 2
    return math.sqrt((step * step + shift) / 12)


KINDS: dict[str, NoiseKind] = {
    "none": NoiseKind("exact answers", lambda _: 0.0, lambda _: 0.0),
    "uniform": NoiseKind("uniform within ± SIZE", lambda size: size / math.sqrt(3), lambda size: size),
    "worst": NoiseKind("chosen to mislead within ± SIZE", lambda _: None, lambda size: size),
    "gaussian": NoiseKind("normal with standard deviation SIZE", lambda size: size, lambda _: None),
    "laplace": NoiseKind("Laplace with scale SIZE", lambda size: math.sqrt(2) * size, lambda _: None),
    "geometric": NoiseKind("Laplace on whole numbers with scale SIZE", _find_geometric_stddev, lambda _: None),
    "layers": NoiseKind(
        "sticky, in normal layers of standard deviation SIZE: two for each condition of a question",
        lambda size: math.sqrt(2) * size,
        lambda _: None,
    ),
    "rounding": NoiseKind("rounded to multiples of SIZE", _find_rounding_stddev, lambda size: size / 2),
    "garbage": NoiseKind("a share SIZE of the answers is made up", lambda _: None, lambda _: None),
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
        if self.size and not LEAST_SIZE <= self.size <= MOST_SIZE:
            raise CatalogError(
                "noise-size-out-of-range",
                noise=self.kind,
                least=LEAST_SIZE,
                most=MOST_SIZE,
                size=self.size,
                name="noise",
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
        return cls(kind, _read_size(text, size, n)) if kind in KINDS else cls(kind)

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


def _read_size(text: str, size: str, n: int) -> float:
    root = _SIZE_PATTERN.fullmatch(size)
    try:
        return float(size) if root is None else float(root["factor"] or 1) * math.sqrt(n)
    except ValueError:
        raise CatalogError("noise-unreadable", noise=text, name="noise") from None


_COARSE = 4 / 3


def is_coarse(noise: Noise, deviation: float) -> bool:
    """Return whether multiples are so far apart that rounding is not like independent noise.

    Where counts have a standard deviation of t, the error of rounding to multiples of b keeps a share of about
    2 exp(-2 pi^2 t^2 / b^2) of their order: 3e-5 at b = 4 t / 3, but more than half at b = 4 t, where the share of
    right bits swings about every law from one secret to the next.

    Args:
        noise: Any noise.
        deviation: The standard deviation of the counts, over people with fair bits.

    Example:
        >>> is_coarse(Noise("rounding", 8), 16.0), is_coarse(Noise("rounding", 64), 16.0)
        (False, True)
    """
    return noise.kind == "rounding" and noise.stddev != 0 and noise.size > _COARSE * deviation


_HALF = 0.5
# In scales: e to the minus this is 0 in doubles.
_FAR_TAIL = 1000.0


def find_crossing(noise: Noise) -> float | None:
    """Return Pr[X > 1/2] for the noise X of one answer; None where no law says it.

    With discrete Laplace noise it is q / (1 + q) for q = e^(-1/scale), so that a count of one person with the
    loss epsilon is read right with probability e^epsilon / (1 + e^epsilon): no more is possible.

    Example:
        >>> find_crossing(Noise("uniform", 1))
        0.25
    """
    return _apply_law(noise, _CROSSINGS_OF_ONE)


def find_difference_crossing(noise: Noise) -> float | None:
    """Return Pr[X - Y > 1/2] for the independent noises X and Y of two answers; None where no law says it.

    Example:
        >>> find_difference_crossing(Noise("uniform", 0.5))
        0.125
    """
    return _apply_law(noise, _CROSSINGS_OF_TWO)


def _apply_law(noise: Noise, laws: Mapping[str, Callable[[float], float]]) -> float | None:
    if noise.stddev == 0:
        return 0.0
    return laws[noise.kind](noise.size) if noise.kind in laws else None


def _cross_uniform(bound: float) -> float:
    return max(0.0, bound - _HALF) / (2 * bound)


def _cross_triangular(bound: float) -> float:
    return max(0.0, 2 - _HALF / bound) ** 2 / 8


def _cross_gaussian(stddev: float) -> float:
    return NormalDist().cdf(-_HALF / stddev)


def _cross_laplace(scale: float) -> float:
    return math.exp(-_HALF / scale) / 2


def _cross_two_laplace(scale: float) -> float:
    away = min(_HALF / scale, _FAR_TAIL)
    return (1 + away / 2) * math.exp(-away) / 2


def _cross_geometric(scale: float) -> float:
    q = math.exp(-1 / scale)
    return q / (1 + q)


def _cross_two_geometric(scale: float) -> float:
    """Return half of 1 - Pr[X = Y], which is the sum of the squared masses."""
    q = math.exp(-1 / scale)
    same = (1 - q) * (1 + q * q) / (1 + q) ** 3
    return (1 - same) / 2


_CROSSINGS_OF_ONE = {
    "uniform": _cross_uniform,
    "gaussian": _cross_gaussian,
    "laplace": _cross_laplace,
    "geometric": _cross_geometric,
}
_CROSSINGS_OF_TWO = {
    "uniform": _cross_triangular,
    "gaussian": lambda stddev: _cross_gaussian(math.sqrt(2) * stddev),
    "laplace": _cross_two_laplace,
    "geometric": _cross_two_geometric,
}
