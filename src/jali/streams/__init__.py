"""Continual release: counts and sums that are published tick after tick, private over their whole life.

Importing it runs nothing; what is public, and where it lives, is listed in `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
