"""The smooth binary tree: its leaves are chosen so that no value needs many counts, and no tick is in many."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.mechanism import Specimen, natural
from jali.mechanisms.workloads.linear import doubles
from jali.mechanisms.workloads.workload import Floats
from jali.noise import BitSource
from jali.privacy.rationals import Number
from jali.streams.ahead import read_left
from jali.streams.at_hand import NoiseAtHand
from jali.streams.counter import AHEAD, Counter
from jali.streams.levels import levels_distance
from jali.streams.participation import Participation
from jali.streams.running import Running, read_state, running_sums
from jali.streams.smooth_run import SmoothRun, replaced, restored
from jali.streams.smooth_shape import SmoothShape, balanced_shape, best_shape

SHAPES = ("best", "balanced")


@dataclass(frozen=True, repr=False)
class SmoothTree(Counter):
    """Put ticks at those leaves of a binary tree whose paths have so many zeros and so many ones.

    Only left children are counted: a person is in one count for each zero on the path of a tick, and a value adds
    up one for each one. Andersson and Pagh take as many ones as zeros. Here the numbers are those with the least
    error: Laplace noise wants fewer zeros.

    Args:
        horizon: For how many ticks the stream lives.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        shape: "best", or "balanced" for as many ones as zeros.

    Guarantee:
        All values together are epsilon-DP (rho-zCDP) for the neighbours that `person` describes; increments may
        depend on values published before.
    Proof:
        docs/proofs/smooth_tree.md, after Andersson and Pagh 2023.

    Error:
        The noises of the counts in use: at most as many as there are ones on a path.

    Example:
        >>> from jali.streams import Participation, SmoothTree
        >>> counter = SmoothTree(horizon=1024, epsilon=1, person=Participation(adjacency="add-remove"))
        >>> counter.tree
        SmoothShape(zeros=3, ones=17)
        >>> round(counter.largest, 2)
        17.41
        >>> len(counter.start().extend([1] * 1024))
        1024
    """

    tag: ClassVar[str] = "SmoothTree"

    horizon: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation
    shape: str

    def __init__(
        self,
        *,
        horizon: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        person: Participation,
        shape: str = "best",
    ) -> None:
        self._read(horizon, epsilon, rho, person)
        if shape not in SHAPES:
            raise MechanismError("parameter-not-one-of", choices=tuple(SHAPES), value=shape, name="shape")
        self._fill(shape=shape)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def tree(self) -> SmoothShape:
        """How many zeros and ones the path of a tick has."""
        return (
            balanced_shape(self.horizon)
            if self.shape == "balanced"
            else best_shape(self.horizon, 1 if self.epsilon is None else 2)
        )

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """One count for each zero on the path of a tick, if it is completed within the horizon."""
        levels, joins = list(self.tree.levels(self.horizon)), self.tree.zeros * self.tree.ones
        return levels_distance(levels, self.person, partial(self.tree.run, self.horizon), joins)

    def strategy(self) -> NDArray[Any]:
        """Return a row for every tick: the ticks that the count covers which it completes."""
        last = np.arange(1, self.horizon + 1)[:, None]
        first = last - self.tree.spans(0, self.horizon)[:, None]
        ticks = np.arange(self.horizon)[None, :]
        return ((first <= ticks) & (ticks < last)).astype(np.int64)

    def influence(self, tick: int) -> Floats:
        """Every count in use enters as it is."""
        return np.ones(self.tree.used(tick))

    def factors(self) -> Floats:
        """How many counts are in use."""
        return self.answer(np.ones(self.horizon, np.int64))

    def answer(self, measurements: NDArray[Any]) -> Floats:
        """Add up the counts in use: each from its own tick on, until it is replaced."""
        rows = measurements.reshape(-1, 1)
        ends = np.arange(self.horizon) + self.tree.stays(0, self.horizon)
        return doubles(running_sums(rows - replaced(rows, ends)).ravel())

    def start(self, *, width: int = 1, ahead: int = AHEAD, bits: BitSource | None = None) -> Running:
        """Begin a stream of one or several keys."""
        width, ahead = natural(width, "width"), natural(ahead, "ahead")
        return SmoothRun(self, self.tree, NoiseAtHand(self.sampler, width, ahead, bits=bits))

    def resume(self, state: str, *, bits: BitSource | None = None) -> Running:
        """Go on with a stream from its stored state."""
        kept = read_state(state)
        left = read_left(kept["left"], kept["width"])
        noise = NoiseAtHand(self.sampler, kept["width"], kept["ahead"], left, bits)
        found = SmoothRun(self, self.tree, noise)
        found.tick, found.used = kept["tick"], [restored(used) for used in kept["used"]]
        return found

    def numbers_kept(self) -> int:
        """Four numbers for each count in use: its tick, its end, the noise and the value with it."""
        return 4 * self.tree.ones

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: present or not, or with other increments."""
        once, twice = Participation(adjacency="add-remove"), Participation(adjacency="add-remove", ticks=2)
        signed = Participation(adjacency="replace-one", signed=True)
        moved = (((1, 0, 0), (-1, 0, 0)),)
        return (
            Specimen(cls(horizon=2, epsilon=1, person=once), once.adjacency, (((1, 0), (0, 0)), ((1, 0), (1, 1)))),
            Specimen(cls(horizon=3, epsilon=12, person=signed, shape="balanced"), signed.adjacency, moved),
            Specimen(cls(horizon=2, rho="1/2", person=twice), twice.adjacency, (((0, 0), (1, 1)),)),
        )
