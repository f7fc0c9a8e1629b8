"""Participation: how one person may enter a stream, and when two streams are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural, read_parameter
from jali.mechanisms.global_sensitivity import Root
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class Participation:
    """What one person may add to a stream: in how many ticks, how far apart, and how much in each.

    Two streams are neighbours if they differ in one person's increments; the ticks themselves are public. Under
    add-remove that person's increments are there or all 0; under replace-one they are replaced by others.

    Args:
        adjacency: When two streams are neighbours: "add-remove" or "replace-one".
        ticks: In how many ticks one person takes part, at most.
        separation: How far apart two of them are at least; 1 if they may follow each other.
        l1: How far one person moves the increments of one tick: summed over the keys.
        l2: The same in L2 norm; as `l1` if it is not given.
        signed: Whether increments may be negative, so that two of them may have a negative inner product. Counts
            have not, and neither have means (docs/proofs/following.md, Theorem 2).

    Example:
        >>> Participation(adjacency="add-remove", ticks=3, separation=7).weight
        Fraction(1, 1)
    """

    adjacency: Adjacency
    ticks: int
    separation: int
    l1: Fraction
    l2: Root
    signed: bool

    def __init__(
        self,
        *,
        adjacency: str | Adjacency,
        ticks: int = 1,
        separation: int = 1,
        l1: Number = 1,
        l2: Number | Root | None = None,
        signed: bool = False,
    ) -> None:
        largest = read_parameter(l1, "l1")
        length = l2 if isinstance(l2, Root) else Root(read_parameter(largest if l2 is None else l2, "l2") ** 2)
        if length.squared > largest**2:
            raise MechanismError("participation-norms-wrong")
        if not isinstance(signed, bool):
            raise MechanismError("parameter-not-boolean", value=signed, name="signed")
        for name, value in {
            "adjacency": Adjacency.of(adjacency),
            "ticks": read_natural(ticks, "ticks"),
            "separation": read_natural(separation, "separation"),
            "l1": largest,
            "l2": length,
            "signed": signed,
        }.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        usual = Participation(adjacency=self.adjacency, l1=self.l1)
        names = ("ticks", "separation", "l2", "signed")
        told = [f"{name}={getattr(self, name)}" for name in names if getattr(self, name) != getattr(usual, name)]
        told += [f"l1={self.l1}"] if self.l1 != 1 else []
        return "Participation(" + ", ".join([f"adjacency='{self.adjacency}'", *told]) + ")"

    @property
    def weight(self) -> Fraction:
        """What an L1 distance over patterns of ticks, each entered by 1, is multiplied by.

        Statement:
            Let N be the largest sum of the L1 norms of the columns of a pattern. A person moves the measurements
            by at most l1 N, and replaced increments by twice that, for any strategy.
        Proof:
            docs/proofs/participation.md, Theorem 1.
        """
        return self.l1 if self.adjacency is Adjacency.ADD_REMOVE else 2 * self.l1

    @property
    def squared_weight(self) -> Fraction:
        """What a squared L2 distance over patterns of ticks, each entered by 1, is multiplied by.

        Statement:
            Let all inner products of the columns of a strategy be at least 0. A person who enters the ticks of a
            pattern with vectors over the keys, each of length at most l2, moves the measurements by at most l2
            times what entering each of them by 1 does (Cauchy and Schwarz, term by term). Replaced increments
            are the difference of two such moves a - b: |a-b|^2 <= |a|^2 + |b|^2 unless they are signed, as the
            inner product of a and b is at least 0 then, and at most 2 (|a|^2 + |b|^2) otherwise.
        Proof:
            docs/proofs/participation.md, Theorem 2; with two keys no smaller factor holds.
        """
        if self.adjacency is Adjacency.ADD_REMOVE:
            return self.l2.squared
        return self.l2.squared * (4 if self.signed else 2)

    def pattern(self, horizon: int) -> range:
        """Return the earliest ticks that one person can enter, from 0: the worst where columns only decrease."""
        return range(0, min(horizon, self.ticks * self.separation), self.separation)

    def entered(self, horizon: int) -> int:
        """Return in how many ticks of a horizon one person can take part."""
        return len(self.pattern(horizon))
