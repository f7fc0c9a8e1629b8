"""Advanced composition, where epsilons add by the root of the sum of their squares, plus a drift."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from jali.numbers.rounding import float_above, float_below, round_up
from jali.privacy.composition.compound import Parts, epsilons, lacks_epsilon, total
from jali.privacy.composition.theorem import Theorem

Drift = Callable[[float], float]


def classic_drift(epsilon: float) -> float:
    """Return epsilon (e^epsilon - 1): the bound on the mean loss that the theorem was first stated with."""
    return epsilon * (math.expm1(epsilon) if epsilon < 709 else math.inf)


def mean_drift(epsilon: float) -> float:
    """Return epsilon tanh(epsilon/2): the mean loss of randomized response, the largest there is."""
    return epsilon * math.tanh(epsilon / 2)


def _epsilon(drift: Drift, parts: Parts, delta: Fraction) -> float:
    """Return sqrt(2 ln(1/d') sum e_i^2) + sum drift(e_i), where d' is delta without the events' deltas."""
    rest = float_below(delta - total(parts).delta)
    if rest <= 0:
        return math.inf
    return round_up(math.sqrt(2 * _squares(parts) * -math.log(rest)) + _sum(drift, parts))


def _delta(drift: Drift, parts: Parts, epsilon: Fraction) -> float:
    """Return the inverse: exp(-(epsilon - sum drift)^2 / (2 sum e_i^2)) and the events' deltas."""
    reach = float_below(epsilon) - round_up(_sum(drift, parts))
    squares = _squares(parts)
    if reach <= 0 or squares == 0:
        return 1.0
    # The exponent is lowered by its rounding errors, which exp would multiply.
    exponent = -(reach**2) / (2 * squares) * (1 - 1e-14)
    return min(1.0, round_up(max(math.exp(exponent), 5e-324)) + float_above(total(parts).delta))


def _squares(parts: Parts) -> float:
    return float_above(sum((count * epsilon**2 for epsilon, count in epsilons(parts)), Fraction(0)))


def _sum(drift: Drift, parts: Parts) -> float:
    return round_up(math.fsum(count * drift(float_above(epsilon)) for epsilon, count in epsilons(parts)))


def _theorem(name: str, citation: str, drift: Drift) -> Theorem:
    return Theorem(
        name=name,
        citation=citation,
        # With adaptive parameters the same bound holds with the drift e^2/2: the simple zCDP conversion.
        adaptive_parameters=False,
        concurrent=True,
        obstacle=lacks_epsilon,
        solve_epsilon=partial(_epsilon, drift),
        solve_delta=partial(_delta, drift),
    )


ADVANCED = _theorem(
    "advanced composition (Dwork, Rothblum and Vadhan)",
    "Dwork, Rothblum and Vadhan 2010, Theorem III.3; concurrent: Vadhan and Wang 2021, Lyu 2022",
    classic_drift,
)

ADVANCED_TANH = _theorem(
    "advanced composition (tanh form)",
    "Kairouz, Oh and Viswanath 2015, Theorem 3.5; concurrent: Vadhan and Wang 2021, Lyu 2022",
    mean_drift,
)
