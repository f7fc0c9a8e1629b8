"""Audit measurements of OpenDP: the claim is read off the privacy map, and neighbours off the input metric."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.neighbours import build_pairs
from jali.lab.audit.subject import Pair, Subject
from jali.lab.audit.subject_loader import subject_of
from jali.privacy import Adjacency, Approximate, Concentrated, Loss, Pure, Renyi
from jali.privacy.rationals import Number

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
