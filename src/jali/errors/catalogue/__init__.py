"""The catalogue: the text of each code, in one module for each area. docs/errors.md lists them all."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from jali.errors.templates import Text


def read_catalogue() -> Mapping[str, Text]:
    """Return the text of each code."""
    return {code: text for area in read_areas().values() for code, text in area.items()}


def read_areas() -> Mapping[str, Mapping[str, Text]]:
    """Return the texts of each area, by the name of its module."""
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").TEXTS for name in names}
