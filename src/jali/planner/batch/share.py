"""Rule of batches: the loss is split over the releases so that the weighted forecast error is least.

Statement:
    A release with the weight w and the forecast f errs by f/e^2 at the loss e (`split_loss`): the sum of w f/e^2
    is least, given the sum of e, when e is proportional to (w f)^(1/3). With Gaussian noise and rho it is f/rho,
    and rho is proportional to (w f)^(1/2). (Lagrange.)
    With a total of (epsilon, delta) there are three ways: Laplace or joint noise whose losses sum to epsilon; the
    same with larger losses that compose to epsilon at delta; Gaussian noise of the rho that converts to it.
    The one with the least forecast is taken. Public facts decide, all of them known before any data is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from jali.planner.batch.merge import Merged
from jali.planner.draft import Draft
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.split_loss import forecast
from jali.privacy import Concentrated, Loss, Pure, largest_rho

_PARTS = 1 << 16


@dataclass(frozen=True)
class Way:
    """One way to spend a total, and what it is forecast to err by.

    Attributes:
        name: In words.
        error: The sum of weighted squared errors, in units of squared sensitivities.
    """

    name: str
    loss: Loss
    error: float


def shares(releases: Sequence[Merged], *, concentrated: bool) -> list[Fraction]:
    """Return what part of the loss each release gets; they sum to 1 exactly."""
    power = 1 / 2 if concentrated else 1 / 3
    wanted = [_matters(release) ** power for release in releases]
    parts = [max(1, int(_PARTS * weight / sum(wanted))) for weight in wanted]
    largest = max(range(len(parts)), key=parts.__getitem__)
    parts[largest] += max(0, _PARTS - sum(parts))
    return [Fraction(part, sum(parts)) for part in parts]


def _matters(release: Merged) -> float:
    return max(float(release.weight) * forecast(release.draft), 1e-12)


def laplace_way(releases: Sequence[Merged], loss: Pure, name: str) -> Way:
    """Return the forecast of Laplace and joint noise: variances of 2 squared sensitivities over epsilon^2."""
    total = sum(_matters(release) ** (1 / 3) for release in releases) ** 3
    return Way(name, loss, 2 * total / float(loss.bound) ** 2)


def gaussian_way(releases: Sequence[Merged], epsilon: Fraction, delta: Fraction) -> Way | None:
    """Return the forecast of Gaussian noise; None where delta is too small for it."""
    rho = largest_rho(epsilon, delta)
    if rho <= 0:
        return None
    total = sum((_matters(release) * _shorter(release.draft)) ** (1 / 2) for release in releases) ** 2
    return Way("Gaussian noise", Concentrated(rho), total / (2 * float(rho)))


def _shorter(draft: Draft) -> float:
    """Return the squared L2 sensitivity of the first measure in units of its squared L1 sensitivity."""
    if not draft.measures:
        return 1.0
    given = draft.aggregation(draft.sets[0]), draft.measures[0], draft.changes
    return float(squared_l2_sensitivity(*given) / l1_sensitivity(*given) ** 2)
