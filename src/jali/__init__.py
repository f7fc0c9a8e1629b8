"""Jali: a private statistical database.

>>> import jali
>>> db = jali.connect()

Importing it runs nothing: each name is loaded when it is first used. What is public, and where it lives, is listed
in `__init__.pyi`; names of earlier releases are in `deprecated.py`.
"""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    if name == "__version__":
        from importlib.metadata import version

        return version("jali")
    if name == "errors":
        # Errors are caught where nothing else of Jali was used yet.
        from importlib import import_module

        return import_module("jali.errors")
    from jali.deprecated import find_renamed

    return find_renamed(__name__, name)
