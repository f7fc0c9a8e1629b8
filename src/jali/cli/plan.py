"""`jali plan`: which noise, how many questions, and what budget is enough. No database is opened."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jali.cli.options import AsJson, Confidence
from jali.cli.terminal import ink_for, width_for
from jali.cli.writing import check_confidence, write_json
from jali.display.text import TextColumn, table
from jali.errors import CatalogError

if TYPE_CHECKING:
    from jali.privacy import Budget
    from jali.privacy.composition.table import Table
    from jali.privacy.planning.plan import QueryPlan

_REMEDY = "Give two of --epsilon, --queries and --error, or --epsilon and --rows, or --each-epsilon and --queries."

# The parameters of the planner, and the options that set them.
_OPTIONS = {
    "epsilon": "--epsilon",
    "delta": "--delta",
    "k": "--queries",
    "accuracy": "--error",
    "rows": "--rows",
    "each_epsilon": "--each-epsilon",
    "sensitivity": "--sensitivity",
}


def plan(
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="What all queries together may spend.")
    ] = None,
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="Their delta; Gaussian noise needs one.")] = "0",
    queries: Annotated[int | None, typer.Option(metavar="NUMBER", help="How many counting queries.")] = None,
    error: Annotated[str | None, typer.Option(metavar="NUMBER", help="The error that is accepted.")] = None,
    rows: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Accept noise up to the sampling error of so many rows.")
    ] = None,
    each_epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="What one query spends: show what all of them cost.")
    ] = None,
    confidence: Confidence = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="The confidence is for all counts at once.")
    ] = False,
    stddev: Annotated[
        bool, typer.Option("--stddev", help="Errors are standard deviations, without a confidence.")
    ] = False,
    sensitivity: Annotated[str, typer.Option(metavar="NUMBER", help="How far one person moves each count.")] = "1",
    as_json: AsJson = False,
) -> None:
    """Plan counting queries: which noise wins, how many queries fit, what epsilon is enough. Free.

    Of --epsilon, --queries and --error give two; the third is planned. No database is needed.

    Example: [bold]jali plan --epsilon 1 --delta 1e-6 --queries 50[/bold]
    """
    check_confidence(confidence)
    asked = _Asked(epsilon, delta, queries, error, rows, each_epsilon)
    asked.refuse(simultaneous=simultaneous, stddev=stddev)
    if each_epsilon is not None:
        _write_cost(*asked.cost(), as_json=as_json)
    else:
        _write(asked.planned(None if stddev else confidence, simultaneous, sensitivity), as_json=as_json)


@dataclass(frozen=True)
class _Asked:
    """What the command line gave."""

    epsilon: str | None
    delta: str
    queries: int | None
    error: str | None
    rows: int | None
    each_epsilon: str | None

    def refuse(self, *, simultaneous: bool, stddev: bool) -> None:
        """Refuse flags that would have no meaning."""
        flag = "--simultaneous" if simultaneous else "--stddev"
        if simultaneous and stddev:
            raise CatalogError(
                "--simultaneous and --stddev do not go together: a standard deviation is of one count."
            )
        if simultaneous and self.rows is not None:
            raise CatalogError(f"{flag} does not go with --rows: the sampling error is a standard deviation.")
        if (simultaneous or stddev) and self.each_epsilon is not None:
            raise CatalogError(f"{flag} does not go with --each-epsilon, which plans no errors.")

    def planned(self, confidence: float | None, simultaneous: bool, sensitivity: str) -> QueryPlan:
        """Return the plan for the two that were given."""
        from jali.privacy.planning.queries import least_epsilon, plan_queries, queries_below_sampling_error

        how: dict[str, Any] = {"confidence": confidence, "simultaneous": simultaneous, "sensitivity": sensitivity}
        with _naming_options():
            match self:
                case _Asked(str(), _, int(), None, None):
                    return plan_queries(self._budget, self.queries, **how)
                case _Asked(str(), _, None, str(), None):
                    return plan_queries(self._budget, accuracy=self.error, **how)
                case _Asked(None, _, int(queries), str(error), None):
                    return least_epsilon(queries, error, delta=self.delta, **how)
                case _Asked(str(), _, None, None, int(rows)):
                    return queries_below_sampling_error(self._budget, rows, sensitivity=sensitivity)
        raise CatalogError(self._complaint, remedy=_REMEDY)

    def cost(self) -> tuple[Table, int, Fraction]:
        """Return what queries of one loss cost together, by each theorem."""
        from jali.privacy.composition.compose import compose
        from jali.privacy.losses.pure import Pure
        from jali.privacy.planning.limits import count
        from jali.privacy.rationals import positive

        if self._given != ("queries", "each_epsilon"):
            raise CatalogError(self._complaint, remedy=_REMEDY)
        with _naming_options():
            queries, each = count(self.queries or 0, "k"), positive(self.each_epsilon or 0, "each_epsilon")
            return compose((Pure(each), queries)).table(self.delta), queries, each

    @property
    def _budget(self) -> Budget:
        from jali.privacy import Budget

        return Budget(self.epsilon or 0, self.delta)

    @property
    def _given(self) -> tuple[str, ...]:
        names = ("epsilon", "queries", "error", "rows", "each_epsilon")
        return tuple(name for name in names if getattr(self, name) is not None)

    @property
    def _complaint(self) -> str:
        options = [f"--{name.replace('_', '-')}" for name in self._given]
        if not options:
            return "There is nothing to plan from."
        if len(options) == 1:
            return f"{options[0]} alone is not enough to plan from."
        return f"{', '.join(options[:-1])} and {options[-1]} do not go together."


@contextmanager
def _naming_options() -> Iterator[None]:
    """Let an error that begins with the name of a parameter begin with that of its option."""
    try:
        yield
    except CatalogError as error:
        name, _, rest = error.message.partition(" ")
        raise CatalogError(f"{_OPTIONS.get(name, name)} {rest}", remedy=error.remedy) from None


def _write(made: QueryPlan, *, as_json: bool) -> None:
    from jali.privacy.budget import Budget
    from jali.privacy.planning.crossover import crossover

    budget = made.budget or Budget(made.best.epsilon, made.delta)
    crossed = crossover(budget, confidence=made.measure.confidence, simultaneous=made.measure.simultaneous)
    if as_json:
        write_json(made.to_dict() | {"crossover": crossed.to_dict()})
        return
    ink = ink_for(sys.stdout)
    print(f"{_wrapped(made.title, ink.strong)}\n\n{table(_columns(made.headings, made.cells()), ink=ink)}\n")
    print(_wrapped(made.legend, ink.faint))
    found = f"At epsilon {_loss(float(budget.epsilon))}, {crossed.sentence}."
    print(_wrapped(str(crossed) if made.budget else found))
    print(_wrapped(made.advice, ink.accent))


def _write_cost(costs: Table, queries: int, each: Fraction, *, as_json: bool) -> None:
    from jali.numerals import decimal
    from jali.privacy.composition.table import Bound

    if as_json:
        write_json(_cost_json(costs, queries, each))
        return
    ink = ink_for(sys.stdout)
    bounds = [row for row in costs if isinstance(row, Bound)]
    title = f"{queries:,} queries of epsilon {decimal(each)} each, at delta {decimal(costs.delta)}"
    cells = [(row.theorem.name, _loss(row.epsilon), "*" if row is costs.best else "") for row in bounds]
    print(f"{ink.strong(title)}\n\n{table(_columns(('by', 'epsilon of all', 'best'), cells), ink=ink)}")
    if costs.best is not None:
        together = f"Together they spend epsilon {_loss(costs.best.epsilon)}, by {costs.best.theorem}."
        print(f"\n{_wrapped(together, ink.accent)}")


def _wrapped(text: str, mark: Callable[[str], str] = str) -> str:
    return "\n".join(mark(line) for line in textwrap.wrap(text, width_for(sys.stdout), break_on_hyphens=False))


def _columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[TextColumn]:
    """Return columns of text: names and marks to the left, numbers to the right."""
    last = len(headings) - 1
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    return [TextColumn(head, cells, right=0 < j < last) for j, (head, cells) in enumerate(columns)]


def _cost_json(costs: Table, queries: int, each: Fraction) -> dict[str, Any]:
    from jali.privacy.composition.table import Bound

    rows = [
        {"theorem": row.theorem.name, "epsilon": row.epsilon, "reason": None}
        if isinstance(row, Bound)
        else {"theorem": row.theorem.name, "epsilon": None, "reason": row.reason}
        for row in costs
    ]
    best = None if costs.best is None else costs.best.theorem.name
    return {
        "solved": "composition",
        "queries": queries,
        "each_epsilon": str(each),
        "delta": str(costs.delta),
        "theorems": rows,
        "best": best,
    }


def _loss(epsilon: float) -> str:
    """Write a loss with six digits, rounded up."""
    from jali.privacy.rounding import rational_above

    return f"{float(rational_above(epsilon, digits=6)):.6g}"
