"""Render explanations of plans for terminals and notebooks. Explaining is free."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace

from jali.display.text import PLAIN, WIDTH, Ink, TextColumn, cell_width, clean, write_facts, write_table
from jali.explain import AggregateNote, Explanation, ReleaseNote, explain_plan
from jali.explain.labelled_facts import (
    Facts,
    question_facts,
    release_facts,
    selection_facts,
    show_remark,
    subject,
    table_facts,
    tables_needed,
    write_forecasts,
)
from jali.planner.plan import Plan

FREE = "Explaining is free: nothing was spent and no data was read."
Part = tuple[str, str, str]
_WORDS = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^\s])+""")
_MANY = 4
_CHARGED = "each is charged separately"
_QUERY = "exact integers, read only after the ledger is debited"


def render_plan(plan: Plan, *, ink: Ink = PLAIN, width: int = WIDTH, engine_query: bool = True) -> str:
    """Explain in text how a question would be answered, and why it costs what it costs.

    Args:
        plan: What to explain.
        ink: The accents.
        width: How long a line may be.
        engine_query: Whether the engine's queries are shown too.
    """
    note = explain_plan(plan)
    parts = [
        (_subject(note), f"cost {note.loss}", write_facts(question_facts(note), ink=ink, width=width)),
        *([("Tables", _CHARGED, _tables_text(note, ink, width))] if tables_needed(note) else []),
        *([("Answers", _forecast_of(note), _answers_text(note, ink, width))] if note.aggregates else []),
        ("Measures", _describe_releases(note), _measures_text(note, ink, width)),
        *([_queries_part(note, width)] if engine_query else []),
    ]
    titled = (f"{_title(head, remark, ink, width)}\n{body}" for head, remark, body in parts)
    return "\n\n".join([*titled, FREE])


def render_plan_html(plan: Plan) -> str:
    """Say the same in HTML, for a notebook."""
    from jali.display import html

    note = explain_plan(plan)
    asked = html.write_section(_subject(note), html.write_facts(question_facts(note)), remark=f"cost {note.loss}")
    answers = html.write_facts((a.name, f"= {a.formula}, {_sentence(a)}") for a in note.aggregates)
    return html.write_card(
        asked
        + (
            html.write_section("Tables", html.write_facts(_tables_html(note)), remark=_CHARGED)
            if tables_needed(note)
            else ""
        )
        + html.write_section("Answers", answers, remark=_forecast_of(note))
        + "".join(html.write_section(head, html.write_facts(lines)) for head, lines in _releases(note))
        + html.write_details(_queries_title(note), note.sql)
        + html.write_facts([("", FREE)])
    )


def _subject(note: Explanation) -> str:
    return f"Plan for a question on {subject(note)}"


def _forecast_of(note: Explanation) -> str:
    return f"forecast with {note.confidence:.0%} confidence"


def _title(text: str, remark: str, ink: Ink, width: int) -> str:
    space = " " * max(2, width - len(text) - len(remark))
    return f"{ink.strong(text)}{space}{ink.faint(remark)}\n{ink.faint('─' * width)}"


# Tables.


def _tables_text(note: Explanation, ink: Ink, width: int) -> str:
    columns = (
        TextColumn("table", tuple(t.name for t in note.tables)),
        TextColumn("unit", tuple(t.unit or "row" for t in note.tables)),
        TextColumn("adjacency", tuple(t.adjacency for t in note.tables)),
        TextColumn("changes", tuple(f"{t.changes}" for t in note.tables), right=True),
        TextColumn("charged", tuple(t.loss for t in note.tables)),
    )
    made = textwrap.indent(write_table(columns, ink=ink), "  ")
    return f"{made}\n\n{write_facts(table_facts(note), width=width, ink=ink)}"


def _tables_html(note: Explanation) -> Facts:
    charged = {t.name: f"{t.adjacency}, changes {t.changes}, charged {t.loss}: " for t in note.tables}
    return [(name, charged.get(name, "") + fact) for name, fact in table_facts(note)]


# Answers and releases.


def _answers_text(note: Explanation, ink: Ink, width: int) -> str:
    lines = [line for aggregate in note.aggregates for line in _answer_lines(aggregate)]
    heads = ("aggregate", "computed from", "forecast")
    columns = [TextColumn(head, cells) for head, cells in zip(heads, zip(*lines, strict=True), strict=True)]
    made = textwrap.indent(write_table(columns, ink=ink), "  ")
    remarks = [(clean(a.name), show_remark(a)) for a in note.aggregates if show_remark(a)]
    return made + ("\n\n" + write_facts(remarks, width=width, ink=ink) if remarks else "")


def _answer_lines(note: AggregateNote) -> list[tuple[str, str, str]]:
    first, *others = write_forecasts(note)
    return [(clean(note.name), note.formula, clean(first)), *(("", "", clean(other)) for other in others)]


def _sentence(note: AggregateNote) -> str:
    return "; ".join(part for part in (*write_forecasts(note), show_remark(note)) if part)


def _describe_releases(note: Explanation) -> str:
    if note.selection is None and all(m.kind == "noise" for m in note.measures):
        return "what is computed, and the noise that protects it"
    return "what is computed, and the noise or the selection that protects it"


def _releases(note: Explanation) -> list[tuple[str, Facts]]:
    chosen = [] if note.selection is None else [("[groups] that are released", selection_facts(note.selection))]
    return chosen + [(f"[{i}] {m.name}", release_facts(m)) for i, m in enumerate(_drop_repeats(note), 1)]


def _drop_repeats(note: Explanation) -> list[ReleaseNote]:
    """Where there are many measures, say what was considered once."""
    seen: set[str] = set()
    found = []
    for measure in note.measures:
        others = tuple(a for a in measure.alternatives if a.outcome not in seen)
        seen |= {a.outcome for a in others} if len(note.measures) > _MANY else set()
        found.append(replace(measure, alternatives=others))
    return found


def _measures_text(note: Explanation, ink: Ink, width: int) -> str:
    return "\n\n".join(
        f"  {ink.accent(clean(head))}\n{write_facts(lines, indent=6, width=width, ink=ink)}"
        for head, lines in _releases(note)
    )


# The engine's queries.


def _queries_title(note: Explanation) -> str:
    return "Engine query" if len(note.queries) == 1 else "Engine queries"


def _queries_part(note: Explanation, width: int) -> Part:
    if len(note.queries) == 1:
        return "Engine query", _QUERY, sql_lines(note.sql, width=width)
    shown = []
    for query in note.queries:
        numbers = " ".join(f"[{place + 1}]" for place in query.measures) or "[groups]"
        shown.append(f"  -- for {numbers}\n{sql_lines(query.sql, width=width)}")
    return "Engine queries", _QUERY, "\n\n".join(shown)


def sql_lines(sql: str, *, indent: int = 2, width: int = WIDTH) -> str:
    """Break long SQL between words, never inside a quoted text."""
    return "\n".join(line for whole in sql.splitlines() for line in _break_line(whole, indent, width))


def _break_line(whole: str, indent: int, width: int) -> list[str]:
    lines, line, reach = list[str](), list[str](), indent
    for word in map(clean, _WORDS.findall(whole)):
        taken = len(word) if word.isascii() else cell_width(word)
        if line and reach + 1 + taken > width:
            lines.append(" ".join(line))
            line, reach = [], indent + 4
        reach += taken + (1 if line else 0)
        line.append(word)
    lines.append(" ".join(line))
    return [" " * (indent + 4 if index else indent) + text for index, text in enumerate(lines)]
