"""What the verbs of `jali stream` share: their arguments, and how a stream is told to people and to programs."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.numbers import naming_options
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.query.catalog import Range

StreamName = Annotated[str, typer.Argument(metavar="NAME", help="What the stream is called.")]

# A column that is named before its keys, as `jali protect` has it.
_NAMED = re.compile(r"[A-Za-z_]\w*(:\w+)?=")

# The parameters of a stream, and the options that set them.
_OPTIONS = {
    "horizon": "--horizon",
    "unit": "--unit",
    "measure": "--measure",
    "keys": "--keys",
    "value": "--range",
    "bins": "--bins",
    "every": "--every",
    "start": "--start",
    "until": "--until",
    "tick": "--tick",
    "max_ticks": "--max-ticks",
    "separation": "--separation",
    "max_items": "--max-items",
    "last": "--last",
    "restart": "--restart",
    "mechanism": "--mechanism",
    "epsilon": "--epsilon",
    "delta": "--delta",
    "rho": "--rho",
    "query": "--query",
    "confidence": "--confidence",
}


def read_keys(text: str) -> list[Any]:
    """Read the keys of a stream: `A,B,C`, or `@file` with one in each line."""
    from jali.cli.declarations import read_keys

    if _NAMED.match(text):
        raise CatalogError("stream-keys-option-with-column", given=text)
    found = list(read_keys(f"keys={text}")[1].values) if text.strip() else [""]
    if "" in found:
        raise CatalogError("stream-keys-option-empty")
    return found


def read_range(text: str) -> Range:
    """Read the range of a stream's values: `0:240`."""
    from jali.privacy.rationals import rational
    from jali.query.catalog import Range

    low, colon, high = (part.strip() for part in text.partition(":"))
    if not (low and colon and high) or ":" in high:
        raise CatalogError("stream-range-option-malformed", given=text)
    return Range(rational(low, "--range"), rational(high, "--range"))


def in_stream_options() -> AbstractContextManager[None]:
    """Let an error about a parameter of a stream name the option that sets it."""
    return naming_options(_OPTIONS)
