"""Texts about answers, batches, sessions, tables and plots."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.templates import Text

TEXTS: Mapping[str, Text] = {
    "answer-column-unknown": Text("The answer has no column {column}.", "It has {columns}."),
    "answer-without-numbers": Text(
        "{column} has no numbers to plot.", "{has_drawable:?Plot {drawable}.|Ask for a count or a histogram.}"
    ),
    "batch-asked-already": Text("The batch has already been asked.", "Create another one."),
    "batch-not-asked": Text(
        "The batch has not been asked yet.", "Answers are available when its `with` block has ended."
    ),
    "matplotlib-missing": Text("Plots need matplotlib.", "Install it: pip install 'jali[plots]'."),
    "package-missing": Text(
        "This needs {package}, which is not installed.",
        "Run pip install {package}, or use a.rows, a.to_dicts() or a.to_csv().",
    ),
    "part-unknown": Text("{table} by {by} has no subpopulation {part!r}.", "Subpopulations: {parts}."),
    "plot-categories-wrong": Text("{name} must list {wanted} categories, not {count}."),
    "plot-counts-empty": Text("counts is empty: there is nothing to plot.", "For example counts=(1, 10, 100)."),
    "plot-counts-malformed": Text(
        "counts must be a list of whole numbers, not {counts!r}.", "For example counts=(1, 10, 100)."
    ),
    "plot-counts-too-few": Text("counts must have at least two numbers to plot a line, not {count}."),
    "plot-curves-too-few": Text("curves has no theorem with two points: there is nothing to plot."),
    "plot-debit-event-wrong": Text(
        "debits contains an event that is neither an Event nor a loss: {event!r}.",
        "For example [('2026-01-01T10:00:00', Pure(1).event)].",
    ),
    "plot-debit-time-wrong": Text(
        "debits contains a time that is not a date and time: {at_given!r}.",
        "For example [('2026-01-01T10:00:00', Pure(1).event)].",
    ),
    "plot-debits-malformed": Text(
        "debits must be (time, event) pairs.", "For example [('2026-01-01T10:00:00', Pure(1).event)]."
    ),
    "plot-debits-nothing": Text("debits spend nothing that the budget limits: there is nothing to plot."),
    "plot-epsilon-negative": Text("epsilon must be 0 or more, not {epsilon:g}."),
    "plot-floor-or-count-wrong": Text("floor must be above 0 and below 0.9, and count at least 2."),
    "plot-losses-empty": Text(
        "losses is empty: there is nothing to plot.", "For example {{'Laplace': LaplaceLoss(scale=1)}}."
    ),
    "plot-losses-not-a-dictionary": Text(
        "losses must be a dictionary from labels to losses.",
        "For example {{'Laplace': LaplaceLoss(scale=1)}}.",
    ),
    "plot-mechanisms-not-a-dictionary": Text(
        "mechanisms must be a dictionary from labels to mechanisms.",
        "For example {{'Laplace': Laplace(sensitivity=1, epsilon=1)}}.",
    ),
    "plot-several-keys": Text(
        "Distributions of several keys do not fit into one plot.", "Give key={key!r}, or leave ax out."
    ),
    "stream-key-unknown": Text(
        "The stream {stream} has no key {key}.", "{has_keys:?It has {keys}{more:?, ...|}.|It has no keys.}"
    ),
}
