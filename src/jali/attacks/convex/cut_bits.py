"""From bits that were estimated within 0 and 1 to bits."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.attack import Guess

_EDGE = 1e-6


def from_cut(estimate: Doubles, spread: float, questions: int) -> Guess:
    """Round estimates that are the bits with normal errors of a spread, cut off at 0 and 1.

    The confidence is exact for such errors and fair bits: at u inside, the odds of a 1 are
    exp((u - 1/2) / spread^2); at an edge, one half against the tail beyond 1.
    """
    wrong = NormalDist().cdf(-1 / spread)
    confidence = np.abs(np.tanh((np.asarray(estimate, np.float64) - 0.5) / (2 * spread**2)))
    edge = np.abs(estimate - 0.5) >= 0.5 - _EDGE
    confidence[edge] = (0.5 - wrong) / (0.5 + wrong)
    return Guess((estimate > 0.5).astype(np.int8), confidence, questions)


def from_prior(people: int, prior: float) -> Guess:
    """Guess the likelier value for everybody: all that can be done without answers."""
    bits = np.full(people, prior > 0.5, np.int8)
    return Guess(bits, np.full(people, abs(2 * prior - 1)), 0)
