"""The Walsh-Hadamard transform."""

from __future__ import annotations

import numpy as np

from jali.attacks.arrays import Doubles


def hadamard(x: Doubles) -> Doubles:
    """Return H x for the Hadamard matrix of order len(x), a power of two, in Sylvester's form.

    Example:
        >>> hadamard(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
        [2.0, 0.0, 0.0, 2.0]
    """
    out = np.array(x, np.float64)
    width = 1
    while width < len(out):
        halves = out.reshape(-1, 2, width)
        out = np.stack((halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]), axis=1).reshape(-1)
        width *= 2
    return out
