"""A window: over which ticks the values of a stream go, instead of all so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from jali.errors import MechanismError
from jali.mechanisms.mechanism import natural
from jali.privacy.planning.table import counted

if TYPE_CHECKING:
    from jali.streams.windows import Windowed


@dataclass(frozen=True)
class Window:
    """The last so many ticks, at every tick; or windows that follow each other, each of which begins anew.

    Attributes:
        ticks: How many ticks it has.
        slides: Whether it ends with every tick; otherwise values are over the part of it that has passed.

    Example:
        >>> str(Window.read(last=7, restart=None)), str(Window.read(last=None, restart=7))
        ('over the last 7 ticks', 'from tick 1, 8, 15, ... anew')
    """

    ticks: int
    slides: bool

    @classmethod
    def read(cls, last: int | None, restart: int | None) -> Self | None:
        """Check what was asked for: None if values are over all ticks so far."""
        if last is not None and restart is not None:
            raise MechanismError("last-with-restart", name="last")
        if last is not None:
            return cls(natural(last, "last"), True)
        return None if restart is None else cls(natural(restart, "restart"), False)

    @property
    def words(self) -> dict[str, int]:
        """How it is asked for."""
        return {"last" if self.slides else "restart": self.ticks}

    @property
    def kind(self) -> type[Windowed]:
        """The mechanism: a sum that slides or tumbles, built from the counter of a window."""
        from jali.streams.sliding import Sliding
        from jali.streams.tumbling import Tumbling

        return Sliding if self.slides else Tumbling

    def __str__(self) -> str:
        if self.ticks == 1:
            return "of each tick"
        if self.slides:
            return f"over the last {counted(self.ticks, 'tick')}"
        begin = ", ".join(f"{1 + place * self.ticks:,}" for place in range(3))
        return f"from tick {begin}, ... anew"

    def at(self, tick: int) -> str:
        """Say over which ticks the value at a tick is.

        Example:
            >>> Window.read(last=None, restart=7).at(9)
            'since tick 8'
        """
        if self.ticks == 1:
            return f"of tick {tick:,}"
        return str(self) if self.slides else f"since tick {tick - (tick - 1) % self.ticks:,}"
