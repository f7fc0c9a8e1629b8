"""Private mechanisms, each with its loss, its error law and its exact release; no database is needed.

Importing it runs nothing. What users call, and where it lives, is listed in `__init__.pyi`. A mechanism is
registered by being defined in a module of this package, for the law suite and the auditor alike: `registry.py`.
"""

from typing import Any

import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return _load(name)
    from jali.deprecated import find_renamed

    return find_renamed(__name__, name)
