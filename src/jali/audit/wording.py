"""Events in the words of the outputs: names of places and texts, in place of the numbers of columns and hashes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jali.audit.encoding import ANYTHING_ELSE, OTHER_KINDS, Encoder
from jali.audit.events.atom import Atom
from jali.audit.events.event import Event

_COLUMN = re.compile(r"number (\d+) of the output")
_SHOWN = 3


def in_words(event: Event, encoder: Encoder | None) -> str:
    """Say an event about encoded outputs as one about the outputs themselves.

    Example:
        >>> encoder = Encoder.fit([["yes", 1.5], ["no", 2.5]])
        >>> in_words(Atom((tuple(encoder.encode([["yes", 1.5]])[0]),)), encoder)
        "the output has item 1 'yes', item 2 1.5"
    """
    if encoder is None:
        return str(event)
    if isinstance(event, Atom):
        return _atom(event, encoder)
    return _COLUMN.sub(lambda found: _name(encoder, int(found[1]) - 1, found[0]), str(event))


def _name(encoder: Encoder, column: int, otherwise: str) -> str:
    return encoder.columns[column] if column < encoder.width else otherwise


def _atom(event: Atom, encoder: Encoder) -> str:
    told = [_row(row, encoder) for row in event.rows[:_SHOWN]]
    more = len(event.rows) - len(told)
    return "the output has " + "; or ".join([*told, *([f"one of {more} other forms"] if more else [])])


def _row(row: Sequence[float], encoder: Encoder) -> str:
    """Say what the columns of a row hold; the last two only where they hold something."""
    told = [
        f"{name} {encoder.said(column, value)}".removeprefix("the output ")
        for column, (name, value) in enumerate(zip(encoder.columns, row, strict=True))
        if name not in (OTHER_KINDS, ANYTHING_ELSE) or value
    ]
    return ", ".join(told) or "its usual form"
