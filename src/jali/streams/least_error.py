"""How small the error of running sums can be, whatever is measured."""

from __future__ import annotations

import numpy as np

from jali.mechanisms.mechanism import natural


def lower_bound(horizon: int) -> float:
    """Return what neither the rms nor the largest standard deviation of noisy running sums can be below.

    It is told for measurements that one person moves by at most 1 in L2 norm, entering one tick by 1, with
    independent noises of standard deviation 1 and values that are unbiased and linear in the measurements.

    Statement:
        Let A be the matrix that sums up n ticks, with singular values 1 / (2 sin((2j-1) pi / (4n+2))). If A = B C
        and no column of C is longer than 1, then the mean squared length of the rows of B is at least the square
        of the mean of these singular values.
    Proof:
        docs/proofs/toeplitz_root.md, Theorem 4; after Li and Miklau 2013, Theorem 3.

    Example:
        >>> round(lower_bound(1024), 6)
        2.909584
    """
    n = natural(horizon, "horizon")
    angles = (2 * np.arange(n) + 1) * (np.pi / (4 * n + 2))
    return float((0.5 / np.sin(angles)).mean())
