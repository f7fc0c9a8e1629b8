"""The aim of a question: how close its answer is to be, where that decides the loss. Public, like all terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import QueryError
from jali.planner.terms import Given
from jali.privacy.rationals import Number, rational

CONFIDENCE = 0.95
_NOISES = ("laplace", "gaussian")
_AIMS = ("within", "confidence", "noise", "group_rows")


@dataclass(frozen=True)
class Aim:
    """How close an answer is to be, and for what groups that is forecast.

    Attributes:
        within: What each half-width is to be at most: for the outputs of these names, or for all under None.
        confidence: The confidence of the intervals.
        noise: "laplace" for a loss in epsilon, "gaussian" for one in rho.
        group_rows: A guess of the rows of a group, for forecasts only.
    """

    within: tuple[tuple[str | None, Fraction], ...] = ()
    confidence: float = CONFIDENCE
    noise: str = "laplace"
    group_rows: int | None = None

    @property
    def kind(self) -> str:
        """The kind of loss that is looked for."""
        return "epsilon" if self.noise == "laplace" else "rho"


def aim_of(given: Given) -> Aim | None:
    """Read the aim as a question names it; None where it names none."""
    if all(given.get(name) is None for name in _AIMS):
        return None
    within, group_rows = given.get("within"), _group_rows(given.get("group_rows"))
    if within is None:
        _check_alone(given)
        return Aim(group_rows=group_rows)
    if given.get("epsilon") is not None or given.get("rho") is not None:
        raise QueryError("within-and-loss")
    return Aim(_within(within), _confidence(given.get("confidence")), _noise(given.get("noise")), group_rows)


def without_aim(given: Given) -> Given:
    """Return the other terms."""
    kept: Given = given.copy()
    for name in _AIMS:
        kept.pop(name, None)  # type: ignore[misc]
    return kept


def _check_alone(given: Given) -> None:
    for name in ("confidence", "noise"):
        if given.get(name) is not None:
            raise QueryError("term-without-within", term=name)


def _within(given: Number | Mapping[str, Number]) -> tuple[tuple[str | None, Fraction], ...]:
    if not isinstance(given, Mapping):
        return ((None, _width(given)),)
    if not given or not all(isinstance(name, str) for name in given):
        raise QueryError("within-names-nothing")
    return tuple((name, _width(width)) for name, width in given.items())


def _width(given: Number) -> Fraction:
    width = rational(given, "within")
    if width <= 0:
        raise QueryError("within-not-positive")
    return width


def _confidence(given: float | None) -> float:
    confidence = CONFIDENCE if given is None else float(rational(given, "confidence"))
    if not 0 < confidence < 1:
        raise QueryError("confidence-outside")
    return confidence


def _noise(given: str | None) -> str:
    noise = _NOISES[0] if given is None else given
    if noise not in _NOISES:
        raise QueryError("noise-malformed")
    return noise


def _group_rows(given: int | None) -> int | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 1 << 50):
        raise QueryError("group-rows-not-positive")
    return given
