"""The pages with the proofs that an explanation leans on."""

from __future__ import annotations

from jali.mechanisms.gaussian import GAUSSIAN_PAGE
from jali.mechanisms.joint_measure import JOINT_PAGE
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.keys.optimal_keys import OptimalKeys
from jali.mechanisms.laplace import LAPLACE_PAGE
from jali.mechanisms.quantiles.weighted_quantile import QUANTILE_PAGE
from jali.mechanisms.selection.picks import EXPONENTIAL_PAGE, PERMUTE_AND_FLIP_PAGE
from jali.mechanisms.workloads.measured_cells import RUNNING_PAGE
from jali.query.aggregation import Weights

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
    NoisyCounts.page,
    GROUPING_SETS,
    RUNNING_PAGE,
    INTERVALS,
    PARALLEL,
)


def of_bound(weights: Weights | None) -> list[str]:
    """Return the page that proves how one person's rows are bounded, where they are."""
    if weights is None:
        return []
    return [PREPARED if weights.ranked else WEIGHTS]
