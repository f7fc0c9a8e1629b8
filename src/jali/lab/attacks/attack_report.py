"""Write results as text: what was right, what anybody guesses, what theory predicts, and what it proves."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from jali.display.numbers import draw_share_strip, show_amount, show_share
from jali.display.text import PLAIN, WIDTH, Ink, TextColumn, clean, write_facts, write_table
from jali.privacy import decimal

if TYPE_CHECKING:
    from jali.lab.attacks.attack_result import Result
    from jali.lab.attacks.oracle import Refusal
    from jali.lab.attacks.sweeps import Sweep, SweepLine, SweepPoint, Tour


def write_report(result: Result, *, width: int = WIDTH, ink: Ink = PLAIN) -> str:
    """Write a result as a title and its facts."""
    return f"{ink.strong(clean(write_title(result)))}\n\n{write_facts(list_facts(result), width=width, ink=ink)}"


def write_title(result: Result) -> str:
    """Describe what attacked whom."""
    return f"{result.attack} against {result.oracle}"


def list_facts(result: Result) -> list[tuple[str, str]]:
    """Return the facts of a result, each with its label."""
    return [
        ("people", _describe_people(result)),
        ("questions", f"{result.questions:,}{' each' if result.trials > 1 else ''}"),
        ("right", _describe_right(result)),
        ("", draw_strip(result)),
        ("no release", f"{show_share(result.baseline)} are guessed right without any answer"),
        *([] if result.predicted is None else [("law", _describe_law(result))]),
        ("proves", _describe_proof(result)),
        *_describe_ledger(result),
        *_list_findings(result),
        ("time", f"{result.seconds:.2g} s" if result.seconds < 10 else f"{result.seconds:.0f} s"),
    ]


def draw_strip(result: Result) -> str:
    """Draw the share of right bits, with signs at what guessing gives, and at what the loss allows."""
    signs = {"no release": result.baseline} | ({} if result.ceiling is None else {"ceiling": result.ceiling})
    return draw_share_strip(result.fraction, signs)


def write_bound(result: Result) -> str:
    """Write the proved loss, cut off and never rounded up."""
    epsilon = result.epsilon_lower_bound.epsilon
    return f"{int(100 * epsilon) / 100:g}"


def _list_findings(result: Result) -> list[tuple[str, str]]:
    """Return what the attack found besides: in words, or else as numbers."""
    if result.notes:
        return list(result.notes.items())
    return [(name.replace("_", " "), show_amount(value)) for name, value in result.figures.items()]


def _describe_people(result: Result) -> str:
    trials = "" if result.trials == 1 else f", {result.trials:,} secrets one after the other"
    return f"{result.n:,}{trials}"


def _describe_right(result: Result) -> str:
    low, high = result.interval
    count = f"{result.right:,} of {result.guessed:,} {result.things}"
    given = "" if result.scatter_is_known else f" if {result.things} are independent"
    span = f"{show_share(low)} … {show_share(high)} at 95 %{given}"
    return f"{show_share(result.fraction)}, {count}; {span}"


def _describe_law(result: Result) -> str:
    assert result.predicted is not None
    sense = "" if result.sense == "equal" else f"{result.sense} "
    return f"{sense}{show_share(result.predicted)}: {result.law}"


def _describe_proof(result: Result) -> str:
    found = result.epsilon_lower_bound
    confidence = f"{100 * found.confidence:g} % confidence"
    if write_bound(result) == "0":
        return f"no loss, at {confidence}"
    beside = f" beside delta {found.delta:g}" if found.delta else ""
    return f"epsilon of at least {write_bound(result)}{beside} ({found.adjacency.value}), at {confidence}"


def _describe_ledger(result: Result) -> list[tuple[str, str]]:
    """Describe what a ledger counted, what that allows, and where it refused."""
    if result.unpaid is not None:
        return [
            ("unpaid", f"epsilon {_show_loss(result.unpaid.epsilon)} would have been spent, had a ledger counted")
        ]
    if result.spent is None:
        return []
    beside = f", delta {_show_loss(result.delta)}" if result.delta else ""
    told = [("spent", f"epsilon {_show_loss(result.spent)}{beside} for these answers")]
    if result.ceiling is not None and result.adjacency is not None:
        most = show_share(result.ceiling)
        shown = f"{100 * result.ceiling:.6g} %" if most.startswith(">") else most
        allowed = f"no guess is right with a probability above {shown}"
        told.append(("ceiling", f"{allowed} ({result.adjacency.value})"))
    if result.refusal is None:
        return [*told, ("refused", "nothing")]
    said = clean(" ".join(result.refusal.said.split()))
    return [*told, ("refused", f"after {_count_answers(result.refusal)}: {said}")]


def _count_answers(refusal: Refusal) -> str:
    answers = f"{refusal.after:,} answer{'' if refusal.after == 1 else 's'}"
    return f"{answers}, {refusal.further:,} of them asked only to see the refusal" if refusal.further else answers


def _show_loss(epsilon: Fraction) -> str:
    return decimal(epsilon) if epsilon.denominator < 10**6 else f"{float(epsilon):.6g}"


def write_sweep(sweep: Sweep, *, ink: Ink = PLAIN) -> str:
    """Write a sweep as a table for each line, with a strip at each place and a sign where the law is."""
    trials = "" if sweep.trials == 1 else f", {sweep.trials:,} secrets at each place"
    people = "1 person" if sweep.n == 1 else f"{sweep.n:,} people"
    title = ink.strong(f"share of right bits by {sweep.by}: {people}{trials}")
    blocks = [f"{ink.strong(line.name)}\n{_write_sweep_line(sweep, line, ink)}" for line in sweep.lines]
    legend = f"█ is right, from 0 to 100 %; ┃ is without a release: {show_share(sweep.baseline)}."
    marks = [_describe_marks(sweep)] if sweep.marks else []
    return "\n\n".join([title, *blocks, ink.faint("\n".join([legend, *marks]))])


def _write_sweep_line(sweep: Sweep, line: SweepLine, ink: Ink) -> str:
    columns = [
        TextColumn(_AXES[sweep.by], tuple(_show_place(sweep, point) for point in line.points), right=True),
        TextColumn("right", tuple(show_share(point.fraction) for point in line.points), right=True),
        TextColumn("95 % interval", tuple(_show_interval(point) for point in line.points), right=True),
        TextColumn("law", tuple(_show_prediction(point) for point in line.points), right=True),
        *_list_ceilings(line),
        TextColumn("", tuple(_draw_point(sweep, point) for point in line.points)),
    ]
    return write_table(columns, ink=ink)


def _list_ceilings(line: SweepLine) -> list[TextColumn]:
    """Return the column of what the loss allows, where there is a loss."""
    allowed = [point.ceiling for point in line.points]
    if all(share is None for share in allowed):
        return []
    shown = tuple("" if share is None else show_share(share) for share in allowed)
    return [TextColumn("ceiling", shown, right=True)]


_STRIP_CELLS = 17
_SIGNS = {"equal": "", "about": "≈ ", "at least": "≥ "}
_AXES = {"noise": "noise / sqrt(n)", "epsilon": "epsilon", "questions": "questions"}


def _show_place(sweep: Sweep, point: SweepPoint) -> str:
    return f"{point.at:,.0f}" if sweep.by == "questions" else show_amount(point.at)


def _show_interval(point: SweepPoint) -> str:
    return " … ".join(show_share(end) for end in point.interval)


def _show_prediction(point: SweepPoint) -> str:
    if point.predicted is None:
        return ""
    return f"{_SIGNS[point.sense]}{show_share(point.predicted)}"


def _draw_point(sweep: Sweep, point: SweepPoint) -> str:
    drawn = draw_share_strip(point.fraction, {"": sweep.baseline}, cells=_STRIP_CELLS)[:_STRIP_CELLS]
    return drawn + (" refused" if point.refused else "")


def _describe_marks(sweep: Sweep) -> str:
    """Describe where the places of note are."""
    if sweep.by == "questions":
        return (
            f"The ledger refuses from question {sweep.marks['refused'] + 1:,.0f} on; each spends {sweep.each:g}."
        )
    return "; ".join(f"{name} is at {show_amount(at)}" for name, at in sweep.marks.items()) + "."


def write_tour(tour: Tour, *, ink: Ink = PLAIN) -> str:
    """Write a tour as one table."""
    results = [stop.result for stop in tour.stops]
    columns = [
        TextColumn("attack", tuple(result.attack for result in results)),
        TextColumn("against", tuple(stop.against for stop in tour.stops)),
        TextColumn("right", tuple(show_share(result.fraction) for result in results), right=True),
        TextColumn("guessing", tuple(show_share(result.baseline) for result in results), right=True),
        TextColumn("law", tuple(_show_law(result) for result in results), right=True),
        TextColumn("proves", tuple("" if write_bound(r) == "0" else f"≥ {write_bound(r)}" for r in results)),
        TextColumn("spent", tuple("" if r.spent is None else f"ε {_show_loss(r.spent)}" for r in results)),
        TextColumn("refused", tuple("" if r.refusal is None else f"{r.refusal.after:,}" for r in results), True),
    ]
    return write_table(columns, ink=ink)


def _show_law(result: Result) -> str:
    if result.predicted is None:
        return ""
    return f"{_SIGNS[result.sense]}{show_share(result.predicted)}"
