"""The members of the mechanism suite: one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.mechanisms import Gaussian, Laplace


@dataclass(frozen=True)
class Member:
    """How the suite makes a mechanism from a sensitivity and a loss."""

    name: str
    mechanism: type
    make: Callable[..., Any]
    loss_name: str


MEMBERS = (
    Member("Laplace", Laplace, Laplace, "epsilon"),
    Member("Gaussian", Gaussian, Gaussian, "rho"),
)
LOSSES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3))
