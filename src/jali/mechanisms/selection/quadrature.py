"""Gauss-Legendre quadrature on panels, in logarithms: for the exact laws of selections in small cases."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from jali.noise.doubles import Doubles


@lru_cache(maxsize=64)
def unit_nodes(order: int) -> tuple[Doubles, Doubles]:
    """Return nodes and weights on [0, 1], exact for polynomials of degree below 2 * order."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2


def on_panels(edges: Doubles, order: int) -> tuple[Doubles, Doubles]:
    """Return nodes, and logarithms of weights, on the panels between rising edges."""
    nodes, weights = unit_nodes(order)
    lengths = np.diff(edges)[:, None]
    return (edges[:-1, None] + lengths * nodes).ravel(), np.log(lengths * weights).ravel()


def log_sum(terms: Doubles) -> Doubles:
    """Return ln of the sum of exp over the first axis."""
    top = terms.max(axis=0)
    return np.asarray(top + np.log(np.exp(terms - top).sum(axis=0)))
