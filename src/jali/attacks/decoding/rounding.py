"""From estimates of bits to bits."""

from __future__ import annotations

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.attack import Guess


def rounded(estimate: Doubles, spread: float, questions: int) -> Guess:
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
