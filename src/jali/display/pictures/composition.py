"""What k releases cost together, by every composition theorem."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from jali.display.pictures.canvas import COLOURS, DASHES, DEEP, SLATE, sheet, titles
from jali.display.pictures.labels import label_ends
from jali.errors import CatalogError
from jali.numerals import decimal
from jali.privacy.composition.compose import compose
from jali.privacy.composition.table import Bound
from jali.privacy.loss import Loss
from jali.privacy.planning.table import amount
from jali.privacy.rationals import Number, positive_integer, probability

Points: TypeAlias = Sequence[tuple[int, float]]

_COUNTS = (1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50, 65, 80, 100, 125, 150, 175, 200)
# Curves that end so many times as high as the tightest are not shown to their ends.
_FAR = 8
# Curves that differ on this share of the width only are one line to the eye.
_SLIVER = 0.03


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
    for count in _numbers(counts):
        for row in compose((loss, count)).table(delta):
            if isinstance(row, Bound):
                curves.setdefault(row.theorem.name, []).append((count, row.epsilon))
    return curves


def _numbers(counts: Iterable[int]) -> list[int]:
    """Return whole numbers in order, each once."""
    if not isinstance(counts, Iterable):
        raise CatalogError("plot-counts-malformed", counts=counts)
    found = sorted({positive_integer(count, "counts") for count in counts})
    if not found:
        raise CatalogError("plot-counts-empty")
    return found


def composition(loss: Loss, counts: Iterable[int] = _COUNTS, delta: Number = 1e-6, *, axes: Any = None) -> Any:
    """Draw epsilon against the number of releases for all theorems and return the axes (needs matplotlib)."""
    title = f"Epsilon of k releases, each {loss!r}, at delta {decimal(probability(delta, 'delta'))}"
    numbers = _numbers(counts)
    if len(numbers) == 1:
        raise CatalogError("plot-counts-too-few", count=numbers[0])
    return draw_composition(composition_curves(loss, numbers, delta), title=title, axes=axes)


def draw_composition(
    curves: Mapping[str, Points], *, title: str = "Epsilon of k releases", axes: Any = None
) -> Any:
    """Draw curves of `composition_curves`; the tightest is the darkest line. A single point is no curve.

    Curves that end far above the tightest leave through the top, and their labels say where they end: an axis that
    held them would flatten all others.
    """
    near, far = _parted({name: points for name, points in curves.items() if len(points) > 1})
    if not near:
        raise CatalogError("plot-curves-too-few")
    axes = sheet(axes, size=(8.0, 4.4))
    lines = []
    for rank, (names, points) in enumerate(merged(near)):
        shape = {"color": DEEP, "linewidth": 2.4} if rank == 0 else {"color": _other(rank), "linewidth": 1.5}
        lines += axes.plot(*zip(*points, strict=True), label=_written(names), **shape)
    axes.margins(x=0)
    axes.set(xlim=(0, None), ylim=(0, None))
    if far:
        axes.set_ylim(0, 1.05 * max(epsilon for points in near.values() for _, epsilon in points))
    for names, points in merged(far):
        (count, epsilon), label = points[-1], _written(names)
        gone = f"{label}\n↑ {amount(epsilon)} at k = {count:,}"
        lines += axes.plot(*zip(*points, strict=True), label=gone, color=SLATE, linewidth=1, linestyle=DASHES)
    titles(axes, title, "k, the number of releases", "epsilon")
    label_ends(axes, lines)
    return axes


def _parted(curves: Mapping[str, Points]) -> tuple[dict[str, Points], dict[str, Points]]:
    """Return the curves that end near the tightest of those that reach the largest k, and the others."""
    last = max((points[-1][0] for points in curves.values()), default=0)
    least = min((points[-1][1] for points in curves.values() if points[-1][0] == last), default=0.0)
    limit = _FAR * least or math.inf
    near = {name: points for name, points in curves.items() if points[-1][1] <= limit}
    return near, {name: points for name, points in curves.items() if name not in near}


def merged(curves: Mapping[str, Points], within: float = 6e-3) -> list[tuple[list[str], Points]]:
    """Return the curves from the least end to the largest, those together that no eye can tell apart.

    On an axis up to the largest end, those differ by less than `within` of it, but for a sliver of the width.

    Example:
        >>> merged({"a": [(1, 2.0), (2, 3.0)], "b": [(1, 1.0), (2, 2.0)], "c": [(1, 1.0), (2, 2.001)]})
        [(['b', 'c'], [(1, 1.0), (2, 2.0)]), (['a'], [(1, 2.0), (2, 3.0)])]
    """
    seen = sorted(((points[-1][1], name) for name, points in curves.items() if len(points) > 1))
    apart = within * max((end for end, _ in seen), default=0.0)
    groups: list[tuple[list[str], Points]] = []
    for _, name in seen:
        if groups and _alike(groups[-1][1], curves[name], apart):
            groups[-1][0].append(name)
        else:
            groups.append(([name], curves[name]))
    return groups


def _alike(one: Points, other: Points, apart: float) -> bool:
    if [k for k, _ in one] != [k for k, _ in other]:
        return False
    seen = [(k, abs(a - b) > apart) for (k, a), (_, b) in zip(one, other, strict=True)]
    differ = sum(after - before for (before, left), (after, right) in pairwise(seen) if left or right)
    return differ <= _SLIVER * (seen[-1][0] - seen[0][0])


def _written(names: Sequence[str]) -> str:
    first, *rest = (textwrap.fill(name, 34) for name in names)
    return "\n".join([first, *(f"≈ {name}" for name in rest)])


def _other(rank: int) -> str:
    return COLOURS[1 + (rank - 1) % (len(COLOURS) - 1)]
