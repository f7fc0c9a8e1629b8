"""Concentrated composition: rhos add, and their sum is converted once, at the end."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.privacy.composition.parts import Parts, lacks_event, total
from jali.privacy.composition.theorem import Theorem
from jali.privacy.convert import renyi_delta, renyi_epsilon, simple_epsilon
from jali.privacy.rounding import float_above, float_below, raised


def _epsilon(parts: Parts, delta: Fraction) -> float:
    spent = total(parts)
    rho, rest = float_above(spent.rho), float_below(delta - spent.delta)
    return renyi_epsilon(lambda order: rho * order, rest) if rest > 0 else math.inf


def _delta(parts: Parts, epsilon: Fraction) -> float:
    spent = total(parts)
    rho = float_above(spent.rho)
    return _with(spent.delta, renyi_delta(lambda order: rho * order, float_below(epsilon)))


def _simple_epsilon(parts: Parts, delta: Fraction) -> float:
    spent = total(parts)
    rest = float_below(delta - spent.delta)
    return simple_epsilon(float_above(spent.rho), rest) if rest > 0 else math.inf


def _simple_delta(parts: Parts, epsilon: Fraction) -> float:
    """Return exp(-(epsilon - rho)^2 / (4 rho)) and the events' deltas."""
    spent = total(parts)
    rho, reach = float_above(spent.rho), float_below(epsilon - spent.rho)
    if reach <= 0 or rho == 0:
        return 1.0
    exponent = -(reach**2) / (4 * rho) * (1 - 1e-14)
    return _with(spent.delta, raised(max(math.exp(exponent), 5e-324)))


def _with(failure: Fraction, delta: float) -> float:
    return min(1.0, raised(delta + float_above(failure)) if failure else delta)


CONCENTRATED_SIMPLE = Theorem(
    name="zCDP with the simple conversion",
    citation="Bun and Steinke 2016, Lemma 1.7 and Proposition 1.3; with adaptive parameters: Whitehouse, Ramdas, "
    "Rogers and Wu 2023; concurrent: Lyu 2022",
    adaptive_parameters=True,
    concurrent=True,
    obstacle=lacks_event,
    solve_epsilon=_simple_epsilon,
    solve_delta=_simple_delta,
)

CONCENTRATED = Theorem(
    name="zCDP with the tight conversion",
    citation="Bun and Steinke 2016, Lemma 1.7; Canonne, Kamath and Steinke 2020, Corollary 13; with adaptive "
    "parameters: Feldman and Zrnic 2021; concurrent: Lyu 2022",
    adaptive_parameters=True,
    concurrent=True,
    obstacle=lacks_event,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)
