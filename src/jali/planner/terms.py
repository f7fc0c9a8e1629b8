"""The terms of a question: what it may cost, how it bounds people, and how accurate its answer is to be.

All of them are public.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from jali.catalog.value_domain import Value
from jali.errors import QueryError
from jali.planner.subpopulations import SubpopulationRequest
from jali.privacy import Concentrated, Loss, Pure
from jali.privacy.rationals import Number, rational

CONFIDENCE = 0.95
_NOISES = ("laplace", "gaussian")
_AIMS = ("within", "confidence", "noise", "group_rows")


@dataclass(frozen=True)
class AccuracyTarget:
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


def read_accuracy_target(given: TermArguments) -> AccuracyTarget | None:
    """Read the aim as a question names it; None where it names none."""
    if all(given.get(name) is None for name in _AIMS):
        return None
    within, group_rows = given.get("within"), _group_rows(given.get("group_rows"))
    if within is None:
        _check_alone(given)
        return AccuracyTarget(group_rows=group_rows)
    if given.get("epsilon") is not None or given.get("rho") is not None:
        raise QueryError("within-and-loss")
    return AccuracyTarget(
        _within(within), _confidence(given.get("confidence")), _noise(given.get("noise")), group_rows
    )


def drop_accuracy_target(given: TermArguments) -> TermArguments:
    """Return the other terms."""
    kept: TermArguments = given.copy()
    for name in _AIMS:
        kept.pop(name, None)  # type: ignore[misc]
    return kept


def _check_alone(given: TermArguments) -> None:
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


@dataclass(frozen=True)
class QuestionTerms:
    """What a question may cost and how it bounds people.

    Attributes:
        loss: The loss of the whole question.
        delta: The chance, at most, that choosing groups fails to be private; 0 where none are chosen.
        max_rows: For how many rows one person may count, where it is not the declared number.
        max_groups: In how many groups one person may count.
        min_people: A group is shown only when at least so many people stand behind it.
        part: The part of a table that the question is about; None for all of it.
    """

    loss: Loss
    delta: Fraction = Fraction(0)
    max_rows: int | None = None
    max_groups: int | None = None
    min_people: int | None = None
    part: SubpopulationRequest | None = None


class TermArguments(TypedDict, total=False):
    """The terms as a question names them: the keywords of `ask` and `explain`, written once for all of them."""

    epsilon: Number | None
    rho: Number | None
    delta: Number | None
    max_rows: int | None
    max_groups: int | None
    min_people: int | None
    part: Mapping[str, Value] | SubpopulationRequest | None
    within: Number | Mapping[str, Number] | None
    confidence: float | None
    noise: str | None
    group_rows: int | None


_Asking = TypeVar("_Asking", bound=Callable[..., Any])


def show_terms(function: _Asking) -> _Asking:
    """Show the terms one by one to whoever inspects a function that takes `**terms: Unpack[Given]`."""
    signature = inspect.signature(function)
    *others, _ = signature.parameters.values()
    terms = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__)
        for name, kind in TermArguments.__annotations__.items()
    ]
    first = [other for other in others if other.kind is not inspect.Parameter.KEYWORD_ONLY]
    last = [other for other in others if other.kind is inspect.Parameter.KEYWORD_ONLY]
    function.__signature__ = signature.replace(parameters=[*first, *terms, *last])  # type: ignore[attr-defined]
    return function


def read_terms(**given: Unpack[TermArguments]) -> QuestionTerms:
    """Read the terms as a question names them: exactly one of epsilon and rho."""
    check_term_names(given)
    epsilon, rho, delta = given.get("epsilon"), given.get("rho"), given.get("delta")
    if epsilon is not None and rho is not None:
        raise QueryError("loss-given-twice")
    if epsilon is None and rho is None:
        raise QueryError("loss-missing")
    loss: Loss = Pure(epsilon) if epsilon is not None else Concentrated(rho or 0)
    chance = Fraction(0) if delta is None else rational(delta, "delta")
    if not 0 <= chance < 1:
        raise QueryError("delta-outside")
    bounds = _bound("max_rows", given), _bound("max_groups", given), _bound("min_people", given)
    return QuestionTerms(loss, chance, *bounds, read_subpopulation_request(given.get("part")))


def check_term_names(given: TermArguments) -> None:
    """Refuse a misspelt term, as Python does: left aside, it would change what is asked."""
    for name in given:
        if name not in TermArguments.__annotations__:
            known = ", ".join(TermArguments.__annotations__)
            raise TypeError(f"got an unexpected keyword argument {name!r}: the terms of a question are {known}")


def read_subpopulation_request(
    given: Mapping[str, Value] | SubpopulationRequest | None,
) -> SubpopulationRequest | None:
    """Read the part as a question names it: `{"ward": "A"}`."""
    if given is None or isinstance(given, SubpopulationRequest):
        return given
    if not isinstance(given, Mapping) or len(given) != 1:
        raise QueryError("part-malformed")
    ((by, key),) = given.items()
    return SubpopulationRequest(by, key)


def _bound(name: Literal["max_rows", "max_groups", "min_people"], given: TermArguments) -> int | None:
    value = given.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 30):
        raise QueryError("term-not-positive", term=name)
    return value


def scale_loss(loss: Loss, factor: Fraction) -> Loss:
    """Return a loss of the same kind and another size."""
    event = loss.event
    return Concentrated(event.rho * factor) if event.epsilon is None else Pure(event.epsilon * factor)
