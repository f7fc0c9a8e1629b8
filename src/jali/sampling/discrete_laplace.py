"""Draw from the geometric law, the discrete Laplace law and the truncated discrete Laplace law.

All three have weights in proportion to exp(-|x|/scale) for a rational scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.sampling.bernoulli import bernoulli_exp_array
from jali.sampling.bits import BitSource, system_bits
from jali.sampling.exp_bounds import Doubles
from jali.sampling.guide_table import Sampled
from jali.sampling.inversion import Progression
from jali.sampling.parameters import positive_rational, size_of_sample
from jali.sampling.uniform import uniform_below

LARGEST_SCALE = 1 << 60


@dataclass(frozen=True)
class ExponentialWeights(Sampled):
    """Integers with weights exp(-|x|/scale); a subclass says which integers.

    Args:
        scale: A rational in (0, 2**60].
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", self.scale, LARGEST_SCALE))

    def spread(self) -> int:
        """Return the integer part of the scale."""
        return int(self.scale)

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents of the blocks of 2**shift integers."""
        raise NotImplementedError

    def tilt(self, nearest: int, offset: int) -> Fraction:  # noqa: ARG002 - the law has no memory
        """Return how much the exponent grows over `offset` integers."""
        return offset / self.scale

    def tilt_doubles(self, nearest: Doubles, offset: Doubles) -> Doubles:  # noqa: ARG002
        """Return the same in double: three roundings."""
        return offset * float(1 / self.scale)


@dataclass(frozen=True)
class Geometric(ExponentialWeights):
    """The law Pr[X = k] = (1-q) q**k on k = 0, 1, 2, ..., where q = exp(-1/scale).

    Args:
        scale: A rational in (0, 2**60].

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent; no tail is cut.
    Proof:
        docs/proofs/discrete_laplace_sampler.md.

    Error:
        Pr[X >= k] = q**k.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import Geometric
        >>> bool((Geometric(Fraction(5, 2)).sample(100) >= 0).all())
        True
    """

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents of the blocks of 2**shift integers."""
        return (Progression(Fraction(0), (1 << shift) / self.scale),)


@dataclass(frozen=True)
class DiscreteLaplace(ExponentialWeights):
    """The law Pr[X = x] = (1-q)/(1+q) q**|x| on the integers, where q = exp(-1/scale).

    Args:
        scale: A rational in (0, 2**60].

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent; no tail is cut. Added to an
        integer of sensitivity d, a sample makes a (d/scale)-DP release.
    Proof:
        docs/proofs/discrete_laplace_sampler.md.

    Error:
        Pr[|X| > t] = 2 q**(t+1) / (1+q) for integer t >= 0; the variance is 2q/(1-q)**2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import DiscreteLaplace
        >>> DiscreteLaplace(Fraction(10)).sample(3).dtype
        dtype('int64')
    """

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents of the blocks: |x| starts at k 2**shift on the right, 1 later on the left."""
        step = (1 << shift) / self.scale
        return Progression(Fraction(0), step), Progression(1 / self.scale, step)


@dataclass(frozen=True)
class TruncatedDiscreteLaplace(DiscreteLaplace):
    """The law with weights exp(-|x|/scale) on -limit .. limit.

    Args:
        scale: A rational in (0, 2**60].
        limit: An integer, at least 0.

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent.
    Proof:
        docs/proofs/truncated_laplace.md: discrete Laplace samples, or uniform ones with a Bernoulli draw, kept
        where they should be.

    Error:
        With q = exp(-1/scale), Pr[|X| > t] = 2 (q**(t+1) - q**(limit+1)) / (1 + q - 2 q**(limit+1)).

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling.discrete_laplace import TruncatedDiscreteLaplace
        >>> bool((abs(TruncatedDiscreteLaplace(Fraction(10), limit=20).sample(1000)) <= 20).all())
        True
    """

    limit: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit < 0:
            raise MechanismError("parameter-below-zero", value=self.limit, name="limit")

    def sample(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw `size` independent integers: int64, or Python ints if one of them does not fit.

        Args:
            size: How many.
            bits: Where the random bits come from; the thread's own stream if not given.
        """
        source, missing = system_bits() if bits is None else bits, size_of_sample(size)
        draw = self._cut if self.limit >= self.scale else self._draw_and_thin
        kept: list[NDArray[Any]] = [np.zeros(0, np.int64)]
        while missing:
            drawn = draw(missing + missing // 2 + 2, source)[:missing]
            missing -= len(drawn)
            kept.append(drawn)
        return np.concatenate(kept)

    def _cut(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw discrete Laplace noise and drop what lies outside: little, if the limit is above the scale."""
        drawn = DiscreteLaplace(self.scale).sample(count, bits=bits)
        inside: NDArray[Any] = drawn[np.abs(drawn) <= self.limit]
        return inside

    def _draw_and_thin(self, count: int, bits: BitSource) -> NDArray[Any]:
        """Draw uniformly and keep x with probability exp(-|x|/scale): most, if the limit is below the scale."""
        drawn = uniform_below(2 * self.limit + 1, count, bits=bits) - self.limit
        exponents = np.abs(drawn).astype(object) * self.scale.denominator
        return drawn[bernoulli_exp_array(exponents, self.scale.numerator, bits=bits)]
