"""Divergences of two laws that are given by the logarithms of their masses."""

from __future__ import annotations

import math

from jali.mechanisms.base import LogMasses

# Outputs that one law alone has weigh nothing below this mass: a window of an infinite law leaves some out.
_DUST = 1e-11


def hockey_stick(p: LogMasses, q: LogMasses, epsilon: float) -> float:
    """Return the least delta for which p and q are (epsilon, delta)-close, in that direction."""
    return math.fsum(
        max(0.0, math.exp(log) - (math.exp(epsilon + q[output]) if output in q else 0.0))
        for output, log in p.items()
    )


def renyi(p: LogMasses, q: LogMasses, order: float) -> float:
    """Return the Rényi divergence of an order above 1; infinite where p has outputs that q has not."""
    alone = [log for output, log in p.items() if not math.isfinite(q.get(output, -math.inf))]
    if math.fsum(map(math.exp, alone)) > _DUST:
        return math.inf
    both = [output for output, log in p.items() if math.isfinite(log) and math.isfinite(q.get(output, -math.inf))]
    terms = [order * p[output] + (1 - order) * q[output] for output in both]
    largest = max(terms)
    return (largest + math.log(math.fsum(math.exp(term - largest) for term in terms))) / (order - 1)
