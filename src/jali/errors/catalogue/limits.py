"""Texts about questions that are larger than a limit."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "question-too-deep": Text(
        "The question has more than {most:,} brackets and CASEs inside each other.",
        "Compute it in steps, in subqueries side by side. The curator can raise the limit `depth`.",
    ),
    "question-too-large": Text(
        "The question has more than {most:,} columns, constants and calls.",
        "Compute it in steps, in subqueries. The curator can raise the limit `size`.",
    ),
    "too-many-aggregates": Text(
        "The question has more than {most:,} aggregates.",
        "Ask several questions, or a batch. The curator can raise the limit `aggregates`.",
    ),
    "too-many-characters": Text(
        "The question has more than {most:,} characters.",
        "Shorten it: declare long lists as keys. The curator can raise the limit `characters`.",
    ),
    "too-many-grouping-sets": Text(
        "The question has more than {most:,} grouping sets.",
        "List those that you need: GROUPING SETS ((a), (b)). The curator can raise the limit `sets`.",
    ),
    "too-many-items": Text(
        "The question has more than {most:,} items in a list.",
        "Declare a long list as keys, or a public table. The curator can raise the limit `items`.",
    ),
    "too-many-numbers": Text(
        "The question has more than {most:,} noisy numbers in its answer.",
        "Ask for fewer groups, or fewer aggregates. The curator can raise the limit `numbers`.",
    ),
    "too-many-releases": Text(
        "The question has more than {most:,} noisy numbers of each group, over all grouping sets.",
        "Ask several questions, or a batch. The curator can raise the limit `releases`.",
    ),
    "too-many-repetitions": Text(
        "The question has more than {most:,} repetitions in its regular expressions.",
        "Write + or * in place of {{1,100}}, or fewer patterns.",
    ),
    "too-many-selects": Text(
        "The question has more than {most:,} SELECTs.",
        "Ask in several steps. The curator can raise the limit `selects`.",
    ),
    "too-many-selects-with": Text(
        "The question has more than {most:,} SELECTs, those of a WITH table once for each use.",
        "Ask in several steps. The curator can raise the limit `selects`.",
    ),
    "too-many-tables": Text(
        "The question has more than {most:,} tables after FROM and JOIN.",
        "Ask in several steps. The curator can raise the limit `tables`.",
    ),
    "too-many-terms": Text(
        "The question has more than {most:,} operators and functions applied one after the other.",
        "Compute it in steps, in subqueries. The curator can raise the limit `terms`.",
    ),
    "too-many-texts": Text(
        "The question has more than {most:,} functions that make a text.",
        "Compare without making texts: LIKE, CONTAINS and = take them as they are. The curator can raise the limit `texts`.",
    ),
    "too-many-tokens": Text(
        "The question has more than {most:,} words, numbers, texts and signs.",
        "Ask in several steps, or declare long lists as keys. The curator can raise the limit `tokens`.",
    ),
}
