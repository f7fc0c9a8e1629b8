"""Calibrate the noise of each mechanism to a target (epsilon, delta).

In closed form where there is one, else by a search on the mechanism's own profile. Every result is rounded
towards more noise, and is within 1e-12 of the exact value where the profile is as exact as that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from jali.errors import CatalogError
from jali.numbers.rounding import float_above, float_below, rational_above, round_up
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.gaussian_loss import DiscreteGaussianLoss, GaussianLoss
from jali.privacy.losses.laplace_loss import DiscreteLaplaceLoss
from jali.privacy.planning.safe_search import between, least, most
from jali.privacy.rationals import Number, positive, positive_integer, probability

# Digits of a rational that was searched or computed: the last one is below 1e-12 of it.
_DIGITS = 14


def gaussian_stddev(epsilon: Number, delta: Number, *, sensitivity: Number = 1, queries: int = 1) -> float:
    """Return the least standard deviation of Gaussian noise that is (epsilon, delta)-DP.

    Args:
        epsilon: The target epsilon.
        delta: The target delta, above 0.
        sensitivity: How far the answers to one query move, in L2 norm.
        queries: How many such queries get noise together: they move by sqrt(queries) times as far.

    Guarantee:
        Least, not just sufficient: with t = stddev / sensitivity,
        delta = Phi(1/(2t) - epsilon t) - e^epsilon Phi(-1/(2t) - epsilon t) (Balle and Wang 2018, Theorem 8).
        The classical sqrt(2 ln(1.25/delta)) / epsilon is larger below epsilon 1 and not private at 10.
        Within 1e-12 of the exact value at epsilon 0.1 and above, within 1e-10 at 0.001, for delta above 1e-12.

    Example:
        >>> round(gaussian_stddev(1, 1e-6), 10), round(gaussian_stddev(10, 1e-6), 10)
        (4.2246788893, 0.5410868318)
    """
    single = _single_stddev(positive(epsilon, "epsilon"), _positive_delta(delta))
    distance = float_above(positive(sensitivity, "sensitivity")) * math.sqrt(positive_integer(queries, "queries"))
    return single if distance == 1 else round_up(distance * single)


def laplace_scale(epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1) -> Fraction:
    """Return the least scale of Laplace noise that is (epsilon, delta)-DP.

    Args:
        epsilon: The target epsilon.
        delta: The target delta.
        sensitivity: How far the answers move, in L1 norm.

    Guarantee:
        sensitivity / epsilon at delta 0, exactly (Dwork, McSherry, Nissim and Smith 2006, Proposition 1).
        Noise of scale b has delta = 1 - exp((epsilon - sensitivity/b) / 2) below sensitivity/b (see
        `LaplaceLoss`), so that b = sensitivity / (epsilon - 2 ln(1-delta)) at another delta.

    Example:
        >>> laplace_scale(0.1, sensitivity=3)
        Fraction(30, 1)
    """
    bound, failure = positive(epsilon, "epsilon"), probability(delta, "delta")
    distance = positive(sensitivity, "sensitivity")
    if not failure:
        return distance / bound
    reach = float_below(bound) - 2 * math.log1p(-float_below(failure))
    return rational_above(round_up(float_above(distance) / reach), _DIGITS)


def discrete_laplace_scale(epsilon: Number, delta: Number = 0, *, sensitivity: int = 1) -> Fraction:
    """Return the least scale of discrete Laplace noise, on integers, that is (epsilon, delta)-DP.

    Args:
        epsilon: The target epsilon.
        delta: The target delta. A delta above 0 is for a single integer.
        sensitivity: How far the answers move, in L1 norm.

    Guarantee:
        sensitivity / epsilon at delta 0, exactly (Ghosh, Roughgarden and Sundararajan 2012); else searched on
        the exact profile.

    Example:
        >>> discrete_laplace_scale("1/3", sensitivity=2)
        Fraction(6, 1)
    """
    bound, failure = positive(epsilon, "epsilon"), probability(delta, "delta")
    distance = positive_integer(sensitivity, "sensitivity")
    if not failure:
        return distance / bound
    found = least(
        lambda scale: DiscreteLaplaceLoss(scale, distance).delta(bound) <= failure, float(distance / bound)
    )
    return rational_above(found, _DIGITS)


def discrete_gaussian_variance(epsilon: Number, delta: Number, *, sensitivity: int = 1) -> Fraction:
    """Return the least variance parameter of discrete Gaussian noise, on integers, that is (epsilon, delta)-DP.

    Args:
        epsilon: The target epsilon.
        delta: The target delta, above 0.
        sensitivity: How far a single integer moves.

    Guarantee:
        Searched on the exact profile, which is a sum over the integers (Canonne, Kamath and Steinke 2020,
        Theorem 7), to 1e-10 of it. Least, although at large epsilon a little more variance can be less
        private: at epsilon 10, the variance 0.21 has a larger delta than 0.15.

    Example:
        >>> round(float(discrete_gaussian_variance(1, 1e-6)), 6)
        17.89949
    """
    bound, failure = positive(epsilon, "epsilon"), _positive_delta(delta)
    distance = positive_integer(sensitivity, "sensitivity")
    return _discrete_variance(bound, failure, distance)


def truth_probability(epsilon: Number, delta: Number = 0, *, categories: int = 2) -> Fraction:
    """Return the largest probability with which randomized response may tell the truth.

    Args:
        epsilon: The target epsilon, in the local model.
        delta: The target delta.
        categories: How many answers there are; each wrong one is as likely as any other.

    Guarantee:
        p = (e^epsilon + delta (k-1)) / (e^epsilon + k-1), rounded down: answers differ in law by
        p - e^epsilon (1-p)/(k-1) = delta (Kairouz, Oh and Viswanath 2014).

    Example:
        >>> round(float(truth_probability(1, categories=8)), 10) == round(math.e / (math.e + 7), 10)
        True
    """
    bound, failure = float_below(positive(epsilon, "epsilon")), probability(delta, "delta")
    wrong = positive_integer(categories, "categories") - 1
    if not wrong:
        raise CatalogError("categories-too-few", categories="1")
    # The lie is rounded, not the truth: near 1 a truth has no digits left.
    shrunk = math.exp(-min(bound, 700.0))
    lie = round_up(float_above(1 - failure) * wrong * shrunk / (1 + wrong * shrunk))
    return 1 - min(Fraction(1), rational_above(lie, _DIGITS))


def exponential_rate(
    epsilon: Number, delta: Number = 0, *, sensitivity: Number = 1, monotone: bool = False
) -> Fraction:
    """Return the largest rate r for which the exponential mechanism, weights exp(r score), is (epsilon, delta)-DP.

    Args:
        epsilon: The target epsilon.
        delta: The target delta.
        sensitivity: How far one person moves any score.
        monotone: Whether one person moves all scores in the same direction: true for counts under add/remove
            adjacency, false under replace-one.

    Guarantee:
        epsilon / (2 sensitivity), or epsilon / sensitivity if monotone, at delta 0 (McSherry and Talwar 2007,
        Theorem 6); at another delta the largest bounded range whose profile meets it (Dong, Durfee and
        Rogers 2020).

    Example:
        >>> exponential_rate(1), exponential_rate(1, monotone=True)
        (Fraction(1, 2), Fraction(1, 1))
    """
    bound, failure = positive(epsilon, "epsilon"), probability(delta, "delta")
    distance = positive(sensitivity, "sensitivity") * (1 if monotone else 2)
    if not failure:
        return bound / distance
    scale = least(lambda inverse: BoundedRange(1 / inverse).delta(bound) <= failure, float(1 / bound))
    return 1 / (rational_above(scale, _DIGITS) * distance)


@lru_cache(maxsize=1024)
def _single_stddev(epsilon: Fraction, delta: Fraction) -> float:
    return least(lambda stddev: GaussianLoss(stddev).delta(epsilon) <= delta, float(1 / epsilon))


@lru_cache(maxsize=1024)
def _discrete_variance(epsilon: Fraction, delta: Fraction, sensitivity: int) -> Fraction:
    """Search between two corners of the profile: more variance is not always more private.

    A new integer begins to count whenever epsilon variance / sensitivity + sensitivity/2 is whole. Between two
    such corners delta first rises with the variance and then falls; from corner to corner it falls.
    """

    def holds(variance: float | Fraction) -> bool:
        return DiscreteGaussianLoss(variance, sensitivity).delta(epsilon) <= delta

    def corner(index: int) -> Fraction:
        return (index - Fraction(sensitivity % 2, 2)) * sensitivity / epsilon

    last = most(lambda index: not holds(corner(index)))
    low = corner(last) if last else Fraction(0)
    return rational_above(between(holds, float(low), float_above(corner(last + 1))), _DIGITS)


def _positive_delta(delta: Number) -> Fraction:
    number = probability(delta, "delta")
    if not number:
        raise CatalogError("gaussian-without-delta", name="delta")
    return number
