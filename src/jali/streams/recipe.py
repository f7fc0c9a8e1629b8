"""A recipe: which counter is made for each part of a stream that has no end."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import jali.streams
from jali.errors import MechanismError
from jali.mechanisms.registry import registered
from jali.streams.counter import Counter
from jali.streams.participation import Participation

# Proved for adaptive streams, with few numbers kept, and near the least error that is known.
_BEST = {"epsilon": "SmoothTree", "rho": "BufferedToeplitz"}
_GIVEN = frozenset({"horizon", "epsilon", "rho", "person"})

Parameters: TypeAlias = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, repr=False)
class Recipe:
    """The tag of a counter, such as EveryItem, or every-item, and its parameters besides horizon and loss.

    It is kept by its tag, so that a stream that was stored can be gone on with. A recipe that is frozen also has
    all parameters of the counters of some horizons, those that were optimised too: they are never chosen again.

    Example:
        >>> Recipe("EveryItem")
        'EveryItem'
    """

    counter: str
    parameters: Parameters
    frozen: tuple[tuple[int, Parameters], ...] = ()

    def __init__(self, counter: str, **parameters: Any) -> None:
        object.__setattr__(self, "counter", _in_python(counter))
        object.__setattr__(self, "parameters", tuple(sorted(parameters.items())))
        object.__setattr__(self, "frozen", ())

    def __repr__(self) -> str:
        told = [repr(self.counter), *(f"{name}={value!r}" for name, value in self.parameters)]
        return f"Recipe({', '.join(told)})" if self.parameters else told[0]

    @classmethod
    def of(cls, each: Each, noise: str) -> Recipe:
        """Read a recipe from the name of a counter, or from its class; None stands for the best for a noise.

        Args:
            each: The name, the class or the recipe.
            noise: "epsilon" for Laplace noise, "rho" for Gaussian noise.
        """
        if each is None:
            each = _BEST[noise]
        if isinstance(each, type):
            each = each.tag
        read = each if isinstance(each, Recipe) else cls(each)
        read.kind()
        return read

    def froze(self, counters: Iterable[Counter]) -> Recipe:
        """Return the recipe that makes these very counters at their horizons."""
        found = Recipe(self.counter, **dict(self.parameters))
        object.__setattr__(found, "frozen", tuple((made.horizon, _parameters(made)) for made in counters))
        return found

    def kind(self) -> type[Counter]:
        """Return the class of the counters; one that has no horizon, or is no counter, is refused."""
        found = _kinds().get(self.counter)
        if found is None:
            raise MechanismError(
                "window-counter-wrong", counter=self.counter, counters=tuple(_kinds()), name="each"
            )
        return found

    def made(self, horizon: int, epsilon: Fraction | None, rho: Fraction | None, person: Participation) -> Counter:
        """Make the counter of a horizon."""
        kind, name = self.kind(), "rho" if epsilon is None else "epsilon"
        if name not in inspect.signature(kind).parameters:
            raise MechanismError("window-counter-without-noise", counter=self.counter, loss=name, name="each")
        loss = {name: rho if epsilon is None else epsilon}
        given = dict(self.parameters) | dict(dict(self.frozen).get(horizon, ()))
        return kind(horizon=horizon, person=person, **loss, **given)  # type: ignore[call-arg]


Each: TypeAlias = str | type[Counter] | Recipe | None


def _in_python(name: str) -> str:
    """Return the tag of the counter that `choose`, `named` and the command line call by a name with dashes.

    Example:
        >>> _in_python("every-item"), _in_python("EveryItem")
        ('EveryItem', 'EveryItem')
    """
    dashed = isinstance(name, str) and name == name.lower()
    return "".join(word.capitalize() for word in name.split("-")) if dashed else name


def _parameters(counter: Any) -> Parameters:
    """Return what a counter is made of besides horizon, loss and person."""
    names = [field.name for field in fields(counter)]
    return tuple((name, getattr(counter, name)) for name in names if name not in _GIVEN)


@cache
def _kinds() -> dict[str, type[Counter]]:
    """Return the public counters that are made for a horizon, by their tags."""
    kinds = [kind for kind in registered(jali.streams) if issubclass(kind, Counter)]
    return {kind.tag: kind for kind in kinds if _has_horizon(kind)}


def _has_horizon(kind: type[Counter]) -> bool:
    horizon = inspect.signature(kind).parameters.get("horizon")
    return horizon is not None and horizon.default is inspect.Parameter.empty
