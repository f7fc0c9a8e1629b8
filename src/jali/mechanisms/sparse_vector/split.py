"""How the loss is split between the noise of the threshold and that of the values."""

from __future__ import annotations

from fractions import Fraction

from jali.numbers.search import greatest_integer

_UNIT = 1 << 10


def threshold_share(weight: int) -> Fraction:
    """Return a rational near 1 / (1 + weight^(2/3)): the threshold's share of epsilon.

    The sum of two Laplace noises of scales 1/e1 and weight/e2 has the least variance, for e1 + e2 given, at
    e1 : e2 = 1 : weight^(2/3) (Lyu, Su and Li 2017, section 4.2). Every split is private; the root is an integer
    one, so that it is the same on every machine.

    Example:
        >>> float(threshold_share(1)), round(float(threshold_share(2)), 3)
        (0.5, 0.387)
    """
    return Fraction(_UNIT, _UNIT + _cube_root(weight**2 * _UNIT**3))


def _cube_root(value: int) -> int:
    """Return the integer part of a cube root."""
    return greatest_integer(lambda root: root**3 <= value, 0, 1 << value.bit_length() // 3 + 1)
