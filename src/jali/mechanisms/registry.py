"""All mechanisms of the package: every public class that extends `Mechanism`."""

from __future__ import annotations

from inspect import isabstract
from types import ModuleType

import jali.mechanisms
from jali.mechanisms.base import Mechanism


def list_mechanisms(package: ModuleType) -> tuple[type[Mechanism], ...]:
    """Return the mechanisms among a package's public names, in their order."""
    public = [getattr(package, name) for name in package.__all__ if name != "MECHANISMS"]
    return tuple(item for item in public if isinstance(item, type) and _is_mechanism(item))


def _is_mechanism(item: type) -> bool:
    return issubclass(item, Mechanism) and not isabstract(item)


MECHANISMS: tuple[type[Mechanism], ...] = list_mechanisms(jali.mechanisms)
