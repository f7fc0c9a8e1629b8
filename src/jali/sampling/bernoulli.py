"""Draw exactly from Bernoulli(p) and Bernoulli(exp(-x)) for rational p and x.

A draw compares a uniform number with its probability. The first bits and a bound decide nearly always; where
they do not, the uniform number gets more bits and the probability more digits until they part.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.sampling.bits import BitSource, Words, system_bits
from jali.sampling.exp_bounds import Bounds, Doubles, compare_exp, exp_bounds
from jali.sampling.interval_bernoulli import WORD, Booleans, draw_booleans, is_below
from jali.sampling.parameters import rational, size_of_sample

_BLOCK = 1 << 14
_FAR = 64  # exp(-64) < 2**-64: larger exponents need not be distinguished by doubles


def bernoulli(p: Fraction, size: int, *, bits: BitSource | None = None, word_bits: int = WORD) -> Booleans:
    """Draw `size` independent Booleans that are True with probability exactly p.

    Args:
        p: A rational in [0, 1].
        size: How many.
        bits: Where the random bits come from; the thread's own stream if not given.
        word_bits: How many bits are drawn at a time; the law does not depend on it.

    Guarantee:
        Pr[True] = p exactly, for every rational p.
    Proof:
        docs/proofs/bernoulli_exp.md, Theorem 1.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import bernoulli
        >>> bernoulli(Fraction(1), 3)
        array([ True,  True,  True])
    """
    p = rational("p", p)
    if not 0 <= p <= 1:
        raise MechanismError("probability-out-of-range", p=p, name="p")

    def bounds(precision: int) -> Bounds:
        below, rest = divmod(p.numerator << precision, p.denominator)
        return below, below + (rest > 0)

    return draw_booleans(bounds, size_of_sample(size), _source(bits), word_bits)


def bernoulli_exp(x: Fraction, size: int, *, bits: BitSource | None = None, word_bits: int = WORD) -> Booleans:
    """Draw `size` independent Booleans that are True with probability exactly exp(-x).

    Args:
        x: A rational, at least 0.
        size: How many.
        bits: Where the random bits come from; the thread's own stream if not given.
        word_bits: How many bits are drawn at a time; the law does not depend on it.

    Guarantee:
        Pr[True] = exp(-x) exactly.
    Proof:
        docs/proofs/bernoulli_exp.md, Theorem 1.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import bernoulli_exp
        >>> bernoulli_exp(Fraction(0), 2)
        array([ True,  True])
    """
    x = rational("x", x)
    if x < 0:
        raise MechanismError("parameter-below-zero", value=x, name="x")
    return draw_booleans(partial(exp_bounds, x), size_of_sample(size), _source(bits), word_bits)


def bernoulli_exp_array(
    numerators: NDArray[Any], denominator: int, *, bits: BitSource | None = None, word_bits: int = WORD
) -> Booleans:
    """Draw one Boolean for each x = numerator / denominator: True with probability exactly exp(-x).

    Args:
        numerators: A one-dimensional array of integers >= 0: any integer type, or Python ints (object).
        denominator: The common denominator, at least 1.
        bits: Where the random bits come from; the thread's own stream if not given.
        word_bits: How many bits are drawn at a time, at most 64; the law does not depend on it.

    Guarantee:
        The draws are independent and Pr[draw i] = exp(-numerators[i]/denominator) exactly.
    Proof:
        docs/proofs/bernoulli_exp.md, Theorem 2.

    Example:
        >>> import numpy as np
        >>> from jali.sampling import bernoulli_exp_array
        >>> bernoulli_exp_array(np.array([0, 0, 10**9]), 7)
        array([ True,  True, False])
    """
    numerators = _check_numerators(numerators, denominator)
    source = _source(bits)
    coins = np.empty(len(numerators), np.bool_)
    for start in range(0, len(numerators), _BLOCK):
        part = numerators[start : start + _BLOCK]
        words = source.integers(len(part), word_bits)
        coins[start : start + _BLOCK] = settle_exp(
            words, word_bits, _quotients(part, denominator), _exact(part, denominator), source
        )
    return coins


def settle_exp(
    words: Words, width: int, x: Doubles, exact: Callable[[int], Fraction], bits: BitSource
) -> Booleans:
    """Return, exactly, which uniform numbers lie below exp(-X): doubles first, then integers where in doubt.

    Args:
        words: The first `width` bits of each uniform number.
        width: How many bits are known, at most 64.
        x: X in double, within the error that `compare_exp` allows.
        exact: Gives X at a place.
        bits: Where further bits come from, `width` at a time.
    """
    coins, doubtful = compare_exp(words, x, width)
    for place in doubtful.tolist():
        bounds = partial(exp_bounds, exact(place))
        coins[place] = is_below(int(words[place]), bounds, bits, width)
    return coins


def _check_numerators(numerators: NDArray[Any], denominator: int) -> NDArray[Any]:
    numerators = np.asarray(numerators)
    if numerators.ndim != 1 or numerators.dtype.kind not in "iuO":
        raise MechanismError("numerators-not-a-list")
    if numerators.dtype == object and not all(isinstance(n, int) for n in numerators):
        raise MechanismError("numerators-not-integers")
    if len(numerators) and numerators.min() < 0:
        raise MechanismError("numerators-negative")
    if isinstance(denominator, bool) or not isinstance(denominator, int) or denominator < 1:
        raise MechanismError("parameter-not-positive-integer", value=denominator, name="denominator")
    return numerators


def _quotients(numerators: NDArray[Any], denominator: int) -> Doubles:
    """Return numerators/denominator in double: three roundings, or one for Python ints."""
    if numerators.dtype == object:
        far = _FAR * denominator
        return np.array([min(n, far) / denominator for n in numerators], np.float64)
    return numerators.astype(np.float64) * (1 / denominator)


def _exact(numerators: NDArray[Any], denominator: int) -> Callable[[int], Fraction]:
    return lambda place: Fraction(int(numerators[place]), denominator)


def _source(bits: BitSource | None) -> BitSource:
    return system_bits() if bits is None else bits
