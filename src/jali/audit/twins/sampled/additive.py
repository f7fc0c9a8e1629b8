"""Noise that is added to numbers and histograms, with the right scale and with wrong ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from jali.audit.subject import Outputs, Subject
from jali.audit.twins.sampled.making import CLAIM, level, one_above, sampled
from jali.noise import DiscreteLaplace
from jali.privacy import Adjacency, Approximate, Pure
from jali.privacy.rationals import Number

CELLS = 5
_ONE_PERSON = ((0.0, 1.0),)


def with_laplace(value: float | Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Add Laplace noise of one scale to a number, or to each of several."""
    centre = np.atleast_1d(np.asarray(value, np.float64))
    return centre + random.laplace(scale=scale, size=(count, len(centre)))


def with_gaussian(value: float, count: int, random: np.random.Generator, stddev: float) -> Outputs:
    """Add Gaussian noise to a number."""
    return value + random.normal(scale=stddev, size=(count, 1))


def with_exact_laplace(value: int, count: int, random: Any, noise: DiscreteLaplace) -> Outputs:  # noqa: ARG001
    """Add the package's own discrete noise, which takes no generator."""
    return (value + noise.sample(count)).astype(np.float64)[:, None]


def laplace(epsilon: Number = CLAIM) -> Subject:
    """Honest: a count with Laplace noise of scale 1/epsilon (Dwork, McSherry, Nissim and Smith 2006)."""
    sampler = partial(with_laplace, scale=1 / float(Fraction(epsilon)))
    return sampled("Laplace", Pure(epsilon), Adjacency.ADD_REMOVE, _ONE_PERSON, sampler, "additive:laplace")


def exact_laplace(epsilon: Number = CLAIM) -> Subject:
    """Honest: a count with the package's own discrete Laplace noise, for comparison."""
    sampler = partial(with_exact_laplace, noise=DiscreteLaplace(1 / Fraction(epsilon)))
    name, source = "discrete Laplace, exact", "additive:exact_laplace"
    return sampled(name, Pure(epsilon), Adjacency.ADD_REMOVE, ((0, 1),), sampler, source)


def histogram(epsilon: Number = CLAIM) -> Subject:
    """Honest: one person is in one cell, so each cell may have Laplace noise of scale 1/epsilon."""
    sampler = partial(with_laplace, scale=1 / float(Fraction(epsilon)))
    pairs, source = (one_above(CELLS),), "additive:histogram"
    return sampled("histogram", Pure(epsilon), Adjacency.ADD_REMOVE, pairs, sampler, source)


def histogram_with_inverted_scale(epsilon: Number = CLAIM) -> Subject:
    """Broken below epsilon 1: scale epsilon loses 1/epsilon (Ding et al. 2018, Algorithm 10)."""
    sampler = partial(with_laplace, scale=float(Fraction(epsilon)))
    name, source = "histogram with scale epsilon", "additive:histogram_with_inverted_scale"
    return sampled(name, Pure(epsilon), Adjacency.ADD_REMOVE, (one_above(CELLS),), sampler, source)


def laplace_with_inverted_scale(epsilon: Number = CLAIM) -> Subject:
    """Broken below epsilon 1: multiplies by epsilon where it should divide."""
    sampler = partial(with_laplace, scale=float(Fraction(epsilon)))
    name, source = "Laplace with inverted scale", "additive:laplace_with_inverted_scale"
    return sampled(name, Pure(epsilon), Adjacency.ADD_REMOVE, _ONE_PERSON, sampler, source)


def replaced_with_add_remove_noise(epsilon: Number = CLAIM) -> Subject:
    """Broken: somebody replaced changes two cells, so that scale 1/epsilon loses 2 epsilon."""
    sampler = partial(with_laplace, scale=1 / float(Fraction(epsilon)))
    moved = (level(CELLS), (2.0, 0.0, *level(CELLS - 2)))
    name, source = "replace-one histogram with add-remove noise", "additive:replaced_with_add_remove_noise"
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, (moved,), sampler, source)


def classical_gaussian(epsilon: Number = 10, delta: Number = Fraction(1, 10)) -> Subject:
    """Broken at large epsilon: stddev sqrt(2 ln(1.25/delta))/epsilon is proved below epsilon 1 only.

    Its true delta is Phi(1/(2s) - epsilon s) - exp(epsilon) Phi(-1/(2s) - epsilon s) at stddev s (Balle and Wang
    2018, Theorem 8). At epsilon 10 an event counts against the claim only if its rarer probability is below some
    exp(-10): it takes millions of samples at a delta of 1/10, and more at a smaller one.
    """
    stddev = math.sqrt(2 * math.log(1.25 / float(Fraction(delta)))) / float(Fraction(epsilon))
    sampler = partial(with_gaussian, stddev=stddev)
    name, claim = "Gaussian with the classical stddev", Approximate(epsilon, delta)
    return sampled(name, claim, Adjacency.ADD_REMOVE, _ONE_PERSON, sampler, "additive:classical_gaussian")
