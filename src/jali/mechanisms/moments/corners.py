"""Corners: points whose convex hull holds a curve of a number that is known to an interval only.

Statement:
    For t in [l, h] the point (t, t^2) lies in the triangle of (l, l^2), (h, h^2) and ((l+h)/2, lh), where the
    tangents at the ends meet; the same with l and h the ends of any part of the interval. For 0 < l <= h the
    point (t, 1/t) lies in the triangle of (l, 1/l), (h, 1/h) and (2lh/(l+h), 2/(l+h)). A form that is affine in
    each of several such points lies in the hull of its values at all combinations of corners.
Proof:
    Both curves are convex: they lie below their chords and above their tangents. The last by induction: with
    all points but one fixed, an affine image of a hull is the hull of the images.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.mechanisms.moments.sums import Floats


class Corners(NamedTuple):
    """Pairs (t, its square or its inverse): one row per corner, a point of the curve first; a column per group."""

    first: Floats
    second: Floats


def of_squares(low: Floats, high: Floats, parts: int) -> Corners:
    """Return corners around (t, t^2), the interval in an even number of equal parts; the middle comes first."""
    nodes = low + (high - low) * np.linspace(0.0, 1.0, parts + 1)[:, None]
    left, right = nodes[:-1], nodes[1:]
    return _middle_first(nodes, nodes**2, (left + right) / 2, left * right)


def of_inverses(low: Floats, high: Floats, parts: int) -> Corners:
    """Return corners around (t, 1/t), in an even number of parts of equal ratio; the geometric middle first."""
    nodes = low * (high / low) ** np.linspace(0.0, 1.0, parts + 1)[:, None]
    left, right = nodes[:-1], nodes[1:]
    return _middle_first(nodes, 1 / nodes, 2 / (1 / left + 1 / right), 2 / (left + right))


def _middle_first(first: Floats, second: Floats, first_meeting: Floats, second_meeting: Floats) -> Corners:
    order = np.roll(np.arange(len(first)), len(first) // 2 + 1)
    return Corners(np.concatenate([first[order], first_meeting]), np.concatenate([second[order], second_meeting]))


def of_ends(low: Floats, high: Floats) -> Corners:
    """Return the middle and the two ends, for what is affine in t."""
    first = np.stack([(low + high) / 2, low, high])
    return Corners(first, np.zeros_like(first))


def combined(*factors: Corners) -> tuple[Corners, ...]:
    """Return all combinations of corners, as one list of rows; the combination of the firsts is first."""
    rows = np.indices([len(factor.first) for factor in factors]).reshape(len(factors), -1)
    return tuple(Corners(f.first[row], f.second[row]) for f, row in zip(factors, rows, strict=True))
