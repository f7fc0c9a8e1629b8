"""Experiments on privacy: attacks, audits, and comparisons of mechanisms.

Nothing here serves an answer. It is loaded only when it is used, and it works on generated or public data.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
