"""The constants of the lecture, corrected: simple, valid and loose. The families themselves use larger ones."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.errors import MechanismError, settle
from jali.mechanisms.mechanism import natural, parameter
from jali.mechanisms.smooth.admissible import Family, Price
from jali.mechanisms.smooth.families.cauchy import Cauchy
from jali.mechanisms.smooth.families.gaussian import SmoothGaussian
from jali.mechanisms.smooth.families.laplace import SmoothLaplace
from jali.mechanisms.smooth.families.polynomial import Polynomial
from jali.mechanisms.smooth.families.price import approximate_loss
from jali.mechanisms.smooth.families.reach import reach_of_tail
from jali.privacy.rationals import Number

_BELOW = 1 - 1e-12
_MOST_NUMBERS = 10**9


def lecture_constants(
    family: Family, epsilon: Number, delta: Number | None = None, dimension: int = 1
) -> tuple[Fraction, Fraction]:
    """Return alpha and beta for independent noise of a family on each of `dimension` numbers.

    Args:
        family: Cauchy, Polynomial, SmoothLaplace or SmoothGaussian.
        epsilon: The loss; at most 1 for the last two.
        delta: What the whole release may fail with, for the last two.
        dimension: How many numbers get noise.

    Guarantee:
        S is a beta-smooth bound of the local sensitivity, in L1 norm, or in L2 norm for SmoothGaussian. Then
        noise S/alpha times independent draws of the family keeps the loss.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 8, after Nissim, Raskhodnikova and Smith 2007, Lemmas 2.7 to 2.9.

    Example:
        >>> lecture_constants(Cauchy(), 1)
        (Fraction(1, 6), Fraction(1, 6))
        >>> lecture_constants(Cauchy(), 1, dimension=6)
        (Fraction(1, 6), Fraction(1, 36))
    """
    loss, count = parameter(epsilon, "epsilon"), natural(dimension, "dimension")
    if count > _MOST_NUMBERS:
        raise MechanismError("parameter-over-most", most=_MOST_NUMBERS, name="dimension")
    if isinstance(family, Cauchy | Polynomial):
        gamma = Fraction(2) if isinstance(family, Cauchy) else family.gamma
        return loss / (2 * (gamma + 1)), loss / (2 * count * (gamma + 1))
    if not isinstance(family, SmoothLaplace | SmoothGaussian):
        raise MechanismError("lecture-without-constants", family=settle(family))
    return _approximate(family, loss, _half(family, loss, delta), count)


def _half(family: Family, epsilon: Fraction, delta: Number | None) -> float:
    """Return the delta of the shift and of the stretch each: together they fail with (1 + e^(epsilon/2)) of it."""
    failing = None if delta is None else parameter(delta, "delta")
    _, total = approximate_loss(Price(epsilon=epsilon, delta=failing), repr(family))
    if epsilon > 1:
        raise MechanismError("lecture-epsilon-too-large", epsilon=epsilon)
    return float(total) / (1 + math.exp(float(epsilon) / 2)) * _BELOW


def _approximate(family: Family, epsilon: Fraction, half: float, count: int) -> tuple[Fraction, Fraction]:
    if isinstance(family, SmoothLaplace):
        return epsilon / 2, _over(epsilon, 2 * _largest_sum(half, count))
    return _over(epsilon, 5 * max(_normal(half), 0.5)), _over(epsilon, 2 * _largest_square(half, count))


def _over(epsilon: Fraction, size: float) -> Fraction:
    """Return epsilon over a size, rounded down."""
    return epsilon / Fraction(size / _BELOW)


def _largest_sum(half: float, count: int) -> float:
    """Return a bound that the L1 norm of Laplace noise exceeds with probability `half` at most."""
    logarithm = -math.log(half)
    return max(1.0, logarithm if count == 1 else 2 * (count + logarithm))


def _largest_square(half: float, count: int) -> float:
    """Return a bound that the squared norm of Gaussian noise exceeds with probability `half` at most."""
    if count == 1:
        return max(1.0, _normal(half / 2) ** 2)
    logarithm = -math.log(half)
    return count + 2 * math.sqrt(count * logarithm) + 2 * logarithm


def _normal(allowed: float) -> float:
    """Return what a normal number exceeds with this probability at most."""
    return reach_of_tail(lambda z: math.erfc(z / math.sqrt(2)) / 2, allowed)
