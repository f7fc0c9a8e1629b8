"""Audit privacy claims: try to prove them false.

A pass says what was tried, never more. Importing the package runs nothing; what is public, and where it lives,
is listed in `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
