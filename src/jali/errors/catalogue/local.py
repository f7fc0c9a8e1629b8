"""Texts about the local model."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "categories-not-whole": Text("values must be whole numbers: the categories 0, 1, 2 and so on."),
    "categories-too-many": Text(
        "categories must be at most 2**32, not {categories}.", "Put rare ones together, or hash them."
    ),
    "category-not-whole": Text("value must be one whole number: a person's category."),
    "local-supports-wrong": Text("supports must lie between 0 and people, for at least one category."),
    "randomizer-wrong": Text("mechanism must be a randomizer of the local model, not {mechanism!r}."),
    "reports-empty": Text("Nobody reported: people must be at least 1."),
    "reports-not-a-list": Text("{name} must be a list or array of one whole number per person."),
    "reports-not-a-matrix": Text("reports must be a matrix of {columns} columns, one row for each person."),
    "reports-out-of-range": Text("reports must be whole numbers from 0 to {last}, as `randomize` makes them."),
    "shares-count-wrong": Text("{name} must list {categories} categories, not {count}."),
    "shares-malformed": Text("{name} must list the share of each category, not {shares!r}."),
    "shares-sum-wrong": Text("{name} must sum to 1, not {total:g}."),
    "shares-too-long": Text("{name} must be short decimals or fractions."),
    "shuffling-delta-zero": Text("{name} must be above 0.", "At delta 0 shuffling hides nothing."),
    "shuffling-epsilon-too-large": Text(
        "{name} must be at most ln(people / (16 ln(2/delta))) = {largest:.6g} for this bound.",
        "Take more people or a larger delta, or use shuffled(), which has no such limit.",
    ),
    "truth-or-epsilon": Text("Give either truth or epsilon.", "For example truth='3/4', or epsilon=1."),
    "truth-out-of-range": Text(
        "truth must lie between 0 and 1 and not be 1/2, not {truth}.",
        "A coin of 1/2 says nothing, and one of 0 or 1 hides nothing.",
    ),
}
