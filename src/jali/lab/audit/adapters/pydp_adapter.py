"""Audit PyDP, Google's library for Python: algorithms whose `quick_result` takes a list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.subject import Pair, Subject
from jali.lab.audit.subject_loader import subject_of
from jali.privacy import Adjacency
from jali.privacy.rationals import Number


def pydp(
    algorithm: Any,
    *,
    adjacency: str | Adjacency,
    data: str | Pattern | None = None,
    pairs: Iterable[Pair] | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    name: str | None = None,
) -> Subject:
    """Return an algorithm of PyDP as a subject.

    `quick_result` resets the budget of the algorithm before each run, so that all runs are alike.

    Args:
        algorithm: Such as `BoundedMean(epsilon=0.7, lower_bound=0, upper_bound=1, dtype="float")`.
        adjacency: When two lists are neighbours; PyDP means "add-remove".
        data: What it takes, as a pattern with the bounds of the algorithm, such as "values:10 in 0.0..1.0": an
            algorithm does not tell its bounds.
        pairs: Neighbouring lists, in place of a pattern.
        epsilon: The claim; read off the algorithm by default.
        delta: The same.
        name: What reports call it.
    """
    epsilon = algorithm.epsilon if epsilon is None else epsilon
    delta = (getattr(algorithm, "delta", None) or None) if delta is None else delta

    def release(data: Any) -> Any:
        return algorithm.quick_result(data)

    return subject_of(
        release,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        data=data,
        pairs=pairs,
        name=name or f"PyDP {type(algorithm).__name__}",
    )
