"""The old name of `jali.lab.audit`, the auditor: it works for one release, with a warning."""

import importlib
import warnings
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(importlib.import_module("jali.lab.audit"), name)
    warnings.warn("jali.audit is now jali.lab.audit", DeprecationWarning, stacklevel=2)
    return value
