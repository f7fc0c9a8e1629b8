"""The draft of a plan, as it passes from rule to rule."""

from __future__ import annotations

from dataclasses import dataclass

from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Loss
from jali.query.aggregation import KeySet, Measure, Weights
from jali.query.catalog import Table
from jali.query.estimate import Estimate
from jali.query.nodes import Aggregate, Question

Mechanism = Laplace | Gaussian


@dataclass(frozen=True)
class Draft:
    """A question on its way to a plan. Each rule fills in one part and leaves the rest."""

    question: Question
    table: Table
    loss: Loss
    owner: str | None = None
    keys: tuple[KeySet, ...] = ()
    measures: tuple[Measure, ...] = ()
    estimates: tuple[tuple[Aggregate, Estimate], ...] = ()
    weights: Weights | None = None
    losses: tuple[Loss, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()
