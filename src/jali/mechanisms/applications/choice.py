"""What an application of selection answers, and the one step from data to the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, Mechanism
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss

Counts: TypeAlias = Mapping[Any, Any] | Sequence[Any] | NDArray[Any]
METHODS: Mapping[str, type[PermuteAndFlip] | type[Exponential]] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
}


@dataclass(frozen=True, repr=False)
class Choice:
    """A private choice, what it spent, and how good it is.

    Attributes:
        choice: What was chosen: a key, a ranking of keys, or a price.
        loss: What it spent.
        adjacency: When two tables are neighbours.
        error: How far the score of the choice is below the best score at most, with the confidence.
        confidence: The chance that this holds.
        mechanism: The mechanism that chose.
        assumed: What loss and error rest on.
    """

    choice: Any
    loss: Loss
    adjacency: Adjacency
    error: float
    confidence: float
    mechanism: Mechanism
    assumed: tuple[str, ...]

    def __repr__(self) -> str:
        sure = f"{100 * float(self.confidence):g} %"
        shown = str(self.choice) if isinstance(self.choice, Fraction) else repr(self.choice)
        return f"Choice({shown}, within {self.error:.3g} of the best at {sure}, {self.loss.event})"


@dataclass(frozen=True)
class Task:
    """A choice before it is made: holds the data, so that it never leaves the function that made it.

    Attributes:
        mechanism: What chooses.
        adjacency: When two tables are neighbours.
        value: What the mechanism is given.
        named: Turns what it releases into the answer.
        assumed: What loss and error rest on.
        shape: What the error depends on besides the confidence.
        unit: How much one unit of the mechanism's scores is.
    """

    mechanism: Mechanism
    adjacency: Adjacency
    value: Any = field(repr=False)
    named: Callable[[Any], Any] = field(repr=False)
    assumed: tuple[str, ...]
    shape: Mapping[str, Any] = field(default_factory=dict)
    unit: float = 1.0

    def choose(self, confidence: float, bits: BitSource | None) -> Choice:
        """Make the choice; the confidence is checked before anything is released."""
        error = float(self.mechanism.error(confidence, **self.shape)) * self.unit
        return Choice(
            choice=self.named(self.mechanism.release(self.value, bits=bits)),
            loss=self.mechanism.loss,
            adjacency=self.adjacency,
            error=error,
            confidence=confidence,
            mechanism=self.mechanism,
            assumed=self.assumed,
        )

    def log_masses(self) -> LogMasses:
        """Return ln Pr[answer] for each answer, for audits and tests on small cases."""
        return {self.named(output): mass for output, mass in self.mechanism.log_masses(self.value).items()}


def sized(values: Any, name: str) -> Any:
    """Return a list, an array or another collection, or refuse what is none: for its type alone."""
    no_list = isinstance(values, str | bytes) or not isinstance(values, Collection)
    if no_list or getattr(values, "shape", None) == ():
        raise MechanismError("parameter-not-a-list", name=name, kind=type(values).__name__)
    return values


def selection_named(method: str) -> type[PermuteAndFlip] | type[Exponential]:
    """Return the selection of this name, or refuse it."""
    if not isinstance(method, str) or method not in METHODS:
        names = tuple(METHODS)
        raise MechanismError("parameter-not-among", choices=names, value=method, name="method")
    return METHODS[method]


def keys_and_counts(counts: Counts) -> tuple[list[Any], Any]:
    """Return the public keys and their counts: of a mapping or a pandas Series, or of a list, by its indices."""
    values: Any
    if callable(getattr(counts, "items", None)):
        pairs = list(counts.items())  # type: ignore[union-attr]
        keys, values = [key for key, _ in pairs], [value for _, value in pairs]
    else:
        keys, values = list(range(len(sized(counts, "counts")))), counts
    if not keys:
        raise MechanismError("nothing-to-choose-from", name="counts")
    if not isinstance(values, np.ndarray) and any(isinstance(value, str | bytes) for value in values):
        raise MechanismError("counts-are-text")
    return keys, values
