"""Audit functions of other packages: numpy, OpenDP, diffprivlib and PyDP.

None of these packages is needed or imported: what is audited is passed in ready made.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
