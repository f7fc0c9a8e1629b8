"""Texts about regression."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "features-not-ranges": Text("features must be a list of ranges, one or more, not {features!r}."),
    "regression-parameter-extreme": Text("{name} is beyond all proportion to the ranges of feature and target."),
    "regression-table-wrong": Text("The table must have {count} columns: one row per person, the target last."),
}
