"""Batches: questions that are declared together, planned jointly, charged once and answered so that they agree."""

from jali.planner.batch.asked import Asked, Total
from jali.planner.batch.plan import BATCHES, BatchPlan, ReadBy, plan_batch, without_words

__all__ = ["BATCHES", "Asked", "BatchPlan", "ReadBy", "Total", "plan_batch", "without_words"]
