"""The largest discounted term of a sequence that is known as an array, however close many terms are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from jali.mechanisms.ruler import Marks
from jali.mechanisms.smooth.peak import Term, largest
from jali.mechanisms.smooth.statistics.ladder import Ladder
from jali.noise.doubles import exp_doubles

_FADED = 43  # sizes are at most 2^60, which is below exp(43)
_KEPT = 1 - 2.0**-42  # doubles are within 2^-45 of the terms


def heaviest(sizes: Marks, beta: Fraction) -> Term:
    """Return the k with the largest exp(-beta k) sizes[k], and sizes[k].

    Args:
        sizes: At least 0, at most 2^60, none below the one before.
        beta: How fast distance is discounted, above 0.

    Guarantee:
        The term is the largest one, exactly.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorem 6.

    Example:
        >>> heaviest(np.array([0, 10, 10, 100]), Fraction(1))
        (3, 100)
    """
    first = int(np.searchsorted(sizes, 1))
    some = sizes[first : first + math.floor(_FADED / beta) + 1]
    if not len(some):
        return 0, 0
    terms = exp_doubles(np.arange(len(some), dtype=np.float64) * float(min(beta, Fraction(_FADED))))
    terms *= some
    near = np.flatnonzero(terms >= terms.max() * _KEPT)
    distance, size = heaviest_of(some[near].tolist(), (near - near[0]).tolist(), beta)
    return distance + first + int(near[0]), size


def heaviest_of(sizes: list[int], steps: list[int], beta: Fraction) -> Term:
    """Return the largest of some terms that are close to each other."""
    if len(sizes) > 1:
        places = Ladder(beta, max(steps)).leaders(sizes, steps, [0] * len(sizes))
        sizes, steps = [sizes[place] for place in places], [steps[place] for place in places]
    return largest(zip(steps, sizes, strict=True), beta)
