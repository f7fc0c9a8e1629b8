"""The options of attacks: one for each field of an attack, and those that attacks share."""

from __future__ import annotations

import inspect
import re
import secrets
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from jali.cli.options import read_whole_number
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.lab.attacks import Attack


# Set by options that every attack has.
_COMMON = {"seed"}
_PANEL = "Of this attack"


def select_fields(kind: type[Attack[Any]]) -> list[Field[Any]]:
    """Return the fields of an attack that are options of its own."""
    return [field for field in fields(kind) if field.name not in _COMMON]  # type: ignore[arg-type]


def name_option(field: Field[Any]) -> str:
    """Return the option that sets a field."""
    return "--" + field.name.replace("_", "-")


def build_options(kind: type[Attack[Any]]) -> list[Parameter]:
    """Return the parameters of a verb, all of them texts, or nothing if they are not given."""
    return [_build_option(kind, field) for field in select_fields(kind)]


def _build_option(kind: type[Attack[Any]], field: Field[Any]) -> Parameter:
    usual = (
        ""
        if field.default in (None, MISSING) or _find_value_type(field) == "bool"
        else f" Default: {field.default}."
    )
    meant = _read_meanings(kind).get(field.name, "A parameter of the attack.") + usual
    annotation: Any = str | None
    shown: dict[str, Any] = {"metavar": "NUMBER" if _find_value_type(field) else "WORD"}
    if _find_value_type(field) == "bool":
        annotation, shown = bool | None, {}
    asked = typer.Option(name_option(field), help=meant, rich_help_panel=_PANEL, **shown)
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[annotation, asked])


def _read_meanings(kind: type[Attack[Any]]) -> dict[str, str]:
    """Return what the docstring says of each field."""
    found = re.findall(r"^ {4}(\w+): (.+(?:\n {6,}\S.*)*)", inspect.getdoc(kind) or "", flags=re.MULTILINE)
    return {name: " ".join(meant.split()) for name, meant in found}


def read_parameters(kind: type[Attack[Any]], given: dict[str, str | bool | None]) -> dict[str, Any]:
    """Return the given options as parameters of the attack."""
    known = {field.name: field for field in select_fields(kind)}
    return {name: _read_value(known[name], text) for name, text in given.items() if text is not None}


def _read_value(field: Field[Any], text: str | bool) -> Any:
    """Return what a text means for a field: a whole number, a number, or itself."""
    if isinstance(text, bool):
        return text
    if _find_value_type(field) == "int":
        return read_whole_number(
            text, name_option(field), example=field.default if isinstance(field.default, int) else 10
        )
    if _find_value_type(field) == "float":
        return _read_float(field, text)
    return text


def _find_value_type(field: Field[Any]) -> str:
    """Return which kind of value a field is annotated as; nothing for a word."""
    words = re.findall(r"\w+", str(field.type))
    return next((word for word in ("bool", "int", "float") if word in words), "")


def _read_float(field: Field[Any], text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CatalogError("option-not-a-number", option=name_option(field), given=text) from None


_SEEDS = 10**6
LOG_FILES = "answers_X.csv and people_X.csv."
_TARGETS = {
    "simulator": "simulator",
    "jali": "jali",
    "unledgered": "unledgered (Jali without a ledger)",
    "log": "a log (answers_X.csv beside people_X.csv, or a folder)",
}
_LEDGER_OPTIONS = ("epsilon", "delta", "each", "adjacency")


def select_options(kind: type[Attack[Any]], options: Iterable[Parameter]) -> list[Parameter]:
    """Return the options that have a meaning for an attack, with words of their own where they differ."""
    lacking = _find_missing(kind)
    return [_reword_option(kind, option) for option in options if option.name not in lacking]


def _find_missing(kind: type[Attack[Any]]) -> set[str]:
    """Return what an attack cannot be told."""
    if kind.against == ("log",):
        return {"n", "noise", "trials", "seed", *_LEDGER_OPTIONS}
    exact = {"noise"} if kind.noises == ("none",) else set()
    return exact if {"jali", "unledgered"} & set(kind.against) else exact | set(_LEDGER_OPTIONS)


def _reword_option(kind: type[Attack[Any]], option: Parameter) -> Parameter:
    told = {"n": _describe_people, "noise": _describe_noise, "against": _describe_targets}.get(option.name)
    if told is None:
        return option
    annotation, asked = get_args(option.annotation)
    shown = typer.Option(
        metavar=_choose_metavar(kind) if option.name == "against" else asked.metavar,
        help=told(kind),
        callback=asked.callback,
    )
    return option.replace(annotation=Annotated[annotation, shown])


def _choose_metavar(kind: type[Attack[Any]]) -> str:
    if kind.against == ("log",):
        return "PATH"
    return "NAME|PATH" if "log" in kind.against else "NAME"


def _describe_people(kind: type[Attack[Any]]) -> str:
    shown, few = kind.exhibit.n, min(kind.exhibit.n, kind.exhibit.few)
    asked = f" ({few:,} where a database is asked)" if few < shown else ""
    return f"How many people one secret has: {shown:,} by default{asked}, {kind.most:,} at most."


def _describe_noise(kind: type[Attack[Any]]) -> str:
    kinds = ", ".join(one for one in kind.noises)
    shown = kind.exhibit.noise
    quoted = f"'{shown}'" if "(" in shown else shown
    return f"The noise of a simulator: {quoted} by default. Kinds: {kinds}."


def _describe_targets(kind: type[Attack[Any]]) -> str:
    if kind.against == ("log",):
        return "A file answers_X.csv beside people_X.csv, or a folder; JALI_DIFFIX names it by default."
    *others, last = (_TARGETS[foe] for foe in kind.against)
    return f"What is attacked: {', '.join(others)} or {last}; {kind.against[0]} by default."


def choose_seed(text: str | None) -> int:
    """Return the seed that `--seed` gives; another one each time if it gives none, which is then told."""
    if text is None:
        return secrets.randbelow(_SEEDS)
    if not (text.isascii() and text.isdigit()):
        raise CatalogError("seed-malformed", seed=text)
    return int(text)
