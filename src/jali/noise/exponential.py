"""What the geometric and the discrete Laplace law share: weights exp(-|x|/scale)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.noise.blocks import Sampled
from jali.noise.checks import positive_rational
from jali.noise.doubles import Doubles
from jali.noise.ladder import Progression

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
