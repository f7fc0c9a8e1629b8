"""One release alone: there is nothing to compose."""

from __future__ import annotations

from fractions import Fraction

from jali.privacy.composition.parts import Parts
from jali.privacy.composition.theorem import Theorem


def _obstacle(parts: Parts) -> str | None:
    releases = sum(count for _, count in parts)
    return None if releases == 1 else f"there are {releases} releases"


def _epsilon(parts: Parts, delta: Fraction) -> float:
    return parts[0][0].epsilon(delta)


def _delta(parts: Parts, epsilon: Fraction) -> float:
    return parts[0][0].delta(epsilon)


# With adaptive parameters the loss stands for the limits of a filter, which many releases may have filled.
SINGLE = Theorem(
    name="the profile of the one release",
    citation="By definition",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_obstacle,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)
