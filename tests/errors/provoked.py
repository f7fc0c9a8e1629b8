"""Look at every error that the package makes while tests run: its code and fields must be in the catalogue."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from tests.errors.raising import SOURCE

from jali.errors import Face, JaliError
from jali.errors.fields import decode_field, encode_field
from jali.errors.templates import ADVICE, load_texts

_ERRORS, _PACKAGE = str(SOURCE / "errors"), str(SOURCE)
undocumented: list[str] = []
_seen: set[tuple[Any, ...]] = set()
_make = JaliError.__init__


@wraps(_make)
def _look(error: JaliError, *arguments: Any, **fields: Any) -> None:
    """Make an error, and note what is wrong with it. Each code is looked at once for each way to fill it in."""
    _make(error, *arguments, **fields)
    shape = (type(error), error.code, *((name, type(value)) for name, value in error.fields.items()))
    if shape not in _seen and _is_made_by_package():
        _seen.add(shape)
        undocumented.extend(_problems(error))


def _is_made_by_package() -> bool:
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ERRORS):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(_PACKAGE)


def _problems(error: JaliError) -> Iterator[str]:
    text = load_texts().get(error.code)
    if text is None:
        yield f"{error.code} is not in the catalogue"
    elif error.code != "budget-exceeded" and set(error.fields) - {ADVICE} != text.fields - {ADVICE}:
        yield f"{error.code} has the fields {sorted(error.fields)}, its text {sorted(text.fields)}"
    else:
        told = json.dumps({name: encode_field(value) for name, value in error.fields.items()})
        read = {name: decode_field(value) for name, value in json.loads(told).items()}
        if repr(read) != repr(dict(error.fields)):  # by its text, as NaN is not itself
            yield f"{error.code} is not the same after JSON: {error.fields}"
        if error.code != "budget-exceeded":
            for face in Face:
                error.write(face)


@contextmanager
def looked_at() -> Iterator[None]:
    """Look at every error while this lasts."""
    with patch.object(JaliError, "__init__", _look):
        yield
