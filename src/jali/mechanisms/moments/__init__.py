"""Values and confidence intervals of variance, covariance, correlation and regression, from noisy sums.

Nothing here sees a table or draws noise: all of it is post-processing of sums that left through the noise.
Importing it runs nothing; what is public is listed in `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
