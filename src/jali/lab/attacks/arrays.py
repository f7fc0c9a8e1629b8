"""Array types of the attack lab, and the lazy import of scipy.

Only the lab needs scipy, and not all of the lab does.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import JaliError

# Zeros and ones; or codes, where a secret is more than bits.
Bits: TypeAlias = NDArray[np.integer[Any]]
Doubles: TypeAlias = NDArray[np.floating[Any]]
Members: TypeAlias = NDArray[np.bool_]


def import_scipy(module: str) -> Any:
    """Return a module of scipy, such as "optimize"."""
    try:
        return import_module(f"scipy.{module}")
    except ImportError:
        raise JaliError("scipy-missing") from None
