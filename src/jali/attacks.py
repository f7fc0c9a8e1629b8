"""The old name of `jali.lab.attacks`, the attack lab: it works for one release, with a warning."""

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(importlib.import_module("jali.lab.attacks"), name)
    warnings.warn("jali.attacks is now jali.lab.attacks", DeprecationWarning, stacklevel=2)
    return value
