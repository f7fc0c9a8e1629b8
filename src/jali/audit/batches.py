"""Many runs in one call, of which some fail: whose failure it was, when the call tells only that there was one.

Statement:
    Let a call for n outputs be n independent runs, and fail if any of them does. Given that it failed, its runs
    have the law of n independent ones of which at least one fails. So two calls for half of them each, repeated
    until either fails, have the law of its halves; and so on, down to single runs. Rows made that way have the law
    of n independent runs, whatever the chance of a failure is: nothing that was drawn is thrown away or replaced
    because of what it was.
Proof:
    With the probability that no run fails the call is kept, and has the law of n runs given that; otherwise the
    rows have the law of n runs given the opposite. The mixture is the law of n runs. Rejection draws from a law
    given an event by drawing until it occurs (von Neumann 1951); a half that did not fail is n/2 runs given that.

A failure that no repetition shows again is so rare that it was one run's alone: that run is the first of the rows,
as the order of rows plays no part in counts. Two failures at once are neglected there, which a call for n outputs
holds with a probability of less than a hundredth of that of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Rows = TypeVar("Rows")

# A failure that occurs in fewer than about one of so many calls is one run's.
_REPEATS = 64


@dataclass(frozen=True)
class Call(Generic[Rows]):
    """What a call for several outputs gave.

    Attributes:
        rows: The outputs, as many as were asked for; the failure itself for each of them if it failed.
        failed: Whether a run failed, and it is not known which.
    """

    rows: Rows
    failed: bool = False


def one_by_one(
    call: Callable[[int], Call[Rows]], count: int, joined: Callable[[Rows, Rows, int], Rows]
) -> list[Rows]:
    """Return outputs of so many independent runs, in pieces, of which failed ones are single runs.

    Args:
        call: Makes so many runs.
        count: How many there are to be.
        joined: Returns the rows of the second argument behind one row of the first, so many in all: for a failure
            that is one run's alone.
    """
    made = call(count)
    return _divided(call, made, count, joined) if made.failed and count > 1 else [made.rows]


def _divided(
    call: Callable[[int], Call[Rows]], failed: Call[Rows], count: int, joined: Callable[[Rows, Rows, int], Rows]
) -> list[Rows]:
    """Return outputs of so many runs, given that one of them failed at least."""
    sizes = (count // 2, count - count // 2)
    for _ in range(_REPEATS):
        halves = [(call(size), size) for size in sizes]
        if any(half.failed for half, _ in halves):
            break
    else:
        return [joined(failed.rows, halves[0][0].rows, sizes[0]), halves[1][0].rows]
    pieces: list[Rows] = []
    for half, size in halves:
        pieces += _divided(call, half, size, joined) if half.failed and size > 1 else [half.rows]
    return pieces
