"""Compare the errors of all mechanisms for a statistic, side by side, on given or generated data.

What is shown here is exact and not private: it is for data that are public or made up, and for the one who owns
them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
