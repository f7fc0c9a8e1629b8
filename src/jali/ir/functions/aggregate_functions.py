"""The one table of aggregates: how each is written, what it takes and what kind it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.errors import QueryError
from jali.ir.expressions import Aggregate, Literal
from jali.ir.functions import Type
from jali.ir.relations import Fields
from jali.ir.types import infer_type

MOST_QUANTILES = 64
MOST_BINS = 500


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate of the question language.

    Attributes:
        name: How nodes call it.
        shape: How people write it.
        takes: What its argument must be: "anything", "number", "ordered" (a number, date or time) or "rows".
        columns: How many further columns it takes.
        constants: Checks its further constants.
        gives: The kind of its value; None for a value of its argument's kind.
    """

    name: str
    shape: str
    takes: str
    gives: Kind | None = Kind.REAL
    columns: int = 0
    constants: Callable[[Aggregate], None] | None = None

    def check(self, aggregate: Aggregate, kind: Type | None, others: list[Type]) -> None:
        """Refuse arguments of the wrong kind."""
        if kind is not None and not self._accepts(kind):
            wanted = {"number": "a number", "ordered": "a number, a date or a time"}[self.takes]
            raise QueryError(
                "aggregate-argument", position=aggregate.position, name=self.name.upper(), wanted=wanted
            )
        if self.columns and not all(other.numeric for other in others):
            raise QueryError("aggregate-takes-numbers", position=aggregate.position, shape=self.shape)
        if self.constants is not None:
            self.constants(aggregate)

    def _accepts(self, kind: Type) -> bool:
        if self.takes == "number":
            return kind.numeric
        return self.takes != "ordered" or kind.numeric or kind.kind in (Kind.DATE, Kind.TIMESTAMP)


def read_constant(aggregate: Aggregate, place: int) -> Fraction:
    """Return a constant argument of an aggregate."""
    from jali.ir.functions.evaluate import evaluate

    other = aggregate.others[place]
    value = other.value if isinstance(other, Literal) else evaluate(other, {})
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        raise QueryError(
            "aggregate-arguments-constant", position=aggregate.position, function=aggregate.function.upper()
        )
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def read_constants(aggregate: Aggregate) -> tuple[Fraction, ...]:
    """Return all constant arguments of an aggregate."""
    return tuple(read_constant(aggregate, place) for place in range(len(aggregate.others)))


def _quantiles(aggregate: Aggregate) -> None:
    found = read_constants(aggregate)
    if not 1 <= len(found) <= MOST_QUANTILES or not all(0 <= at <= 1 for at in found):
        raise QueryError("quantiles-outside", position=aggregate.position, most=MOST_QUANTILES)


def _even_quantiles(aggregate: Aggregate) -> None:
    found = read_constants(aggregate)
    if len(found) != 1 or found[0].denominator != 1 or not 1 <= found[0] < MOST_QUANTILES:
        raise QueryError("approx-quantiles-parts", position=aggregate.position)


def _top(aggregate: Aggregate) -> None:
    found = read_constants(aggregate)
    if len(found) != 1 or found[0].denominator != 1 or not 1 <= found[0] <= 1000:
        raise QueryError("approx-top-k-count", position=aggregate.position)


def _bins(aggregate: Aggregate) -> None:
    if not aggregate.others:
        return
    found = read_constants(aggregate)
    if len(found) > MOST_BINS or list(found) != sorted(set(found)):
        raise QueryError(
            "bins-malformed", position=aggregate.position, function=aggregate.function.upper(), most=MOST_BINS
        )


_ONE = [
    ("var_pop", "VAR_POP"),
    ("var_samp", "VAR_SAMP"),
    ("stddev_pop", "STDDEV_POP"),
    ("stddev_samp", "STDDEV_SAMP"),
]
_REGRESSION = ("slope", "intercept", "count", "avgx", "avgy", "sxx", "syy", "sxy", "r2")
_TWO = ("covar_pop", "covar_samp", "corr", *(f"regr_{name}" for name in _REGRESSION))

AGGREGATES: dict[str, AggregateFunction] = {
    function.name: function
    for function in (
        AggregateFunction("count", "COUNT(*), COUNT(x), COUNT(DISTINCT x)", "anything"),
        AggregateFunction("sum", "SUM(x)", "number"),
        AggregateFunction("avg", "AVG(x)", "number"),
        *(AggregateFunction(name, f"{shown}(x)", "number") for name, shown in _ONE),
        *(AggregateFunction(name, f"{name.upper()}(y, x)", "number", columns=1) for name in _TWO),
        AggregateFunction("median", "MEDIAN(x)", "ordered", None),
        AggregateFunction("quantile_cont", "QUANTILE_CONT(x, 0.5)", "ordered", None, constants=_quantiles),
        AggregateFunction("quantile_disc", "QUANTILE_DISC(x, 0.5)", "ordered", None, constants=_quantiles),
        AggregateFunction(
            "approx_quantiles", "APPROX_QUANTILES(x, 4)", "ordered", None, constants=_even_quantiles
        ),
        AggregateFunction("min", "MIN(x)", "ordered", None),
        AggregateFunction("max", "MAX(x)", "ordered", None),
        AggregateFunction("mode", "MODE(x)", "anything", None),
        AggregateFunction("approx_top_k", "APPROX_TOP_K(x, 3)", "anything", None, constants=_top),
        AggregateFunction("histogram", "HISTOGRAM(x), HISTOGRAM(x, [10, 20])", "anything", constants=_bins),
        AggregateFunction("cdf", "CDF(x, [10, 20])", "anything", constants=_bins),
    )
}
_LISTS = ("approx_top_k", "approx_quantiles", "histogram", "cdf")


def gives_list(aggregate: Aggregate) -> bool:
    """Say whether the value is a list of values."""
    several = aggregate.function in ("quantile_cont", "quantile_disc") and len(aggregate.others) > 1
    return several or aggregate.function in _LISTS


def infer_aggregate_type(aggregate: Aggregate, fields: Fields) -> Type:
    """Return the kind of an aggregate's value, as expressions after the noise see it."""
    if gives_list(aggregate):
        return Type(Kind.OTHER)
    kind = AGGREGATES[aggregate.function].gives
    if kind is None and aggregate.argument is not None:
        own_kind = infer_type(aggregate.argument, fields).kind
        return Type(Kind.REAL if own_kind is None or own_kind.numeric else own_kind)
    return Type(kind)
