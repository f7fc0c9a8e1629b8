"""Validation errors of requests: which field is wrong, and what it should be. What was sent is not repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jali.errors import Phrase

# Kinds of errors, as pydantic calls them, and their codes.
_CODES = {
    "missing": "field-missing",
    "extra_forbidden": "field-unknown",
    "string_too_short": "field-empty",
    "string_too_long": "field-too-many-letters",
    "too_short": "field-too-few",
    "too_long": "field-too-many",
    "greater_than": "field-not-above",
    "greater_than_equal": "field-below-least",
    "less_than": "field-not-below",
    "less_than_equal": "field-above-most",
    "finite_number": "field-not-finite",
    "literal_error": "field-not-a-choice",
    "json_invalid": "field-not-json",
}
# The same for families of kinds, by how they begin.
_FAMILIES = {
    "int": "field-not-whole",
    "float": "field-not-a-number",
    "bool": "field-not-boolean",
    "string": "field-not-a-text",
    "list": "field-not-a-list",
    "tuple": "field-not-a-pair",
    "dict": "field-not-an-object",
    "model": "field-not-an-object",
    "date": "field-not-a-time",
}
# What the text of a code names besides the field.
_LIMITS = ("max_length", "min_length", "gt", "ge", "lt", "le", "expected")
# What pydantic adds to a place to say which of several kinds it tried.
_TRIED = frozenset({"int", "float", "str", "bool", "none", "date", "datetime", "DateForm", "TimeForm"})


def describe_field_error(error: Mapping[str, Any], places: tuple[Any, ...]) -> Phrase:
    """Say what is wrong with a field.

    Args:
        error: As pydantic tells it.
        places: Where it is, from the outermost name on.

    Example:
        >>> describe_field_error({"type": "string_too_long", "ctx": {"max_length": 200}}, ("name",)).text
        'name may have at most 200 characters.'
        >>> describe_field_error({"type": "string_too_short", "ctx": {"min_length": 1}}, ("name",)).text
        'name must not be empty.'
        >>> describe_field_error({"type": "int_parsing"}, ("max_rows",)).text
        'max_rows must be a whole number.'
        >>> describe_field_error({"type": "int_type"}, ("epsilon", "int")).text
        'epsilon must be a number.'
    """
    tried = [str(place) for place in places if _is_alternative(place)]
    where = ".".join(str(place) for place in places if not _is_alternative(place)) or "The request"
    if "int" in tried and error["type"].startswith(("int", "float", "string")):
        return Phrase("field-not-a-number", field=where)
    limits = {name: value for name, value in error.get("ctx", {}).items() if name in _LIMITS}
    if error["type"] == "string_too_short":
        limits = {}  # a text that is too short is empty
    return Phrase(_find_field_code(error["type"]), field=where, **limits)


def _find_field_code(kind: str) -> str:
    found = (code for family, code in _FAMILIES.items() if kind.startswith(family))
    return _CODES.get(kind) or next(found, "field-unreadable")


def _is_alternative(place: Any) -> bool:
    return isinstance(place, str) and (place in _TRIED or "[" in place or place.startswith("literal"))
