"""Linear regression from noisy sufficient statistics, with a ridge parameter that adapts to the noise."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from jali.errors import MechanismError, settle
from jali.mechanisms.additive.gaussian_mechanism import Gaussian
from jali.mechanisms.base import LogMasses, Mechanism, Specimen, read_parameter
from jali.mechanisms.global_sensitivity import Root
from jali.mechanisms.regression.column_axes import (
    GRAIN,
    ColumnAxis,
    ColumnRange,
    read_grain,
    read_range,
    read_table,
)
from jali.mechanisms.regression.normal_equations import Fit, NormalEquations, fit
from jali.privacy.adjacency import Adjacency
from jali.privacy.conversions import largest_rho
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.rationals import Number
from jali.sampling import BitSource


@dataclass(frozen=True, repr=False)
class AdaptiveRegression(Mechanism):
    """Fit a linear model by least squares, from sums of products with Gaussian noise.

    Args:
        features: The public range (low, high) of each feature; values outside count as its ends.
        target: The public range of the target.
        rho: The loss, in zCDP.
        adjacency: When two tables are neighbours: one row is one person's.
        intercept: Whether the model has a constant term. Without one, ranges are widened to be symmetric about 0.
        grain: How many marks of the lattice there are from the middle of a range to its ends.

    A table has one row per person: the features, and last the target.

    Guarantee:
        The release is rho-zCDP.
    Proof:
        docs/proofs/regression.md, after Wang 2018 (AdaSSP).

    Error:
        The largest error of the released sums, in units of one person's largest share (1 is one person at the
        ends of all ranges): the exact law of the largest of independent discrete Gaussians. What it means for the
        coefficients depends on the data: see `Fit.interval`.

    Example:
        >>> from jali.mechanisms import AdaptiveRegression
        >>> mechanism = AdaptiveRegression(features=((0, 10),), target=(0, 100), rho=1, adjacency="add-remove")
        >>> table = [(x % 11, 7 * (x % 11) + 5) for x in range(5000)]
        >>> fit = mechanism.release(table)
        >>> abs(fit.coefficients[0] - 7) < 0.5
        True
    """

    loss_power = None

    features: tuple[ColumnRange, ...]
    target: ColumnRange
    rho: Fraction
    adjacency: Adjacency
    intercept: bool
    grain: int

    def __init__(
        self,
        *,
        features: Sequence[Sequence[Number]],
        target: Sequence[Number],
        rho: Number,
        adjacency: str | Adjacency,
        intercept: bool = True,
        grain: int = GRAIN,
    ) -> None:
        if not isinstance(features, tuple | list) or not features:
            raise MechanismError("features-not-ranges", features=settle(features))
        if not isinstance(intercept, bool):
            raise MechanismError("parameter-not-boolean", value=intercept, name="intercept")
        self._fill(
            features=tuple(read_range(feature, "features") for feature in features),
            target=read_range(target, "target"),
            rho=read_parameter(rho, "rho"),
            adjacency=Adjacency.of(adjacency),
            intercept=intercept,
            grain=read_grain(grain),
        )
        self.noise  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @classmethod
    def for_loss(cls, *, epsilon: Number, delta: Number, **parameters: Any) -> Self:
        """Return the mechanism of the largest rho that implies (epsilon, delta)-DP.

        Args:
            epsilon: The loss, except with probability delta.
            delta: That probability, below 1.
            parameters: All parameters but rho.
        """
        failing = read_parameter(delta, "delta")
        if failing >= 1:
            raise MechanismError("parameter-not-below-one", value=delta, name="delta")
        return cls(rho=largest_rho(read_parameter(epsilon, "epsilon"), failing), **parameters)

    @property
    def loss(self) -> Concentrated:
        """Rho, in zCDP."""
        return Concentrated(self.rho)

    @cached_property
    def axes(self) -> tuple[ColumnAxis, ...]:
        """The features and, last, the target."""
        return tuple(self._axis(*ends) for ends in (*self.features, self.target))

    @cached_property
    def equations(self) -> NormalEquations:
        """What is released before it is solved."""
        terms = len(self.features) + self.intercept
        return NormalEquations(terms, self.intercept, self.adjacency, self.grain)

    @cached_property
    def noise(self) -> Gaussian:
        """The noise on the sums."""
        return Gaussian(sensitivity=Root(self.equations.squared_sensitivity), rho=self.rho)

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on each sum, in units of one person's largest share."""
        return float(self.noise.stddev) / self.grain**2

    def error(self, confidence: float) -> float:
        """Return the least t with Pr[no sum is off by more than t] >= confidence."""
        return float(self.noise.worst_error(confidence, self.equations.length)) / self.grain**2

    def release(self, value: Any, *, bits: BitSource | None = None) -> Fit:
        """Return the fitted model."""
        marks = read_table(value, self.axes)
        noisy = self.noise.release_integers(self.equations.sums(marks), bits=bits)
        people = len(marks) if self.equations.knows_people else None
        return fit(self.equations, self.axes, tuple(noisy.tolist()), self.stddev, people)

    def outcome(self, released: Fit) -> Hashable:
        """Return the noisy sums, of which the fit is a function."""
        return released.sums

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        return self.noise.sample(self._sums(value), size, bits=bits)

    def deviation(self, value: Any, output: tuple[int, ...]) -> float:
        """Return how far the worst of the sums is off, in units of one person's largest share."""
        return float(np.abs(np.array(output, dtype=object) - self._sums(value)).max() / self.grain**2)

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[sums] on a window: for few features and a coarse grain."""
        return self.noise.log_masses(self._sums(value))

    def _sums(self, value: Any) -> Any:
        return self.equations.sums(read_table(value, self.axes))

    def _axis(self, low: Fraction, high: Fraction) -> ColumnAxis:
        if self.intercept:
            return ColumnAxis(low, high, self.grain)
        reach = max(abs(low), abs(high))
        return ColumnAxis(-reach, reach, self.grain)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return a slope through the origin, in both adjacencies."""
        added: Any = ([], [(1, 1)]), ([(1, 1)], [(1, 1), (-1, 1)])
        replaced = ([(1, 1)], [(1, -1)]), ([(1, 1)], [(-1, 1)])
        return _specimen(Adjacency.ADD_REMOVE, added), _specimen(Adjacency.REPLACE_ONE, replaced)


def _specimen(adjacency: Adjacency, pairs: Any) -> Specimen:
    mechanism = AdaptiveRegression(
        features=((-1, 1),), target=(-1, 1), rho=2, adjacency=adjacency, intercept=False, grain=1
    )
    return Specimen(mechanism, adjacency, pairs)
