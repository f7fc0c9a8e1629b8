"""Noisy max: the index of the largest noisy value, which is private, and the value itself, which is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np

from jali.audit.subject import Outputs, Subject
from jali.audit.twins.sampled.making import CLAIM, all_above, crossed, one_above, one_against_the_rest, sampled
from jali.privacy import Adjacency, Pure
from jali.privacy.rationals import Number

VALUES = 5
Noise: TypeAlias = Callable[[np.random.Generator, float, tuple[int, int]], Outputs]


def laplace_noise(random: np.random.Generator, scale: float, shape: tuple[int, int]) -> Outputs:
    """Draw two-sided noise."""
    return random.laplace(scale=scale, size=shape)


def exponential_noise(random: np.random.Generator, scale: float, shape: tuple[int, int]) -> Outputs:
    """Draw one-sided noise: noisy max with it is permute-and-flip (Ding et al. 2021)."""
    return random.exponential(scale=scale, size=shape)


def gumbel_noise(random: np.random.Generator, scale: float, shape: tuple[int, int]) -> Outputs:
    """Draw Gumbel noise: noisy max with it is the exponential mechanism."""
    return random.gumbel(scale=scale, size=shape)


def argmax(
    values: Sequence[float], count: int, random: np.random.Generator, noise: Noise, scale: float
) -> Outputs:
    """Tell which noisy value is the largest."""
    noisy = np.asarray(values, np.float64) + noise(random, scale, (count, len(values)))
    return np.asarray(noisy.argmax(axis=1), np.float64)[:, None]


def maximum(
    values: Sequence[float], count: int, random: np.random.Generator, noise: Noise, scale: float
) -> Outputs:
    """Tell the largest noisy value."""
    noisy = np.asarray(values, np.float64) + noise(random, scale, (count, len(values)))
    return np.asarray(noisy.max(axis=1))[:, None]


def _told_index(name: str, noise: Noise, epsilon: Number, source: str) -> Subject:
    pairs = (one_against_the_rest(VALUES), one_above(VALUES), crossed(VALUES))
    sampler = partial(argmax, noise=noise, scale=2 / float(Fraction(epsilon)))
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, pairs, sampler, f"noisy_max:{source}")


def _told_value(name: str, noise: Noise, epsilon: Number, source: str) -> Subject:
    sampler = partial(maximum, noise=noise, scale=2 / float(Fraction(epsilon)))
    pairs = (all_above(VALUES), all_above(2 * VALUES))
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, pairs, sampler, f"noisy_max:{source}")


def noisy_max_laplace(epsilon: Number = CLAIM) -> Subject:
    """Honest: Laplace noise of scale 2/epsilon, the index alone (Dwork and Roth 2014, section 3.3)."""
    return _told_index("noisy max with Laplace noise", laplace_noise, epsilon, "noisy_max_laplace")


def noisy_max_exponential(epsilon: Number = CLAIM) -> Subject:
    """Honest: exponential noise of scale 2/epsilon, the index alone (McKenna and Sheldon 2020)."""
    return _told_index("noisy max with exponential noise", exponential_noise, epsilon, "noisy_max_exponential")


def noisy_max_gumbel(epsilon: Number = CLAIM) -> Subject:
    """Honest: Gumbel noise of scale 2/epsilon, the index alone (McSherry and Talwar 2007)."""
    return _told_index("noisy max with Gumbel noise", gumbel_noise, epsilon, "noisy_max_gumbel")


def value_of_noisy_max_laplace(epsilon: Number = CLAIM) -> Subject:
    """Broken: tells the largest value; it is low with Pr = F(t)^5, which loses 5/2 epsilon (Ding et al. 2018)."""
    name, source = "noisy max with Laplace noise that prints the value", "value_of_noisy_max_laplace"
    return _told_value(name, laplace_noise, epsilon, source)


def value_of_noisy_max_exponential(epsilon: Number = CLAIM) -> Subject:
    """Broken: tells the largest value, of which some are impossible for a neighbour (Ding et al. 2018)."""
    name, source = "noisy max with exponential noise that prints the value", "value_of_noisy_max_exponential"
    return _told_value(name, exponential_noise, epsilon, source)
