"""Mechanisms against NumPy's insecure counterparts, and the two that have a limit in seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from benchmarks.measure import Row, at_least, at_most, best_of, reported

from jali.mechanisms import Exponential, Hierarchy, JointTopK, Laplace, PermuteAndFlip, Thresholds

CANDIDATES = 100_000
VALUES = 1_000_000
LEAVES = 1 << 20
STEP = "1/1024"


def rows() -> list[Row]:
    """Measure selection, a vector release, top-10 and consistency."""
    return [*_selection(), *_vector(), *_top_k(), *_consistency()]


def _scores() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(1)
    dominant = np.zeros(CANDIDATES, np.int64)
    dominant[CANDIDATES // 2] = 10**6
    return {
        "random scores": generator.integers(0, 1000, CANDIDATES),
        "equal scores": np.zeros(CANDIDATES, np.int64),
        "one dominant": dominant,
    }


def _selection() -> list[Row]:
    found = []
    for title, scores in _scores().items():
        seconds = best_of(
            {
                "permute-and-flip": lambda q=scores: PermuteAndFlip(sensitivity=1, epsilon=1).release(q),  # type: ignore[misc]
                "exponential": lambda q=scores: Exponential(sensitivity=1, epsilon=1).release(q),  # type: ignore[misc]
                "numpy": _gumbel(scores),
            }
        )
        for name in ("permute-and-flip", "exponential"):
            what = f"{name} of 10^5, {title} / numpy's Gumbel argmax"
            found.append(at_most(what, seconds[name] / seconds["numpy"], 10))
    return found


def _gumbel(scores: np.ndarray) -> Callable[[], Any]:
    generator = np.random.default_rng()
    return lambda: np.argmax(scores * 0.5 + generator.gumbel(size=len(scores)))


def _vector() -> list[Row]:
    generator = np.random.default_rng(2)
    values = generator.normal(0, 100, VALUES)
    counts = generator.integers(0, 10**6, VALUES)
    reals = Laplace(sensitivity=1, epsilon=1, step=STEP, dimension=VALUES)
    whole = Laplace(sensitivity=1, epsilon=1)
    seconds = best_of(
        {
            "reals": lambda: reals.release(values),
            "integers": lambda: whole.release(counts),
            "numpy": lambda: values + generator.laplace(0, 1, VALUES),
        }
    )
    title = "10^6 {}: rate / numpy's insecure Laplace"
    return [
        at_least(title.format("reals on the lattice 1/1024"), seconds["numpy"] / seconds["reals"], 0.3),
        at_least(title.format("integers"), seconds["numpy"] / seconds["integers"], 0.3),
    ]


def _top_k() -> list[Row]:
    counts = np.random.default_rng(3).zipf(1.3, CANDIDATES) % 10**7
    flat = np.random.default_rng(4).integers(0, 10**6, CANDIDATES)
    mechanism = JointTopK(k=10, sensitivity=1, epsilon=1, adjacency="add-remove")
    seconds = best_of(
        {"skewed": lambda: mechanism.release(counts), "spread": lambda: mechanism.release(flat)}, rounds=3
    )
    return [at_most(f"top 10 of 10^5 jointly, {k} counts, seconds", v, 2) for k, v in seconds.items()]


def _consistency() -> list[Row]:
    counts = np.random.default_rng(5).integers(0, 100, LEAVES)
    trees = {
        f"fan-out {fanout or 'at its best'}": Hierarchy(
            workload=Thresholds(LEAVES), epsilon=1, adjacency="add-remove", fanout=fanout
        )
        for fanout in (2, None)
    }
    noisy = {title: tree.release(counts).measurements for title, tree in trees.items()}
    seconds = best_of({t: partial(tree.answer, noisy[t]) for t, tree in trees.items()}, rounds=3)
    whole = best_of({t: partial(tree.release, counts) for t, tree in trees.items()}, rounds=3)
    return [
        *(at_most(f"consistency on 2^20 leaves, {t}, seconds", value, 2) for t, value in seconds.items()),
        *(reported(f"  the whole release of 2^20 leaves, {t}, seconds", value) for t, value in whole.items()),
    ]
