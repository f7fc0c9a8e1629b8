"""What mechanisms that add noise share: the lattice, the release and the error of one coordinate."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.lattice import Lattice, add
from jali.mechanisms.laws import Law
from jali.noise import BitSource


class Sampler(Protocol):
    """An exact sampler of integer noise."""

    def sample(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw `size` independent integers."""


class Additive:
    """A value on a lattice plus independent integer noise on every coordinate."""

    lattice: Lattice

    @property
    def law(self) -> Law:
        """The exact law of the noise, in steps of the lattice."""
        raise NotImplementedError

    @property
    def sampler(self) -> Sampler:
        """The exact sampler of that law."""
        raise NotImplementedError

    def error(self, confidence: float) -> Any:
        """Return the least t with Pr[|noise| <= t] >= confidence, for one coordinate."""
        return self.lattice.real(self.law.quantile(confidence))

    def release(self, value: Any, *, bits: BitSource | None = None) -> Any:
        """Return the value, or array of values, with noise."""
        return self.lattice.real(self.release_integers(self.lattice.integers(value), bits=bits))

    def release_integers(self, values: np.ndarray, *, bits: BitSource | None = None) -> np.ndarray:
        """Add noise to integers that are on the lattice already."""
        noise = self.sampler.sample(values.size, bits=bits)
        return add(values, noise.reshape(values.shape))
