"""Draw what an account has spent over time, against its limits, from public facts of the ledger alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeAlias

from jali.display.numbers import show_amount, show_percent
from jali.display.plots.plot_canvas import (
    DASHES,
    DEEP,
    SAND,
    SLATE,
    TEXT,
    make_date_formatter,
    prepare_axes,
    write_titles,
)
from jali.display.plots.plot_labels import label_curves
from jali.errors import CatalogError
from jali.numbers.rounding import float_above, float_below
from jali.privacy import NOTHING, Budget, Event, Filter, Loss


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
        label = _write_label(curve, ended=len(curve.times) < len(times))
        corners = _build_stairs(curve, ends[len(curve.times)])
        lines += axes.plot(*corners, label=label, color=_COLOURS[curve.kind], linewidth=1.8)
    axes.set_xlim(times[0] - pad, times[-1] + pad)
    axes.xaxis.set_major_formatter(make_date_formatter(axes))
    axes.axhline(1, color=TEXT, linewidth=1, linestyle=DASHES)
    axes.set_ylim(0, 1.2)
    axes.yaxis.set_major_formatter(lambda share, _: show_percent(share))
    write_titles(axes, _write_title(curves, name), "time (UTC)", "share of the limit")
    label_curves(axes, lines)
    return axes


def _write_title(curves: Sequence[Spending], name: str) -> str:
    title = f"Spending of {name}" if name else "Spending"
    either = {"epsilon", "rho"} <= {curve.kind for curve in curves}
    return f"{title}: granted while epsilon or rho is within its limit" if either else title


def _write_label(curve: Spending, *, ended: bool) -> str:
    if ended:
        return f"{curve.kind}: ends with the first Gaussian noise"
    return f"{curve.kind}: {show_amount(curve.sums[-1])} of {show_amount(curve.limit)}"


def _build_stairs(curve: Spending, end: datetime) -> tuple[list[datetime], list[float]]:
    """Return the corners of a line that steps up at each debit and goes on to `end`."""
    times = [at for at in curve.times for _ in range(2)]
    return [*times, end], [0.0, *(share for share in curve.shares for _ in range(2))]
