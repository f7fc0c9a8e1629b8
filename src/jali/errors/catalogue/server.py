"""Texts about running a server."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "batch-csv-several-tables": Text("A batch has several tables.", "Take format=json."),
    "column-form-empty": Text(
        "A column has a range, or keys, or a kind.", 'Write {{"range": [0, 120]}} or {{"keys": ["A"]}}.'
    ),
    "column-line-malformed": Text(
        "{line} declares no column.",
        "Write age = 0:120, or ward = A, B, C, or seen = date, or cost = auto; one in each line.",
    ),
    "column-line-twice": Text("Column {column} is declared twice.", "Leave out one of them."),
    "lab-people-not-a-power": Text("{n} people are no power of two.", "Take 1024."),
    "part-form-malformed": Text("A part is one value of one column.", 'Write {{"ward": "A"}}.'),
    "planning-too-large": Text("The question takes too much to plan. Nothing was spent.", "Ask for less at once."),
    "planning-too-slow": Text(
        "The question takes too long to plan: more than {seconds:g} s of CPU. Nothing was spent.",
        "Ask for less at once: fewer questions in a batch, fewer aggregates, no within.",
    ),
    "serve-without-tokens": Text(
        "Other machines can reach {host}, and nobody has a token.",
        "Make one first: jali token create {database} NAME --role curator",
    ),
    "server-address-wrong": Text(
        "Nobody can listen on {host}, port {port}.",
        "It is no address of this machine: take one with --host, such as 127.0.0.1.",
    ),
    "server-port-forbidden": Text(
        "Nobody can listen on {host}, port {port}.", "Ports below 1024 are the system's: take another with --port."
    ),
    "server-port-taken": Text(
        "Nobody can listen on {host}, port {port}.",
        "Another program has it: take another with --port, or 0 for a free one.",
    ),
    "server-setting-too-small": Text("{name} must be at least {least}, not {value}.", "Leave {name} out."),
    "ticks-too-many": Text("These are many ticks at once.", "Publish at most {most:,} at once."),
}
