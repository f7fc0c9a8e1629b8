"""The attack lab: what can be learned from counts, by attacks with a measured success beside the law.

>>> from jali.lab import attacks
>>> attacks.Hadamard().run(attacks.simulator(n=64, noise="uniform:1", seed=1)).fraction
1.0

Importing it runs nothing; what is public, and where it lives, is listed in `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
