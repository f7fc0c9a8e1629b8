"""Draw audits: the loss that was found of each subject, as a share of what it claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.display.numbers import show_at_least
from jali.display.plots.plot_canvas import (
    DASHES,
    DEEP,
    FAINT,
    SAND,
    SLATE,
    TEAL,
    TEXT,
    import_pyplot,
    prepare_axes,
    write_titles,
)
from jali.display.text import cell_width

if TYPE_CHECKING:
    from jali.lab.audit.audits import Audit, Audits

# Where the axis ends at most, in claims; what is further out is a sign at the edge.
_FURTHEST = 4.0
# More rows than this stand in several panels side by side. Inches: of a row, a panel, a letter of a name.
_TALL = 60
_ROW, _PANEL, _LETTER = 0.21, 5.6, 0.075


@dataclass(frozen=True)
class AuditDot:
    """One row: the claim of a group that came nearest to being refuted.

    Attributes:
        name: Of the group.
        claim: In words.
        found: In words.
        share: What was found, as a share of the claim; without limit where an output tells everything.
        most: The other end of the interval for the loss of the event; without limit where nothing is said.
        exact: Whether it is computed from probabilities; otherwise it is a bound from below.
        violation: Whether the claim is refuted.
    """

    name: str
    claim: str
    found: str
    share: float
    most: float
    exact: bool
    violation: bool


def audit_curves(audits: Audits) -> tuple[AuditDot, ...]:
    """Return what is drawn of each group, as plain numbers."""
    return tuple(_make_dot(name, held[0]) for name, held in audits.groups.items())


def _make_dot(name: str, told: Audit) -> AuditDot:
    best, most = told.best, told.interval[1]
    return AuditDot(
        name,
        f"{best.kind} {best.claimed:.4g}",
        _write_found(best),
        told.share,
        most / best.claimed if best.claimed else math.inf,
        best.confidence == 1,
        str(told.verdict) == "violation",
    )


def _write_found(best: Any) -> str:
    if not math.isfinite(best.found):
        return "everything"
    return f"{best.found:.3g}" if best.confidence == 1 else show_at_least(best.found)


def audits(audited: Audits, *, axes: Any = None) -> Any:
    """Draw found against claimed, a row for each group; return the axes, the first where there are several.

    A dot is an exact loss. A bar is a bound from below; the line to its right is the rest of an interval for the
    loss of the event, with an arrow where it has no end.
    """
    dots = audit_curves(audited)
    count = 1 if axes is not None else max(1, math.ceil(len(dots) / _TALL))
    tall = max(1, math.ceil(len(dots) / count))
    panels = [axes] if axes is not None else _make_panels(dots, count, tall)
    for place, panel in enumerate(panels):
        _draw_panel(panel, dots[place * tall : (place + 1) * tall], tall, _find_edge(dots))
    write_titles(panels[0], "What audits found of each claim", "loss found / loss claimed", "")
    _explain(panels, dots)
    return panels[0]


def _make_panels(dots: Sequence[AuditDot], count: int, tall: int) -> list[Any]:
    names = max((cell_width(dot.name) for dot in dots), default=0)
    size = (count * (_PANEL + _LETTER * names), 1.3 + _ROW * tall)
    _, grid = import_pyplot().subplots(1, count, figsize=size, squeeze=False, layout="constrained")
    return list(grid.flat)


def _find_edge(dots: Sequence[AuditDot]) -> float:
    """Return where the axis ends: beyond the claim, and as far as something was found, within reason."""
    furthest = max((dot.share for dot in dots if math.isfinite(dot.share)), default=1.0)
    return min(_FURTHEST, 1.25 * max(1.0, furthest))


def _draw_panel(axes: Any, dots: Sequence[AuditDot], tall: int, edge: float) -> None:
    prepare_axes(axes)
    for place, dot in enumerate(dots):
        _draw_dot(axes, place, dot, edge)
        paint = SAND if dot.violation else SLATE
        _write_beside(axes, place, f"{dot.found} of {dot.claim}", paint)
    axes.axvline(1, color=SLATE, linewidth=1.2, linestyle=DASHES, zorder=1)
    axes.set_yticks(range(len(dots)), [dot.name for dot in dots], fontsize=8)
    axes.set(xlim=(0, edge), ylim=(tall - 0.4, -0.6))
    axes.grid(visible=False, axis="y")


def _draw_dot(axes: Any, place: int, dot: AuditDot, edge: float) -> None:
    paint = SAND if dot.violation else DEEP if dot.exact else TEAL
    axes.plot((0, edge), (place, place), color=FAINT, linewidth=0.5, zorder=0)
    if dot.share >= edge:
        axes.plot([edge], [place], marker=">", markersize=6, color=paint, zorder=4, clip_on=False)
        return
    sign = "o" if dot.exact else "|"
    axes.plot([dot.share], [place], marker=sign, markersize=5 if dot.exact else 8, color=paint, zorder=4)
    if not dot.exact:
        end = min(dot.most, edge)
        open_end = dot.most > edge
        axes.plot((dot.share, end), (place, place), color=paint, linewidth=0.9 if open_end else 1.8, zorder=3)
        if open_end:
            axes.plot([edge], [place], marker=">", markersize=4, color=paint, zorder=3, clip_on=False)


def _write_beside(axes: Any, place: int, text: str, paint: str) -> None:
    """Write to the right of a row."""
    across = axes.get_yaxis_transform()
    axes.annotate(text, (1, place), (9, 0), across, "offset points", fontsize=7.5, color=paint, va="center")


def _explain(panels: Sequence[Any], dots: Sequence[AuditDot]) -> None:
    """Write what the signs mean that occur, under the panels."""
    drawn = {"linestyle": "none", "markersize": 6}
    signs = [
        (any(dot.exact for dot in dots), {"marker": "o", "color": DEEP, "label": "exact"} | drawn),
        (
            any(not dot.exact for dot in dots),
            {"marker": "|", "color": TEAL, "label": "bound from below, and its interval"} | drawn,
        ),
        (any(dot.violation for dot in dots), {"marker": "s", "color": SAND, "label": "violation"} | drawn),
        (True, {"color": SLATE, "linestyle": DASHES, "linewidth": 1.2, "label": "claim"}),
    ]
    handles = [panels[0].plot([], [], **sign)[0] for occurs, sign in signs if occurs]
    style = {"ncols": 4, "frameon": False, "fontsize": 8.5, "labelcolor": TEXT}
    if len(panels[0].figure.axes) == len(panels):
        panels[0].figure.legend(handles=handles, loc="outside lower center", **style)
    else:
        panels[0].legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.12), **style)
