"""Draw the binary digits of an exponential variable, as many as a comparison needs."""

from __future__ import annotations

from fractions import Fraction

from jali.sampling.bernoulli import bernoulli_exp
from jali.sampling.bits import BitSource
from jali.sampling.interval_bernoulli import WORD


def further_digits(value: int, precision: int, count: int, *, bits: BitSource, word_bits: int = WORD) -> int:
    """Extend a real exponential variable E of scale 1 by `count` binary digits.

    Args:
        value: What is known: E lies in [value, value + 1) / 2**precision.
        precision: How many binary digits behind the point are known.
        count: How many digits to append, from 1 to 64.
        bits: Where the random bits come from.
        word_bits: How many bits a draw takes at a time; the law does not depend on it.

    Returns:
        floor(2**(precision + count) E).

    Guarantee:
        If value is geometric of scale 2**precision, that is floor(2**precision E), then the result is geometric of
        scale 2**(precision + count) exactly.
    Proof:
        docs/proofs/noisy_max.md, Lemma 2.

    Example:
        >>> from jali.sampling.bits import system_bits
        >>> further_digits(5, 3, 8, bits=system_bits()) >> 8
        5
    """
    while True:
        digits = int(bits.integers(1, count)[0])
        x = Fraction(digits, 1 << precision + count)
        if bernoulli_exp(x, 1, bits=bits, word_bits=word_bits)[0]:
            return value << count | digits
