"""Texts about samplers of noise."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "bits-too-wide": Text("width must be at most 64 bits, not {width}."),
    "gamma-too-small": Text(
        "gamma must be at least {least}, not {gamma}.",
        "Nearer to 1 the numbers are too huge to be drawn; take 1.1 or more.",
    ),
    "keyed-bits-copied": Text("bits: a keyed stream cannot be copied or stored; make a new one."),
    "keyed-bits-other-thread": Text(
        "bits: this keyed stream belongs to another thread.", "Use system_bits() in each thread."
    ),
    "numerators-negative": Text("numerators must be at least 0."),
    "numerators-not-a-list": Text("numerators must be a one-dimensional array of integers."),
    "numerators-not-integers": Text("numerators must be integers; an object array may hold Python ints only."),
    "probability-out-of-range": Text("{name} must lie in [0, 1], not {p}."),
    "size-malformed": Text("size must be a non-negative integer, not {size!r}."),
    "staircase-treads-wrong": Text("tread and period must be whole numbers, 1 <= tread <= period <= 2**60."),
}
