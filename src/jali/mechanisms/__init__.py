"""Mechanisms: one per file, each with its loss, its error law and its exact release. No database needed.

Importing it runs nothing. What is public, and where it lives, is listed in `__init__.pyi`: one line there
registers a mechanism, for users, for the law suite and for the auditor alike.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
