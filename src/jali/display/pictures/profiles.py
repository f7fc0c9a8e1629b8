"""The privacy profile delta(epsilon) of several losses, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from jali.display.pictures.canvas import colour, named, sheet, titles
from jali.display.pictures.labels import label_curves
from jali.errors import CatalogError
from jali.privacy import Loss, Profile

_FLOOR = 1e-9


def profile_curves(losses: Mapping[str, Loss], *, floor: float = _FLOOR, count: int = 81) -> dict[str, Profile]:
    """Return the profile of each loss, at points that show it down to a delta of `floor`.

    All curves share `count` evenly spaced epsilons; each has its own for every power of ten of delta as well,
    because a pure loss falls from a visible delta to none within a step.

    Example:
        >>> from jali.privacy import Pure
        >>> curves = profile_curves({"pure": Pure(1)}, count=3)
        >>> [round(delta, 3) for delta in curves["pure"].deltas[:2]]
        [0.462, 0.276]
    """
    if not 0 < floor < 1:
        raise CatalogError("parameter-not-strictly-between-zero-and-one", value=floor, name="floor")
    powers = [10.0**-k for k in range(1, math.ceil(-math.log10(floor)) + 1)]
    own = {name: _finite(loss, powers) for name, loss in named(losses).items()}
    top = 1.05 * max((max(epsilons, default=0.0) for epsilons in own.values()), default=0.0) or 1.0
    even = [top * i / (count - 1) for i in range(count)]
    return {name: loss.profile(sorted({*even, *own[name]})) for name, loss in losses.items()}


def _finite(loss: Loss, deltas: list[float]) -> list[float]:
    return [epsilon for epsilon in map(loss.epsilon, deltas) if math.isfinite(epsilon)]


def profiles(losses: Mapping[str, Loss], *, floor: float = _FLOOR, axes: Any = None) -> Any:
    """Draw delta(epsilon) of several losses and return the axes (needs matplotlib)."""
    return draw_profiles(profile_curves(losses, floor=floor), floor=floor, axes=axes)


def draw_profiles(curves: Mapping[str, Profile], *, floor: float = _FLOOR, axes: Any = None) -> Any:
    """Draw curves of `profile_curves`; what is below the floor is not seen."""
    axes = sheet(axes)
    lines = []
    for index, (name, curve) in enumerate(curves.items()):
        # A delta of zero has no place on a logarithmic axis: the curve leaves through the floor.
        deltas = [max(delta, floor / 100) for delta in curve.deltas]
        lines += axes.plot(curve.epsilons, deltas, color=colour(index), linewidth=1.8, label=name)
    axes.set(yscale="log", ylim=(floor, 1))
    axes.set_xlim(0, max((curve.epsilons[-1] for curve in curves.values()), default=1.0))
    titles(axes, "Privacy profile: the delta that is left at each epsilon", "epsilon", "delta")
    label_curves(axes, lines)
    return axes
