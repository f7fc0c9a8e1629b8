"""All attacks of the lab: every public class that extends `Attack`."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from inspect import isabstract
from typing import Any

import jali.attacks
from jali.attacks.attack import Attack
from jali.errors import CatalogError


@lru_cache(maxsize=1)
def attacks() -> dict[str, type[Attack[Any]]]:
    """Return the attacks by their names.

    Example:
        >>> attacks()["hadamard"].__name__
        'Hadamard'
    """
    public = [getattr(jali.attacks, name) for name in dir(jali.attacks)]
    kinds = [
        item for item in public if isinstance(item, type) and issubclass(item, Attack) and not isabstract(item)
    ]
    return {kind.name: kind for kind in kinds}


def attack_named(name: str) -> type[Attack[Any]]:
    """Return an attack by its name."""
    if name not in attacks():
        near = get_close_matches(str(name).lower(), attacks(), n=1)
        raise CatalogError("attack-unknown", attack=name, near=next(iter(near), None), attacks=tuple(attacks()))
    return attacks()[name]
