"""Broken twins: mechanisms with a mistake that people really make. The auditor must catch each of them.

`TWINS` have exact laws; `BROKEN`, `HONEST` and `PUBLISHED` make subjects that are sampled. They take generated
data only, and nothing else in the package may import them.
"""

from jali.audit.registry import Registration
from jali.audit.twins import additive, data_dependent, keys, selection, sparse_vector, streams
from jali.audit.twins.sampled import BROKEN, HONEST, PUBLISHED

TWINS: tuple[Registration, ...] = (
    *additive.TWINS,
    *selection.TWINS,
    *sparse_vector.TWINS,
    *keys.TWINS,
    *data_dependent.TWINS,
    *streams.TWINS,
)

__all__ = ["BROKEN", "HONEST", "PUBLISHED", "TWINS"]
