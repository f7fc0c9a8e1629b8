"""Divergences of two laws that are given by the logarithms of their masses."""

from __future__ import annotations

import math

from jali.mechanisms.base import LogMasses


def hockey_stick(p: LogMasses, q: LogMasses, epsilon: float) -> float:
    """Return the least delta for which p and q are (epsilon, delta)-close, in that direction."""
    return math.fsum(
        max(0.0, math.exp(log) - (math.exp(epsilon + q[output]) if output in q else 0.0))
        for output, log in p.items()
    )


def renyi(p: LogMasses, q: LogMasses, order: float) -> float:
    """Return the Rényi divergence of an order above 1; infinite where p has outputs that q has not."""
    if any(math.isfinite(log) and not math.isfinite(q.get(output, -math.inf)) for output, log in p.items()):
        return math.inf
    terms = [order * log + (1 - order) * q[output] for output, log in p.items() if math.isfinite(log)]
    largest = max(terms)
    return (largest + math.log(math.fsum(math.exp(term - largest) for term in terms))) / (order - 1)
