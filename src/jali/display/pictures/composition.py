"""What k releases cost together, by every composition theorem."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from jali.display.pictures.canvas import COLOURS, DEEP, sheet, titles
from jali.display.pictures.labels import label_ends
from jali.numerals import decimal
from jali.privacy.composition.compose import compose
from jali.privacy.composition.table import Bound
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, probability

Points: TypeAlias = Sequence[tuple[int, float]]

_COUNTS = (1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50, 65, 80, 100, 125, 150, 175, 200)


def composition_curves(
    loss: Loss, counts: Iterable[int] = _COUNTS, delta: Number = 1e-6
) -> dict[str, list[tuple[int, float]]]:
    """Return, for every theorem that applies, the epsilon of `count` releases of one loss at a delta.

    Example:
        >>> from jali.privacy import Pure
        >>> curves = composition_curves(Pure(0.1), (10, 100), 1e-6)
        >>> [(k, round(epsilon, 3)) for k, epsilon in curves["zCDP with the tight conversion"]]
        [(10, 1.472), (100, 5.222)]
    """
    curves: dict[str, list[tuple[int, float]]] = {}
    for count in sorted(set(counts)):
        for row in compose((loss, count)).table(delta):
            if isinstance(row, Bound):
                curves.setdefault(row.theorem.name, []).append((count, row.epsilon))
    return curves


def composition(loss: Loss, counts: Iterable[int] = _COUNTS, delta: Number = 1e-6, *, axes: Any = None) -> Any:
    """Draw epsilon against the number of releases for all theorems and return the axes (needs matplotlib)."""
    title = f"Epsilon of k releases, each {loss!r}, at delta {decimal(probability(delta, 'delta'))}"
    return draw_composition(composition_curves(loss, counts, delta), title=title, axes=axes)


def draw_composition(
    curves: Mapping[str, Points], *, title: str = "Epsilon of k releases", axes: Any = None
) -> Any:
    """Draw curves of `composition_curves`; the tightest is the darkest line. A single point is no curve."""
    axes = sheet(axes, size=(8.0, 4.4))
    lines = []
    for rank, (names, points) in enumerate(merged(curves)):
        shape = {"color": DEEP, "linewidth": 2.4} if rank == 0 else {"color": _other(rank), "linewidth": 1.5}
        lines += axes.plot(*zip(*points, strict=True), label=_written(names), **shape)
    axes.margins(x=0)
    axes.set(xlim=(0, None), ylim=(0, None))
    titles(axes, title, "k, the number of releases", "epsilon")
    label_ends(axes, lines)
    return axes


def merged(curves: Mapping[str, Points], within: float = 2e-3) -> list[tuple[list[str], Points]]:
    """Return the curves from the least end to the largest, those together that no eye can tell apart.

    Example:
        >>> merged({"a": [(1, 2.0), (2, 3.0)], "b": [(1, 1.0), (2, 2.0)], "c": [(1, 1.0), (2, 2.001)]})
        [(['b', 'c'], [(1, 1.0), (2, 2.0)]), (['a'], [(1, 2.0), (2, 3.0)])]
    """
    seen = sorted(((points[-1][1], name) for name, points in curves.items() if len(points) > 1))
    groups: list[tuple[list[str], Points]] = []
    for _, name in seen:
        if groups and _alike(groups[-1][1], curves[name], within):
            groups[-1][0].append(name)
        else:
            groups.append(([name], curves[name]))
    return groups


def _alike(one: Points, other: Points, within: float) -> bool:
    if [k for k, _ in one] != [k for k, _ in other]:
        return False
    return all(abs(a - b) <= within * max(a, b) for (_, a), (_, b) in zip(one, other, strict=True))


def _written(names: Sequence[str]) -> str:
    first, *rest = (textwrap.fill(name, 34) for name in names)
    return "\n".join([first, *(f"≈ {name}" for name in rest)])


def _other(rank: int) -> str:
    return COLOURS[1 + (rank - 1) % (len(COLOURS) - 1)]
