"""The forecasts of a plan, for every aggregate at once."""

from __future__ import annotations

from jali.ir.expressions import Aggregate
from jali.planner import Plan
from jali.planner.forecast import AggregateForecast, forecast_estimate


def forecast_aggregates(plan: Plan) -> tuple[tuple[Aggregate, tuple[AggregateForecast, ...]], ...]:
    """Return the forecast of each aggregate, one for every grouping set."""
    levels = range(len(plan.levels))
    return tuple((a, tuple(forecast_estimate(plan, i, e) for i in levels)) for a, e in plan.estimates)
