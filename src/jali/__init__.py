"""Jali: a private statistical database.

>>> import jali
>>> db = jali.connect()

Importing it runs nothing: each name is loaded when it is first used. What is public, and where it lives, is listed
in `__init__.pyi`.
"""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("jali")
    return _load(name)
