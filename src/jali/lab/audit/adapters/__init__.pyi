from .diffprivlib_adapter import diffprivlib as diffprivlib
from .numpy_adapter import numpy as numpy
from .opendp_adapter import opendp as opendp
from .pydp_adapter import pydp as pydp

__all__: list[str]
