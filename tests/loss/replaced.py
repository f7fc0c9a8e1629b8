"""Where the watch stands: every function of the package through which an exact number meets randomness."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.loss.watch import Watch

import jali.execution.ask
import jali.execution.ask_batch
import jali.execution.measure
import jali.mechanisms.partition_selection.thresholded_counts
import jali.mechanisms.quantiles.rank_laws
import jali.mechanisms.selection.exponential_mechanism
import jali.mechanisms.selection.permute_and_flip
from jali.mechanisms import Gaussian, Laplace, LInfinity
from jali.mechanisms.partition_selection.key_tables import sort_keys
from jali.mechanisms.partition_selection.optimal_keys import OptimalKeys
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.quantiles.rank_laws import NestedIntervalLaw, PermuteAndFlipLaw
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.sampling import DiscreteGaussian, DiscreteLaplace
from jali.sampling.bits import KeyedBits, OperatingSystemBits


@contextmanager
def watching() -> Iterator[Watch]:
    """Replace all randomness, and watch."""
    watch = Watch()
    with ExitStack() as patched:
        for target, name, replacement in _replacements(watch):
            patched.enter_context(patch.object(target, name, replacement))
        yield watch


def _replacements(watch: Watch) -> Iterator[tuple[Any, str, Any]]:
    for kind, mechanism in (("laplace", Laplace), ("gaussian", Gaussian)):
        honest = mechanism.release_integers
        yield mechanism, "release_integers", _noisy(watch, kind, honest)
    yield DiscreteLaplace, "sample", lambda law, size, *, bits=None: watch._give("laplace", law.scale, size)
    yield DiscreteGaussian, "sample", lambda law, size, *, bits=None: watch._give("gaussian", law.variance, size)
    yield jali.execution.measure, "_together", _passing(watch.together, jali.execution.measure._together)
    yield LInfinity, "noise", _method(watch.cube, LInfinity.noise)
    yield WeightedQuantile, "release", _method(watch.quantile, WeightedQuantile.release)
    yield NestedIntervalLaw, "draw", lambda law, _: watch.mark("nested", law)
    yield PermuteAndFlipLaw, "draw", lambda law, _: watch.mark("flips", law)
    for choice in (Exponential, PermuteAndFlip):
        yield choice, "release", _method(watch.pick, choice.release)
    selection = jali.mechanisms.selection
    yield selection.exponential_mechanism, "draw_exponential", lambda x, size, bits: watch.place("exponential", x)
    yield selection.permute_and_flip, "draw_permute_and_flip", lambda x, size, bits: watch.place("flips", x)
    yield jali.mechanisms.quantiles.rank_laws, "draw_permute_and_flip", _unseen
    yield OptimalKeys, "choose", _method(watch.choose, OptimalKeys.choose)
    yield ThresholdedCounts, "tell", _method(watch.tell, ThresholdedCounts.tell)
    yield jali.mechanisms.partition_selection.thresholded_counts, "bernoulli", _no_coin
    yield jali.execution.measure, "sort_keys", _passing(watch.public_order, sort_keys)
    for module in (jali.execution.ask, jali.execution.ask_batch):
        yield module, "measure", _passing(watch.draw, jali.execution.measure.measure)
    for source in (KeyedBits, OperatingSystemBits):
        yield source, "_fill", _unseen


def _noisy(watch: Watch, kind: str, honest: Any) -> Any:
    return lambda mechanism, values, *, bits=None: watch.release_integers(kind, honest, mechanism, values)


def _method(watched: Any, honest: Any) -> Any:
    return lambda mechanism, *given, bits=None: watched(honest, mechanism, *given)


def _passing(watched: Any, honest: Any) -> Any:
    return lambda *given: watched(honest, *given)


def _no_coin(_: Fraction, size: int, *, bits: Any = None) -> np.ndarray:
    """Noisy counts are far above every threshold here: no coin decides."""
    assert size == 0, "a coin is tossed unseen"
    return np.zeros(0, np.bool_)


def _unseen(*_: Any, **__: Any) -> Any:
    raise AssertionError("something random is drawn unseen")
