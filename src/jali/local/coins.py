"""Exact coins of the local model: odds that hold a power of e."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from jali.noise.bits import BitSource
from jali.noise.bounds import Bounds, exp_bounds
from jali.noise.enclosed import Coins, enclosed_coins

_WIDTH = 32  # bits of a word; one coin in 2**31 needs a second word


def odds_coins(epsilon: Fraction, against: Fraction, size: int, *, bits: BitSource) -> Coins:
    """Toss coins that show True with probability exactly e^epsilon / (e^epsilon + against).

    Args:
        epsilon: A rational above 0.
        against: A rational above 0: the weight of False.
        size: How many coins.
        bits: Where the random bits come from.

    Guarantee:
        The coins are independent and have exactly that probability.
    Proof:
        docs/proofs/randomized_response.md, Lemma 1.

    Example:
        >>> from jali.noise import system_bits
        >>> odds_coins(Fraction(10**6), Fraction(1), 3, bits=system_bits())
        array([ True,  True,  True])
    """
    return enclosed_coins(partial(odds_bounds, epsilon, against), size, bits, _WIDTH)


def odds_bounds(epsilon: Fraction, against: Fraction, precision: int) -> Bounds:
    """Return integers lo <= 2**precision * e^epsilon / (e^epsilon + against) <= hi, a few units apart at most.

    Example:
        >>> odds_bounds(Fraction(1), Fraction(1), 10)  # 1024 e/(e+1) is 748.6
        (748, 749)
    """
    work = precision + (against.numerator // against.denominator).bit_length() + 4
    lo, hi = exp_bounds(epsilon, work)
    weight = against.denominator << work
    above = weight << precision
    return above // (weight + against.numerator * hi), -(-above // (weight + against.numerator * lo))
