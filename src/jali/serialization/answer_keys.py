"""Keys by which answers are recalled when an equal question is asked.

A key is a digest of what a question means and of the versions of its tables. The engine's queries are not in it,
so that other SQL for the same numbers finds the same answers.
"""

from __future__ import annotations

import hashlib

# What keys begin with. Those of versions 0.1 and 0.2, which had the engine's queries in them, are hexadecimal
# alone, so that they come before all others.
KEY_FORM = "k"


def answer_key(versions: str, meaning: str) -> str:
    """Return the key of a question."""
    return KEY_FORM + earlier_key(versions, meaning)


def earlier_key(versions: str, text: str) -> str:
    """Return the key that earlier versions made of a stored plan."""
    return hashlib.sha256((versions + text).encode()).hexdigest()
