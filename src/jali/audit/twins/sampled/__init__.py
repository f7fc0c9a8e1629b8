"""Twins as samplers: subjects whose outputs are drawn fast, for the stages that know no exact law.

Each is a function of the claimed epsilon that makes a `Subject`. The broken ones must be caught and the honest
ones pass. They draw numpy's noise from a generator that may be seeded, take generated data only, and nothing else
in the package may import them.
"""

from collections.abc import Callable

from jali.audit.subject import Subject
from jali.audit.twins.sampled import additive, data_dependent, keys, noisy_max, sparse_vector, sums
from jali.audit.twins.sampled.published import PUBLISHED

BROKEN: tuple[Callable[..., Subject], ...] = (
    additive.histogram_with_inverted_scale,
    additive.laplace_with_inverted_scale,
    additive.replaced_with_add_remove_noise,
    additive.classical_gaussian,
    noisy_max.value_of_noisy_max_laplace,
    noisy_max.value_of_noisy_max_exponential,
    sparse_vector.roth,
    sparse_vector.lee_and_clifton,
    sparse_vector.stoddard,
    sparse_vector.chen,
    sums.partial_sum_with_half_the_noise,
    sums.smart_sums_without_block_noise,
    sums.prefix_sums_charged_once,
    sums.sums_of_items_that_all_change,
    data_dependent.smooth_sensitivity_without_the_table,
    data_dependent.retried_for_free,
    keys.threshold_off_by_the_tie,
)
HONEST: tuple[Callable[..., Subject], ...] = (
    additive.laplace,
    additive.exact_laplace,
    additive.histogram,
    noisy_max.noisy_max_laplace,
    noisy_max.noisy_max_exponential,
    noisy_max.noisy_max_gumbel,
    sparse_vector.lyu,
    sparse_vector.dwork_and_roth,
)

__all__ = ["BROKEN", "HONEST", "PUBLISHED"]
