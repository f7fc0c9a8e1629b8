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
from functools import partial

import numpy as np

from jali.audit.subject import Outputs, Pair, Subject
from jali.audit.twins.sampled import additive, noisy_max, sparse_vector, sums
from jali.audit.twins.sampled.making import level, sampled
from jali.privacy import Adjacency, Pure

PUBLISHED_CLAIM = Fraction(1, 10)
TIMES, STEPS = 20, 10


def repeated(value: float, count: int, random: np.random.Generator, scale: float) -> Outputs:
    """Tell one number many times, each time with new Laplace noise."""
    return value + random.laplace(scale=scale, size=(count, TIMES))


def laplace() -> Subject:
    """Honest: a number with Laplace noise."""
    return _named(additive.laplace(PUBLISHED_CLAIM), "laplace", (0.0, 10.0))


def histogram() -> Subject:
    """Honest: five cells with Laplace noise."""
    return _named(additive.histogram(PUBLISHED_CLAIM), "histogram", (level(5, 0.0), (10.0, *level(4, 0.0))))


def sparse_vector_1() -> Subject:
    """Honest: one positive answer, at threshold 1/2."""
    return _named(sparse_vector.lyu(PUBLISHED_CLAIM, 1, 0.5), "sparse_vector_1", _ENDS_AT_THE_LAST)


def sparse_vector_2() -> Subject:
    """Honest: with one positive answer there is nothing to redraw, and it is the first at threshold 1."""
    return _named(sparse_vector.dwork_and_roth(PUBLISHED_CLAIM, 1), "sparse_vector_2", _ENDS_AT_THE_LAST)


def sparse_vector_3() -> Subject:
    """Broken: tells the value that it compared."""
    return _named(sparse_vector.roth(PUBLISHED_CLAIM), "sparse_vector_3", _ENDS_AT_THE_LAST)


def sparse_vector_4() -> Subject:
    """Broken: loses 7/4 epsilon at one positive answer."""
    return _named(sparse_vector.lee_and_clifton(PUBLISHED_CLAIM), "sparse_vector_4", _ENDS_AT_THE_LAST)


def value_of_noisy_max() -> Subject:
    """Broken: tells the largest of five values."""
    made = noisy_max.value_of_noisy_max_laplace(PUBLISHED_CLAIM)
    return _named(made, "value_of_noisy_max", (level(5, 0.0), level(5, 10.0)))


def prefix_sums() -> Subject:
    """Broken where all of ten items change: loses 10 epsilon."""
    made = sums.sums_of_items_that_all_change(PUBLISHED_CLAIM)
    return _named(made, "prefix_sums", (level(10, 0.0), level(10, 2.0)), steps=2)


def parallel_laplace() -> Subject:
    """Honest: twenty releases of one number that share epsilon evenly."""
    sampler = partial(repeated, scale=TIMES / float(PUBLISHED_CLAIM))
    name, source = "Laplace, twenty times in parallel", "published:parallel_laplace"
    made = sampled(name, Pure(PUBLISHED_CLAIM), Adjacency.ADD_REMOVE, ((1.0, 0.0),), sampler, source)
    return _named(made, "parallel_laplace", (0.0, 10.0))


def _named(subject: Subject, maker: str, far: Pair, steps: int = STEPS) -> Subject:
    """Return a subject on neighbours and on inputs several changes apart, with where it can be made again."""
    return replace(subject, pairs=subject.pairs[:1], distant=((far, steps),), source=f"{__name__}:{maker}")


# Nothing is above the threshold before the last value, which is.
_ENDS_AT_THE_LAST: Pair = ((*level(9, 0.0), 5.0), (*level(9, 10.0), -5.0))
# What a table of results calls it: the maker of the subject at the published claim, and the published bound.
PUBLISHED: dict[str, tuple[Callable[[], Subject], float]] = {
    "Laplace": (laplace, 0.0968),
    "noisy histogram": (histogram, 0.0978),
    "sparse vector 1": (sparse_vector_1, 0.0858),
    "sparse vector 2": (sparse_vector_2, 0.0858),
    "sparse vector 3": (sparse_vector_3, 0.179),
    "sparse vector 4": (sparse_vector_4, 0.172),
    "noisy max that prints the value": (value_of_noisy_max, 0.248),
    "prefix sums": (prefix_sums, 0.577),
    "parallel Laplace": (parallel_laplace, 0.035),
}
