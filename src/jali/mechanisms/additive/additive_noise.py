"""Base classes of mechanisms that add noise to numbers on a lattice."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import NoiseLaw, SmoothLaw, compute_expected_worst, split_allowed_tail
from jali.mechanisms.base import LogMasses, Mechanism, read_miss_probability, read_natural, read_parameter
from jali.mechanisms.exact_values import read_numbers
from jali.mechanisms.lattice import Integers, Lattice, add
from jali.numbers.rounding import rational_above, round_up
from jali.numbers.search import bisect, bracket_around
from jali.privacy.rationals import Number, rational
from jali.sampling import BitSource

_LARGEST = 2.0**60
_SMALLEST = 2.0**-60
SMALLEST_LOSS = Fraction(1, 1 << 60)
_CLOSE = 1 + 1e-11


def find_least_loss(keeps: Callable[[Fraction], bool], wish: str) -> Fraction:
    """Return the least rational of twelve digits at which a promise is kept, to one part in 10^11.

    Args:
        keeps: Whether the promise is kept at a loss; true from some loss on.
        wish: What is promised, for the refusal if no loss keeps it.
    """
    return rational_above(_bisect_loss(keeps, *_bracket_loss(keeps, wish))[1])


def find_least_loss_between(keeps: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> Fraction:
    """Return the same between two losses, of which the larger keeps the promise."""
    return min(high, rational_above(_bisect_loss(keeps, float(low), float(high))[1]))


def find_last_loss(holds: Callable[[Fraction], bool], end: Fraction) -> Fraction:
    """Return the last loss below `end` at which a condition holds, to one part in 10^11; it holds up to there."""
    return rational_above(_bisect_loss(lambda loss: not holds(loss), _SMALLEST, float(end))[0])


def _bisect_loss(keeps: Callable[[Fraction], bool], low: float, high: float) -> tuple[float, float]:
    return bisect(
        lambda loss: keeps(rational_above(loss)),
        low,
        high,
        close=lambda low, high: high <= low * _CLOSE,
        middle=lambda low, high: (low * high) ** 0.5,
    )


def _bracket_loss(keeps: Callable[[Fraction], bool], wish: str) -> tuple[float, float]:
    """Return two losses, a factor of 2 apart, of which the larger keeps the promise and the smaller does not."""
    low, high = bracket_around(lambda loss: keeps(rational_above(loss)), 1.0, least=_SMALLEST, most=_LARGEST)
    if high > _LARGEST:
        raise MechanismError("no-loss-keeps-error", wish=wish)
    return low, high


# What a window of the law of several coordinates may leave out.
LEFT_OUT = 1e-13


class NoiseSampler(Protocol):
    """An exact sampler of integer noise."""

    def sample(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw `size` independent integers."""


class Additive(Mechanism):
    """A value on a lattice plus integer noise on every coordinate.

    Errors are errors of the noise, in units of the value: how far a release is off its lattice point, which is
    within half a step of the value. They are of one coordinate, or of the largest among several.
    """

    # The parameter that `for_error` solves for.
    loss_name: ClassVar[str] = "epsilon"

    step: Fraction | None
    dimension: int

    @cached_property
    def lattice(self) -> Lattice:
        """Where the values live before noise is added to them."""
        return Lattice.of(self.step, self.dimension)

    @property
    @abstractmethod
    def law(self) -> NoiseLaw:
        """The exact law of the noise of one coordinate, in steps of the lattice."""

    @abstractmethod
    def noise(self, rows: int, columns: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw the noise of `rows` independent releases of `columns` coordinates, in steps of the lattice."""

    @property
    def stddev(self) -> float:
        """The standard deviation of one coordinate."""
        return self._unit * self.law.stddev

    def expected_error(self) -> float:
        """Return the expectation of |noise| for one coordinate."""
        return self._unit * self.law.mean_magnitude

    def tail(self, threshold: Number) -> float:
        """Return Pr[|noise| > threshold] for one coordinate."""
        return self.law.tail(self._steps(threshold, "threshold"))

    def error(self, confidence: float) -> Any:
        """Return the least t with Pr[|noise| <= t] >= confidence, for one coordinate."""
        return self.lattice.real(self.law.quantile(confidence))

    def worst_error(self, confidence: float, coordinates: int | None = None) -> Any:
        """Return the least t with Pr[all |noise| <= t] >= confidence, for so many coordinates."""
        return self.lattice.real(
            self._find_worst_threshold(read_miss_probability(confidence), self._count(coordinates))
        )

    def expected_worst(self, coordinates: int | None = None) -> float:
        """Return the expectation of the largest |noise| among so many coordinates."""
        return self._unit * self._compute_expected_worst(self._count(coordinates))

    @classmethod
    def for_error(
        cls, *, within: Number, confidence: float | None = None, coordinates: int = 1, **parameters: Any
    ) -> Self:
        """Return the mechanism of least loss whose error is at most `within`.

        Args:
            within: The wanted error, in units of the value.
            confidence: How surely; if not given, the expected error is meant.
            coordinates: Of how many coordinates the largest error is meant.
            parameters: All parameters but the loss.
        """
        if cls.loss_name in parameters:
            raise MechanismError("for-error-finds-loss", name=cls.loss_name)
        wish = f"an error of {within}" if confidence is None else f"an error of {within} at {confidence}"
        _check_distance(within, "within", positive=confidence is None)

        def keeps(loss: Fraction) -> bool:
            mechanism = cls._build_at_loss(loss, parameters)
            return mechanism is not None and mechanism._keeps(within, confidence, coordinates)

        one = cls(**parameters, **{cls.loss_name: 1})
        one._count(coordinates)
        return cls(**parameters, **{cls.loss_name: one._find_least_loss(keeps, wish)})

    def _find_least_loss(self, keeps: Callable[[Fraction], bool], wish: str) -> Fraction:
        """Return the least loss that keeps a promise, where errors fall as the loss grows."""
        return find_least_loss(keeps, wish)

    @classmethod
    def _build_at_loss(cls, loss: Fraction, parameters: dict[str, Any]) -> Self | None:
        """Return the mechanism at a loss, or None if its noise would be too wide to be sampled."""
        try:
            return cls(**parameters, **{cls.loss_name: loss})
        except MechanismError:
            return None

    def _keeps(self, within: Number, confidence: float | None, coordinates: int) -> bool:
        if confidence is None:
            return round_up(self.expected_worst(coordinates)) <= rational(within, "within")
        return self._find_worst_threshold(read_miss_probability(confidence), coordinates) <= self._steps(
            within, "within"
        )

    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the value, or array of values, with noise."""
        return self.lattice.real(self.release_integers(self._place_on_lattice(value), bits=bits))

    def release_integers(self, values: np.ndarray, *, bits: BitSource | None = None) -> np.ndarray:
        """Add noise to integers that are on the lattice already."""
        return add(values, self.noise(1, values.size, bits=bits).reshape(values.shape))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        place = self._place_on_lattice(value)
        noise = self.noise(size, place.size, bits=bits).reshape(size, *place.shape)
        released = self.lattice.real(add(np.broadcast_to(place, noise.shape), noise)).tolist()
        return [tuple(row) for row in released] if place.ndim else released

    def deviation(self, value: Any, output: Any) -> Any:
        """Return how far an output is off the lattice point of its value; of several coordinates, the first."""
        place = np.ravel(self.lattice.real(self._place_on_lattice(value)))
        return abs(np.ravel(output)[0] - place[0]).item()

    @abstractmethod
    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the output: for one coordinate far into the tails, for several on a small window."""

    @abstractmethod
    def _find_worst_threshold(self, allowed: float, count: int) -> int:
        """Return the least t with Pr[the largest |noise| > t] <= allowed, in steps."""

    @abstractmethod
    def _compute_expected_worst(self, count: int) -> float:
        """Return the expectation of the largest |noise|, in steps."""

    def _place_on_lattice(self, value: Any) -> Integers:
        return self.lattice.integers(value)

    def _count(self, coordinates: int | None) -> int:
        return self.dimension if coordinates is None else read_natural(coordinates, "coordinates")

    @property
    def _unit(self) -> float:
        return 1.0 if self.step is None else float(self.step)

    def _steps(self, threshold: Number, name: str) -> int:
        """Return how many whole steps a distance has; a double that stands for a lattice point is that point."""
        steps = math.floor(rational(threshold, name) / (self.step or 1))
        return steps + (isinstance(threshold, float) and bool(self.lattice.real(steps + 1) == threshold))


class IndependentNoise(Additive):
    """Additive noise that is independent in every coordinate."""

    @property
    @abstractmethod
    def sampler(self) -> NoiseSampler:
        """The exact sampler of the law of one coordinate."""

    def noise(self, rows: int, columns: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw the noise of `rows` independent releases of `columns` coordinates."""
        return self.sampler.sample(rows * columns, bits=bits)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the output: for one coordinate far into the tails, for several on a small window."""
        places = self._place_on_lattice(value)
        reach = self.law.bound_tail(LEFT_OUT / places.size) if places.ndim else self.law.far
        columns = [self._column(int(place), reach) for place in places.ravel().tolist()]
        if not places.ndim:
            return columns[0]
        cells = itertools.product(*(column.items() for column in columns))
        return {tuple(key for key, _ in cell): sum(log for _, log in cell) for cell in cells}

    def _column(self, place: int, reach: int) -> dict[Any, float]:
        noises = range(-reach, reach + 1)
        outputs = self.lattice.real(np.array([place + noise for noise in noises], dtype=object)).tolist()
        return {output: self.law.log_mass(noise) for output, noise in zip(outputs, noises, strict=True)}

    def _find_worst_threshold(self, allowed: float, count: int) -> int:
        return self.law.threshold(split_allowed_tail(allowed, count) if count > 1 else allowed)

    def _compute_expected_worst(self, count: int) -> float:
        return self.law.mean_magnitude if count == 1 else compute_expected_worst(self._smooth, count)

    @property
    def _smooth(self) -> SmoothLaw:
        raise NotImplementedError


class JointNoise(Additive):
    """One draw for a vector of exactly the declared dimension: its coordinates are not independent."""

    dimension: int

    def _place_on_lattice(self, value: Any) -> Integers:
        return self._check_shape(self.lattice.integers(value))

    def release_integers(self, values: np.ndarray, *, bits: BitSource | None = None) -> np.ndarray:
        """Add noise to integers that are on the lattice already."""
        return super().release_integers(self._check_shape(values), bits=bits)

    def _check_shape(self, values: Integers) -> Integers:
        if values.shape != (self.dimension,):
            raise MechanismError(
                "mechanism-dimension-wrong", dimension=self.dimension, shape=values.shape, size=values.size
            )
        return values

    def _count(self, coordinates: int | None) -> int:
        count = super()._count(coordinates)
        if count > self.dimension:
            raise MechanismError("coordinates-too-many", dimension=self.dimension, coordinates=count)
        return count


class ScalarNoise(IndependentNoise):
    """Additive noise for a single number: its proof says nothing of several released together."""

    dimension: ClassVar[int] = 1  # type: ignore[misc]

    def _place_on_lattice(self, value: Any) -> Integers:
        number = read_numbers(value)
        if number.ndim:
            raise self._refuse_several()
        return self.lattice.integers(number)

    def release_integers(self, values: np.ndarray, *, bits: BitSource | None = None) -> np.ndarray:
        """Add noise to an integer that is on the lattice already."""
        if values.size > 1:
            raise self._refuse_several()
        return super().release_integers(values, bits=bits)

    def _refuse_several(self) -> MechanismError:
        return MechanismError("mechanism-takes-one-number", mechanism=type(self).__name__)

    def _count(self, coordinates: int | None) -> int:
        if coordinates not in {None, 1}:
            raise MechanismError("coordinates-not-one", mechanism=type(self).__name__, coordinates=coordinates)
        return 1


def _check_distance(value: Number, name: str, *, positive: bool) -> None:
    if positive:
        read_parameter(value, name)
    elif rational(value, name) < 0:
        raise MechanismError("parameter-below-zero", name=name, value=value)
