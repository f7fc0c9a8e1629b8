"""The arrays of the lab."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# Zeros and ones; or codes, where a secret is more than bits.
Bits: TypeAlias = NDArray[np.integer[Any]]
Doubles: TypeAlias = NDArray[np.floating[Any]]
Members: TypeAlias = NDArray[np.bool_]
