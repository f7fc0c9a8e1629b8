"""Broken mechanisms: each has a mistake that people really make. The auditor must catch each of them.

`EXACT` have exact laws; `BROKEN`, `HONEST` and `PUBLISHED` make subjects that are sampled, for the stages that
know no exact law: each is a function of the claimed epsilon. Sampled ones draw numpy's noise from a generator that
may be seeded. They take generated data only, and nothing else in the package may import them.
"""

from jali.audit.broken import additive, data_dependent, definition, keys, selection, sparse_vector, sums
from jali.audit.broken.published import PUBLISHED
from jali.audit.registry import Registration

EXACT: tuple[Registration, ...] = (
    *additive.EXACT,
    *selection.EXACT,
    *sparse_vector.EXACT,
    *keys.EXACT,
    *data_dependent.EXACT,
    *sums.EXACT,
)
BROKEN, HONEST = tuple(definition.BROKEN), tuple(definition.HONEST)

__all__ = ["BROKEN", "EXACT", "HONEST", "PUBLISHED"]
