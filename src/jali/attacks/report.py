"""Results as people read them: what was right, what anybody guesses, what theory says, and what it proves."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from jali.display.ink import PLAIN, Ink
from jali.display.numbers import show_amount
from jali.display.shares import exact_percent, share_strip
from jali.display.text import WIDTH, TextColumn, clean, facts, table
from jali.privacy import decimal

if TYPE_CHECKING:
    from jali.attacks.oracle import Refusal
    from jali.attacks.result import Result
    from jali.attacks.sweep import Sweep, SweepLine, SweepPoint
    from jali.attacks.tour import Tour


def report(result: Result, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write a result as a title and its facts."""
    return f"{ink.strong(clean(title(result)))}\n\n{facts(told(result), width=width, ink=ink)}"


def title(result: Result) -> str:
    """Say what attacked whom."""
    return f"{result.attack} against {result.oracle}"


def told(result: Result) -> list[tuple[str, str]]:
    """Return the facts of a result, each with its label."""
    return [
        ("people", _people(result)),
        ("questions", f"{result.questions:,}{' each' if result.trials > 1 else ''}"),
        ("right", _right(result)),
        ("", strip(result)),
        ("no release", f"{exact_percent(result.baseline)} are right by guessing"),
        *([] if result.predicted is None else [("law", _law(result))]),
        ("proves", _proof(result)),
        *_ledger(result),
        *_found(result),
        ("time", f"{result.seconds:.2g} s" if result.seconds < 10 else f"{result.seconds:.0f} s"),
    ]


def strip(result: Result) -> str:
    """Draw the share of right bits, with signs at what guessing gives, and at what the loss allows."""
    signs = {"no release": result.baseline} | ({} if result.ceiling is None else {"ceiling": result.ceiling})
    return share_strip(result.fraction, signs)


def bound(result: Result) -> str:
    """Write the proved loss, cut off and never rounded up."""
    epsilon = result.epsilon_lower_bound.epsilon
    return f"{int(100 * epsilon) / 100:g}"


def _found(result: Result) -> list[tuple[str, str]]:
    """Return what the attack found besides: in words, or else as numbers."""
    if result.notes:
        return list(result.notes.items())
    return [(name.replace("_", " "), show_amount(value)) for name, value in result.figures.items()]


def _people(result: Result) -> str:
    trials = "" if result.trials == 1 else f", {result.trials:,} secrets one after the other"
    return f"{result.n:,}{trials}"


def _right(result: Result) -> str:
    low, high = result.interval
    count = f"{result.right:,} of {result.guessed:,} {result.things}"
    given = "" if result.scatter_is_known else f" if {result.things} are independent"
    span = f"{exact_percent(low)} … {exact_percent(high)} at 95 %{given}"
    return f"{exact_percent(result.fraction)}, {count}; {span}"


def _law(result: Result) -> str:
    assert result.predicted is not None
    sense = "" if result.sense == "equal" else f"{result.sense} "
    return f"{sense}{exact_percent(result.predicted)}: {result.law}"


def _proof(result: Result) -> str:
    found = result.epsilon_lower_bound
    confidence = f"{100 * found.confidence:g} % confidence"
    if bound(result) == "0":
        return f"no loss, at {confidence}"
    beside = f" beside delta {found.delta:g}" if found.delta else ""
    return f"epsilon of at least {bound(result)}{beside} ({found.adjacency.value}), at {confidence}"


def _ledger(result: Result) -> list[tuple[str, str]]:
    """Say what a ledger counted, what that allows, and where it refused."""
    if result.unpaid is not None:
        return [("unpaid", f"it would have cost epsilon {_shown(result.unpaid.epsilon)}, had a ledger counted")]
    if result.spent is None:
        return []
    beside = f", delta {_shown(result.delta)}" if result.delta else ""
    told = [("spent", f"epsilon {_shown(result.spent)}{beside} for these answers")]
    if result.ceiling is not None and result.adjacency is not None:
        most = exact_percent(result.ceiling)
        shown = f"{100 * result.ceiling:.6g} %" if most.startswith(">") else most
        allowed = f"nothing is guessed right with a chance above {shown}"
        told.append(("ceiling", f"{allowed} ({result.adjacency.value})"))
    if result.refusal is None:
        return [*told, ("refused", "nothing")]
    said = clean(" ".join(result.refusal.said.split()))
    return [*told, ("refused", f"after {_answers(result.refusal)}: {said}")]


def _answers(refusal: Refusal) -> str:
    answers = f"{refusal.after:,} answer{'' if refusal.after == 1 else 's'}"
    return f"{answers}, {refusal.further:,} of them asked for only to see it" if refusal.further else answers


def _shown(epsilon: Fraction) -> str:
    return decimal(epsilon) if epsilon.denominator < 10**6 else f"{float(epsilon):.6g}"


def sweep_report(sweep: Sweep, *, ink: Ink = PLAIN) -> str:
    """Write a sweep as a table for each line, with a strip at each place and a sign where the law is."""
    trials = "" if sweep.trials == 1 else f", {sweep.trials:,} secrets at each place"
    people = "1 person" if sweep.n == 1 else f"{sweep.n:,} people"
    title = ink.strong(f"share of right bits by {sweep.by}: {people}{trials}")
    blocks = [f"{ink.strong(line.name)}\n{_sweep_table(sweep, line, ink)}" for line in sweep.lines]
    legend = f"█ is right, from 0 to 100 %; ┃ is without a release: {exact_percent(sweep.baseline)}."
    marks = [_marked(sweep)] if sweep.marks else []
    return "\n\n".join([title, *blocks, ink.faint("\n".join([legend, *marks]))])


def _sweep_table(sweep: Sweep, line: SweepLine, ink: Ink) -> str:
    columns = [
        TextColumn(_AXES[sweep.by], tuple(_place(sweep, point) for point in line.points), right=True),
        TextColumn("right", tuple(exact_percent(point.fraction) for point in line.points), right=True),
        TextColumn("95 % interval", tuple(_span(point) for point in line.points), right=True),
        TextColumn("law", tuple(_predicted(point) for point in line.points), right=True),
        *_ceilings(line),
        TextColumn("", tuple(_drawn(sweep, point) for point in line.points)),
    ]
    return table(columns, ink=ink)


def _ceilings(line: SweepLine) -> list[TextColumn]:
    """Return the column of what the loss allows, where there is a loss."""
    allowed = [point.ceiling for point in line.points]
    if all(share is None for share in allowed):
        return []
    shown = tuple("" if share is None else exact_percent(share) for share in allowed)
    return [TextColumn("ceiling", shown, right=True)]


_CELLS = 17
_SIGNS = {"equal": "", "about": "≈ ", "at least": "≥ "}
_AXES = {"noise": "noise / sqrt(n)", "epsilon": "epsilon", "questions": "questions"}


def _place(sweep: Sweep, point: SweepPoint) -> str:
    return f"{point.at:,.0f}" if sweep.by == "questions" else show_amount(point.at)


def _span(point: SweepPoint) -> str:
    return " … ".join(exact_percent(end) for end in point.interval)


def _predicted(point: SweepPoint) -> str:
    if point.predicted is None:
        return ""
    return f"{_SIGNS[point.sense]}{exact_percent(point.predicted)}"


def _drawn(sweep: Sweep, point: SweepPoint) -> str:
    drawn = share_strip(point.fraction, {"": sweep.baseline}, cells=_CELLS)[:_CELLS]
    return drawn + (" refused" if point.refused else "")


def _marked(sweep: Sweep) -> str:
    """Say where the places of note are."""
    if sweep.by == "questions":
        return (
            f"The ledger refuses from question {sweep.marks['refused'] + 1:,.0f} on; each spends {sweep.each:g}."
        )
    return "; ".join(f"{name} is at {show_amount(at)}" for name, at in sweep.marks.items()) + "."


def tour_report(tour: Tour, *, ink: Ink = PLAIN) -> str:
    """Write a tour as one table."""
    results = [stop.result for stop in tour.stops]
    columns = [
        TextColumn("attack", tuple(result.attack for result in results)),
        TextColumn("against", tuple(stop.against for stop in tour.stops)),
        TextColumn("right", tuple(exact_percent(result.fraction) for result in results), right=True),
        TextColumn("guessing", tuple(exact_percent(result.baseline) for result in results), right=True),
        TextColumn("law", tuple(_short_law(result) for result in results), right=True),
        TextColumn("proves", tuple("" if bound(r) == "0" else f"≥ {bound(r)}" for r in results)),
        TextColumn("spent", tuple("" if r.spent is None else f"ε {_shown(r.spent)}" for r in results)),
        TextColumn("refused", tuple("" if r.refusal is None else f"{r.refusal.after:,}" for r in results), True),
    ]
    return table(columns, ink=ink)


def _short_law(result: Result) -> str:
    if result.predicted is None:
        return ""
    return f"{_SIGNS[result.sense]}{exact_percent(result.predicted)}"
