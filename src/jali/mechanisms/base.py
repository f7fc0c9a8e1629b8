"""The base classes of all mechanisms, and the readers of their parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from jali.errors import CatalogError, MechanismError
from jali.privacy.adjacency import Adjacency
from jali.privacy.loss import Loss
from jali.privacy.losses.approximate_loss import Approximate
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number, positive
from jali.sampling import BitSource

LogMasses: TypeAlias = Mapping[Any, float]


class Mechanism(ABC):
    """A randomized function of a value, with a proven loss.

    Every mechanism is a frozen dataclass. Its constructor is keyword-only and its parameters are its fields, so
    that `dataclasses.replace(mechanism, epsilon=2)` is the same mechanism at another loss. Parameters are
    checked when it is made; nothing that depends on the value released can fail.
    """

    # With the noise left as it is, the loss grows with this power of the sensitivity; None: as the docstring says.
    loss_power: ClassVar[int | None] = 1
    # Whether error(c) is the exact quantile of `deviation` on every specimen, or a bound of it.
    error_is_exact: ClassVar[bool] = True

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What one release spends."""

    @abstractmethod
    def error(self, confidence: float) -> Any:
        """Return the least t, or a bound of it, with Pr[deviation <= t] >= confidence."""

    @abstractmethod
    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the private answer; each call is a release of its own and spends the loss."""

    @abstractmethod
    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[output] for each output, from the closed form: for audits, tests and teaching.

        Where there are infinitely many outputs, a window holds all but 1e-12 of the mass; neighbouring inputs
        should share it. The keys are what `outcome` makes of a release.
        """

    @classmethod
    @abstractmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small cases whose law is known exactly: the auditor and the law suite run on them."""

    def deviation(self, value: Any, output: Any) -> Any:
        """Return how far an output is off: the quantity that `error` is about."""
        return abs(output - value)

    def outcome(self, released: Any) -> Hashable:
        """Turn a release into a key of `log_masses`: what was released, as a tuple where it is an array."""
        return tuple(released.tolist()) if isinstance(released, np.ndarray) else released

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases: for audits and tests."""
        return [self.outcome(self.release(value, bits=bits)) for _ in range(size)]

    @classmethod
    def restored(cls, **parameters: Any) -> Self:
        """Make a mechanism from stored parameters as they are: today's checks do not change yesterday's plan."""
        made = object.__new__(cls)
        made._fill(**parameters)
        return made

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={_format_value(value)}" for name, value in _list_parameters(self))
        return f"{type(self).__name__}({parameters})"

    def _fill(self, **values: Any) -> None:
        """Set the fields of a frozen dataclass, once, in its constructor."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


class PureMechanism(Mechanism):
    """A mechanism of pure loss."""

    epsilon: Fraction

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)


class BoundedRangeMechanism(Mechanism):
    """A mechanism whose losses of all outcomes lie in an interval of length epsilon."""

    epsilon: Fraction

    @property
    def loss(self) -> BoundedRange:
        """Epsilon, as a bounded range."""
        return BoundedRange(self.epsilon)


class ApproximateMechanism(Mechanism):
    """A mechanism that keeps epsilon but for delta, whether it answers or declines."""

    epsilon: Fraction
    delta: Fraction

    @property
    def loss(self) -> Approximate:
        """Epsilon and delta."""
        return Approximate(self.epsilon, self.delta)


@dataclass(frozen=True)
class Specimen:
    """A small case of a mechanism: neighbouring inputs at the largest distance, and the adjacency they stand for.

    Attributes:
        mechanism: The mechanism, with its parameters.
        adjacency: The adjacency in which its loss is meant here.
        neighbours: Pairs of inputs that neighbouring tables can have; they should reach the loss where any can.
        shape: What `error` needs besides the confidence, such as the number of candidates.
        typical: The input on which laws of the output are checked; the first of the neighbours if not given.
        tight: Whether these neighbours reach the claimed loss; False where the claim is a bound.
    """

    mechanism: Mechanism
    adjacency: Adjacency
    neighbours: tuple[tuple[Any, Any], ...]
    shape: Mapping[str, Any] = field(default_factory=dict)
    typical: Any = None
    tight: bool = True

    @property
    def name(self) -> str:
        """The mechanism and its parameters, as a report prints them."""
        said = [f"{name} {_format_value(value)}" for name, value in _list_parameters(self.mechanism)]
        return ", ".join([type(self.mechanism).__name__, *said])

    @property
    def value(self) -> Any:
        """The input on which laws of the output are checked."""
        return self.neighbours[0][0] if self.typical is None else self.typical


def _list_parameters(mechanism: Mechanism) -> list[tuple[str, Any]]:
    """Return the parameters that say something, with their names: one dimension says nothing where it is usual."""
    given = [(f.name, getattr(mechanism, f.name)) for f in fields(mechanism)]  # type: ignore[arg-type]
    usual = signature(type(mechanism)).parameters
    silent = ("dimension", 1) if "dimension" in usual and usual["dimension"].default == 1 else None
    return [pair for pair in given if pair[1] is not None and pair[1] is not False and pair != silent]


def _format_value(value: Any) -> str:
    """Write rationals as people do; everything else as Python does."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_value, value))})"
    if isinstance(value, Adjacency):
        return f"'{value}'"
    return str(value) if isinstance(value, Fraction) or hasattr(value, "squared") else repr(value)


def read_parameter(value: Number, name: str) -> Fraction:
    """Return a parameter of a mechanism as a rational above 0, or refuse it by name."""
    try:
        return positive(value, name)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None


def read_natural(value: int, name: str, *, least: int = 1) -> int:
    """Return a parameter as a whole number of at least `least`, or refuse it by name."""
    # numpy calls time spans integers
    no_number = isinstance(value, bool | np.timedelta64) or not isinstance(value, int | np.integer)
    if no_number or value < least:
        raise MechanismError("parameter-not-whole", name=name, least=least, value=value)
    return int(value)


def read_miss_probability(confidence: float | Fraction | Decimal) -> float:
    """Return 1 - confidence, for a number strictly between 0 and 1; a double below 1 in any case."""
    try:
        left = float(1 - confidence) if 0 < confidence < 1 else 0.0
    except (TypeError, ValueError, ArithmeticError):
        left = 0.0
    if left == 0:
        raise MechanismError("confidence-not-between-zero-and-one", confidence=confidence)
    return min(left, math.nextafter(1, 0))
