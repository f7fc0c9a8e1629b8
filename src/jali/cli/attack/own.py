"""The parameters of an attack as options: one for each field of its dataclass."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, Field, fields
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.numbers import whole
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.attacks import Attack

# Set by options that every attack has.
_COMMON = {"seed"}
_PANEL = "Of this attack"


def own_fields(kind: type[Attack[Any]]) -> list[Field[Any]]:
    """Return the fields of an attack that are options of its own."""
    return [field for field in fields(kind) if field.name not in _COMMON]  # type: ignore[arg-type]


def option_name(field: Field[Any]) -> str:
    """Return the option that sets a field."""
    return "--" + field.name.replace("_", "-")


def as_options(kind: type[Attack[Any]]) -> list[Parameter]:
    """Return the parameters of a verb, all of them texts, or nothing if they are not given."""
    return [_option(kind, field) for field in own_fields(kind)]


def _option(kind: type[Attack[Any]], field: Field[Any]) -> Parameter:
    usual = "" if field.default in (None, MISSING) or _kind(field) == "bool" else f" Default: {field.default}."
    meant = _meanings(kind).get(field.name, "A parameter of the attack.") + usual
    annotation: Any = str | None
    shown: dict[str, Any] = {"metavar": "NUMBER" if _kind(field) else "WORD"}
    if _kind(field) == "bool":
        annotation, shown = bool | None, {}
    asked = typer.Option(option_name(field), help=meant, rich_help_panel=_PANEL, **shown)
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[annotation, asked])


def _meanings(kind: type[Attack[Any]]) -> dict[str, str]:
    """Return what the docstring says of each field."""
    found = re.findall(r"^ {4}(\w+): (.+(?:\n {6,}\S.*)*)", inspect.getdoc(kind) or "", flags=re.MULTILINE)
    return {name: " ".join(meant.split()) for name, meant in found}


def read(kind: type[Attack[Any]], given: dict[str, str | bool | None]) -> dict[str, Any]:
    """Return the given options as parameters of the attack."""
    known = {field.name: field for field in own_fields(kind)}
    return {name: _read(known[name], text) for name, text in given.items() if text is not None}


def _read(field: Field[Any], text: str | bool) -> Any:
    """Return what a text means for a field: a whole number, a number, or itself."""
    if isinstance(text, bool):
        return text
    if _kind(field) == "int":
        return whole(text, option_name(field), example=field.default if isinstance(field.default, int) else 10)
    if _kind(field) == "float":
        return _number(field, text)
    return text


def _kind(field: Field[Any]) -> str:
    """Return which kind of value a field is annotated as; nothing for a word."""
    words = re.findall(r"\w+", str(field.type))
    return next((word for word in ("bool", "int", "float") if word in words), "")


def _number(field: Field[Any], text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CatalogError("option-not-a-number", option=option_name(field), given=text) from None
