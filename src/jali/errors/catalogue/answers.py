"""Texts about answers, batches and sessions."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "answer-column-unknown": Text("The answer has no column {column}.", "It has {columns}."),
    "answer-without-numbers": Text(
        "{column} has no numbers to draw.", "{has_drawable:?Draw {drawable}.|Ask for a count or a histogram.}"
    ),
    "batch-asked-already": Text("The batch has been asked already.", "Begin another one."),
    "batch-not-asked": Text(
        "The batch has not been asked yet.", "Answers are there when its `with` block has ended."
    ),
    "part-unknown": Text("{table} by {by} has no part {part!r}.", "Parts: {parts}."),
}
