"""The terms of a question: what it may cost, and the bounds that its asker chooses. Public, all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from jali.errors import QueryError
from jali.planner.membership import PartOf
from jali.privacy import Concentrated, Loss, Pure
from jali.privacy.rationals import Number, rational
from jali.query.nodes import Value


@dataclass(frozen=True)
class Terms:
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
    part: PartOf | None = None


class Given(TypedDict, total=False):
    """The terms as a question names them: the keywords of `ask` and `explain`, written once for all of them."""

    epsilon: Number | None
    rho: Number | None
    delta: Number | None
    max_rows: int | None
    max_groups: int | None
    min_people: int | None
    part: Mapping[str, Value] | PartOf | None
    within: Number | Mapping[str, Number] | None
    confidence: float | None
    noise: str | None
    group_rows: int | None


_Asking = TypeVar("_Asking", bound=Callable[..., Any])


def spelled_out(function: _Asking) -> _Asking:
    """Show the terms one by one to whoever inspects a function that takes `**terms: Unpack[Given]`."""
    signature = inspect.signature(function)
    *others, _ = signature.parameters.values()
    terms = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__)
        for name, kind in Given.__annotations__.items()
    ]
    first = [other for other in others if other.kind is not inspect.Parameter.KEYWORD_ONLY]
    last = [other for other in others if other.kind is inspect.Parameter.KEYWORD_ONLY]
    function.__signature__ = signature.replace(parameters=[*first, *terms, *last])  # type: ignore[attr-defined]
    return function


def terms_of(**given: Unpack[Given]) -> Terms:
    """Read the terms as a question names them: exactly one of epsilon and rho."""
    check_known(given)
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
    return Terms(loss, chance, *bounds, part_named(given.get("part")))


def check_known(given: Given) -> None:
    """Refuse a misspelt term, as Python does: left aside, it would change what is asked."""
    for name in given:
        if name not in Given.__annotations__:
            known = ", ".join(Given.__annotations__)
            raise TypeError(f"got an unexpected keyword argument {name!r}: the terms of a question are {known}")


def part_named(given: Mapping[str, Value] | PartOf | None) -> PartOf | None:
    """Read the part as a question names it: `{"ward": "A"}`."""
    if given is None or isinstance(given, PartOf):
        return given
    if not isinstance(given, Mapping) or len(given) != 1:
        raise QueryError("part-malformed")
    ((by, key),) = given.items()
    return PartOf(by, key)


def _bound(name: Literal["max_rows", "max_groups", "min_people"], given: Given) -> int | None:
    value = given.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1 << 30):
        raise QueryError("term-not-positive", term=name)
    return value
