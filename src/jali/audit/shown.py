"""Inputs and outputs as people read them in reports: cut off where they are long."""

from __future__ import annotations

from typing import Any

from jali.display.text import clean


def shown(value: Any, most: int = 120) -> str:
    """Write a value for people, cut off where it is long; a file has all of it.

    Example:
        >>> shown([1, 2, 3]), shown("a" * 500, most=5)
        ('[1, 2, 3]', 'aaaa…')
    """
    try:
        text = clean(str(value))
    except ValueError:  # Python writes no integer of thousands of digits
        return f"a very long {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def side_by_side(one: Any, other: Any, most: int = 60) -> tuple[str, str]:
    """Write two inputs; of long lists that differ in an entry, the first one and how the other differs.

    Example:
        >>> side_by_side([1, 2], [1])
        ('[1, 2]', '[1]')
        >>> side_by_side([{"age": 30}] * 9 + [{"age": 120}], [{"age": 30}] * 9)[1]
        "the same without {'age': 120}"
    """
    texts = shown(one), shown(other)
    if max(map(len, texts)) <= most or not (isinstance(one, list | tuple) and isinstance(other, list | tuple)):
        return texts
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if repr(a) != repr(b)), None)
    place = min(len(one), len(other)) if start is None else start
    if [*map(repr, one[place + 1 :])] == [*map(repr, other[place:])]:
        return texts[0], f"the same without {shown(one[place])}"
    if [*map(repr, one[place:])] == [*map(repr, other[place + 1 :])]:
        return texts[0], f"the same and {shown(other[place])}"
    if [*map(repr, one[place + 1 :])] == [*map(repr, other[place + 1 :])]:
        return texts[0], f"the same with {shown(other[place])} in place of {shown(one[place])}"
    return texts
