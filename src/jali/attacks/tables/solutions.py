"""All blocks that agree with the published tables: whether there is one only, and what they have in common."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Bits
from jali.attacks.attack import Progress, silent
from jali.attacks.tables.people import CODES
from jali.attacks.tables.program import Program


@dataclass(frozen=True, eq=False)
class Solutions:
    """What is known about the solutions of a program.

    Attributes:
        blocks: Some of them, all different, the likeliest first; people are counted by combination.
        complete: Whether these are all.
        determined: The people who are in every solution, listed or not, counted by combination.
    """

    blocks: tuple[Bits, ...]
    complete: bool
    determined: Bits

    @property
    def unique(self) -> bool:
        """Whether it is proved that there is no second one."""
        return self.complete and len(self.blocks) == 1


class Patience:
    """A time for several searches together."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def solve(self, program: Program) -> Bits | None:
        """Solve a program in the time that is left; a `TimeoutError` if there is none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return program.solve(seconds=left)


def solutions(
    program: Program, people: int, *, limit: int, seconds: float = np.inf, progress: Progress = silent
) -> Solutions | None:
    """Find what all solutions have in common, and list solutions up to a limit; None if there is none.

    A search that takes too long, with all before it, proves nothing; if even the first one does, it is a
    `TimeoutError`.
    """
    patience = Patience(seconds)
    progress("solving")
    first = patience.solve(program)
    if first is None:
        return None
    try:
        blocks, common = _common(program, first, people, patience, progress)
    except TimeoutError:
        return Solutions((first,), complete=False, determined=np.zeros_like(first))
    if len(blocks) == 1:
        return Solutions((first,), complete=True, determined=common)
    blocks, complete = _more(program, blocks, people, limit, patience, progress)
    return Solutions(tuple(blocks), complete, common)


def _common(
    program: Program, first: Bits, people: int, patience: Patience, progress: Progress
) -> tuple[list[Bits], Bits]:
    """Return what all solutions have in common, and different solutions that show that it is not more.

    Each time a solution is sought that misses as many as possible of the people that all had so far: it differs
    from all of them. When none misses any, the search is over, and that is the proof.
    """
    blocks, common = [first], first
    while common.any():
        progress(f"looking for solution {len(blocks) + 1}")
        other = patience.solve(_missing(program, common, people, cheapest=False))
        if other is None:
            break
        blocks.append(other)
        common = np.minimum(common, other)
    return blocks, common


def _more(
    program: Program, blocks: list[Bits], people: int, limit: int, patience: Patience, progress: Progress
) -> tuple[list[Bits], bool]:
    """List solutions, each different from those before, and say whether these are all."""
    for block in blocks:
        program = _missing(program, block, people)
    while len(blocks) < limit:
        progress(f"looking for solution {len(blocks) + 1} of {limit} at most")
        try:
            other = patience.solve(program)
        except TimeoutError:
            break
        if other is None:
            return blocks, True
        blocks = [*blocks, other]
        program = _missing(program, other, people)
    return blocks, False


def _missing(program: Program, block: Bits, people: int, *, cheapest: bool = True) -> Program:
    """Add that somebody of a block is missing: of a combination there are fewer people than in it.

    Every other block of as many people misses somebody. Either the cheapest solution is sought, or the one that
    misses as many combinations as possible.
    """
    program = program.copy()
    choices = []
    for place in np.flatnonzero(block):
        choice = program.unknown()
        fewer = int(block[place]) - 1
        program.require(np.arange(len(CODES)) == place, high=people, extra={choice: people - fewer})
        choices.append(choice)
    program.require(np.zeros(len(CODES)), low=1, extra=dict.fromkeys(choices, 1.0))
    if not cheapest:
        program.only(dict.fromkeys(choices, -1.0))
    return program
