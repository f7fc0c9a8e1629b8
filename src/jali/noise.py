"""The old name of `jali.sampling`, the exact samplers: it works for one release, with a warning."""

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(importlib.import_module("jali.sampling"), name)
    warnings.warn("jali.noise is now jali.sampling", DeprecationWarning, stacklevel=2)
    return value
