"""What the mechanism suite runs on: every specimen of every registered mechanism, found, not listed."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from jali.lab.audit.subjects.registration import AUDITED
from jali.mechanisms import Mechanism
from jali.mechanisms.base import Specimen

SPECIMENS: tuple[Specimen, ...] = tuple(specimen for mechanism in AUDITED for specimen in mechanism.specimens())
LOSSES = ("epsilon", "rho")
ABOVE_ZERO = {
    "sensitivity",
    "epsilon",
    "rho",
    "delta",
    "step",
    "dimension",
    "k",
    "cutoff",
    "cells",
    "categories",
    "max_keys",
    "least_people",
    "window",
    "reach",
    "epsilon_answers",
    "total",
    "grain",
    "bound",
    "test_share",
    "drift",
    "bound_share",
    "growth",
    "share",
    "beta",
    "spread",
    "matchings",
    "confidence",
    "horizon",
}


def parameters(mechanism: Mechanism) -> dict[str, Any]:
    """Return the constructor's arguments."""
    return {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}  # type: ignore[arg-type]


def loss_name(mechanism: Mechanism) -> str | None:
    """Return the parameter that says how much is spent, where there is one."""
    given = parameters(mechanism)
    return next((name for name in LOSSES if given.get(name) is not None), None)


def at_loss(mechanism: Mechanism, factor: Fraction) -> Mechanism:
    """Return the same mechanism with its loss multiplied."""
    name = loss_name(mechanism)
    assert name is not None
    return changed(mechanism, **{name: getattr(mechanism, name) * factor})


def changed(mechanism: Mechanism, **values: Any) -> Mechanism:
    """Return the same mechanism with other parameters."""
    made: Mechanism = replace(mechanism, **values)  # type: ignore[type-var]
    return made
