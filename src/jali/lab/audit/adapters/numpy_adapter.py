"""Audit numpy's noise added to a value, which is what many hand-written mechanisms are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.subject import Pair, Subject
from jali.lab.audit.subject_loader import subject_of
from jali.privacy import Adjacency, Loss
from jali.privacy.rationals import Number

# The laws of numpy that have a place and a scale.
_LAWS = ("laplace", "normal", "gumbel", "logistic")


def numpy(
    noise: str | Callable[..., Any],
    *,
    scale: float,
    adjacency: str | Adjacency,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    loss: Loss | None = None,
    data: str | Pattern | None = "scalar",
    pairs: Iterable[Pair] | None = None,
) -> Subject:
    """Return a value, or a list of them, with noise of numpy's around it, as a subject.

    Args:
        noise: The name of a law of numpy's generators, "laplace", "normal", "gumbel" or "logistic"; or a function
            that is called as `noise(value, scale, shape)`, such as `numpy.random.laplace`.
        scale: Its scale.
        adjacency: When two inputs are neighbours.
        epsilon: The claim: epsilon, with a delta or without, or rho, or a loss of any kind.
        delta: See above.
        rho: See above.
        loss: See above.
        data: What it takes, as a pattern.
        pairs: Neighbouring inputs, in place of a pattern.

    Example:
        >>> subject = numpy("laplace", scale=1 / 0.7, epsilon=0.7, adjacency="add-remove")
        >>> subject.name, subject.draw(0, 5, np.random.default_rng(1)).shape
        ('numpy laplace of scale 1.429, scalar', (5, 3))
    """
    if isinstance(noise, str) and noise not in _LAWS:
        raise CatalogError("audited-law-unknown", noise=noise, laws=tuple(_LAWS))

    def noisy(value: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        place = np.asarray(value, np.float64)
        draw = getattr(rng, noise) if isinstance(noise, str) else noise
        return np.asarray(draw(place, scale, (size, *place.shape)))

    law = noise if isinstance(noise, str) else getattr(noise, "__name__", "noise")
    return subject_of(
        noisy,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        loss=loss,
        adjacency=adjacency,
        data=None if pairs is not None else data,
        pairs=pairs,
        name=f"numpy {law} of scale {scale:.4g}",
    )
