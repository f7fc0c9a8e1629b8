"""Noise that is added to numbers and histograms, with the right scale and with wrong ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from jali.lab.audit.broken.definition import BROKEN, CLAIM, HONEST, Sampled, define_subject, level, one_above
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects.registration import Registration
from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Adjacency, Approximate, Concentrated, Pure
from jali.privacy.rationals import Number
from jali.sampling import DiscreteLaplace

CELLS = 5
_ONE_PERSON = ((0.0, 1.0),)
_INVERTED, _REPLACED = "Laplace with inverted scale", "replace-one histogram with add-remove noise"


def _register_exact(
    name: str, mechanism: Laplace | Gaussian, claim: Pure | Concentrated, distance: int
) -> Registration:
    pairs = ((0, distance), (distance, 0))
    return Registration(name, type(mechanism), claim, Adjacency.ADD_REMOVE, pairs, mechanism.log_masses)


_LAPLACE, _GAUSSIAN = Laplace(sensitivity=1, epsilon=CLAIM), Gaussian(sensitivity=1, rho=Fraction(1, 8))

EXACT: tuple[Registration, ...] = (
    _register_exact(_INVERTED, Laplace(sensitivity=1, epsilon=1 / CLAIM), Pure(CLAIM), distance=1),
    _register_exact(_REPLACED, _LAPLACE, Pure(CLAIM), distance=2),
    _register_exact("Laplace that forgets max_rows", _LAPLACE, Pure(CLAIM), distance=5),
    _register_exact(
        "Gaussian with variance 1/(4 rho)", Gaussian(sensitivity=1, rho=Fraction(1, 4)), _GAUSSIAN.loss, distance=1
    ),
    _register_exact("Gaussian with the L2 sensitivity of one group", _GAUSSIAN, _GAUSSIAN.loss, distance=2),
)


def add_laplace(value: float | Sequence[float], count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Add Laplace noise of one scale to a number, or to each of several."""
    centre = np.atleast_1d(np.asarray(value, np.float64))
    return centre + random.laplace(scale=scale, size=(count, len(centre)))


def add_gaussian(value: float, count: int, random: np.random.Generator, stddev: float) -> Outputs:
    """Add Gaussian noise to a number."""
    return value + random.normal(scale=stddev, size=(count, 1))


def add_exact_laplace(value: int, count: int, random: Any, noise: DiscreteLaplace) -> Outputs:  # noqa: ARG001
    """Add the package's own discrete noise, which takes no generator."""
    return (value + noise.sample(count)).astype(np.float64)[:, None]


@define_subject("Laplace", Adjacency.ADD_REMOVE, HONEST)
def laplace(epsilon: Number = CLAIM) -> Sampled:
    """Honest: a count with Laplace noise of scale 1/epsilon (Dwork, McSherry, Nissim and Smith 2006)."""
    return Pure(epsilon), _ONE_PERSON, partial(add_laplace, scale=1 / float(Fraction(epsilon)))


@define_subject("discrete Laplace, exact", Adjacency.ADD_REMOVE, HONEST)
def exact_laplace(epsilon: Number = CLAIM) -> Sampled:
    """Honest: a count with the package's own discrete Laplace noise, for comparison."""
    return Pure(epsilon), ((0, 1),), partial(add_exact_laplace, noise=DiscreteLaplace(1 / Fraction(epsilon)))


@define_subject("histogram", Adjacency.ADD_REMOVE, HONEST)
def histogram(epsilon: Number = CLAIM) -> Sampled:
    """Honest: one person is in one cell, so each cell may have Laplace noise of scale 1/epsilon."""
    return Pure(epsilon), (one_above(CELLS),), partial(add_laplace, scale=1 / float(Fraction(epsilon)))


@define_subject("histogram with scale epsilon", Adjacency.ADD_REMOVE, BROKEN)
def histogram_with_inverted_scale(epsilon: Number = CLAIM) -> Sampled:
    """Broken below epsilon 1: scale epsilon loses 1/epsilon (Ding et al. 2018, Algorithm 10)."""
    return Pure(epsilon), (one_above(CELLS),), partial(add_laplace, scale=float(Fraction(epsilon)))


@define_subject(_INVERTED, Adjacency.ADD_REMOVE, BROKEN)
def laplace_with_inverted_scale(epsilon: Number = CLAIM) -> Sampled:
    """Broken below epsilon 1: multiplies by epsilon where it should divide."""
    return Pure(epsilon), _ONE_PERSON, partial(add_laplace, scale=float(Fraction(epsilon)))


@define_subject(_REPLACED, Adjacency.REPLACE_ONE, BROKEN)
def replace_one_with_add_remove_noise(epsilon: Number = CLAIM) -> Sampled:
    """Broken: somebody replaced changes two cells, so that scale 1/epsilon loses 2 epsilon."""
    moved = (level(CELLS), (2.0, 0.0, *level(CELLS - 2)))
    return Pure(epsilon), (moved,), partial(add_laplace, scale=1 / float(Fraction(epsilon)))


@define_subject("Gaussian with the classical stddev", Adjacency.ADD_REMOVE, BROKEN)
def classical_gaussian(epsilon: Number = 10, delta: Number = Fraction(1, 10)) -> Sampled:
    """Broken at large epsilon: stddev sqrt(2 ln(1.25/delta))/epsilon is proved below epsilon 1 only.

    Its true delta is Phi(1/(2s) - epsilon s) - exp(epsilon) Phi(-1/(2s) - epsilon s) at stddev s (Balle and Wang
    2018, Theorem 8). At epsilon 10 an event counts against the claim only if its rarer probability is below some
    exp(-10): it takes millions of samples at a delta of 1/10, and more at a smaller one.
    """
    stddev = math.sqrt(2 * math.log(1.25 / float(Fraction(delta)))) / float(Fraction(epsilon))
    return Approximate(epsilon, delta), _ONE_PERSON, partial(add_gaussian, stddev=stddev)
