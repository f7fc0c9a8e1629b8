"""Gauss-Legendre quadrature, and sums of numbers that are given by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Doubles: TypeAlias = NDArray[np.float64]
_PANELS, _NODES = 128, 16


@lru_cache(maxsize=64)
def build_unit_nodes(order: int) -> tuple[Doubles, Doubles]:
    """Return nodes and weights on [0, 1], exact for polynomials of degree below 2 * order."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return (nodes + 1) / 2, weights / 2


def build_panel_nodes(edges: Doubles, order: int) -> tuple[Doubles, Doubles]:
    """Return nodes, and logarithms of weights, on the panels between rising edges."""
    nodes, weights = build_unit_nodes(order)
    lengths = np.diff(edges)[:, None]
    return (edges[:-1, None] + lengths * nodes).ravel(), np.log(lengths * weights).ravel()


def build_quadrature(end: float, panels: int = _PANELS) -> tuple[Doubles, Doubles]:
    """Return the places and weights of a composite rule on [0, end], of 16 nodes in each panel."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = end / (2 * panels)
    centres = half * (2 * np.arange(panels) + 1)
    return (centres[:, None] + half * nodes).ravel(), np.tile(half * weights, panels)


def sum_logs(terms: Doubles) -> Doubles:
    """Return ln of the sum of exp over the first axis."""
    top = terms.max(axis=0)
    return np.asarray(top + np.log(np.exp(terms - top).sum(axis=0)))


def sum_all_logs(logs: Sequence[float] | Doubles) -> float:
    """Return ln of the sum of exp over all terms, without rounding the sum."""
    top = float(np.max(logs))
    return top + math.log(math.fsum(np.exp(np.asarray(logs) - top).tolist()))


def sum_geometric_logs(rates: Doubles, lengths: Doubles) -> Doubles:
    """Return ln of 1 + e^-r + ... + e^-(n-1)r for each rate r and length n."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steep = np.log(-np.expm1(-rates * lengths)) - np.log(-np.expm1(-rates))
    return np.where(rates == 0, np.log(lengths), steep)
