"""Choose the noise and the beta with the least error, from public numbers alone.

`lecture_constants` computes the simpler and looser constants of the lecture, corrected; the noise families use
better ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from jali.errors import MechanismError, settle
from jali.mechanisms.base import read_miss_probability, read_natural, read_parameter
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price, tail_quantile
from jali.mechanisms.smooth.light_tailed_noise import SmoothGaussian, SmoothLaplace
from jali.mechanisms.smooth.log_normal_noise import LaplaceLogNormal
from jali.mechanisms.smooth.noise_calibration import read_approximate_loss, read_beta, read_price
from jali.mechanisms.smooth.poly_place_noise import PolyPlace
from jali.mechanisms.smooth.polynomial_noise import Polynomial
from jali.mechanisms.smooth.student_t_noise import Cauchy, StudentT
from jali.numbers.search import golden_section
from jali.privacy.rationals import Number

Reference: TypeAlias = Callable[[float], float]
"""The smooth sensitivity of a public table, as a function of beta."""

PURE: tuple[Family, ...] = (
    PolyPlace(),
    Cauchy(),
    *(StudentT(degrees=degrees) for degrees in (2, 3, 5, 8)),
    *(Polynomial(gamma=gamma) for gamma in (3, 4, 6)),
)
APPROXIMATE: tuple[Family, ...] = (SmoothLaplace(), SmoothGaussian())
CONCENTRATED: tuple[Family, ...] = (LaplaceLogNormal(),)
# beta is searched from a thousandth of the largest one on.
_GRID, _FINE, _LEAST = 20, 10, 1e-3
_MOST_PEOPLE = 10**15
# Nearer to its largest beta a family may have no noise that digits can distinguish from none.
_NEAR = 1 - Fraction(1, 10**9)


@dataclass(frozen=True)
class NoiseError:
    """A noise and how wide it is, for a smooth sensitivity of 1.

    Attributes:
        family: The family.
        median: What |noise| exceeds half of the time.
        error: What it exceeds with probability 1 - confidence.
        stddev: Its standard deviation, which may be infinite.
    """

    family: Family
    median: float
    error: float
    stddev: float

    @classmethod
    def of(cls, family: Family, noise: AdmissibleNoise, confidence: float) -> NoiseError:
        """Measure a noise."""
        alpha = float(noise.alpha)
        widths = (noise.quantile(0.5), noise.quantile(confidence), math.sqrt(noise.variance))
        return cls(family, *(width / alpha for width in widths))


@dataclass(frozen=True, repr=False)
class NoiseErrors:
    """The noises that a privacy loss allows at one beta, the best first.

    Attributes:
        confidence: What the error is kept with.
        noises: All of them.
    """

    confidence: float
    noises: tuple[NoiseError, ...]

    @property
    def family(self) -> Family:
        """The family of least error."""
        return self.noises[0].family

    def __repr__(self) -> str:
        head = ("noise, per unit of S", "median", f"{100 * self.confidence:.6g} %", "stddev")
        rows = [head, *map(_format_row, self.noises)]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join("  ".join(map(_align, row, (-widths[0], *widths[1:]))) for row in rows)


def compare_noises(
    *,
    beta: Number,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    confidence: float = 0.95,
) -> NoiseErrors:
    """Return the errors of all admissible noises at a beta and a privacy loss, the least first.

    Args:
        beta: How fast distance is discounted in the smooth sensitivity.
        epsilon: The loss, pure; with a delta the noises that may fail are compared too. Or else
        rho: The loss in zCDP: pure noises at the root of 2 rho, and Laplace-log-normal noise.
        delta: The probability of failure.
        confidence: Which quantile of |noise| is compared.

    Example:
        >>> compare_noises(beta="1/6", epsilon=1).noises[0].family
        PolyPlace()
    """
    price, stretch = read_price(epsilon, delta, rho), read_beta(beta)
    read_miss_probability(confidence)
    made = _find_noises(families_for(price), stretch, price)
    found = [NoiseError.of(family, noise, confidence) for family, noise in made]
    return NoiseErrors(confidence, tuple(sorted(found, key=lambda noise: noise.error)))


def best_noise(
    *,
    beta: Number,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    confidence: float = 0.95,
) -> Family:
    """Return the family whose noise has the least error; the arguments are those of `compare_noises`.

    Example:
        >>> best_noise(beta="1/6", epsilon=1), best_noise(beta="1/6", epsilon=10)
        (PolyPlace(), Cauchy())
    """
    return compare_noises(beta=beta, epsilon=epsilon, delta=delta, rho=rho, confidence=confidence).family


def families_for(price: Price) -> tuple[Family, ...]:
    """Return the families that have noises for a kind of privacy loss."""
    if price.rho is not None:
        return PURE + CONCENTRATED
    return PURE if price.delta is None else PURE + APPROXIMATE


@dataclass(frozen=True)
class NoiseChoice:
    """A family and a beta, and the error they promise on the reference.

    Attributes:
        family: The family.
        beta: A rational of three digits.
        error: The quantile of |noise| on the reference.
    """

    family: Family
    beta: Fraction
    error: float


def best_beta(
    price: Price,
    *,
    families: Sequence[Family] | None = None,
    beta: Fraction | None = None,
    confidence: float = 0.95,
    people: int = 1000,
    reference: Reference | None = None,
) -> NoiseChoice:
    """Return the family and the beta of least error on a public reference.

    Everything it looks at is public: beta may not be tuned on the table that is to be kept private.

    Args:
        price: What a release may spend.
        families: The families to choose from; if not given, all that the loss allows.
        beta: If given, only the family is chosen.
        confidence: Which quantile of |noise| is compared.
        people: How many people the reference has, if it is not given: known to all, or a guess; at most 10^15.
        reference: The smooth sensitivity of a public table as a function of beta; if not given, that of the
            median of numbers spread evenly over [0, 1], the maximum over k of exp(-beta k) min(1, (k+1)/people).

    Example:
        >>> choice = best_beta(Price(epsilon=Fraction(1)), people=1000)
        >>> choice.family, round(float(choice.beta), 1), round(choice.error, 4)
        (PolyPlace(), 0.4, 0.0074)
    """
    read_miss_probability(confidence)
    chosen = families_for(price) if families is None else _families(families)
    count = read_natural(people, "people")
    if count > _MOST_PEOPLE:
        raise MechanismError("parameter-over-most", most=_MOST_PEOPLE, name="people")
    stretch = None if beta is None else read_beta(beta)
    if reference is None:
        return _choose_for_even_data(price, chosen, stretch, confidence, count)
    return _choose_best(price, chosen, stretch, confidence, reference)


def _families(given: Sequence[Family]) -> tuple[Family, ...]:
    """Return the families to choose from, or refuse what is none."""
    found = tuple(given) if isinstance(given, Sequence) else ()
    if not found or not all(isinstance(family, Family) for family in found):
        raise MechanismError("smooth-families-wrong")
    return found


def sensitivity_of_even_data(people: int) -> Reference:
    """Return the smooth sensitivity of numbers spread evenly over [0, 1]: its largest term is near k = 1/beta."""

    def smooth(beta: float) -> float:
        turn = math.floor(1 / beta) - 1
        places = {min(max(k, 0), people - 1) for k in (0, turn, turn + 1, people - 1)}
        return max(math.exp(-beta * k) * (k + 1) / people for k in places)

    return smooth


@lru_cache(maxsize=256)
def _choose_for_even_data(
    price: Price, families: tuple[Family, ...], beta: Fraction | None, confidence: float, people: int
) -> NoiseChoice:
    return _choose_best(price, families, beta, confidence, sensitivity_of_even_data(people))


def _choose_best(
    price: Price, families: tuple[Family, ...], beta: Fraction | None, confidence: float, reference: Reference
) -> NoiseChoice:
    def error(noise: AdmissibleNoise, stretch: Fraction) -> float:
        return noise.quantile(confidence) / float(noise.alpha) * reference(float(stretch))

    if beta is not None:
        made = _find_noises(families, beta, price)
        found = [NoiseChoice(family, beta, error(noise, beta)) for family, noise in made]
    else:
        found = [_tune(family, price, error) for family in families]
    return min(found, key=lambda choice: choice.error)


def _tune(family: Family, price: Price, error: Callable[[AdmissibleNoise, Fraction], float]) -> NoiseChoice:
    """Return the best beta of one family: over a grid, then by golden section around the best of it."""
    largest = family.largest_beta(price)

    @lru_cache
    def at(position: float) -> NoiseChoice:
        beta = _three_digits(float(largest) * _LEAST ** (1 - position))
        noise = _noise(family, beta, price)
        return NoiseChoice(family, beta, math.inf if noise is None else error(noise, beta))

    places = [i / _GRID for i in range(_GRID)]
    best = min(places, key=lambda place: at(place).error)
    low, high = max(0.0, best - 1 / _GRID), best + 1 / _GRID
    valley = golden_section(lambda place: at(place).error, low, high, steps=_FINE, fresh=True)
    return min(at(best), at((valley.low + valley.high) / 2), key=lambda choice: choice.error)


def _find_noises(families: Sequence[Family], beta: Fraction, price: Price) -> list[tuple[Family, AdmissibleNoise]]:
    """Return the noises that there are at a beta, or refuse it if there is none."""
    found = [(family, noise) for family in families if (noise := _noise(family, beta, price)) is not None]
    if not found:
        largest = max(family.largest_beta(price) for family in families)
        raise MechanismError("smooth-beta-inadmissible", beta=float(beta), largest=float(largest))
    return found


def _noise(family: Family, beta: Fraction, price: Price) -> AdmissibleNoise | None:
    """Return the noise of a family, or None where beta is too large for it, or all but too large."""
    return family.noise(beta, price) if beta < family.largest_beta(price) * _NEAR else None


def _three_digits(value: float) -> Fraction:
    """Round down to three digits."""
    unit = Fraction(10) ** (math.floor(math.log10(value)) - 2)
    return math.floor(Fraction(value) / unit) * unit


def _align(cell: str, width: int) -> str:
    """Fill a cell up on its left, or on its right if the width is negative."""
    return cell.rjust(width) if width > 0 else cell.ljust(-width)


def _format_row(noise: NoiseError) -> tuple[str, str, str, str]:
    return repr(noise.family), f"{noise.median:.4g}", f"{noise.error:.4g}", f"{noise.stddev:.4g}"


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
    loss, count = read_parameter(epsilon, "epsilon"), read_natural(dimension, "dimension")
    if count > _MOST_NUMBERS:
        raise MechanismError("parameter-over-most", most=_MOST_NUMBERS, name="dimension")
    if isinstance(family, Cauchy | Polynomial):
        gamma = Fraction(2) if isinstance(family, Cauchy) else family.gamma
        return loss / (2 * (gamma + 1)), loss / (2 * count * (gamma + 1))
    if not isinstance(family, SmoothLaplace | SmoothGaussian):
        raise MechanismError("lecture-without-constants", family=settle(family))
    return _lecture_constants_with_delta(family, loss, _halve_delta(family, loss, delta), count)


def _halve_delta(family: Family, epsilon: Fraction, delta: Number | None) -> float:
    """Return the delta of the shift and of the stretch each: together they fail with (1 + e^(epsilon/2)) of it."""
    failing = None if delta is None else read_parameter(delta, "delta")
    _, total = read_approximate_loss(Price(epsilon=epsilon, delta=failing), repr(family))
    if epsilon > 1:
        raise MechanismError("lecture-epsilon-too-large", epsilon=epsilon)
    return float(total) / (1 + math.exp(float(epsilon) / 2)) * _BELOW


def _lecture_constants_with_delta(
    family: Family, epsilon: Fraction, half: float, count: int
) -> tuple[Fraction, Fraction]:
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
    return tail_quantile(lambda z: math.erfc(z / math.sqrt(2)) / 2, allowed)
