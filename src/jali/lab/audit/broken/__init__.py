"""Broken mechanisms: each has a mistake that people really make. The auditor must catch each of them.

`EXACT` have exact laws; `BROKEN`, `HONEST` and `PUBLISHED` make subjects that are sampled, for the stages that
know no exact law: each is a function of the claimed epsilon. Sampled ones draw numpy's noise from a generator that
may be seeded. They take generated data only, and nothing else in the package may import them.
"""

from jali.lab.audit.broken import (
    broken_additive,
    broken_data_dependent,
    broken_selection,
    broken_sparse_vector,
    broken_sums,
    definition,
)
from jali.lab.audit.broken.published_bounds import PUBLISHED
from jali.lab.audit.subjects.registration import Registration

EXACT: tuple[Registration, ...] = (
    *broken_additive.EXACT,
    *broken_selection.EXACT,
    *broken_sparse_vector.EXACT,
    *broken_selection.EXACT_KEYS,
    *broken_data_dependent.EXACT,
    *broken_sums.EXACT,
)
BROKEN, HONEST = tuple(definition.BROKEN), tuple(definition.HONEST)

__all__ = ["BROKEN", "EXACT", "HONEST", "PUBLISHED"]
