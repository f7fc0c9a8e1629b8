"""Windows of equal length: the parts of a tumbling and of a sliding sum."""

from __future__ import annotations

from functools import cached_property

from jali.mechanisms.mechanism import natural
from jali.privacy.rationals import Number
from jali.streams.counter import Counter
from jali.streams.participation import Participation
from jali.streams.parts import UNLIMITED, Parted
from jali.streams.recipe import Each, Recipe
from jali.streams.spread import Distance, for_equal_parts, made_for


class Windowed(Parted):
    """A stream whose parts have `window` ticks each, and counters of one and the same noise."""

    window: int

    horizon = UNLIMITED

    @cached_property
    def distance(self) -> Distance:
        """How far the measurements of neighbours are apart, over all windows together."""
        return for_equal_parts(self._plain)

    @cached_property
    def _plain(self) -> Counter:
        return self.each.made(self.window, self.epsilon, self.rho, self.person)

    @cached_property
    def _made(self) -> Counter:
        return made_for(self._plain, self.distance)

    def part(self, number: int = 0) -> Counter:  # noqa: ARG002 - of any window
        """Return the counter of a window: they are all alike."""
        return self._made

    def kinds(self) -> tuple[Counter, ...]:
        """Return the one counter that all windows have."""
        return (self.part(),)

    def place(self, tick: int) -> tuple[int, int]:
        """Return in which window a tick falls, from 0, and which tick of it that is, from 1."""
        before, left = divmod(tick - 1, self.window)
        return before, left + 1

    def alike(self, tick: int) -> int:
        """Return the first tick whose value has the same noise: windows are all alike."""
        return self.place(tick)[1]

    def error(self, confidence: float, *, tick: int | None = None) -> float:
        """Return what the error after one tick stays within; by default of the tick with the largest variance."""
        at = self.alike(self.worst_tick if tick is None else self.numbered(tick))
        if (confidence, at) not in self._errors:
            self._errors[confidence, at] = self._error_after(at, confidence)
        return self._errors[confidence, at]

    @cached_property
    def _errors(self) -> dict[tuple[float, int], float]:
        """Errors that were computed: they come again in every window."""
        return {}

    def _error_after(self, tick: int, confidence: float) -> float:
        return super().error(confidence, tick=tick)

    def _read_window(
        self, window: int, epsilon: Number | None, rho: Number | None, person: Participation, each: Each
    ) -> None:
        self._read(UNLIMITED, epsilon, rho, person)
        noise = "rho" if self.epsilon is None else "epsilon"
        self._fill(horizon=UNLIMITED, window=natural(window, "window"), each=Recipe.of(each, noise))
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled
