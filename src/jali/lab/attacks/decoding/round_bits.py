"""Round estimates of bits to bits, each with the confidence that its error allows."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Guess


def round_estimate(estimate: Doubles, spread: float, questions: int) -> Guess:
    """Round estimates to the nearer bit; the confidence is that of a normal error with this spread.

    For a fair bit z the density of an estimate at 1/2 + t is as exp(t / spread^2) for z = 1 against z = 0, so the
    nearer bit is right with probability (1 + c) / 2, where c = tanh(|t| / (2 spread^2)).
    """
    margin = estimate - 0.5
    bits = (margin > 0).view(np.int8)
    if spread == 0:
        return Guess(bits, np.ones_like(margin), questions)
    np.abs(margin, out=margin)
    margin *= 1 / (2 * float(spread) ** 2)
    return Guess(bits, np.tanh(margin, out=margin), questions)


_EDGE = 1e-6


def round_cut_estimate(estimate: Doubles, spread: float, questions: int) -> Guess:
    """Round estimates that are the bits with normal errors of a spread, cut off at 0 and 1.

    The confidence is exact for such errors and fair bits: at u inside, the odds of a 1 are
    exp((u - 1/2) / spread^2); at an edge, one half against the tail beyond 1.
    """
    wrong = NormalDist().cdf(-1 / spread)
    confidence = np.abs(np.tanh((np.asarray(estimate, np.float64) - 0.5) / (2 * spread**2)))
    edge = np.abs(estimate - 0.5) >= 0.5 - _EDGE
    confidence[edge] = (0.5 - wrong) / (0.5 + wrong)
    return Guess((estimate > 0.5).astype(np.int8), confidence, questions)


def guess_from_prior(people: int, prior: float) -> Guess:
    """Guess the likelier value for everybody: all that can be done without answers."""
    bits = np.full(people, prior > 0.5, np.int8)
    return Guess(bits, np.full(people, abs(2 * prior - 1)), 0)
