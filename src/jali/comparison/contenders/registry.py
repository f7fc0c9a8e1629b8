"""All statistics that can be compared: one line each."""

from __future__ import annotations

from jali.comparison.contenders import centre, line, order, winner
from jali.comparison.contenders.field import Field

STATISTICS: dict[str, Field] = {
    "median": order.MEDIAN,
    "quantile": order.QUANTILE,
    "minimum": order.MINIMUM,
    "maximum": order.MAXIMUM,
    "mean": centre.MEAN,
    "variance": centre.VARIANCE,
    "mode": winner.MODE,
    "slope": line.SLOPE,
}
