"""Write labels beside their curves, where there is room: no legend to look up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]

# Pixels of a screen: between a label and its own curve; the room to others beyond which more is no better; and
# between the points of a curve.
_GAP, _ENOUGH, _STEP = 5.0, 40.0, 4.0
# How many of the best places a label may choose from, and the size of the writing beside the axes.
_CHOICES, _SMALL = 80, 8.5


@dataclass(frozen=True)
class LabelBox:
    """A rectangle around a label, in pixels.

    Attributes:
        x: The middle.
        y: The middle.
        width: Along the writing.
        height: Across it.
        angle: Of the writing, in radians.
    """

    x: float
    y: float
    width: float
    height: float
    angle: float = 0.0

    def distance(self, points: Points) -> float:
        """Return how far the nearest of some points is, 0 inside."""
        if not len(points):
            return math.inf
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        x, y = points[:, 0] - self.x, points[:, 1] - self.y
        beside = np.maximum(np.abs(cos * x + sin * y) - self.width / 2, 0)
        above = np.maximum(np.abs(cos * y - sin * x) - self.height / 2, 0)
        return float(np.hypot(beside, above).min())

    def list_points(self) -> Points:
        """Return points all over the rectangle, as near to each other as other labels need to be kept away."""
        x, y = np.linspace(-0.5, 0.5, 15) * self.width, np.linspace(-0.5, 0.5, 4)[:, None] * self.height
        cos, sin = math.cos(self.angle), math.sin(self.angle)
        both = [self.x + cos * x - sin * y, self.y + sin * x + cos * y]
        return np.stack([part.ravel() for part in both], axis=1)

    def inside(self, low: Points, high: Points) -> bool:
        """Return whether the rectangle is inside an upright one, given by two corners."""
        points = self.list_points()
        return bool(np.all((points >= low) & (points <= high)))


def rate_place(box: LabelBox, own: Points, others: Sequence[Points]) -> float:
    """Describe how good a place is among the curves: beside its own and far from all others."""
    room = min((box.distance(other) for other in others), default=_ENOUGH)
    # Touched by a curve a label is hard to read; and what is not clearly nearer to its own curve than to any other
    # is read as the other's.
    touched = min(box.distance(own), room, _GAP - 1)
    return 40 * touched + 10 * min(room, 3 * _GAP) + min(room, _ENOUGH)


def choose_boxes(standings: Sequence[Sequence[tuple[float, LabelBox]]]) -> list[LabelBox]:
    """Return one box for each label out of its choices, each choice with its standing.

    A label takes the best place that those before it left. Whoever is first has the choice, so that every label
    is tried as the first, and the rest in the order of need.
    """
    need = sorted(range(len(standings)), key=lambda index: max(standings[index], key=_read_rating)[0])
    orders = [[first, *(index for index in need if index != first)] for first in need]
    tries = [_choose_in_turn(standings, order) for order in orders]
    boxes = max(tries, key=lambda attempt: attempt[0], default=(0.0, {}))[1]
    return [boxes[index] for index in range(len(standings))]


def _choose_in_turn(
    standings: Sequence[Sequence[tuple[float, LabelBox]]], order: Sequence[int]
) -> tuple[float, dict[int, LabelBox]]:
    total, boxes = 0.0, dict[int, LabelBox]()
    for index in order:
        taken = [box.list_points() for box in boxes.values()]
        # Across another label nothing can be read: that weighs more than all the rest.
        choices = [
            (value + 60 * min(_GAP, *map(box.distance, taken), math.inf), box) for value, box in standings[index]
        ]
        best, boxes[index] = max(choices, key=_read_rating)
        total += best
    return total, boxes


def _read_rating(choice: tuple[float, LabelBox]) -> float:
    return choice[0]


def list_upright(curve: Points, size: tuple[float, float]) -> Iterator[LabelBox]:
    """Return boxes around the points of a curve, in eight directions."""
    wide, high = size[0] / 2, size[1] / 2
    for x, y in curve:
        for right in (1, -1, 0):
            for up in (0, 1, -1):
                if right or up:
                    yield LabelBox(float(x) + right * (wide + _GAP), float(y) + up * (high + _GAP), *size)


def list_along(curve: Points, size: tuple[float, float]) -> Iterator[LabelBox]:
    """Return boxes on both sides of a curve, each turned as the curve runs there."""
    reach = max(1, round(size[0] / 2 / _STEP))
    for place in range(reach, len(curve) - reach):
        run = curve[place + reach] - curve[place - reach]
        angle = math.atan2(run[1], run[0])
        off = size[1] / 2 + _GAP
        for side in (1, -1):
            x, y = curve[place] + side * off * np.array([-math.sin(angle), math.cos(angle)])
            yield LabelBox(float(x), float(y), *size, angle)


def densify(points: Points) -> Points:
    """Return points along a broken line, a few pixels apart, so that distances to them are distances to it."""
    parts = [points[:1]]
    for start, end in pairwise(points):
        count = max(1, math.ceil(math.hypot(*(end - start)) / _STEP))
        parts.append(start + np.linspace(0, 1, count + 1)[1:, None] * (end - start))
    return np.concatenate(parts)


def label_curves(axes: Any, lines: Sequence[Any], *, turned: bool = False, around: Sequence[Any] = ()) -> None:
    """Write the label of each line of `axes` beside it, upright or turned as it runs, clear of those around."""
    axes.figure.draw_without_rendering()
    corners = axes.get_window_extent().get_points()
    low, high = corners[0] + 3, corners[1] - 3
    # A curve that is not seen, such as a profile below the floor, has no place for a label.
    seen = [(line, points) for line in lines if len(points := _clip_line(axes, line, low, high))]
    drawn = [points for _, points in seen]
    texts = [_write_label(axes, line) for line, _ in seen]
    obstacles = [_clip_line(axes, line, low, high) for line in around]
    standings = []
    for index, (curve, text) in enumerate(zip(drawn, texts, strict=True)):
        size = text.get_window_extent().size
        boxes = (list_along if turned else list_upright)(curve[::2], (float(size[0]), float(size[1])))
        inside = [box for box in boxes if box.inside(low, high)]
        others = [*drawn[:index], *drawn[index + 1 :], *obstacles]
        standings.append(_choose_best(inside or [_place_in_middle(low, high)], curve, others))
    for text, box in zip(texts, choose_boxes(standings), strict=True):
        text.set_position(axes.transData.inverted().transform((box.x, box.y)))
        text.set(rotation=math.degrees(box.angle), rotation_mode="anchor")


def _choose_best(boxes: Sequence[LabelBox], own: Points, others: Sequence[Points]) -> list[tuple[float, LabelBox]]:
    ranked = sorted(((rate_place(box, own, others), box) for box in boxes), key=_read_rating, reverse=True)
    return ranked[:_CHOICES]


def _place_in_middle(low: Points, high: Points) -> LabelBox:
    """Return a place for a label that fits nowhere: the axes are too small."""
    return LabelBox(float(low[0] + high[0]) / 2, float(low[1] + high[1]) / 2, 1, 1)


def _write_label(axes: Any, line: Any) -> Any:
    return axes.text(0, 0, line.get_label(), color=line.get_color(), fontsize=9, ha="center", va="center")


def _clip_line(axes: Any, line: Any, low: Points, high: Points) -> Points:
    """Return the visible part of a line in pixels."""
    points = densify(np.asarray(axes.transData.transform(line.get_xydata()), dtype=np.float64))
    return points[np.all((points >= low) & (points <= high), axis=1)]


def space_out(
    places: Sequence[float], sizes: Sequence[float], low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """Move the middles of boxes of given sizes as little as possible, in squares, so that no two overlap.

    The boxes stay between `low` and `high`; where there is no room for all of them, they stick out on both sides.

    Example:
        >>> [round(place, 9) for place in space_out([0.5, 0.5, 0.9], [0.2, 0.2, 0.2])]
        [0.4, 0.6, 0.9]
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    gaps = [(sizes[one] + sizes[other]) / 2 for one, other in pairwise(order)]
    offsets = [0.0, *accumulate(gaps)]
    # With the sizes of those before taken off, what remains is to make numbers ascend: pool adjacent violators.
    pools: list[tuple[float, int]] = []
    for rank, index in enumerate(order):
        pools.append((places[index] - offsets[rank], 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (last, heavy), (first, light) = pools.pop(), pools.pop()
            pools.append(((last * heavy + first * light) / (heavy + light), heavy + light))
    if order:
        low += sizes[order[0]] / 2
        high -= offsets[-1] + sizes[order[-1]] / 2
        low, high = (low, high) if low <= high else ((low + high) / 2,) * 2
    ascending = [min(max(value, low), high) for value, count in pools for _ in range(count)]
    moved = {index: ascending[rank] + offsets[rank] for rank, index in enumerate(order)}
    return [moved[index] for index in range(len(places))]


def label_ends(axes: Any, lines: Sequence[Any]) -> None:
    """Write the label of each line beside its right end, outside of `axes`, in the order of the ends.

    A line that leaves through the top has its label there.
    """
    axes.figure.draw_without_rendering()
    edge = axes.get_window_extent()
    row = 1.4 * _SMALL / 72 * axes.figure.dpi / edge.height
    sizes = [row * (1 + line.get_label().count("\n")) + 0.2 * row for line in lines]
    ends = [(axes.transData.transform(line.get_xydata()[-1])[1] - edge.y0) / edge.height for line in lines]
    seen = [min(end, 1.0) for end in ends]
    for line, end, place in zip(lines, ends, space_out(seen, sizes, 0, 1), strict=True):
        _write_end_label(axes, line, place, led=end <= 1)


def _write_end_label(axes: Any, line: Any, place: float, *, led: bool) -> None:
    """Write a label to the right of the axes, with a thin line to the end of the curve where that is seen."""
    leader = {"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.6, "relpos": (0, 0.5), "shrinkB": 3}
    axes.annotate(
        line.get_label(),
        xy=line.get_xydata()[-1],
        xytext=(1.05, place),
        textcoords="axes fraction",
        color=line.get_color(),
        fontsize=_SMALL,
        va="center",
        annotation_clip=False,
        arrowprops=leader if led else None,
    )
