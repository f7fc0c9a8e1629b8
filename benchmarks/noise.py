"""Speed of the exact samplers relative to NumPy's inexact ones, in CPU seconds, side by side in one process.

Run: PYTHONPATH=src python benchmarks/noise.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from jali.noise import DiscreteGaussian, DiscreteLaplace, bernoulli_exp_array
from jali.noise.blocks import BULK, BlockSampler

DRAWS = 1_000_000
ROUNDS = 7

Run = Callable[[], Any]


def seconds(run: Run) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def race(ours: Run, theirs: Run) -> float:
    """Return how many times faster ours is: the best of several interleaved rounds of each."""
    ours(), theirs()
    rounds = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    return min(t for _, t in rounds) / min(o for o, _ in rounds)


def laplace(scale: Fraction) -> float:
    generator = np.random.default_rng()
    chance = -np.expm1(-1 / float(scale))
    law = DiscreteLaplace(scale)
    return race(
        lambda: law.sample(DRAWS), lambda: generator.geometric(chance, DRAWS) - generator.geometric(chance, DRAWS)
    )


def gaussian(stddev: Fraction) -> float:
    generator = np.random.default_rng()
    law = DiscreteGaussian(stddev**2)
    return race(
        lambda: law.sample(DRAWS),
        lambda: np.rint(generator.normal(0, float(stddev), DRAWS)).astype(np.int64),
    )


def rows() -> list[tuple[str, float, float]]:
    """Return (title, measured ratio, target ratio); a ratio above 1 is faster than NumPy."""
    return [
        ("discrete Laplace, scale 10, against a difference of geometrics", laplace(Fraction(10)), 1.5),
        ("discrete Laplace, scale 2^40", laplace(Fraction(2**40)), 0.5),
        ("discrete Laplace, scale 52428800/7", laplace(Fraction(52428800, 7)), 0.5),
        ("discrete Gaussian, sigma 10, against rounded normals", gaussian(Fraction(10)), 0.5),
        ("discrete Gaussian, sigma 2^40", gaussian(Fraction(2**40)), 0.5),
    ]


def details() -> list[tuple[str, float]]:
    """Return (title, microseconds): what is not a ratio."""
    numerators = np.random.default_rng().integers(0, 10**9, 100_000)
    fresh = iter(range(1, 1000))

    def few(size: int, law: Callable[[Fraction], Any]) -> float:
        samplers = [law(Fraction(10**9 + next(fresh), 7)) for _ in range(30)]
        return sorted(seconds(lambda s=s: s.sample(size)) for s in samplers)[15] * 1e6  # type: ignore[misc]

    def table(law: Any) -> float:
        return min(seconds(lambda: BlockSampler(law, BULK)._guide) for _ in range(5)) * 1e6

    def square(stddev: Fraction) -> DiscreteGaussian:
        return DiscreteGaussian(stddev**2)

    return [
        ("1 Laplace draw at a fresh scale", few(1, DiscreteLaplace)),
        ("16 Laplace draws at a fresh scale", few(16, DiscreteLaplace)),
        ("16 Gaussian draws at a fresh sigma", few(16, square)),
        ("table of Laplace, scale 10", table(DiscreteLaplace(Fraction(10)))),
        ("table of Laplace, scale 2^40", table(DiscreteLaplace(Fraction(2**40)))),
        ("table of Gaussian, sigma 10", table(DiscreteGaussian(Fraction(100)))),
        (
            "100,000 coins exp(-x)",
            min(seconds(lambda: bernoulli_exp_array(numerators, 10**8)) for _ in range(7)) * 1e6,
        ),
    ]


def main() -> None:
    for title, ratio, target in rows():
        print(f"{title:68s} {ratio:6.2f} times numpy   (target {target})")
    for title, microseconds in details():
        print(f"{title:68s} {microseconds:8.0f} µs")


if __name__ == "__main__":
    main()
