"""All mechanisms of a package: every public class of its modules that extends `Mechanism`, exported or not."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages
from types import ModuleType

import jali.mechanisms
from jali.mechanisms.base import Mechanism

# Concrete classes that mechanisms share: none of them is one by itself.
_SHARED = frozenset({"RankQuantile"})


@cache
def list_mechanisms(package: ModuleType) -> tuple[type[Mechanism], ...]:
    """Return the mechanisms that the modules of a package define, by name."""
    modules = [import_module(found.name) for found in walk_packages(package.__path__, f"{package.__name__}.")]
    defined = {item for module in modules for item in vars(module).values() if _is_mechanism(item, module)}
    return tuple(sorted(defined, key=lambda kind: kind.__name__))


def _is_mechanism(item: object, module: ModuleType) -> bool:
    return (
        isinstance(item, type)
        and issubclass(item, Mechanism)
        and item.__module__ == module.__name__
        and not isabstract(item)
        and not item.__name__.startswith("_")
        and item.__name__ not in _SHARED
    )


MECHANISMS: tuple[type[Mechanism], ...] = list_mechanisms(jali.mechanisms)
