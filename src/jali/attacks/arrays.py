"""The arrays of the lab."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[np.int8]
Doubles: TypeAlias = NDArray[np.floating[Any]]
Members: TypeAlias = NDArray[np.bool_]
