"""Batches: questions that are declared together, planned jointly, charged once and answered so that they agree."""

from jali.planner.batch.batch_plan import BATCHES, BatchPlan, BatchReading, plan_batch, without_words
from jali.planner.batch.batch_terms import BatchBudget, WeightedQuestion

__all__ = [
    "BATCHES",
    "BatchBudget",
    "BatchPlan",
    "BatchReading",
    "WeightedQuestion",
    "plan_batch",
    "without_words",
]
