"""The options that attacks share: which of them an attack has, and what they say about it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.attacks import Attack

_SEEDS = 10**6
LOG_FILES = "answers_X.csv and people_X.csv."
_FOES = {
    "simulator": "simulator",
    "jali": "jali",
    "unledgered": "unledgered (Jali without a ledger)",
    "log": "a log (answers_X.csv beside people_X.csv, or a folder)",
}
_OF_A_LEDGER = ("epsilon", "delta", "each", "adjacency")


def fitted(kind: type[Attack[Any]], options: Iterable[Parameter]) -> list[Parameter]:
    """Return the options that have a meaning for an attack, with words of their own where they differ."""
    lacking = _lacking(kind)
    return [_worded(kind, option) for option in options if option.name not in lacking]


def _lacking(kind: type[Attack[Any]]) -> set[str]:
    """Return what an attack cannot be told."""
    if kind.against == ("log",):
        return {"n", "noise", "trials", "seed", *_OF_A_LEDGER}
    exact = {"noise"} if kind.noises == ("none",) else set()
    return exact if {"jali", "unledgered"} & set(kind.against) else exact | set(_OF_A_LEDGER)


def _worded(kind: type[Attack[Any]], option: Parameter) -> Parameter:
    told = {"n": _people, "noise": _noise, "against": _against}.get(option.name)
    if told is None:
        return option
    annotation, asked = get_args(option.annotation)
    shown = typer.Option(
        metavar=_metavar(kind) if option.name == "against" else asked.metavar,
        help=told(kind),
        callback=asked.callback,
    )
    return option.replace(annotation=Annotated[annotation, shown])


def _metavar(kind: type[Attack[Any]]) -> str:
    if kind.against == ("log",):
        return "PATH"
    return "NAME|PATH" if "log" in kind.against else "NAME"


def _people(kind: type[Attack[Any]]) -> str:
    shown, few = kind.exhibit.n, min(kind.exhibit.n, kind.exhibit.few)
    asked = f" ({few:,} where a database is asked)" if few < shown else ""
    return f"How many people one secret has: {shown:,} by default{asked}, {kind.most:,} at most."


def _noise(kind: type[Attack[Any]]) -> str:
    kinds = ", ".join(one for one in kind.noises)
    shown = kind.exhibit.noise
    quoted = f"'{shown}'" if "(" in shown else shown
    return f"The noise of a simulator: {quoted} by default. Kinds: {kinds}."


def _against(kind: type[Attack[Any]]) -> str:
    if kind.against == ("log",):
        return "A file answers_X.csv beside people_X.csv, or a folder; JALI_DIFFIX names it by default."
    *others, last = (_FOES[foe] for foe in kind.against)
    return f"What is attacked: {', '.join(others)} or {last}; {kind.against[0]} by default."


def seeded(text: str | None) -> int:
    """Return the seed that `--seed` gives; another one each time if it gives none, which is then told."""
    if text is None:
        return secrets.randbelow(_SEEDS)
    if not (text.isascii() and text.isdigit()):
        raise CatalogError("seed-malformed", seed=text)
    return int(text)
