from .of_diffprivlib import diffprivlib as diffprivlib
from .of_numpy import numpy as numpy
from .of_opendp import opendp as opendp
from .of_pydp import pydp as pydp

__all__: list[str]
