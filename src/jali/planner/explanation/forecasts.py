"""Forecasts in words: how wide an interval will be, and on what that depends."""

from __future__ import annotations

from jali.display.numbers import rows_of, show_amount, show_percent
from jali.planner.explanation.notes import AggregateNote

_GUESS = "With a public guess of the rows declared"


def show_forecast(note: AggregateNote) -> str:
    """Write the forecast of one aggregate."""
    if note.left_out:
        return "not forecast: the question has many aggregates"
    if note.half_width is not None:
        return _known(note, note.half_width)
    if note.rank_error is not None:
        return _rank(note, note.rank_error)
    if note.weight_error is not None:
        return f"at most {rows_of(note.weight_error)} lighter than the heaviest"
    return _moment(note) if note.typical else _mean(note)


def forecasts(note: AggregateNote) -> tuple[str, ...]:
    """Write the forecast, for each grouping set where there are several."""
    return tuple(f"{name}: {text}" for name, text in note.sets) or (show_forecast(note),)


def _known(note: AggregateNote, half_width: float) -> str:
    if note.least_half_width is None or note.least_half_width == half_width:
        where = " in a group that is sure to appear" if note.sure else ", whatever the data"
        return f"± {show_amount(half_width)}{where}"
    first, widest = show_amount(note.least_half_width), show_amount(half_width)
    return f"± {first} in the first cell, at most ± {widest} further on"


def _rank(note: AggregateNote, error: float) -> str:
    rows = f"rank within {rows_of(error)}"
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
        return f"unknown: {rows} are lost in the noise of the count"
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
        return "" if note.guess is None else f"A group has n = {show_amount(note.guess)} rows by the public guess"
    return _typical(note) if note.typical else _ends(note)


def _reach(note: AggregateNote) -> str:
    """Tell the ends of a quantile's interval from its value."""
    if note.rank_reach is None:
        return ""
    ends = "that is for the value; the ends of its interval, bought for less, lie"
    if note.sets:
        return f"{ends} further out: see {note.formula}"
    share = "" if note.guess is None else f", {show_percent(note.rank_reach / note.guess)} of n,"
    return f"{ends} about {rows_of(note.rank_reach)}{share} to {'one' if note.one_sided else 'each'} side"


def _typical(note: AggregateNote) -> str:
    made = f"The forecast is for {note.typical}; the interval holds for all data"
    return made if note.guess is not None else f"{made}. {_GUESS}, it would be a number"


def _ends(note: AggregateNote) -> str:
    """Say how the forecast of a mean depends on the rows of its group."""
    little = f"Below n = {show_amount(note.doubtful_below or 0.0)} it says little"
    ends = f"least for a mean in the middle of its range, most at an end. {little}"
    if note.guess is None:
        return f"{ends}. {_GUESS}, this would be a number"
    return f"n is {_source(note, note.guess)}. In general ± {_span(note, 1.0, '/n')}: {ends}"


def _source(note: AggregateNote, guess: float) -> str:
    """Say where the guess of the rows of a group comes from."""
    if note.stated:
        return f"{show_amount(guess)} rows, a guess that the question states"
    total = f"{show_amount(guess * note.groups)} rows, declared as a public guess"
    return total if note.groups == 1 else f"{total}, over {note.groups:,} groups"
