"""Requests that cannot be read, in words: which field, and what it should be. What was sent is not repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Kinds of errors, as pydantic calls them, and how they are said; {…} is what the field's declaration holds.
_SAID = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_too_short": "must not be empty",
    "string_too_long": "may have at most {max_length:,} letters",
    "too_short": "needs at least {min_length:,}",
    "too_long": "may have at most {max_length:,}",
    "greater_than": "must be more than {gt:,}",
    "greater_than_equal": "must be at least {ge:,}",
    "less_than": "must be less than {lt:,}",
    "less_than_equal": "must be at most {le:,}",
    "finite_number": "must be finite",
    "literal_error": "must be {expected}",
    "json_invalid": "is no JSON",
}
# The same for families of kinds, by how they begin.
_FAMILIES = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be a text",
    "list": "must be a list",
    "tuple": "must be a pair",
    "dict": "must be an object",
    "model": "must be an object",
    "date": "must be a date or a time",
}
# What pydantic adds to a place to say which of several kinds it tried.
_TRIED = frozenset({"int", "float", "str", "bool", "none", "date", "datetime", "DateForm", "TimeForm"})


def mistake(error: Mapping[str, Any], places: tuple[Any, ...]) -> str:
    """Say what is wrong with a field.

    Args:
        error: As pydantic tells it.
        places: Where it is, from the outermost name on.

    Example:
        >>> mistake({"type": "string_too_long", "ctx": {"max_length": 200}}, ("name",))
        'name may have at most 200 letters.'
        >>> mistake({"type": "int_parsing"}, ("max_rows",)), mistake({"type": "int_type"}, ("epsilon", "int"))
        ('max_rows must be a whole number.', 'epsilon must be a number.')
    """
    tried = [str(place) for place in places if _is_tried(place)]
    where = ".".join(str(place) for place in places if not _is_tried(place)) or "The request"
    if "int" in tried and error["type"].startswith(("int", "float", "string")):
        return f"{where} must be a number."
    return f"{where} {_words(error)}."


def _words(error: Mapping[str, Any]) -> str:
    kind: str = error["type"]
    if kind in _SAID:
        return _SAID[kind].format(**error.get("ctx", {}))
    found = (words for family, words in _FAMILIES.items() if kind.startswith(family))
    return next(found, "cannot be read")


def _is_tried(place: Any) -> bool:
    return isinstance(place, str) and (place in _TRIED or "[" in place or place.startswith("literal"))
