"""Subjects of an audit, and how hard an audit tries.

A subject is something that can be run on neighbouring inputs, and a claim about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.mechanisms.base import LogMasses
from jali.privacy import Adjacency, Loss
from jali.privacy.rationals import Number, positive_integer, probability

if TYPE_CHECKING:
    from jali.lab.audit.encoder import Encoder


def _check_confidence(confidence: Number) -> Fraction:
    """Return a confidence, or refuse one that is none."""
    try:
        return probability(confidence, "confidence")
    except CatalogError as error:
        raise CatalogError("audit-confidence-wrong", problem=error.phrase) from None


@dataclass(frozen=True)
class Effort:
    """Limits of one audit.

    Attributes:
        samples: How many outputs may be drawn, of both inputs and for all purposes together.
        confidence: The probability with which an honest mechanism is not accused.
        seed: Where the samples of functions come from that take a generator; new ones if it is None.
    """

    samples: int = 1_000_000
    confidence: Fraction = Fraction(99, 100)
    seed: int | None = None

    def __post_init__(self) -> None:
        positive_integer(self.samples, "samples")
        _check_confidence(self.confidence)


Pair: TypeAlias = tuple[Any, Any]
# A row for each run, a column for each number that describes its output; see encoding.py.
Outputs: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[Any, int, np.random.Generator | None], Outputs]


@dataclass(frozen=True)
class Subject:
    """A randomized function under audit.

    Attributes:
        name: What a report calls it.
        claim: The loss that it claims, of any kind: what is tested is its privacy profile.
        adjacency: The adjacency in which the claim is meant.
        pairs: Neighbouring inputs, those that are likely to reveal most first.
        draw: Runs it on an input this many times, independently, and returns the outputs as numbers. The generator
            is for functions that take one; others draw their own randomness.
        source: How it can be made again: "module:function", or a registered name; for witnesses.
        log_masses: The logarithms of the exact probabilities of its outputs for an input, where they are known. An
            output is a number, or a tuple of them, as `draw` returns it; exact audits take others too.
        encoder: How its outputs became numbers, where they were none: what each number means, in words. A witness
            keeps it, as it was fitted to some outputs.
        batch: How many outputs come at a time: fewer take as long.
        distant: Inputs that are several neighbours apart, each pair with how many: by group privacy they show more
            of a loss than neighbours do, and with less statistical error. For claims of epsilon or rho alone.
        data: The pattern that the inputs are of, in its words; nothing where they were given. A witness keeps it,
            so that a replay can tell whether its inputs are neighbours.
    """

    name: str
    claim: Loss
    adjacency: Adjacency
    pairs: tuple[Pair, ...]
    draw: Draw
    source: str = ""
    log_masses: Callable[[Any], LogMasses] | None = None
    encoder: Encoder | None = None
    batch: int = 1
    distant: tuple[tuple[Pair, int], ...] = ()
    data: str = ""
