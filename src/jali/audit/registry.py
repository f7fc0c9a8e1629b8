"""The registry: every mechanism joins the audit by one line here, and a test fails when one is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from jali.mechanisms import Gaussian, Laplace
from jali.privacy import Adjacency, Loss

LogMasses: TypeAlias = Mapping[int, float]


@dataclass(frozen=True)
class Registration:
    """One audited claim.

    Attributes:
        name: What the report calls it.
        mechanism: The class that is audited.
        claim: The loss it claims for the neighbours below.
        adjacency: The adjacency in which the claim is meant.
        neighbours: Pairs of inputs at the largest distance that neighbours can have.
        log_masses: The logarithms of the exact output probabilities for an input.
    """

    name: str
    mechanism: type
    claim: Loss
    adjacency: Adjacency
    neighbours: tuple[tuple[int, int], ...]
    log_masses: Callable[[int], LogMasses]


def additive(mechanism: Laplace | Gaussian, reach: int) -> Callable[[int], LogMasses]:
    """Return the output law of additive noise, on a window that holds all but a negligible mass."""
    law = mechanism.law
    window = range(-reach, reach + 1)
    return lambda value: {output: law.log_mass(output - value) for output in window}


def _laplace(epsilon: str, sensitivity: int) -> Registration:
    mechanism = Laplace(sensitivity=sensitivity, epsilon=Fraction(epsilon))
    reach = int(40 * mechanism.scale) + 2 * sensitivity
    pairs = ((0, sensitivity), (sensitivity, 0), (-sensitivity, 0))
    name = f"Laplace, epsilon {epsilon}, sensitivity {sensitivity}"
    return Registration(name, Laplace, mechanism.loss, Adjacency.ADD_REMOVE, pairs, additive(mechanism, reach))


def _gaussian(rho: str, sensitivity: int) -> Registration:
    mechanism = Gaussian(sensitivity=sensitivity, rho=Fraction(rho))
    reach = int(60 * mechanism.law.sigma) + 60 * sensitivity
    name = f"Gaussian, rho {rho}, sensitivity {sensitivity}"
    pairs = ((0, sensitivity), (sensitivity, 0))
    return Registration(name, Gaussian, mechanism.loss, Adjacency.ADD_REMOVE, pairs, additive(mechanism, reach))


REGISTRY: tuple[Registration, ...] = (
    *(_laplace(epsilon, d) for epsilon in ("1/10", "7/10", "3") for d in (1, 5)),
    *(_gaussian(rho, d) for rho in ("1/200", "1/8", "2") for d in (1, 5)),
)
