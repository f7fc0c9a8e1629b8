"""The subjects of published lower bounds at claim 0.1, with their input sizes and parameters.

Bichsel, Steffen, Bogunovic and Vechev 2021 (DP-Sniper) audit them with 10.7 million samples to learn an event, as
many to choose its threshold, and 200 million to bound it at confidence 0.9. They look only at events of
probability 0.01 and more, so what they find is the strongest loss among those. Sizes and parameters are those of
the evaluation that belongs to the paper: vectors of 5 values for noisy max and of 10, between -10 and 10, for
sparse vector and prefix sums, each of which may change by 1; a histogram of 5 cells, one of which may; one
positive answer of sparse vector, at threshold 1, and 1/2 for the first; a number that is released twenty times at
0.005. The bound is that of the better one of their two classifiers.

Inputs in that range that are ten changes apart lose up to ten times as much, by group privacy, and a tenth of what
is found between them has a far smaller error than what neighbours show; for prefix sums two changes are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial, wraps

import numpy as np

from jali.lab.audit.broken import broken_additive, broken_selection, broken_sparse_vector, broken_sums
from jali.lab.audit.broken.definition import Sampled, define_subject, level, source_of
from jali.lab.audit.subject import Outputs, Pair, Subject
from jali.privacy import Adjacency, Pure

PUBLISHED_CLAIM = Fraction(1, 10)
TIMES, STEPS = 20, 10
# What a table of results calls it: the maker of the subject at the published claim, and the published bound.
PUBLISHED: dict[str, tuple[Callable[[], Subject], float]] = {}

# Nothing is above the threshold before the last value, which is.
_ENDS_AT_THE_LAST: Pair = ((*level(9, 0.0), 5.0), (*level(9, 10.0), -5.0))


def _list_published(
    result: str, bound: float, far: Pair, steps: int = STEPS
) -> Callable[[Callable[[], Subject]], Callable[[], Subject]]:
    """List a maker, of a subject on neighbours and on inputs several changes apart."""

    def list_maker(define: Callable[[], Subject]) -> Callable[[], Subject]:
        @wraps(define)
        def make() -> Subject:
            near = define()
            return replace(near, pairs=near.pairs[:1], distant=((far, steps),), source=source_of(define))

        PUBLISHED[result] = make, bound
        return make

    return list_maker


@_list_published("Laplace", 0.0968, (0.0, 10.0))
def laplace() -> Subject:
    """Honest: a number with Laplace noise."""
    return broken_additive.laplace(PUBLISHED_CLAIM)


@_list_published("noisy histogram", 0.0978, (level(5, 0.0), (10.0, *level(4, 0.0))))
def histogram() -> Subject:
    """Honest: five cells with Laplace noise."""
    return broken_additive.histogram(PUBLISHED_CLAIM)


@_list_published("sparse vector 1", 0.0858, _ENDS_AT_THE_LAST)
def sparse_vector_1() -> Subject:
    """Honest: one positive answer, at threshold 1/2."""
    return broken_sparse_vector.lyu(PUBLISHED_CLAIM, 1, 0.5)


@_list_published("sparse vector 2", 0.0858, _ENDS_AT_THE_LAST)
def sparse_vector_2() -> Subject:
    """Honest: with one positive answer there is nothing to redraw, and it is the first at threshold 1."""
    return broken_sparse_vector.dwork_and_roth(PUBLISHED_CLAIM, 1)


@_list_published("sparse vector 3", 0.179, _ENDS_AT_THE_LAST)
def sparse_vector_3() -> Subject:
    """Broken: releases the value that it compared."""
    return broken_sparse_vector.roth(PUBLISHED_CLAIM)


@_list_published("sparse vector 4", 0.172, _ENDS_AT_THE_LAST)
def sparse_vector_4() -> Subject:
    """Broken: loses 7/4 epsilon at one positive answer."""
    return broken_sparse_vector.lee_and_clifton(PUBLISHED_CLAIM)


@_list_published("noisy max that prints the value", 0.248, (level(5, 0.0), level(5, 10.0)))
def value_of_noisy_max() -> Subject:
    """Broken: releases the largest of five values."""
    return broken_selection.value_of_noisy_max_laplace(PUBLISHED_CLAIM)


@_list_published("prefix sums", 0.577, (level(10, 0.0), level(10, 2.0)), steps=2)
def prefix_sums() -> Subject:
    """Broken where all of ten items change: loses 10 epsilon."""
    return broken_sums.sums_of_items_that_all_change(PUBLISHED_CLAIM)


def repeat_release(value: float, count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Release one number many times, each time with new Laplace noise."""
    return value + random.laplace(scale=scale, size=(count, TIMES))


@_list_published("parallel Laplace", 0.035, (0.0, 10.0))
@define_subject("Laplace, twenty times in parallel", Adjacency.ADD_REMOVE)
def parallel_laplace() -> Sampled:
    """Honest: twenty releases of one number that share epsilon evenly."""
    return Pure(PUBLISHED_CLAIM), ((1.0, 0.0),), partial(repeat_release, scale=TIMES / float(PUBLISHED_CLAIM))
