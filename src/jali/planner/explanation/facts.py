"""Notes as labelled facts: the same words in a terminal and in a notebook."""

from __future__ import annotations

from jali.display.numbers import rows_of, show_amount, show_percent
from jali.display.text import clean
from jali.planner.explanation import pages
from jali.planner.explanation.notes import (
    Alternative,
    ChoiceNote,
    Explanation,
    InSet,
    KeyNote,
    MeasureNote,
    ReleaseNote,
    SelectionNote,
)
from jali.planner.explanation.words import listed

Facts = list[tuple[str, str]]
_VALUES = "the interval tells how far that is in values"
_TOLD = "in a group that is sure to appear, more in one that is not, as only large counts are told"
_TOTALS = "counts and sums of rows are averaged over the sets, so that totals agree and none is worse"


def subject(note: Explanation) -> str:
    """Name the tables that the question is about."""
    return listed([table.name for table in note.tables])


def question_facts(note: Explanation) -> Facts:
    """Say whose privacy counts, and what is made of their rows."""
    lines = [("Privacy unit", _unit(note))]
    lines += _adjacency(note)
    lines += _labelled("Part", [clean(line) for line in note.part])
    lines += _labelled("Rows", [clean(step) for step in note.steps])
    lines += _labelled("Clamped", [clean(clamp) for clamp in note.clamps])
    lines.append(("Contribution", f"{note.contribution}."))
    lines += [] if note.where is None else [("Filter", clean(note.where))]
    lines += [("Keys", _keys(key)) for key in note.keys]
    lines += _groups(note)
    lines.append(("Loss", f"{note.loss} for the whole answer: {note.split}."))
    lines += _labelled("Leaves", _leaves(note))
    lines += _labelled("Accuracy", [f"{clean(line)}." for line in note.accuracy])
    if note.afterwards:
        lines.append(("Afterwards", clean("; ".join(note.afterwards)) + ": on noisy values, free"))
    return lines


def _leaves(note: Explanation) -> list[str]:
    """Say what is left afterwards: of which account, where it is not clear."""
    return [clean(left if len(note.leaves) == 1 else f"{account}: {left}") for account, left in note.leaves]


def _labelled(label: str, texts: list[str]) -> Facts:
    return [("" if index else label, text) for index, text in enumerate(texts)]


def _unit(note: Explanation) -> str:
    if note.unit is None:
        return "each row is a person"
    units = list(dict.fromkeys(f"{table.unit} of {table.name}" for table in note.tables if table.via is None))
    reached = [f"{table.name} reaches it by {table.via}" for table in note.tables if table.via is not None]
    if len(note.tables) == 1:
        return note.unit
    return "; ".join([f"{' = '.join(units)}", *reached])


def _adjacency(note: Explanation) -> Facts:
    kinds = {table.adjacency for table in note.tables}
    alone = "" if len(note.tables) == 1 else ". Each table is promised this by itself"
    if len(kinds) == 1:
        return [("Adjacency", f"{note.adjacency}: {note.neighbours}{alone}")]
    each = ", ".join(f"{table.name} {table.adjacency}" for table in note.tables)
    return [("Adjacency", f"{each}: one unit of one table at a time")]


def _keys(key: KeyNote) -> str:
    if key.count is None:
        return f"{clean(key.expression)}: {key.meaning}"
    more = f", ... ({key.count:,} in all)" if key.count > len(key.shown) else ""
    return f"{clean(key.expression)}: {clean(', '.join(key.shown))}{more}. {key.meaning}"


def _groups(note: Explanation) -> Facts:
    if note.selection is not None:
        return [("Groups", f"chosen privately: {note.selection.sizes}. A group that is missing may be smaller")]
    if note.sets:
        each = ", ".join(f"{clean(columns)} {count:,}" for columns, count in note.sets)
        total = sum(count for _, count in note.sets)
        return [
            ("Groups", f"{total:,} in {len(note.sets)} grouping sets, known before the data is read: {each}"),
            ("Totals", f"{_TOTALS} ({pages.GROUPING_SETS})"),
        ]
    return [("Groups", f"{note.groups:,}, known before the data is read")] if note.keys else []


# Tables.


def tables_needed(note: Explanation) -> bool:
    """Whether the tables need a part of their own."""
    return len(note.tables) > 1 or bool(note.public)


def table_facts(note: Explanation) -> Facts:
    """Say of each table why it is charged what it is charged."""
    lines = [(table.name, f"{table.because}.") for table in note.tables]
    return lines + [(name, "public: nobody's rows, never charged.") for name in note.public]


# Releases.


def release_facts(note: ReleaseNote) -> Facts:
    """Say everything about one release."""
    return _noise_facts(note) if isinstance(note, MeasureNote) else _choice_facts(note)


def _noise_facts(note: MeasureNote) -> Facts:
    scale = "scale" if note.norm == "L1" else "sigma"
    spread = f"{scale} {show_amount(note.scale)}, standard deviation {show_amount(note.stddev)}"
    return [
        ("measures", note.meaning),
        ("sensitivity", f"{show_amount(note.sensitivity)} in {note.norm} norm ({note.because})"),
        ("mechanism", f"{note.mechanism} noise, {spread}"),
        *_loss(note),
        *_each_set(note.sets, "± {}"),
        *_forecast(
            note, f"± {show_amount(note.half_width)} {_TOLD if note.told else note.where}, whatever the data"
        ),
        *_instead(note),
        ("theorem", "; ".join(note.theorems)),
    ]


def _choice_facts(note: ChoiceNote) -> Facts:
    what = "rank" if note.kind == "quantile" else "weight"
    rows = rows_of(note.half_width)
    forecast = f"at most {rows} lighter than the best, whatever the data"
    if what == "rank":
        forecast = f"rank of the value within {rows} of the aim, whatever the data; {_VALUES}"
    return [
        ("picks", note.meaning),
        ("sensitivity", f"{rows_of(note.sensitivity)} of {what} ({note.because})"),
        ("mechanism", note.mechanism),
        *([("aimed", note.aim)] if note.aim else []),
        *_loss(note),
        *([("interval", note.ends)] if note.ends else []),
        *_each_set(note.sets, "within {} rows"),
        *_forecast(note, forecast),
        *_instead(note),
        ("theorem", "; ".join(note.theorems)),
    ]


def _loss(note: ReleaseNote) -> Facts:
    if note.sets:
        return []
    if isinstance(note, MeasureNote) and note.told:
        return [("loss", "none of its own: it is the count that the groups are chosen by")]
    picks = f", in {note.picks} picks" if isinstance(note, ChoiceNote) and note.picks > 1 else ""
    return [("loss", f"{note.loss}{picks}, {show_percent(note.share)} of the question's")]


def _forecast(note: ReleaseNote, text: str) -> Facts:
    return [] if note.sets else [("forecast", text)]


def _each_set(sets: tuple[InSet, ...], width: str) -> Facts:
    return _labelled("in each set", [_in_set(one, width.format(show_amount(one.half_width))) for one in sets])


def _in_set(one: InSet, width: str) -> str:
    return f"{clean(one.columns)}: {width} for {one.loss} ({show_percent(one.share)})"


def _instead(note: ReleaseNote) -> Facts:
    return _labelled("instead of", [_other(other) for other in note.alternatives])


def _other(other: Alternative) -> str:
    rms = "" if other.rms is None else f"rms {show_amount(other.rms)}, "
    return f"{other.name}: {rms}{other.outcome}"


def selection_facts(note: SelectionNote) -> Facts:
    """Say everything about how groups are chosen."""
    return [
        ("counts", note.meaning),
        ("sensitivity", note.because),
        ("mechanism", note.mechanism),
        ("loss", f"{note.loss}, {show_percent(note.share)} of the question's"),
        ("forecast", f"{note.sizes}, whatever the data"),
        ("theorem", "; ".join(note.theorems)),
    ]
