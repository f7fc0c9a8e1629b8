"""Rule: the question's loss is split over its measures so that the forecast error is smallest.

Statement:
    With noise of standard deviation proportional to sensitivity / epsilon_j, the sum of importance_j times the
    squared error in units of the sensitivity is least, given the sum of epsilon_j, when epsilon_j is
    proportional to importance_j^(1/3). With Gaussian noise and rho_j it is importance_j^(1/2). (Lagrange.)

The importance of a measure is the number of outputs that show it; under a ratio the denominator counts 1/3,
the mean of the squared centred mean over the range.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from jali.planner.draft import Draft
from jali.privacy import Concentrated, Loss, Pure

_PARTS = 4096


def split_loss(draft: Draft) -> Draft:
    """Give each measure its share; the shares are rationals that sum to the whole loss exactly."""
    total = draft.loss.event
    power = 1 / 2 if total.epsilon is None else 1 / 3
    shares = _shares([weight**power for weight in _importance(draft)])
    return replace(draft, losses=tuple(_part(draft.loss, share) for share in shares))


def _importance(draft: Draft) -> list[float]:
    weights = [0.0] * len(draft.measures)
    for _, estimate in draft.estimates:
        below = set() if estimate.denominator is None else {i for i, _ in estimate.denominator.terms}
        for index in estimate.measures:
            weights[index] += 1 / 3 if index in below else 1.0
    return weights


def _shares(weights: list[float]) -> list[Fraction]:
    """Round to multiples of 1/4096, at least one each; the largest takes the remainder."""
    parts = [max(1, int(_PARTS * weight / sum(weights))) for weight in weights]
    largest = max(range(len(parts)), key=parts.__getitem__)
    parts[largest] += max(sum(parts), _PARTS) - sum(parts)
    return [Fraction(part, sum(parts)) for part in parts]


def _part(loss: Loss, share: Fraction) -> Loss:
    event = loss.event
    return Concentrated(event.rho * share) if event.epsilon is None else Pure(event.epsilon * share)
