"""The statistics that are read from noisy sums, and the sums that each of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# x is the explaining variable, which SQL writes second: REGR_SLOPE(y, x). Only rows that have both values count.
# What is subtracted from a square, in squared reaches: values in [0, 1] are then within 1/2.
SQUARE_CENTER = 0.5
_ONE = ("n", "sx", "sxx")
_TWO = ("n", "sx", "sy", "sxy")
_LINE = ("n", "sx", "sy", "sxx", "sxy")
_ALL = ("n", "sx", "sy", "sxx", "syy", "sxy")

KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "var_pop": _ONE,
        "var_samp": _ONE,
        "stddev_pop": _ONE,
        "stddev_samp": _ONE,
        "covar_pop": _TWO,
        "covar_samp": _TWO,
        "corr": _ALL,
        "regr_slope": _LINE,
        "regr_intercept": _LINE,
        "regr_r2": _ALL,
        "regr_count": ("n",),
        "regr_avgx": ("n", "sx"),
        "regr_avgy": ("n", "sy"),
        "regr_sxx": _ONE,
        "regr_syy": ("n", "sy", "syy"),
        "regr_sxy": _TWO,
    }
)
