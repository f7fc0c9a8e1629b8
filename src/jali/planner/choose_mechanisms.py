"""Rule: each measure gets the noise that its loss affords: Laplace for pure loss, Gaussian for zCDP."""

from __future__ import annotations

from dataclasses import replace

from jali.errors import MechanismError, QueryError
from jali.mechanisms import Gaussian, Laplace
from jali.planner.draft import Draft, Mechanism
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.privacy import Loss
from jali.query.aggregation import Aggregation, Measure


def aggregation_of(draft: Draft) -> Aggregation:
    """Return the engine's part of a draft."""
    return Aggregation(draft.table, draft.question.where, draft.keys, draft.measures, draft.weights)


def choose_mechanisms(draft: Draft) -> Draft:
    """Calibrate one mechanism per measure to the measure's sensitivity and share of the loss."""
    aggregation = aggregation_of(draft)
    pairs = zip(draft.measures, draft.losses, strict=True)
    try:
        mechanisms = tuple(mechanism_for(aggregation, measure, loss) for measure, loss in pairs)
    except MechanismError:
        raise QueryError(
            f"The loss of {draft.loss.event} is too small: the noise would exceed every number there is.",
            remedy="Ask with a larger loss.",
        ) from None
    return replace(draft, mechanisms=mechanisms)


def mechanism_for(aggregation: Aggregation, measure: Measure, loss: Loss) -> Mechanism:
    """Return the mechanism for one measure at one loss."""
    event = loss.event
    if event.epsilon is None:
        squared = squared_l2_sensitivity(aggregation, measure)
        return Gaussian.squared(squared_sensitivity=squared, rho=event.rho)
    return Laplace(sensitivity=l1_sensitivity(aggregation, measure), epsilon=event.epsilon)
