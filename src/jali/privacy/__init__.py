"""The calculus of privacy: adjacency, losses, composition, conversion, budgets, filters and planning.

No data, no SQL, no randomness. Importing it runs nothing: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.numerals import decimal
    from jali.privacy.adjacency import Adjacency
    from jali.privacy.budget import Budget
    from jali.privacy.convert import largest_rho
    from jali.privacy.distribution.pld import PrivacyLossDistribution
    from jali.privacy.event import NOTHING, Event
    from jali.privacy.filter import Filter
    from jali.privacy.loss import Loss
    from jali.privacy.losses.approximate import Approximate
    from jali.privacy.losses.bounded_range import BoundedRange
    from jali.privacy.losses.concentrated import Concentrated
    from jali.privacy.losses.discrete_gaussian import DiscreteGaussianLoss
    from jali.privacy.losses.discrete_laplace import DiscreteLaplaceLoss
    from jali.privacy.losses.gaussian import GaussianLoss
    from jali.privacy.losses.laplace import LaplaceLoss
    from jali.privacy.losses.pure import Pure
    from jali.privacy.losses.randomized_response import RandomizedResponseLoss
    from jali.privacy.losses.renyi import Renyi
    from jali.privacy.losses.subsampled import Sampling, SubsampledLoss
    from jali.privacy.rationals import rational
    from jali.privacy.readings import Profile, TradeOff

_HOMES = {
    "NOTHING": "event",
    "Adjacency": "adjacency",
    "Approximate": "losses.approximate",
    "BoundedRange": "losses.bounded_range",
    "Budget": "budget",
    "Concentrated": "losses.concentrated",
    "DiscreteGaussianLoss": "losses.discrete_gaussian",
    "DiscreteLaplaceLoss": "losses.discrete_laplace",
    "Event": "event",
    "Filter": "filter",
    "GaussianLoss": "losses.gaussian",
    "LaplaceLoss": "losses.laplace",
    "Loss": "loss",
    "PrivacyLossDistribution": "distribution.pld",
    "Profile": "readings",
    "Pure": "losses.pure",
    "RandomizedResponseLoss": "losses.randomized_response",
    "Renyi": "losses.renyi",
    "Sampling": "losses.subsampled",
    "SubsampledLoss": "losses.subsampled",
    "TradeOff": "readings",
    "largest_rho": "convert",
    "rational": "rationals",
}

__all__ = [
    "NOTHING",
    "Adjacency",
    "Approximate",
    "BoundedRange",
    "Budget",
    "Concentrated",
    "DiscreteGaussianLoss",
    "DiscreteLaplaceLoss",
    "Event",
    "Filter",
    "GaussianLoss",
    "LaplaceLoss",
    "Loss",
    "PrivacyLossDistribution",
    "Profile",
    "Pure",
    "RandomizedResponseLoss",
    "Renyi",
    "Sampling",
    "SubsampledLoss",
    "TradeOff",
    "decimal",
    "largest_rho",
    "rational",
]


def __getattr__(name: str) -> Any:
    if name == "decimal":
        return import_module("jali.numerals").decimal
    if name not in _HOMES:
        raise AttributeError(f"module 'jali.privacy' has no attribute {name!r}")
    return getattr(import_module(f"jali.privacy.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
