"""Tumbling windows: the sum of each window, as it grows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from jali.mechanisms.mechanism import Specimen
from jali.mechanisms.workloads.workload import Floats
from jali.privacy.rationals import Number
from jali.streams.mixed import Terms
from jali.streams.participation import Participation
from jali.streams.parts import Memory
from jali.streams.recipe import Each, Recipe
from jali.streams.windows import Windowed


@dataclass(frozen=True, repr=False)
class Tumbling(Windowed):
    """The sum over each window of so many ticks, apart from the others: running within it, final at its end.

    Args:
        window: How many ticks a window has.
        epsilon: The loss of the whole stream, by Laplace noise; or
        rho: in zCDP, by Gaussian noise.
        person: How one person may enter the stream, and when streams are neighbours.
        each: The counter of a window: its name, its class, or a `Recipe`; by default SmoothTree for Laplace noise
            and BufferedToeplitz for Gaussian noise.

    Guarantee:
        All values of all windows together, however long the stream lives, are epsilon-DP (rho-zCDP) for the
        neighbours that `person` describes; for adaptive streams where the counter of a window is.
    Proof:
        docs/proofs/windows.md, Theorem 1.

    Error:
        That of the counter of a window, with noise for all ways in which one person may spread over windows.

    Example:
        >>> from jali.streams import Participation, Tumbling
        >>> person = Participation(adjacency="add-remove")
        >>> weekly = Tumbling(window=7, rho="1/2", person=person, each="EveryItem")
        >>> round(weekly.stddev(7), 3), round(weekly.stddev(8), 3)
        (2.646, 1.0)
    """

    tag: ClassVar[str] = "Tumbling"

    window: int
    epsilon: Fraction | None
    rho: Fraction | None
    person: Participation
    each: Recipe

    def __init__(
        self,
        *,
        window: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        person: Participation,
        each: Each = None,
    ) -> None:
        self._read_window(window, epsilon, rho, person, each)

    def terms(self, tick: int) -> Terms:
        """Return the coefficients of the noises of one window."""
        return [(self.part().influence(self.place(tick)[1]), self.law)]

    def factors(self) -> Floats:
        """Return the factors of the ticks of one window: they repeat."""
        return self.part().factors()

    def numbers_kept(self) -> int:
        """What the counter of a window keeps."""
        return self.part().numbers_kept()

    def memory(self, *_: object) -> Memory:
        """Nothing is remembered of other windows."""
        return _Nothing()

    def deviation(self, value: Any, output: Any) -> float:
        """Return the error of the value with the largest variance, in the first window."""
        return self.part().deviation(self.read(value)[: self.window], output[: len(self.part().strategy())])

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return short streams that differ in one person: in one window, in two, or moved to another."""
        once, moved = Participation(adjacency="add-remove"), Participation(adjacency="replace-one")
        twice = Participation(adjacency="add-remove", ticks=2)
        return (
            Specimen(
                cls(window=2, epsilon=1, person=once, each="EveryItem"),
                once.adjacency,
                (((1, 0), (0, 0)), ((1, 0), (1, 1))),
            ),
            Specimen(
                cls(window=1, epsilon=2, person=moved, each="EveryItem"), moved.adjacency, (((1, 0), (0, 1)),)
            ),
            Specimen(
                cls(window=1, rho="1/2", person=twice, each="EveryItem"), twice.adjacency, (((0, 0), (1, 1)),)
            ),
        )


class _Nothing(Memory):
    def publish(self, values: Floats, over: bool) -> Floats:  # noqa: ARG002 - all windows are alike
        """Publish the values of the window as they are."""
        return values

    def kept(self) -> list[list[float]]:
        """Nothing."""
        return []
