"""Explanations of plans, for terminals and notebooks. Explaining is free."""

from __future__ import annotations

import re
import textwrap

from jali.display import html
from jali.display.ink import PLAIN, Ink
from jali.display.numbers import show_amount, show_percent
from jali.display.text import WIDTH, TextColumn, cell_width, clean, facts, table
from jali.planner.explanation import AggregateNote, Explanation, MeasureNote, explanation
from jali.planner.plan import Plan

FREE = "Explaining is free: nothing was spent and no data was read."
Facts = list[tuple[str, str]]
_WORDS = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^\s])+""")


def explain(plan: Plan, *, ink: Ink = PLAIN, width: int = WIDTH, engine_query: bool = True) -> str:
    """Say in text how a question would be answered, and why it costs what it costs.

    Args:
        plan: What to explain.
        ink: The accents.
        width: How long a line may be.
        engine_query: Whether the engine's query is shown too.
    """
    note = explanation(plan)
    measures = "\n\n".join(_measure_text(i, m, ink, width) for i, m in enumerate(note.measures, 1))
    asked = facts(_question_facts(note), ink=ink, width=width)
    parts = [
        (f"Plan for a question on {note.table}", f"cost {note.loss}", asked),
        ("Answers", f"forecast of the {note.confidence:.0%} interval", _answers_text(note, ink, width)),
        ("Measures", "what is computed, and the noise that is added", measures),
    ]
    if engine_query:
        query = sql_lines(note.sql, width=width)
        parts.append(("Engine query", "exact integers, read only after the ledger was debited", query))
    titled = (f"{_title(head, remark, ink, width)}\n{body}" for head, remark, body in parts)
    return "\n\n".join([*titled, FREE])


def explain_html(plan: Plan) -> str:
    """Say the same in HTML, for a notebook."""
    note = explanation(plan)
    measures = "".join(
        html.section(f"[{i}] {m.name}", html.facts(_measure_facts(m))) for i, m in enumerate(note.measures, 1)
    )
    answers = html.facts((a.name, f"= {a.formula}, {_forecast(a)}{_remark(a, note)}") for a in note.aggregates)
    return html.card(
        html.section(
            f"Plan for a question on {note.table}",
            html.facts(_question_facts(note)),
            remark=f"cost {note.loss}",
        )
        + html.section("Answers", answers, remark=f"forecast of the {note.confidence:.0%} interval")
        + measures
        + html.folded("Engine query", note.sql)
        + html.facts([("", FREE)])
    )


def _title(text: str, remark: str, ink: Ink, width: int) -> str:
    space = " " * max(2, width - len(text) - len(remark))
    return f"{ink.strong(text)}{space}{ink.faint(remark)}\n{ink.faint('─' * width)}"


def _measure_text(number: int, measure: MeasureNote, ink: Ink, width: int) -> str:
    head = ink.accent(f"[{number}] {clean(measure.name)}")
    return f"  {head}\n{facts(_measure_facts(measure), indent=6, width=width, ink=ink)}"


def _question_facts(note: Explanation) -> Facts:
    unit = "each row is a person" if note.unit is None else note.unit
    lines = [
        ("Privacy unit", unit),
        ("Adjacency", f"{note.adjacency}: {note.neighbours}"),
        ("Contribution", f"{note.contribution}."),
    ]
    lines += [] if note.where is None else [("Filter", clean(note.where))]
    lines += [("Keys", _keys_fact(note, *key)) for key in note.keys]
    if note.keys:
        lines.append(("Groups", f"{note.groups:,}, known before the data is read"))
    lines.append(("Loss", f"{note.loss} for the whole answer: {note.split}."))
    if note.afterwards:
        lines.append(("Afterwards", clean("; ".join(note.afterwards)) + ": on noisy values, free"))
    return lines


def _keys_fact(note: Explanation, column: str, count: int, shown: tuple[str, ...]) -> str:
    more = f", ... ({count:,} in all)" if count > len(shown) else ""
    counts = "" if note.unit is None else f", though they still count toward the rows of their {note.unit}"
    return (
        f"{column}: {clean(', '.join(shown))}{more}. Declared: every key appears, also with no rows; "
        f"rows with other values are dropped{counts}"
    )


def _measure_facts(measure: MeasureNote) -> Facts:
    scale = "scale" if measure.norm == "L1" else "sigma"
    lines = [
        ("measures", measure.meaning),
        ("sensitivity", f"{show_amount(measure.sensitivity)} in {measure.norm} norm ({measure.because})"),
        (
            "mechanism",
            f"{measure.mechanism} noise, {scale} {show_amount(measure.scale)}, "
            f"standard deviation {show_amount(measure.stddev)}",
        ),
        ("loss", f"{measure.loss}, {show_percent(measure.share)} of the question's"),
        ("forecast", f"± {show_amount(measure.half_width)} in each group, whatever the data"),
    ]
    for index, other in enumerate(measure.alternatives):
        lines.append(("" if index else "instead of", f"{other.name}: {other.outcome}"))
    return [*lines, ("theorem", "; ".join(measure.theorems))]


def _answers_text(note: Explanation, ink: Ink, width: int) -> str:
    columns = (
        TextColumn("aggregate", tuple(clean(a.name) for a in note.aggregates)),
        TextColumn("made of", tuple(a.formula for a in note.aggregates)),
        TextColumn("forecast", tuple(_forecast(a) for a in note.aggregates)),
    )
    made = textwrap.indent(table(columns, ink=ink), "  ")
    remarks = [(clean(a.name), _remark(a, note).removeprefix("; ")) for a in note.aggregates if _remark(a, note)]
    return made + ("\n\n" + facts(remarks, width=width, ink=ink) if remarks else "")


def _forecast(note: AggregateNote) -> str:
    if note.half_width is not None:
        return f"± {show_amount(note.half_width)}, whatever the data"
    if note.guess is None:
        return f"± {_span(note, 1.0, '/n')} in a group of n rows"
    rows = f"n = {show_amount(note.guess)} rows"
    if note.guess <= (note.doubtful_below or 0.0):
        return f"unknown: {rows} are lost in the noise of the count"
    return f"± {_span(note, note.guess)} if {rows}"


def _span(note: AggregateNote, rows: float, suffix: str = "") -> str:
    least, most = (note.least_per_row or 0.0) / rows, (note.most_per_row or 0.0) / rows
    return f"{show_amount(least)}{suffix} to {show_amount(most)}{suffix}"


def _remark(note: AggregateNote, whole: Explanation) -> str:
    """Say how the forecast of a mean depends on the rows of its group."""
    if note.half_width is not None:
        return ""
    little = f"Below n = {show_amount(note.doubtful_below or 0.0)} it says little"
    ends = f"least for a mean in the middle of its range, most at an end. {little}"
    if note.guess is None:
        return f"; {ends}. With a public guess of the rows declared, this would be a number"
    total = f"{show_amount(note.guess * whole.groups)} rows, declared as a public guess"
    share = total if whole.groups == 1 else f"{total}, over {whole.groups:,} groups"
    return f"; n is {share}. In general ± {_span(note, 1.0, '/n')}: {ends}"


def sql_lines(sql: str, *, indent: int = 2, width: int = WIDTH) -> str:
    """Break long SQL between words, never inside a quoted text."""
    lines: list[str] = []
    for whole in sql.splitlines():
        line = " " * indent
        for word in _WORDS.findall(whole):
            if line.strip() and cell_width(line) + 1 + cell_width(word) > width:
                lines.append(line)
                line = " " * (indent + 4)
            line += (" " if line.strip() else "") + clean(word)
        lines.append(line)
    return "\n".join(lines)
