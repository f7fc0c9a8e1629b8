"""The best candidate by a score, told exactly if it leads by far."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.mechanisms.applications.choice import Counts, keys_and_counts
from jali.mechanisms.lattice import step_of
from jali.mechanisms.monotone import read_monotone
from jali.mechanisms.selection.scores import Scores, in_steps, read_scores
from jali.mechanisms.sensitivity import Sensitivity, l_infinity_distance
from jali.mechanisms.stability.applications.told import Told, prepared, tell
from jali.mechanisms.stability.stable_value import Stable
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_ASSUMED = (
    "The candidates are public: they do not depend on the data.",
    "The score of each candidate changes by at most `sensitivity` between neighbours.",
)


def stable_best(
    scores: Counts,
    *,
    sensitivity: Number | Sensitivity,
    epsilon: Number,
    delta: Number,
    adjacency: str | Adjacency,
    monotone: bool = False,
    step: Number | None = None,
    bits: BitSource | None = None,
) -> Told:
    """Return the candidate of the largest score, or decline.

    Args:
        scores: A mapping of public candidates to scores, or a list of scores.
        sensitivity: How far the score of one candidate can change between neighbours.
        epsilon: The loss.
        delta: The probability of failure.
        adjacency: When two tables are neighbours.
        monotone: Whether all scores change in the same direction, as counts do under add-remove.
        step: The lattice for real scores; without it they are integers or Fractions.
        bits: Where the random bits come from; the thread's own stream if not given.

    Guarantee:
        The release is (epsilon, delta)-DP. Where several candidates lead together the exact answer is None.
    Proof:
        docs/proofs/stable_value.md, Lemma 4: a lead of g takes at least g/(2 sensitivity) changes, or
        g/sensitivity where scores are monotone, and no more can be said from the sensitivity alone.

    Example:
        >>> from jali.mechanisms import stable_best
        >>> likes = {"Ran": 900, "Heat": 400, "Alien": 750}
        >>> stable_best(likes, sensitivity=1, epsilon=1, delta=1e-6, adjacency="replace-one").answer
        'Ran'
    """
    mechanism, neighbours = prepared(epsilon, delta, adjacency)
    together, _ = read_monotone(sensitivity, neighbours, monotone=monotone)
    lattice = step_of(step)
    moved = in_steps(l_infinity_distance(sensitivity), lattice) * (1 if together else 2)
    keys, values = keys_and_counts(scores)
    return tell(best_of(keys, read_scores(values, lattice), moved), mechanism, neighbours, _ASSUMED, bits)


def best_of(keys: list[Any], scores: Scores, moved: Any) -> Stable:
    """Return the only best key, or None, and ceil(lead/moved) - 1: one change moves a lead by at most `moved`."""
    if len(scores) == 1:
        return Stable(keys[0], 1 << 62)
    gaps = scores.gaps()
    best = int(np.argmin(gaps))
    lead = min(int(gap) for place, gap in enumerate(gaps.tolist()) if place != best) * scores.unit
    return Stable(keys[best], -(-lead // moved) - 1) if lead > 0 else Stable(None, 0)
