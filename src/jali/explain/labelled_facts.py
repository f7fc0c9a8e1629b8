"""Write notes as labelled facts, and forecasts in words: the same in a terminal and in a notebook."""

from __future__ import annotations

from jali.display.numbers import show_amount, show_percent, show_rows
from jali.display.text import clean
from jali.explain import proof_pages
from jali.explain.notes import (
    AggregateNote,
    AlternativeNote,
    ChoiceNote,
    Explanation,
    InSet,
    KeyNote,
    MeasureNote,
    ReleaseNote,
    SelectionNote,
)
from jali.planner.original_expression import join_words

_GUESS = "If the number of rows is declared"


def show_forecast(note: AggregateNote) -> str:
    """Write the forecast of one aggregate."""
    if note.left_out:
        return "not forecast: the question has many aggregates"
    if note.half_width is not None:
        return _write_width(note, note.half_width)
    if note.rank_error is not None:
        return _rank(note, note.rank_error)
    if note.weight_error is not None:
        return f"at most {show_rows(note.weight_error)} fewer than the most frequent value"
    return _moment(note) if note.typical else _mean(note)


def write_forecasts(note: AggregateNote) -> tuple[str, ...]:
    """Write the forecast, for each grouping set where there are several."""
    return tuple(f"{name}: {text}" for name, text in note.sets) or (show_forecast(note),)


def _write_width(note: AggregateNote, half_width: float) -> str:
    if note.least_half_width is None or note.least_half_width == half_width:
        where = " in a group that is certain to be released" if note.sure else ", whatever the data"
        return f"± {show_amount(half_width)}{where}"
    first, widest = show_amount(note.least_half_width), show_amount(half_width)
    return f"± {first} in the first cell, at most ± {widest} further on"


def _rank(note: AggregateNote, error: float) -> str:
    rows = f"rank within {show_rows(error)}"
    if note.guess is None:
        return rows
    share = error / note.guess
    part = f"{show_percent(share)} of n = {show_amount(note.guess)}"
    return f"{rows}, {part}" if share < 1 / 2 else f"unknown: {rows}, {part}"


def _mean(note: AggregateNote) -> str:
    if note.guess is None:
        return f"± {_span(note, 1.0, '/n')} in a group of n rows"
    rows = f"n = {show_amount(note.guess)} rows"
    if note.guess <= (note.doubtful_below or 0.0):
        return f"unknown: the noise of the count hides {rows}"
    return f"± {_span(note, note.guess)} if {rows}"


def _moment(note: AggregateNote) -> str:
    if note.about is not None and note.guess is not None:
        return f"about ± {show_amount(note.about)} if n = {show_amount(note.guess)} rows"
    if note.least_per_row is None:
        return "depends on the rows and on their spread"
    return f"about ± {show_amount(note.least_per_row)}/n in a group of many rows n"


def _span(note: AggregateNote, rows: float, suffix: str = "") -> str:
    least, most = (note.least_per_row or 0.0) / rows, (note.most_per_row or 0.0) / rows
    return f"{show_amount(least)}{suffix} to {show_amount(most)}{suffix}"


def show_remark(note: AggregateNote) -> str:
    """Say what the formula's letters are, and what the forecast depends on."""
    return ". ".join(part for part in (note.letters, _depends(note)) if part)


def _depends(note: AggregateNote) -> str:
    if note.half_width is not None or note.left_out:
        return ""
    if note.rank_error is not None:
        return _reach(note)
    if note.weight_error is not None:
        return "" if note.guess is None else f"By the public guess, a group has n = {show_amount(note.guess)} rows"
    return _typical(note) if note.typical else _ends(note)


def _reach(note: AggregateNote) -> str:
    """Tell the ends of a quantile's interval from its value."""
    if note.rank_reach is None:
        return ""
    ends = "this holds for the value; the ends of its interval, released at a smaller loss, lie"
    if note.sets:
        return f"{ends} further out (see {note.formula})"
    share = "" if note.guess is None else f", {show_percent(note.rank_reach / note.guess)} of n,"
    return f"{ends} about {show_rows(note.rank_reach)}{share} to {'one' if note.one_sided else 'each'} side"


def _typical(note: AggregateNote) -> str:
    made = f"The forecast assumes {note.typical}; the interval holds for any data"
    return made if note.guess is not None else f"{made}. {_GUESS}, the forecast is a number"


def _ends(note: AggregateNote) -> str:
    """Say how the forecast of a mean depends on the rows of its group."""
    little = f"Below n = {show_amount(note.doubtful_below or 0.0)} the forecast says little"
    ends = f"smallest for a mean in the middle of its range, largest at an end. {little}"
    if note.guess is None:
        return f"{ends}. {_GUESS}, the forecast is a number"
    return f"n is {_source(note, note.guess)}. In general ± {_span(note, 1.0, '/n')}: {ends}"


def _source(note: AggregateNote, guess: float) -> str:
    """Say where the guess of the rows of a group comes from."""
    if note.stated:
        return f"{show_amount(guess)} rows, as the question states"
    total = f"{show_amount(guess * note.groups)} rows, by the declared public guess"
    return total if note.groups == 1 else f"{total}, over {note.groups:,} groups"


Facts = list[tuple[str, str]]
_VALUES = "the interval says what this means in values"
_TOLD = "in a group that is certain to be released, more in others, because only large counts are released"
_TOTALS = "counts and sums of rows are averaged over the grouping sets: totals agree, and none is less accurate"


def subject(note: Explanation) -> str:
    """Name the tables that the question is about."""
    return join_words([table.name for table in note.tables])


def question_facts(note: Explanation) -> Facts:
    """Describe the privacy unit, the contribution bound, the groups and the loss."""
    lines = [("Privacy unit", _unit(note))]
    lines += _adjacency(note)
    lines += _label_texts("Subpopulation", [clean(line) for line in note.part])
    lines += _label_texts("Rows", [clean(step) for step in note.steps])
    lines += _label_texts("Clamped", [clean(clamp) for clamp in note.clamps])
    lines.append(("Contribution", f"{note.contribution}."))
    lines += [] if note.where is None else [("Filter", clean(note.where))]
    lines += [("Keys", _keys(key)) for key in note.keys]
    lines += _groups(note)
    lines.append(("Loss", f"{note.loss} for the whole answer: {note.split}."))
    lines += _label_texts("Remaining", _leaves(note))
    lines += _label_texts("Accuracy", [f"{clean(line)}." for line in note.accuracy])
    if note.afterwards:
        lines.append(("Afterwards", clean("; ".join(note.afterwards)) + ": computed from noisy values, free"))
    return lines


def _leaves(note: Explanation) -> list[str]:
    """Say what remains of the budget; of which account, where there are several."""
    return [clean(left if len(note.leaves) == 1 else f"{account}: {left}") for account, left in note.leaves]


def _label_texts(label: str, texts: list[str]) -> Facts:
    return [("" if index else label, text) for index, text in enumerate(texts)]


def _unit(note: Explanation) -> str:
    if note.unit is None:
        return "each row is a privacy unit"
    units = list(dict.fromkeys(f"{table.unit} of {table.name}" for table in note.tables if table.via is None))
    reached = [f"{table.name} reaches it through {table.via}" for table in note.tables if table.via is not None]
    if len(note.tables) == 1:
        return note.unit
    return "; ".join([f"{' = '.join(units)}", *reached])


def _adjacency(note: Explanation) -> Facts:
    kinds = {table.adjacency for table in note.tables}
    alone = "" if len(note.tables) == 1 else ". This holds for each table separately"
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
        return [("Groups", f"selected privately: {note.selection.sizes}. Smaller groups may be missing")]
    if note.sets:
        each = ", ".join(f"{clean(columns)} {count:,}" for columns, count in note.sets)
        total = sum(count for _, count in note.sets)
        return [
            ("Groups", f"{total:,} in {len(note.sets)} grouping sets, known before the data is read: {each}"),
            ("Totals", f"{_TOTALS} ({proof_pages.GROUPING_SETS})"),
        ]
    return [("Groups", f"{note.groups:,}, known before the data is read")] if note.keys else []


# Tables.


def tables_needed(note: Explanation) -> bool:
    """Whether the tables need a part of their own."""
    return len(note.tables) > 1 or bool(note.public)


def table_facts(note: Explanation) -> Facts:
    """Say why each table is charged what it is charged."""
    lines = [(table.name, f"{table.because}.") for table in note.tables]
    return lines + [(name, "public: not protected, never charged.") for name in note.public]


# Releases.


def release_facts(note: ReleaseNote) -> Facts:
    """Describe one release."""
    return _noise_facts(note) if isinstance(note, MeasureNote) else _choice_facts(note)


def _noise_facts(note: MeasureNote) -> Facts:
    scale = "noise scale" if note.norm == "L1" else "sigma"
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
    rows = show_rows(note.half_width)
    forecast = f"at most {rows} fewer than the most frequent value, whatever the data"
    if what == "rank":
        forecast = f"rank of the value within {rows} of the target, whatever the data; {_VALUES}"
    return [
        ("selects", note.meaning),
        ("sensitivity", f"{show_rows(note.sensitivity)} of {what} ({note.because})"),
        ("mechanism", note.mechanism),
        *([("target", note.aim)] if note.aim else []),
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
        return [("loss", "no loss of its own: the groups are selected by this count")]
    picks = f", in {note.picks} selections" if isinstance(note, ChoiceNote) and note.picks > 1 else ""
    return [("loss", f"{note.loss}{picks}, {show_percent(note.share)} of the question's")]


def _forecast(note: ReleaseNote, text: str) -> Facts:
    return [] if note.sets else [("forecast", text)]


def _each_set(sets: tuple[InSet, ...], width: str) -> Facts:
    return _label_texts("in each set", [_in_set(one, width.format(show_amount(one.half_width))) for one in sets])


def _in_set(one: InSet, width: str) -> str:
    return f"{clean(one.columns)}: {width} for {one.loss} ({show_percent(one.share)})"


def _instead(note: ReleaseNote) -> Facts:
    return _label_texts("instead of", [_other(other) for other in note.alternatives])


def _other(other: AlternativeNote) -> str:
    rms = "" if other.rms is None else f"rms {show_amount(other.rms)}, "
    return f"{other.name}: {rms}{other.outcome}"


def selection_facts(note: SelectionNote) -> Facts:
    """Describe how groups are selected."""
    return [
        ("counts", note.meaning),
        ("sensitivity", note.because),
        ("mechanism", note.mechanism),
        ("loss", f"{note.loss}, {show_percent(note.share)} of the question's"),
        ("forecast", f"{note.sizes}, whatever the data"),
        ("theorem", "; ".join(note.theorems)),
    ]
