"""Audit functions of other packages: numpy, OpenDP, diffprivlib and PyDP.

None of these packages is needed or imported: what is audited is passed in ready made. Many hand-written
mechanisms are numpy's noise added to a value. Of a measurement of OpenDP the claim is read off the privacy map,
and neighbours off the input metric. diffprivlib has mechanisms with a `randomise`, tools that take `epsilon`, and
models with a `fit`. PyDP, Google's library for Python, has algorithms whose `quick_result` takes a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.neighbours import build_pairs
from jali.lab.audit.subject import Pair, Subject
from jali.lab.audit.subject_loader import subject_of
from jali.privacy import Adjacency, Approximate, Concentrated, Loss, Pure, Renyi
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


_ADJACENCIES = {
    "SymmetricDistance": Adjacency.ADD_REMOVE,
    "InsertDeleteDistance": Adjacency.ADD_REMOVE,
    "ChangeOneDistance": Adjacency.REPLACE_ONE,
    "HammingDistance": Adjacency.REPLACE_ONE,
    "DiscreteDistance": Adjacency.REPLACE_ONE,
}
# How the entries of a vector move together, by the metric.
_VECTORS = {"L1Distance": "counts", "L2Distance": "counts", "LInfDistance": "answers"}
_ORDERS = (1.1, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)


def opendp(
    measurement: Any,
    *,
    d_in: float = 1,
    adjacency: str | Adjacency | None = None,
    loss: Loss | None = None,
    delta: Number | None = None,
    data: str | Pattern | None = None,
    pairs: Iterable[Pair] | None = None,
    name: str = "OpenDP measurement",
) -> Subject:
    """Return a measurement of OpenDP as a subject.

    Args:
        measurement: Anything that `opendp.measurements.make_...` returned, or a chain that ends in one.
        d_in: How far apart neighbouring inputs are, in its input metric.
        adjacency: When two tables are neighbours; read off a metric on tables if it is not given.
        loss: The claim; by default what its map says about `d_in`.
        delta: The delta at which a whole curve of claims is tested.
        data: What it takes, as a pattern; read off its input domain and metric if it is not given.
        pairs: Neighbouring inputs, in place of a pattern.
        name: What reports call it.
    """
    metric = _name_metric(measurement.input_metric)
    related = adjacency or _ADJACENCIES.get(metric)
    if related is None:
        raise CatalogError("audited-metric-without-adjacency", metric=metric, name="adjacency")
    if pairs is None:
        pairs = _read_pairs(measurement, d_in, Adjacency.of(related), data)
    claim = _read_claim(measurement, d_in, delta) if loss is None else loss

    def measure(data: Any) -> Any:
        return measurement(data)

    return subject_of(measure, loss=claim, adjacency=related, pairs=pairs, name=name)


def _read_claim(measurement: Any, d_in: float, delta: Number | None) -> Loss:
    """Return what the privacy map says, in the measure of the measurement."""
    measure = str(measurement.output_measure)
    said = measurement.map(_convert_number(measurement.input_distance_type, d_in))
    if measure == "MaxDivergence":
        return Pure(said)
    if measure == "ZeroConcentratedDivergence":
        return Concentrated(said)
    if measure == "Approximate(MaxDivergence)":
        return Pure(said[0]) if not said[1] else Approximate(said[0], said[1])
    if measure == "RenyiDivergence":
        return Renyi({order: said(order) for order in _ORDERS})
    if measure == "SmoothedMaxDivergence" and delta is not None:
        return Approximate(said.epsilon(float(delta)), delta)
    if measure == "SmoothedMaxDivergence":
        raise CatalogError("audited-claim-needs-delta", measure=measure)
    raise CatalogError("audited-claim-unread", measure=measure)


def _read_pairs(measurement: Any, d_in: float, adjacency: Adjacency, data: str | Pattern | None) -> Iterable[Pair]:
    """Return neighbours of a pattern, given or read off the domain and the metric."""
    if data is not None:
        return build_pairs(data, adjacency)
    metric, carrier = str(measurement.input_metric), str(measurement.input_carrier_type)
    head, vector = _name_metric(metric), carrier.startswith("Vec<")
    step = _convert_number(carrier.removeprefix("Vec<").removesuffix(">"), d_in)
    if carrier == "bool" and head == "DiscreteDistance":
        return [(False, True)]
    if head == "AbsoluteDistance":
        return build_pairs(Pattern("scalar", step=step), adjacency)
    if head in _VECTORS and vector:
        kind = "monotone" if "monotonic" in metric else _VECTORS[head]
        # One entry moves by the whole distance, as when a person comes or goes.
        return build_pairs(Pattern(kind, 5, step=step), Adjacency.ADD_REMOVE)
    if head in _ADJACENCIES and vector and d_in == 1:
        return build_pairs(_read_table(measurement.input_domain, step), adjacency)
    raise CatalogError("audited-neighbours-unknown", carrier=carrier, metric=metric)


def _read_table(domain: Any, one: float) -> Pattern:
    """Return a list of numbers in the bounds of a domain, of its type and size."""
    low, high = getattr(domain.element_domain, "bounds", None) or (0 * one, one)
    return Pattern("values", getattr(domain, "size", None) or 10, (low, high))


def _convert_number(carrier: Any, number: float) -> float:
    """Return a number as OpenDP takes it: it tells floats from integers."""
    return float(number) if str(carrier).startswith("f") else int(number)


def _name_metric(metric: Any) -> str:
    """Return the name of a metric without its type."""
    return str(metric).partition("(")[0]


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


def pydp(
    algorithm: Any,
    *,
    adjacency: str | Adjacency,
    data: str | Pattern | None = None,
    pairs: Iterable[Pair] | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    name: str | None = None,
) -> Subject:
    """Return an algorithm of PyDP as a subject.

    `quick_result` resets the budget of the algorithm before each run, so that all runs are alike.

    Args:
        algorithm: Such as `BoundedMean(epsilon=0.7, lower_bound=0, upper_bound=1, dtype="float")`.
        adjacency: When two lists are neighbours; PyDP means "add-remove".
        data: What it takes, as a pattern with the bounds of the algorithm, such as "values:10 in 0.0..1.0": an
            algorithm does not tell its bounds.
        pairs: Neighbouring lists, in place of a pattern.
        epsilon: The claim; read off the algorithm by default.
        delta: The same.
        name: What reports call it.
    """
    epsilon = algorithm.epsilon if epsilon is None else epsilon
    delta = (getattr(algorithm, "delta", None) or None) if delta is None else delta

    def release(data: Any) -> Any:
        return algorithm.quick_result(data)

    return subject_of(
        release,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        data=data,
        pairs=pairs,
        name=name or f"PyDP {type(algorithm).__name__}",
    )
