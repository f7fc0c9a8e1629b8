"""The calculus of privacy: adjacency, losses, composition, conversion, budgets, filters and planning.

No data, no SQL, no randomness. Importing it runs nothing: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.numerals import decimal
    from jali.privacy.adaptive.account import Account, Remaining
    from jali.privacy.adaptive.filters import ApproximateFilter, ConcentratedFilter, PureFilter
    from jali.privacy.adaptive.odometers import ApproximateOdometer, ConcentratedOdometer, PureOdometer
    from jali.privacy.adjacency import Adjacency
    from jali.privacy.budget import Budget
    from jali.privacy.composition.compose import Composition, compose
    from jali.privacy.composition.largest import Largest
    from jali.privacy.composition.parallel import parallel
    from jali.privacy.composition.table import Bound, Table
    from jali.privacy.composition.theorem import Theorem
    from jali.privacy.composition.theorems import THEOREMS
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
    from jali.privacy.losses.finite import Finite, privacy_loss
    from jali.privacy.losses.gaussian import GaussianLoss
    from jali.privacy.losses.laplace import LaplaceLoss
    from jali.privacy.losses.pure import Pure
    from jali.privacy.losses.randomized_response import RandomizedResponseLoss
    from jali.privacy.losses.renyi import Renyi
    from jali.privacy.losses.replaced import replace_one
    from jali.privacy.losses.subsampled import Sampling, SubsampledLoss
    from jali.privacy.planning.calibrate import (
        discrete_gaussian_variance,
        discrete_laplace_scale,
        exponential_rate,
        gaussian_stddev,
        laplace_scale,
        truth_probability,
    )
    from jali.privacy.planning.crossover import crossover
    from jali.privacy.planning.each_query import each_query
    from jali.privacy.planning.plan import QueryPlan
    from jali.privacy.planning.queries import least_epsilon, plan_queries, queries_below_sampling_error
    from jali.privacy.postprocessing import PostProcessed, postprocess
    from jali.privacy.rationals import rational
    from jali.privacy.readings import Profile, TradeOff

_HOMES = {
    "NOTHING": "event",
    "THEOREMS": "composition.theorems",
    "Account": "adaptive.account",
    "Adjacency": "adjacency",
    "Approximate": "losses.approximate",
    "ApproximateFilter": "adaptive.filters",
    "ApproximateOdometer": "adaptive.odometers",
    "Bound": "composition.table",
    "BoundedRange": "losses.bounded_range",
    "Budget": "budget",
    "Composition": "composition.compose",
    "Concentrated": "losses.concentrated",
    "ConcentratedFilter": "adaptive.filters",
    "ConcentratedOdometer": "adaptive.odometers",
    "DiscreteGaussianLoss": "losses.discrete_gaussian",
    "DiscreteLaplaceLoss": "losses.discrete_laplace",
    "Event": "event",
    "Filter": "filter",
    "Finite": "losses.finite",
    "GaussianLoss": "losses.gaussian",
    "LaplaceLoss": "losses.laplace",
    "Largest": "composition.largest",
    "Loss": "loss",
    "PostProcessed": "postprocessing",
    "PrivacyLossDistribution": "distribution.pld",
    "Profile": "readings",
    "Pure": "losses.pure",
    "PureFilter": "adaptive.filters",
    "PureOdometer": "adaptive.odometers",
    "QueryPlan": "planning.plan",
    "RandomizedResponseLoss": "losses.randomized_response",
    "Remaining": "adaptive.account",
    "Renyi": "losses.renyi",
    "Sampling": "losses.subsampled",
    "SubsampledLoss": "losses.subsampled",
    "Table": "composition.table",
    "Theorem": "composition.theorem",
    "TradeOff": "readings",
    "compose": "composition.compose",
    "crossover": "planning.crossover",
    "discrete_gaussian_variance": "planning.calibrate",
    "discrete_laplace_scale": "planning.calibrate",
    "each_query": "planning.each_query",
    "exponential_rate": "planning.calibrate",
    "gaussian_stddev": "planning.calibrate",
    "laplace_scale": "planning.calibrate",
    "largest_rho": "convert",
    "least_epsilon": "planning.queries",
    "parallel": "composition.parallel",
    "plan_queries": "planning.queries",
    "postprocess": "postprocessing",
    "privacy_loss": "losses.finite",
    "queries_below_sampling_error": "planning.queries",
    "rational": "rationals",
    "replace_one": "losses.replaced",
    "truth_probability": "planning.calibrate",
}

__all__ = [
    "NOTHING",
    "THEOREMS",
    "Account",
    "Adjacency",
    "Approximate",
    "ApproximateFilter",
    "ApproximateOdometer",
    "Bound",
    "BoundedRange",
    "Budget",
    "Composition",
    "Concentrated",
    "ConcentratedFilter",
    "ConcentratedOdometer",
    "DiscreteGaussianLoss",
    "DiscreteLaplaceLoss",
    "Event",
    "Filter",
    "Finite",
    "GaussianLoss",
    "LaplaceLoss",
    "Largest",
    "Loss",
    "PostProcessed",
    "PrivacyLossDistribution",
    "Profile",
    "Pure",
    "PureFilter",
    "PureOdometer",
    "QueryPlan",
    "RandomizedResponseLoss",
    "Remaining",
    "Renyi",
    "Sampling",
    "SubsampledLoss",
    "Table",
    "Theorem",
    "TradeOff",
    "compose",
    "crossover",
    "decimal",
    "discrete_gaussian_variance",
    "discrete_laplace_scale",
    "each_query",
    "exponential_rate",
    "gaussian_stddev",
    "laplace_scale",
    "largest_rho",
    "least_epsilon",
    "parallel",
    "plan_queries",
    "postprocess",
    "privacy_loss",
    "queries_below_sampling_error",
    "rational",
    "replace_one",
    "truth_probability",
]


def __getattr__(name: str) -> Any:
    if name == "decimal":
        return import_module("jali.numerals").decimal
    if name not in _HOMES:
        raise AttributeError(f"module 'jali.privacy' has no attribute {name!r}")
    return getattr(import_module(f"jali.privacy.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
