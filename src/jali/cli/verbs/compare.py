"""`jali compare`: compare the errors of all mechanisms for a statistic, on a file or on made-up data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.options import AsJson, number_option
from jali.cli.output import StageProgress, save_figure, write_json
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.lab.compare.comparison_table import Comparison

_MOST_DRAWS = 1_000_000


def compare(
    statistic: Annotated[
        str,
        typer.Argument(
            metavar="STATISTIC", help="median, quantile, minimum, maximum, mean, variance, mode or slope."
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A CSV or Parquet file; synthetic data by default.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column; two names, separated by a comma, for a slope.")
    ] = None,
    low: Annotated[str | None, number_option("The public lower bound; required with --data.")] = None,
    high: Annotated[str | None, number_option("The public upper bound; required with --data.")] = None,
    step: Annotated[str | None, number_option("The step of the value grid; fine by default.")] = None,
    epsilon: Annotated[str, number_option("The epsilon of each release.")] = "1",
    delta: Annotated[str, number_option("The delta of mechanisms that have one.")] = "1e-6",
    at: Annotated[str, number_option("The quantile.")] = "1/2",
    adjacency: Annotated[str, typer.Option(metavar="NAME", help="replace-one or add-remove.")] = "replace-one",
    shape: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="The shapes of synthetic data; all by default.")
    ] = None,
    people: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="The number of synthetic people.")] = 1001,
    draws: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=_MOST_DRAWS, help="The number of releases per mechanism.")
    ] = 1000,
    seed: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="The seed of synthetic data.")] = 1,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Plot the errors into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the errors of all mechanisms for a statistic. Nothing is spent, and the output is NOT private.

    Errors are measured against the true value: use synthetic or public data, or your own data.

    Example: [bold]jali compare median --epsilon 1[/bold]
    """
    from jali.lab.compare.measure_errors import compare as measure

    given: Any = None if data is None else _read_columns(data, column)
    shapes = None if shape is None else tuple(part.strip() for part in shape.split(","))
    with StageProgress() as stages:
        result = measure(
            statistic,
            given,
            epsilon,
            low=low,
            high=high,
            step=step,
            at=at,
            delta=delta,
            adjacency=adjacency,
            shapes=shapes,
            people=people,
            draws=draws,
            seed=seed,
            progress=stages,
        )
    _write_comparison(result, plot=plot, as_json=as_json)


def _write_comparison(result: Comparison, *, plot: str | None, as_json: bool) -> None:
    if plot is not None:
        save_figure(Path(plot), result.plot)
    if as_json:
        write_json(result.to_dict())
    else:
        print(result)


def _read_columns(path: Path, column: str | None) -> Any:
    """Return one column, or a table of two, of a file."""
    import duckdb
    import numpy as np

    if not column:
        raise CatalogError("compare-column-without-data")
    names = [name.strip() for name in column.split(",")]
    try:
        relation = duckdb.read_parquet(str(path)) if path.suffix == ".parquet" else duckdb.read_csv(str(path))
        columns = relation.select(*(duckdb.ColumnExpression(name).cast("DOUBLE") for name in names)).fetchnumpy()
    except duckdb.Error:  # its own words may quote a value
        raise CatalogError("compare-column-without-numbers", path=path, column=column) from None
    arrays = [np.ma.filled(np.ma.asarray(values, np.float64), np.nan) for values in columns.values()]
    return arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)
