"""Texts about what is stored and sent: tags, parts and versions."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text

_REMEDY = "Use the version of Jali that wrote it."

TEXTS: Mapping[str, Text] = {
    "stored-part-missing": Text("A stored {tag} has no {part}.", _REMEDY),
    "stored-part-unknown": Text("A stored {tag} has a part {part}, which is not known here.", _REMEDY),
    "stored-parts-differ": Text("A stored {tag} lacks parts, or has others.", _REMEDY),
    "stored-plan-not-integers": Text("A stored plan adds noise to integers only."),
    "stored-tag-unknown": Text("A stored value has the tag '{tag}', which is not known here.", _REMEDY),
    "stored-value-unreadable": Text("A stored value cannot be read.", _REMEDY),
    "stored-version-unknown": Text(
        "A stored {tag} has version {version}; known here are versions up to {newest}.", _REMEDY
    ),
}
