"""The pages with the proofs that an explanation leans on."""

from __future__ import annotations

from jali.query.aggregation import Weights

LAPLACE = "docs/proofs/laplace.md (Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1)"
JOINT = "docs/proofs/joint_noise.md (Hardt and Talwar 2010, Theorem 4.1)"
GAUSSIAN = "docs/proofs/gaussian.md (Canonne, Kamath and Steinke 2020, Theorem 14)"
WEIGHTS = "docs/proofs/weights.md"
PREPARED = "docs/proofs/prepared.md"
OWNERSHIP = "docs/proofs/ownership.md"
QUANTILE = "docs/proofs/weighted_quantile.md"
PERMUTE_AND_FLIP = "docs/proofs/permute_and_flip.md (McKenna and Sheldon 2020)"
EXPONENTIAL = "docs/proofs/exponential.md (McSherry and Talwar 2007)"
UNKNOWN_KEYS = "docs/proofs/unknown_keys.md (Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1)"
TOLD_KEYS = "docs/proofs/unknown_keys.md (Korolova, Kenthapadi, Mishra and Ntoulas 2009)"
GROUPING_SETS = "docs/proofs/grouping_sets.md"
RUNNING = "docs/proofs/running_counts.md (Hay, Rastogi, Miklau and Suciu 2010, Theorem 3)"
INTERVALS = "docs/proofs/intervals.md"
PARALLEL = "docs/proofs/parallel.md (McSherry 2009, Theorem 4)"

PAGES = (
    LAPLACE,
    JOINT,
    GAUSSIAN,
    WEIGHTS,
    PREPARED,
    OWNERSHIP,
    QUANTILE,
    PERMUTE_AND_FLIP,
    EXPONENTIAL,
    UNKNOWN_KEYS,
    TOLD_KEYS,
    GROUPING_SETS,
    RUNNING,
    INTERVALS,
    PARALLEL,
)


def of_bound(weights: Weights | None) -> list[str]:
    """Return the page that proves how one person's rows are bounded, where they are."""
    if weights is None:
        return []
    return [PREPARED if weights.ranked else WEIGHTS]
