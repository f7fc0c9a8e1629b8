"""Audit diffprivlib: mechanisms with a `randomise`, tools that take `epsilon`, and models with a `fit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.subject import Pair, Subject
from jali.lab.audit.subject_loader import subject_of
from jali.privacy import Adjacency
from jali.privacy.rationals import Number


def diffprivlib(
    audited: Any,
    *,
    adjacency: str | Adjacency,
    epsilon: Number | None = None,
    delta: Number | None = None,
    data: str | Pattern | None = None,
    pairs: Iterable[Pair] | None = None,
    name: str | None = None,
    **arguments: Any,
) -> Subject:
    """Return something of diffprivlib as a subject, with its own noise.

    Args:
        audited: A mechanism, such as `Laplace(epsilon=0.7, sensitivity=1)`; a tool, such as `tools.mean`; or the
            class of a model, such as `models.GaussianNB`, whose output is all that `fit` learned.
        adjacency: When two inputs are neighbours. For tools and models whose noise shrinks with the number of
            records, diffprivlib means "replace-one".
        epsilon: The claim; read off a mechanism, and passed on to tools and models.
        delta: The same.
        data: What it takes, as a pattern; by default one number that moves by the sensitivity of a mechanism, or
            numbers in the `bounds` of a tool.
        pairs: Neighbouring inputs, in place of a pattern; for models tuples of what `fit` takes.
        name: What reports call it.
        arguments: What a tool or a model takes besides, such as `bounds=(0, 1)`.
    """
    if callable(getattr(audited, "randomise", None)) and not inspect.isclass(audited):
        epsilon = audited.epsilon if epsilon is None else epsilon
        delta = (audited.delta or None) if delta is None else delta
        run, title = audited.randomise, type(audited).__name__
        usual = _read_neighbours(audited)
    elif epsilon is None:
        raise CatalogError("audited-epsilon-missing", name="epsilon")
    else:
        claim = {"epsilon": float(epsilon), **({} if delta is None else {"delta": float(delta)})}
        run, title = _run(audited, {**claim, **arguments}), audited.__name__
        usual = _read_bounds(arguments.get("bounds"))
    if data is None and pairs is None:
        data, pairs = usual
    return subject_of(
        run,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        data=data,
        pairs=pairs,
        name=name or f"diffprivlib {title}",
    )


def _read_neighbours(mechanism: Any) -> tuple[Pattern | None, Iterable[Pair] | None]:
    """Return neighbours at the sensitivity of a mechanism: integers where it is one, or the values of a coin."""
    if hasattr(mechanism, "value0"):
        return None, [(mechanism.value0, mechanism.value1)]
    if not hasattr(mechanism, "sensitivity"):
        raise CatalogError("audited-sensitivity-missing")
    return Pattern("scalar", step=mechanism.sensitivity), None


def _read_bounds(bounds: Any) -> tuple[Pattern | None, None]:
    """Return numbers in the bounds of a tool."""
    if bounds is None:
        raise CatalogError("audited-data-missing", name="data")
    low, high = bounds
    return Pattern("values", 10, (float(low), float(high)), array=True), None


def _run(audited: Callable[..., Any], given: dict[str, Any]) -> Callable[[Any], Any]:
    """Return what calls a tool, or fits a new model and returns what it learned."""
    if not inspect.isclass(audited):
        return lambda data: audited(data, **given)

    def fit_model(data: Any) -> dict[str, Any]:
        model: Any = audited(**given)
        model.fit(*data) if isinstance(data, tuple) else model.fit(data)
        return {key: value for key, value in vars(model).items() if key.endswith("_") and key[0] != "_"}

    return fit_model
