"""The error laws of several mechanisms: how likely an answer is off by more than so much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jali.display.pictures.canvas import colour, sheet, titles
from jali.display.pictures.labels import label_curves
from jali.errors import CatalogError
from jali.mechanisms.additive import Additive
from jali.mechanisms.mechanism import Mechanism

Curve = list[tuple[float, float]]
_FLOOR = 1e-6


def error_curves(
    mechanisms: Mapping[str, Mechanism], *, floor: float = _FLOOR, count: int = 241, **shape: Any
) -> dict[str, Curve]:
    """Return points (error, chance that it is exceeded) for each mechanism, down to a chance of `floor`.

    The chance is exact for noise that is added; elsewhere it is what `error` promises, a bound.

    Args:
        mechanisms: Each under the name to be written beside it.
        floor: The least chance.
        count: How many points each curve has, evenly spaced in the logarithm of the chance.
        shape: What `error` must be told besides the confidence, such as `candidates=100` for selection.

    Example:
        >>> from jali.mechanisms import Laplace
        >>> curves = error_curves({"Laplace": Laplace(sensitivity=1, epsilon=1)}, floor=0.01, count=3)
        >>> [(error, round(chance, 3)) for error, chance in curves["Laplace"]]  # 0.538 that it is not 0, and so on
        [(0.0, 0.538), (2.0, 0.073), (4.0, 0.01)]
    """
    if not isinstance(mechanisms, Mapping) or not mechanisms or not all(map(_is_one, mechanisms.values())):
        raise CatalogError("plot-mechanisms-not-a-dictionary")
    if not 0 < floor < 0.9 or count < 2:
        raise CatalogError("plot-floor-or-count-wrong")
    chances = [0.9 * (floor / 0.9) ** (i / (count - 1)) for i in range(count)]
    return {name: [_point(m, chance, shape) for chance in chances] for name, m in mechanisms.items()}


def _is_one(item: Any) -> bool:
    return isinstance(item, Mechanism)


def _point(mechanism: Mechanism, chance: float, shape: Mapping[str, Any]) -> tuple[float, float]:
    size = mechanism.error(1 - chance, **shape)
    exact = mechanism.tail(size) if isinstance(mechanism, Additive) else chance
    return float(size), exact


def errors(mechanisms: Mapping[str, Mechanism], *, floor: float = _FLOOR, axes: Any = None, **shape: Any) -> Any:
    """Draw the chance that each mechanism's error is exceeded, and return the axes (needs matplotlib)."""
    curves = error_curves(mechanisms, floor=floor, **shape)
    axes = sheet(axes)
    lines = []
    for index, (name, curve) in enumerate(curves.items()):
        sizes, chances = zip(*curve, strict=True)
        # The chance is that of all errors up to the next one.
        stairs = "steps-post" if isinstance(mechanisms[name], Additive) else "default"
        lines += axes.plot(sizes, chances, color=colour(index), linewidth=1.8, label=name, drawstyle=stairs)
    axes.set(yscale="log", ylim=(floor, 1))
    axes.set_xlim(left=0)
    titles(axes, "Error: how likely an answer is off by more", "error", "chance that it is exceeded")
    label_curves(axes, lines)
    return axes
