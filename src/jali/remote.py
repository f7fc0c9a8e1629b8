"""The old name of `jali.client`, sessions at a server: it works for one release, with a warning."""

import importlib
import warnings
from typing import Any

__all__ = ["open_session"]  # noqa: F822 - which `__getattr__` finds


def __getattr__(name: str) -> Any:
    if name != "open_session":
        raise AttributeError(f"module 'jali.remote' has no attribute {name!r}")
    value = importlib.import_module("jali.client.remote_database").open_session
    warnings.warn("jali.remote is now jali.client", DeprecationWarning, stacklevel=2)
    return value
