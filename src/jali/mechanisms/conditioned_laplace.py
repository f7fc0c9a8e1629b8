"""Conditioned Laplace noise: a histogram whose total is public keeps it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive import Together
from jali.mechanisms.laws.balanced import BalancedLaw, log_normaliser
from jali.mechanisms.laws.laplace import DiscreteLaplaceLaw
from jali.mechanisms.laws.law import Law
from jali.mechanisms.mechanism import LogMasses, Specimen, natural, parameter
from jali.noise import BitSource
from jali.noise.compositions import balanced_noise
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number

_DEPTH = 31.0
_LARGEST_SCALE = 1 << 40


@dataclass(frozen=True, repr=False)
class ConditionedLaplace(Together):
    """Add integer noise z of sum 0 to a histogram, with mass proportional to exp(-epsilon/2 sum |z_i|).

    It is for tables under replace-one, whose number of rows is public: the noisy cells have the true total, and
    each of them less noise than Laplace noise of the same loss would give it.

    Args:
        epsilon: The loss.
        dimension: The number of cells, at least 2.

    Guarantee:
        The release is epsilon-DP for histograms with the same total of which one comes from the other by moving
        one record to another cell. Moving k records costs k epsilon.
    Proof:
        docs/proofs/conditioned_laplace.md, after Hardt and Talwar 2010, Theorem 4.1.

    Error:
        The law of Laplace noise of scale 2/epsilon given that its sum is 0. In the limit of small losses the
        variance of a cell is 2/epsilon^2 for two cells, 4.2/epsilon^2 for four, 35/6 /epsilon^2 for eight, and
        tends to the 8/epsilon^2 of Laplace noise.

    Example:
        >>> from jali.mechanisms import ConditionedLaplace
        >>> mechanism = ConditionedLaplace(epsilon=1, dimension=4)
        >>> int(mechanism.release([10, 20, 30, 40]).sum())
        100
        >>> round(mechanism.stddev ** 2, 3)
        4.029
    """

    loss_power: ClassVar[int | None] = None
    step: ClassVar[Fraction | None] = None  # type: ignore[misc]

    epsilon: Fraction
    dimension: int

    def __init__(self, *, epsilon: Number, dimension: int) -> None:
        self._fill(epsilon=parameter(epsilon, "epsilon"), dimension=natural(dimension, "dimension", least=2))
        if self.scale > _LARGEST_SCALE:
            raise MechanismError("conditioned-scale-too-large")

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise before it is conditioned."""
        return 2 / self.epsilon

    @property
    def law(self) -> Law:
        """The exact law of the noise of one cell."""
        return self._largest(1)

    def noise(self, rows: int, columns: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw the noise of `rows` independent releases."""
        return balanced_noise(columns, self.epsilon, rows, bits=bits)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the output, as far as the noise has a sizeable mass: for a few cells."""
        places = self._placed(value)
        reach = int(_DEPTH / float(self.epsilon)) + 1
        first = np.array(list(itertools.product(range(-reach, reach + 1), repeat=self.dimension - 1)))
        noises = np.column_stack([first, -first.sum(axis=1)])
        noises = noises[np.abs(noises).sum(axis=1) <= 2 * reach]
        logs = -np.abs(noises).sum(axis=1) / float(self.scale) - log_normaliser(self.dimension, self.scale)
        return dict(zip(map(tuple, (noises + places).tolist()), logs.tolist(), strict=True))

    def _largest(self, coordinates: int) -> Law:
        if self.dimension == 2:  # (z, -z) has mass proportional to exp(-epsilon |z|)
            return DiscreteLaplaceLaw(1 / self.epsilon)
        return BalancedLaw(self.dimension, self.scale, coordinates)

    def _worst_threshold(self, allowed: float, count: int) -> int:
        return self._largest(count).threshold(allowed)

    def _expected_worst(self, count: int) -> float:
        return self._largest(count).expected

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return histograms of two, three and four cells."""
        return (
            _moved("1/2", (3, 5), (4, 4)),
            _moved("1", (0, 1, 7), (1, 0, 7)),
            _moved("5/2", (0, 1, 7), (0, 2, 6)),
            _moved("5", (2, 1, 0, 4), (1, 1, 0, 5)),
        )


def _moved(epsilon: str, one: tuple[int, ...], other: tuple[int, ...]) -> Specimen:
    mechanism = ConditionedLaplace(epsilon=epsilon, dimension=len(one))
    return Specimen(mechanism, Adjacency.REPLACE_ONE, ((one, other), (other, one)))
