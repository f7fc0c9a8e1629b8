"""One variable's public facts: its range, and where its sums are centred."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Values are clamped to [low, high]; the sums are those of value - center and of its square.

    Example:
        >>> Axis(0, 10, 5).reach
        5
    """

    low: float
    high: float
    center: float

    @property
    def reach(self) -> float:
        """How far from the centre a value can be; 1 for a range of one point, which needs some unit too."""
        return max(self.high - self.center, self.center - self.low) or 1.0

    @property
    def square(self) -> float:
        """The squared reach; infinite beyond all doubles, where a power would raise."""
        return self.reach * self.reach

    @property
    def unit_low(self) -> float:
        """The lower end, from the centre and in units of the reach."""
        return (self.low - self.center) / self.reach

    @property
    def unit_high(self) -> float:
        """The upper end, from the centre and in units of the reach."""
        return (self.high - self.center) / self.reach
