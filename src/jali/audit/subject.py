"""What is audited: something that can be run on neighbouring inputs, and what it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.mechanism import LogMasses
from jali.privacy import Adjacency, Loss

if TYPE_CHECKING:
    from jali.audit.encoding import Encoder

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
        pairs: Neighbouring inputs, those that are likely to tell most first.
        draw: Runs it on an input so many times, independently, and returns the outputs as numbers. The generator
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
