"""A recipe: which counter is made for each part of a stream that has no end."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import jali.streams
from jali.errors import MechanismError
from jali.mechanisms.registry import registered
from jali.streams.counter import Counter
from jali.streams.participation import Participation

# Proved for adaptive streams, with few numbers kept, and near the least error that is known.
_BEST = {"epsilon": "SmoothTree", "rho": "BufferedToeplitz"}


@dataclass(frozen=True, repr=False)
class Recipe:
    """The public name of a counter, and the parameters it takes besides horizon, loss and person.

    It is kept by name, so that a stream that was stored can be gone on with.

    Example:
        >>> Recipe("EveryItem")
        'EveryItem'
    """

    counter: str
    parameters: tuple[tuple[str, Any], ...]

    def __init__(self, counter: str, **parameters: Any) -> None:
        object.__setattr__(self, "counter", counter)
        object.__setattr__(self, "parameters", tuple(sorted(parameters.items())))

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
            each = each.__name__
        read = each if isinstance(each, Recipe) else cls(each)
        read.kind()
        return read

    def kind(self) -> type[Counter]:
        """Return the class of the counters; one that has no horizon, or is no counter, is refused."""
        found = getattr(jali.streams, self.counter, None) if self.counter in _names() else None
        if found is None:
            raise MechanismError(
                f"each must be the name of a counter with a horizon, not {self.counter!r}.",
                remedy=f"There are {', '.join(_names())}.",
            )
        kind: type[Counter] = found
        return kind

    def made(self, horizon: int, epsilon: Fraction | None, rho: Fraction | None, person: Participation) -> Counter:
        """Make the counter of a horizon."""
        kind, name = self.kind(), "rho" if epsilon is None else "epsilon"
        if name not in inspect.signature(kind).parameters:
            raise MechanismError(f"each cannot be {self.counter}, which has no noise for {name}.")
        loss = {name: rho if epsilon is None else epsilon}
        return kind(horizon=horizon, person=person, **loss, **dict(self.parameters))  # type: ignore[call-arg]


Each: TypeAlias = str | type[Counter] | Recipe | None


def _names() -> list[str]:
    """Return the public counters that are made for a horizon."""
    return [kind.__name__ for kind in registered(jali.streams) if _has_horizon(kind)]


def _has_horizon(kind: type) -> bool:
    horizon = inspect.signature(kind).parameters.get("horizon") if issubclass(kind, Counter) else None
    return horizon is not None and horizon.default is inspect.Parameter.empty
