"""Numbers as options: read exactly, and explained by the option where they are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import typer

from jali.errors import CatalogError, MechanismError


def _valued(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Refuse an option whose value was forgotten, so that the next option was read as its value."""
    if value is not None and value.startswith("--"):
        raise CatalogError(
            f"{parameter.opts[0]} needs a value: {value} follows it.",
            remedy=f"See `{context.command_path} --help`.",
        )
    return value


def number(help_: str) -> Any:
    """Return an option that takes a number."""
    # Text, so that a number is read exactly and a wrong one is explained here.
    return typer.Option(metavar="NUMBER", help=help_, callback=_valued)


def whole(text: str | None, option: str, *, example: int = 1000) -> int | None:
    """Return the whole number that an option gives, also one written as 1e3; an error gives an example."""
    from jali.privacy.rationals import rational

    if text is None:
        return None
    with suppress(CatalogError):
        value = rational(text, option)
        if value >= 1 and value.denominator == 1:
            return int(value)
    raise CatalogError(
        f"{option} must be a whole number of at least 1, not {text}.",
        remedy=f"Write {option} {example}, for example.",
    )


@contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """Let an error that begins with the name of a parameter begin with that of its option."""
    try:
        yield
    except (CatalogError, MechanismError) as error:
        name, _, rest = error.message.partition(" ")
        raise CatalogError(f"{options.get(name, name)} {rest}", remedy=error.remedy) from None
