"""Draw privacy losses: composition, profiles, trade-offs, and what an account has spent.

Composition is what k releases cost together, by every composition theorem. The privacy profile delta(epsilon)
is drawn on a logarithmic scale. A trade-off is between the two errors of whoever guesses whether a person is
in the data (f-DP). Spending is drawn against its limits, from public facts of the ledger alone.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

from jali.display.numbers import show_amount, show_percent
from jali.display.plots.plot_canvas import (
    COLOURS,
    DASHES,
    DEEP,
    SAND,
    SLATE,
    TEXT,
    check_losses,
    make_date_formatter,
    pick_colour,
    prepare_axes,
    write_titles,
)
from jali.display.plots.plot_labels import label_curves, label_ends
from jali.errors import CatalogError
from jali.numbers.exact import decimal
from jali.numbers.rounding import float_above, float_below
from jali.privacy import NOTHING, Budget, Event, Filter, Loss, Profile, TradeOff
from jali.privacy.composition.compose import compose
from jali.privacy.composition.theorem_table import Bound
from jali.privacy.planning.plan_table import amount
from jali.privacy.rationals import Number, positive_integer, probability

Points: TypeAlias = Sequence[tuple[int, float]]

_COUNTS = (1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50, 65, 80, 100, 125, 150, 175, 200)
# Curves that end this many times as high as the tightest are not shown to their ends.
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
    for count in _check_counts(counts):
        for row in compose((loss, count)).table(delta):
            if isinstance(row, Bound):
                curves.setdefault(row.theorem.name, []).append((count, row.epsilon))
    return curves


def _check_counts(counts: Iterable[int]) -> list[int]:
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
    numbers = _check_counts(counts)
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
    near, far = _split_near({name: points for name, points in curves.items() if len(points) > 1})
    if not near:
        raise CatalogError("plot-curves-too-few")
    axes = prepare_axes(axes, size=(8.0, 4.4))
    lines = []
    for rank, (names, points) in enumerate(merge_curves(near)):
        shape = (
            {"color": DEEP, "linewidth": 2.4}
            if rank == 0
            else {"color": _pick_other_colour(rank), "linewidth": 1.5}
        )
        lines += axes.plot(*zip(*points, strict=True), label=_write_names(names), **shape)
    axes.margins(x=0)
    axes.set(xlim=(0, None), ylim=(0, None))
    if far:
        axes.set_ylim(0, 1.05 * max(epsilon for points in near.values() for _, epsilon in points))
    for names, points in merge_curves(far):
        (count, epsilon), label = points[-1], _write_names(names)
        gone = f"{label}\n↑ {amount(epsilon)} at k = {count:,}"
        lines += axes.plot(*zip(*points, strict=True), label=gone, color=SLATE, linewidth=1, linestyle=DASHES)
    write_titles(axes, title, "k, the number of releases", "epsilon")
    label_ends(axes, lines)
    return axes


def _split_near(curves: Mapping[str, Points]) -> tuple[dict[str, Points], dict[str, Points]]:
    """Return the curves that end near the tightest of those that reach the largest k, and the others."""
    last = max((points[-1][0] for points in curves.values()), default=0)
    least = min((points[-1][1] for points in curves.values() if points[-1][0] == last), default=0.0)
    limit = _FAR * least or math.inf
    near = {name: points for name, points in curves.items() if points[-1][1] <= limit}
    return near, {name: points for name, points in curves.items() if name not in near}


def merge_curves(curves: Mapping[str, Points], within: float = 6e-3) -> list[tuple[list[str], Points]]:
    """Return the curves from the least end to the largest, those together that no eye can distinguish.

    On an axis up to the largest end, those differ by less than `within` of it, but for a sliver of the width.

    Example:
        >>> merge_curves({"a": [(1, 2.0), (2, 3.0)], "b": [(1, 1.0), (2, 2.0)], "c": [(1, 1.0), (2, 2.001)]})
        [(['b', 'c'], [(1, 1.0), (2, 2.0)]), (['a'], [(1, 2.0), (2, 3.0)])]
    """
    seen = sorted(((points[-1][1], name) for name, points in curves.items() if len(points) > 1))
    apart = within * max((end for end, _ in seen), default=0.0)
    groups: list[tuple[list[str], Points]] = []
    for _, name in seen:
        if groups and _are_alike(groups[-1][1], curves[name], apart):
            groups[-1][0].append(name)
        else:
            groups.append(([name], curves[name]))
    return groups


def _are_alike(one: Points, other: Points, apart: float) -> bool:
    if [k for k, _ in one] != [k for k, _ in other]:
        return False
    seen = [(k, abs(a - b) > apart) for (k, a), (_, b) in zip(one, other, strict=True)]
    differ = sum(after - before for (before, left), (after, right) in pairwise(seen) if left or right)
    return differ <= _SLIVER * (seen[-1][0] - seen[0][0])


def _write_names(names: Sequence[str]) -> str:
    first, *rest = (textwrap.fill(name, 34) for name in names)
    return "\n".join([first, *(f"≈ {name}" for name in rest)])


def _pick_other_colour(rank: int) -> str:
    return COLOURS[1 + (rank - 1) % (len(COLOURS) - 1)]


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
    own = {name: _list_finite(loss, powers) for name, loss in check_losses(losses).items()}
    top = 1.05 * max((max(epsilons, default=0.0) for epsilons in own.values()), default=0.0) or 1.0
    even = [top * i / (count - 1) for i in range(count)]
    return {name: loss.profile(sorted({*even, *own[name]})) for name, loss in losses.items()}


def _list_finite(loss: Loss, deltas: list[float]) -> list[float]:
    return [epsilon for epsilon in map(loss.epsilon, deltas) if math.isfinite(epsilon)]


def profiles(losses: Mapping[str, Loss], *, floor: float = _FLOOR, axes: Any = None) -> Any:
    """Draw delta(epsilon) of several losses and return the axes (needs matplotlib)."""
    return draw_profiles(profile_curves(losses, floor=floor), floor=floor, axes=axes)


def draw_profiles(curves: Mapping[str, Profile], *, floor: float = _FLOOR, axes: Any = None) -> Any:
    """Draw curves of `profile_curves`; what is below the floor is not seen."""
    axes = prepare_axes(axes)
    lines = []
    for index, (name, curve) in enumerate(curves.items()):
        # A delta of zero has no place on a logarithmic axis: the curve leaves through the floor.
        deltas = [max(delta, floor / 100) for delta in curve.deltas]
        lines += axes.plot(curve.epsilons, deltas, color=pick_colour(index), linewidth=1.8, label=name)
    axes.set(yscale="log", ylim=(floor, 1))
    axes.set_xlim(0, max((curve.epsilons[-1] for curve in curves.values()), default=1.0))
    write_titles(axes, "Privacy profile: the delta that is left at each epsilon", "epsilon", "delta")
    label_curves(axes, lines)
    return axes


def trade_off_curves(losses: Mapping[str, Loss], *, count: int = 51) -> dict[str, TradeOff]:
    """Return the trade-off curve of each loss at evenly spaced false positive rates, and where it may bend.

    Example:
        >>> from jali.privacy import Pure
        >>> curve = trade_off_curves({"pure": Pure(1)}, count=3)["pure"]
        >>> [round(rate, 3) for rate in (curve.fprs[1], curve.fnrs[1])]
        [0.269, 0.269]
    """
    even = {i / (count - 1) for i in range(count)}
    return {name: loss.trade_off(sorted(even | _find_bends(loss))) for name, loss in check_losses(losses).items()}


def _find_bends(loss: Loss) -> set[float]:
    """Return where the two lines of a pure or nearly pure loss meet: at equal errors of 1/(1 + e^epsilon)."""
    return {1 / (1 + math.exp(epsilon)) for epsilon in map(loss.epsilon, (1e-9, 1e-4)) if epsilon < 700}


def trade_offs(losses: Mapping[str, Loss], *, axes: Any = None) -> Any:
    """Draw the trade-off curves of several losses and return the axes (needs matplotlib)."""
    return draw_trade_offs(trade_off_curves(losses), axes=axes)


def draw_trade_offs(curves: Mapping[str, TradeOff], *, axes: Any = None) -> Any:
    """Draw curves of `trade_off_curves` below the diagonal of pure guessing."""
    axes = prepare_axes(axes, size=(5.2, 5.2))
    lines = axes.plot((0, 1), (1, 0), color=SLATE, linewidth=1, linestyle=DASHES, label="guessing")
    for index, (name, curve) in enumerate(curves.items()):
        lines += axes.plot(curve.fprs, curve.fnrs, color=pick_colour(index), linewidth=1.8, label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    write_titles(axes, "Trade-off: the least errors of any test", "false positive rate", "false negative rate")
    label_curves(axes, lines, turned=True)
    return axes


@dataclass(frozen=True)
class Spending:
    """The sums of one kind of loss after each debit.

    Attributes:
        kind: "epsilon", "rho" or "delta".
        times: When each debit was made.
        sums: What had been spent then, in all.
        limit: What the budget allows. A question is granted while epsilon or rho, and delta, are within theirs.
    """

    kind: str
    times: tuple[datetime, ...]
    sums: tuple[float, ...]
    limit: float

    @property
    def shares(self) -> tuple[float, ...]:
        """The sums as shares of the limit."""
        return tuple(spent / self.limit for spent in self.sums)


# When, in ISO 8601 or as a datetime, and what.
Debit: TypeAlias = tuple[str | datetime, Event | Loss]


def spending_curves(debits: Iterable[Debit], budget: Budget) -> tuple[Spending, ...]:
    """Return what debits add up to, in each kind of loss that the budget limits.

    Args:
        debits: Time and event of each, in any order. A time is a datetime or text in ISO 8601, as receipts
            write it, in UTC unless it says otherwise; a loss stands for its event.
        budget: Of the account.

    Sums of epsilon end where Gaussian noise came in, which has none; a kind of no limit, or of which nothing was
    spent, is left out.

    Example:
        >>> from jali.privacy import Pure
        >>> curves = spending_curves([("2026-01-01T10:00:00", Pure("1/2").event)] * 3, Budget(2))
        >>> [(curve.kind, curve.sums, curve.limit) for curve in curves]
        [('epsilon', (0.5, 1.0, 1.5), 2.0)]
    """
    if not isinstance(budget, Budget):
        raise CatalogError("budget-not-a-budget", budget=budget)
    rows = sorted(_read_debits(debits), key=lambda row: row[0])
    times = tuple(at for at, _ in rows)
    totals = tuple(accumulate((event for _, event in rows), initial=NOTHING))[1:]
    pure = [total.epsilon for total in totals if total.epsilon is not None]
    curves = (
        _make_curve("epsilon", times, pure, budget.epsilon),
        _make_curve("rho", times, [total.rho for total in totals], Filter(budget).rho),
        _make_curve("delta", times, [total.delta for total in totals], budget.delta_events),
    )
    return tuple(curve for curve in curves if curve.limit and any(curve.sums))


def _read_debits(debits: Iterable[Debit]) -> list[tuple[datetime, Event]]:
    try:
        pairs = [(at, event) for at, event in debits]
    except (TypeError, ValueError):
        raise CatalogError("plot-debits-malformed") from None
    return [(_read_time(at), _read_event(event)) for at, event in pairs]


def _read_time(at: str | datetime) -> datetime:
    try:
        found = at if isinstance(at, datetime) else datetime.fromisoformat(at)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise CatalogError("plot-debit-time-wrong", at_given=at) from None


def _read_event(event: Event | Loss) -> Event:
    found = event.event if isinstance(event, Loss) else event
    if not isinstance(found, Event):
        raise CatalogError("plot-debit-event-wrong", event=event)
    return found


def _make_curve(kind: str, times: tuple[datetime, ...], sums: list[Fraction], limit: Fraction) -> Spending:
    return Spending(kind, times[: len(sums)], tuple(map(float_above, sums)), float_below(limit))


def spending(debits: Iterable[Debit], budget: Budget, *, name: str = "", axes: Any = None) -> Any:
    """Draw what an account has spent over time and return the axes (needs matplotlib)."""
    return draw_spending(spending_curves(debits, budget), name=name, axes=axes)


_LEAST_PAD = timedelta(seconds=2)
_COLOURS = {"epsilon": DEEP, "rho": SAND, "delta": SLATE}


def draw_spending(curves: Sequence[Spending], *, name: str = "", axes: Any = None) -> Any:
    """Draw curves of `spending_curves` as shares of their limits, up to a little above them."""
    if not curves:
        raise CatalogError("plot-debits-nothing")
    axes = prepare_axes(axes)
    lines = []
    times = max((curve.times for curve in curves), key=len)
    pad = max((times[-1] - times[0]) / 40, _LEAST_PAD)
    # A line goes on to the debit that ended it, or to the right edge.
    ends = (*times, times[-1] + pad)
    for curve in curves:
        label = _write_spending_label(curve, ended=len(curve.times) < len(times))
        corners = _build_stairs(curve, ends[len(curve.times)])
        lines += axes.plot(*corners, label=label, color=_COLOURS[curve.kind], linewidth=1.8)
    axes.set_xlim(times[0] - pad, times[-1] + pad)
    axes.xaxis.set_major_formatter(make_date_formatter(axes))
    axes.axhline(1, color=TEXT, linewidth=1, linestyle=DASHES)
    axes.set_ylim(0, 1.2)
    axes.yaxis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, _write_spending_title(curves, name), "time (UTC)", "share of the limit")
    label_curves(axes, lines)
    return axes


def _write_spending_title(curves: Sequence[Spending], name: str) -> str:
    title = f"Spending of {name}" if name else "Spending"
    either = {"epsilon", "rho"} <= {curve.kind for curve in curves}
    return f"{title}: granted while epsilon or rho is within its limit" if either else title


def _write_spending_label(curve: Spending, *, ended: bool) -> str:
    if ended:
        return f"{curve.kind}: ends with the first Gaussian noise"
    return f"{curve.kind}: {show_amount(curve.sums[-1])} of {show_amount(curve.limit)}"


def _build_stairs(curve: Spending, end: datetime) -> tuple[list[datetime], list[float]]:
    """Return the corners of a line that steps up at each debit and goes on to `end`."""
    times = [at for at in curve.times for _ in range(2)]
    return [*times, end], [0.0, *(share for share in curve.shares for _ in range(2))]
