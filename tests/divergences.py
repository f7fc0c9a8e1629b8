"""Divergences between two laws of log-masses, each written from its definition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

# Outputs that one law alone has weigh nothing below this mass: a window of an infinite law leaves some out.
_DUST = 1e-11


def renyi(p: Mapping[Any, float], q: Mapping[Any, float], order: float) -> float:
    """Return the Rényi divergence of an order above 1."""
    if math.fsum(math.exp(mass) for output, mass in p.items() if not _has(q, output)) > _DUST:
        return math.inf
    both = [output for output in p if _has(p, output) and _has(q, output)]
    terms = [order * p[output] + (1 - order) * q[output] for output in both]
    return float(np.logaddexp.reduce(terms)) / (order - 1)


def hockey_stick(p: Mapping[Any, float], q: Mapping[Any, float], epsilon: float) -> float:
    """Return the least delta for which p and q are (epsilon, delta)-close, in that direction."""
    return math.fsum(
        max(0.0, math.exp(mass) - math.exp(epsilon + q.get(output, -math.inf))) for output, mass in p.items()
    )


def _has(law: Mapping[Any, float], output: Any) -> bool:
    return law.get(output, -math.inf) > -math.inf
