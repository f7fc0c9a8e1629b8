"""Exact samplers against NumPy's insecure ones."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from benchmarks.measure import Row, at_least, best_of, reported

from jali.sampling import DiscreteGaussian, DiscreteLaplace, bernoulli_exp_array
from jali.sampling.guide_table import BULK, BlockSampler

DRAWS = 1_000_000


def rows() -> list[Row]:
    """Measure rates relative to NumPy, and the cost of small requests at fresh scales."""
    return [
        at_least("discrete Laplace, scale 10 / numpy's geometric difference", _laplace(Fraction(10)), 1.5),
        at_least("discrete Laplace, scale 2^40 / the same", _laplace(Fraction(2**40)), 0.5),
        at_least("discrete Laplace, scale 52428800/7 / the same", _laplace(Fraction(52428800, 7)), 0.5),
        at_least("discrete Gaussian, sigma 10 / numpy's rounded normal", _gaussian(Fraction(10)), 0.5),
        at_least("discrete Gaussian, sigma 2^40 / the same", _gaussian(Fraction(2**40)), 0.5),
        *_small(),
    ]


def _race(ours: Callable[[], Any], theirs: Callable[[], Any]) -> float:
    """Return how many times faster ours is."""
    ours()
    seconds = best_of({"ours": ours, "theirs": theirs})
    return seconds["theirs"] / seconds["ours"]


def _laplace(scale: Fraction) -> float:
    generator, law = np.random.default_rng(), DiscreteLaplace(scale)
    chance = -np.expm1(-1 / float(scale))

    def theirs() -> Any:
        return generator.geometric(chance, DRAWS) - generator.geometric(chance, DRAWS)

    return _race(lambda: law.sample(DRAWS), theirs)


def _gaussian(stddev: Fraction) -> float:
    generator, law = np.random.default_rng(), DiscreteGaussian(stddev**2)

    def theirs() -> Any:
        return np.rint(generator.normal(0, float(stddev), DRAWS)).astype(np.int64)

    return _race(lambda: law.sample(DRAWS), theirs)


def _small() -> list[Row]:
    numerators = np.random.default_rng().integers(0, 10**9, 100_000)
    fresh = iter(range(10**6))

    def scale() -> Fraction:
        return Fraction(10**9 + next(fresh), 7)

    seconds = best_of(
        {
            "1 Laplace draw at a fresh scale": lambda: DiscreteLaplace(scale()).sample(1),
            "16 Laplace draws at a fresh scale": lambda: DiscreteLaplace(scale()).sample(16),
            "16 Gaussian draws at a fresh sigma": lambda: DiscreteGaussian(scale() ** 2).sample(16),
            "the table of Laplace, scale 10": lambda: BlockSampler(DiscreteLaplace(Fraction(10)), BULK)._guide,
            "100,000 coins of exp(-x)": lambda: bernoulli_exp_array(numerators, 10**8),
        },
        rounds=30,
    )
    return [reported(f"  {title}, microseconds", 1e6 * value) for title, value in seconds.items()]
