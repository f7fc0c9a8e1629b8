"""Texts about comparisons of mechanisms."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "comparison-data-too-few": Text("data must have at least {least} people, not {count}."),
    "comparison-data-without-range": Text(
        "low and high must be given with data.", "They are public: never read them off the data."
    ),
    "comparison-data-wrong": Text("data must be {expected}."),
    "comparison-not-measured": Text("Nothing was measured for {mechanism!r} on {shape!r}."),
    "comparison-shape-unknown": Text("There is no shape {shape!r}.", "The shapes are {shapes}."),
    "comparison-unknown": Text("There is nothing to compare for {statistic!r}.", "Choose one of {statistics}."),
}
