"""Register every mechanism of the package on its own specimens; nothing is listed here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jali.local
import jali.streams
from jali.mechanisms import MECHANISMS, Mechanism
from jali.mechanisms.base import LogMasses, Specimen
from jali.mechanisms.registry import list_mechanisms
from jali.privacy import Adjacency, Loss


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
        tight: Whether the neighbours should reach the claim.
    """

    name: str
    mechanism: type[Mechanism]
    claim: Loss
    adjacency: Adjacency
    neighbours: tuple[tuple[Any, Any], ...]
    log_masses: Callable[[Any], LogMasses]
    tight: bool = True

    @classmethod
    def of(cls, specimen: Specimen) -> Registration:
        """Audit the claim that a mechanism makes on a specimen of its own."""
        audited = specimen.mechanism
        return cls(
            specimen.name,
            type(audited),
            audited.loss,
            specimen.adjacency,
            specimen.neighbours,
            audited.log_masses,
            specimen.tight,
        )


AUDITED: tuple[type[Mechanism], ...] = (*MECHANISMS, *list_mechanisms(jali.local), *list_mechanisms(jali.streams))
REGISTRY: tuple[Registration, ...] = tuple(
    Registration.of(specimen) for mechanism in AUDITED for specimen in mechanism.specimens()
)
