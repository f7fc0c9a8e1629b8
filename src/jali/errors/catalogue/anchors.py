"""Texts about the anchor of a ledger."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

TEXTS: Mapping[str, Text] = {
    "anchor-away": Text(
        "The anchor {anchor} cannot be reached.",
        "What was paid stays paid, and is answered when the anchor can be reached again.",
    ),
    "anchor-away-file": Text(
        "The anchor {anchor} cannot be read or written: {problem}.",
        "Check the directory, its rights and its room. What was paid is answered then.",
    ),
    "anchor-damaged": Text(
        "The anchor {anchor} is damaged.",
        "Put an undamaged copy back. If there is none and this is the latest state of the ledger: `jali ledger anchor DATABASE --renew`.",
    ),
    "anchor-damaged-there": Text("The anchor {anchor} is damaged.", "See what changed it."),
    "anchor-directory-missing": Text(
        "There is no directory {place} for the anchor.",
        "Name a directory that is there, postgresql://USER@HOST/NAME or https://HOST/PATH.",
    ),
    "anchor-missing": Text(
        "The anchor of the ledger, {anchor}, is missing: this may be a copy, or a ledger that was restored.",
        "Put the anchor back. To look at a copy: `jali verify`. If the anchor is lost for good and this is the latest state of the ledger: `jali ledger anchor DATABASE --renew`.",
    ),
    "anchor-url-with-password": Text(
        "The URL of an anchor has no name or password in it.", "Give a token in JALI_ANCHOR_TOKEN."
    ),
}
