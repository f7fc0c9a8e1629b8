"""From estimates of bits to bits."""

from __future__ import annotations

import numpy as np

from jali.attacks.arrays import Doubles
from jali.attacks.attack import Guess


def rounded(estimate: Doubles, spread: float, questions: int) -> Guess:
    """Round estimates to the nearer bit; the confidence is that of a normal error with this spread.

    Far from 0 and 1 an estimate says no more than at them.
    """
    margin = np.minimum(np.abs(estimate - 0.5), 0.5)
    # The logistic curve nearest to the normal one: no special functions, and it is a display.
    confidence = np.ones_like(margin) if spread == 0 else np.tanh(0.851 * margin / spread)
    return Guess((estimate > 0.5).astype(np.int8), confidence, questions)
