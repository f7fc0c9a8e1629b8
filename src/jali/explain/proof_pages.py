"""The proof pages that an explanation refers to."""

from __future__ import annotations

from jali.ir.aggregates import Weights
from jali.mechanisms.additive.gaussian_mechanism import GAUSSIAN_PAGE
from jali.mechanisms.additive.l_infinity import JOINT_PAGE
from jali.mechanisms.additive.laplace_mechanism import LAPLACE_PAGE
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.quantiles.weighted_quantile import QUANTILE_PAGE
from jali.mechanisms.selection.selection_mechanism import EXPONENTIAL_PAGE, PERMUTE_AND_FLIP_PAGE
from jali.mechanisms.workloads.cell_strategies import RUNNING_PAGE

WEIGHTS = "docs/proofs/weights.md"
PREPARED = "docs/proofs/prepared.md"
OWNERSHIP = "docs/proofs/ownership.md"
GROUPING_SETS = "docs/proofs/grouping_sets.md"
INTERVALS = "docs/proofs/intervals.md"
PARALLEL = "docs/proofs/parallel.md (McSherry 2009, Theorem 4)"

PAGES = (
    LAPLACE_PAGE,
    JOINT_PAGE,
    GAUSSIAN_PAGE,
    WEIGHTS,
    PREPARED,
    OWNERSHIP,
    QUANTILE_PAGE,
    PERMUTE_AND_FLIP_PAGE,
    EXPONENTIAL_PAGE,
    OptimalKeys.page,
    ThresholdedCounts.page,
    GROUPING_SETS,
    RUNNING_PAGE,
    INTERVALS,
    PARALLEL,
)


def of_bound(weights: Weights | None) -> list[str]:
    """Return the page that proves how one person's rows are bounded, where they are."""
    if weights is None:
        return []
    return [PREPARED if weights.by_rank else WEIGHTS]
