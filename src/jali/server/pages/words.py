"""Sentences of the database in the words of a page: it has forms and buttons where Python has calls."""

from __future__ import annotations

import re

_NAME = r"""(?:'([^'\\]*)'|"([^"\\]*)")"""
_PATTERNS = (
    (rf"db\.grant\({_NAME}, {_NAME}, jali\.Budget\(\.\.\.\)\)\.", "a grant."),
    (r" \(or rho 0\)", ""),
    (r"\bepsilon=([\d./e+-]+), delta=0(?![\d.])", r"epsilon \1"),
    (r"\bepsilon=([\d./e+-]+), delta=([\d.]+(?:e[+-]?\d+)?)", r"epsilon \1, delta \2"),
    (r"\b(epsilon|rho|delta|within|max_rows|max_groups|min_people)=([\d.]+(?:e-?\d+)?)", r"\1 \2"),
    (r"^Write min_people 10\.$", "Write 10."),
    (r"Range\(low, high\)(?: or Range\(auto=True\))?, for (?:\w+\.)?(\w+)", r"\1 = LOW:HIGH"),
    (r"Keys\(\[\.\.\.\]\), for (?:\w+\.)?(\w+)", r"\1 = A, B"),
    (r"Range\(auto=True, epsilon=\.\.\.\)", "by Python or the command line"),
)
_WORDS = tuple((re.compile(pattern), words) for pattern, words in _PATTERNS)


def on_page(text: str) -> str:
    """Say on a page what a sentence says to Python.

    Example:
        >>> on_page("Ask the curator for db.grant('ben', 'visits', jali.Budget(...)).")
        'Ask the curator for a grant.'
        >>> on_page("epsilon 2 (or rho 0) of epsilon=3, delta=0"), on_page("epsilon=1, delta=1e-06")
        ('epsilon 2 of epsilon 3', 'epsilon 1, delta 1e-06')
    """
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


def counted(number: int, thing: str) -> str:
    """Say how many there are.

    Example:
        >>> counted(1, "value"), counted(1200, "value")
        ('1 value', '1,200 values')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
