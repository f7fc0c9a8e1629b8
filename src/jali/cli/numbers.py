"""Numbers as options: read exactly, and explained by the option where they are wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import typer

from jali.errors import CatalogError, Field, JaliError, MechanismError, Phrase

Kind = TypeVar("Kind", bound=JaliError)


def _valued(context: typer.Context, parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Refuse an option whose value was forgotten, so that the next option was read as its value."""
    if value is not None and value.startswith("--"):
        raise CatalogError(
            "option-value-missing", option=parameter.opts[0], given=value, command=context.command_path
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
    raise CatalogError("option-not-a-count", option=option, given=text, example=example)


@contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """Let an error that begins with the name of a parameter begin with that of its option."""
    try:
        yield
    except (CatalogError, MechanismError) as error:
        raise naming(error, options).like(CatalogError) from None


def naming(error: Kind, options: Mapping[str, str]) -> Kind:
    """Return an error that names the option where it named the parameter."""
    return error.replace(**{name: _named(name, value, options) for name, value in error.fields.items()})


def _named(name: str, value: Field, options: Mapping[str, str]) -> Field:
    if isinstance(value, Phrase):
        return Phrase(value.code, **{own: _named(own, held, options) for own, held in value.fields.items()})
    return options.get(value, value) if name == "name" and isinstance(value, str) else value
