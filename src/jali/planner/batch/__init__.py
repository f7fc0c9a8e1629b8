"""Batches: questions that are declared together, planned jointly, charged once and answered so that they agree."""

from jali.planner.batch.asked import Asked, Total
from jali.planner.batch.plan import BATCH_CLASSES, BatchPlan, ReadBy, plan_batch

__all__ = ["BATCH_CLASSES", "Asked", "BatchPlan", "ReadBy", "Total", "plan_batch"]
