"""The answer: noisy values, their intervals, what they cost and the receipt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jali.display.view_models import ALL, flatten_cells, show_cell
from jali.errors import QueryError
from jali.execution.intervals import GroupReader
from jali.execution.postprocess import Interval, Release, ReleasedGroups, write_event
from jali.execution.sampling_error import (
    SamplingErrors,
    compare_errors,
    find_sampling_bounds,
    find_sampling_errors,
    widen_interval,
)
from jali.ir.aggregates import Marks
from jali.ir.estimators import Cells, Picked, RatioEstimate, build_estimate
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, walk
from jali.ir.functions.evaluate import evaluate, to_storable
from jali.privacy import Event

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from jali.display.view_models import ColumnPlot, Point
    from jali.mechanisms.partition_selection.group_selection import GroupSizes

CONFIDENCE = 0.95
REHEARSAL = "Rehearsal: synthetic data. No number of this answer is about anybody."


@dataclass(frozen=True)
class Answer:
    """A differentially private answer.

    Attributes:
        release: The noisy integers and how they are read.
        cost: The loss that was charged for it, to the table that it cost most.
        receipt: The ledger's name for it.
        cached: Whether it had been answered before, so that the table was not charged again.
        costs: The loss for each table.
        notes: What the plan has to say about the answer, in sentences without their stops.
        rehearsed: Whether it is about made-up rows: `Database.rehearse`.
        batched: Whether it is one of a batch: cost, costs and receipt are those of the whole batch.
    """

    release: Release = field(repr=False)
    cost: Event
    receipt: str
    cached: bool = False
    costs: tuple[tuple[str, Event], ...] = ()
    notes: tuple[str, ...] = ()
    rehearsed: bool = False
    batched: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(output.name for output in self.release.question.outputs)

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, after HAVING, ORDER BY and LIMIT, which act on noisy values only."""
        outputs = self.release.question.outputs
        return [tuple(to_storable(evaluate(o.expression, self._values[i])) for o in outputs) for i in self._order]

    @cached_property
    def shown_rows(self) -> list[tuple[Any, ...]]:
        """The rows as people see them: `(all)` stands where a total leaves out a key, which is no NULL."""
        pairs = zip(self.rows, self.totals, strict=True)
        return [
            tuple(ALL if name in left_out else value for name, value in zip(self.columns, row, strict=True))
            for row, left_out in pairs
        ]

    @cached_property
    def totals(self) -> list[tuple[str, ...]]:
        """For each row the columns whose keys it sums over, as totals of ROLLUP, CUBE and GROUPING SETS do."""
        places = {key.expression: place for place, key in enumerate(self.release.keys)}
        keys = [(o.name, places[o.expression]) for o in self.release.question.outputs if o.expression in places]
        levels = [level for level in self.release.levels for _ in level.groups]
        return [tuple(name for name, place in keys if place not in levels[i].places) for i in self._order]

    @cached_property
    def group_sizes(self) -> GroupSizes | None:
        """How many people a group needed to be shown; None where all groups were known before. Public."""
        if self.release.selection is None:
            return None
        from jali.mechanisms.partition_selection.group_selection import group_sizes

        return group_sizes(self.release.selection)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What has to be said below the table."""
        chosen = () if self.group_sizes is None else (f"Groups were chosen privately: {self.group_sizes}.",)
        rehearsal = (REHEARSAL,) if self.rehearsed else ()
        return rehearsal + chosen + tuple(f"{note}." for note in self.notes) + self._removals + self._comparisons

    def interval(self, confidence: float = CONFIDENCE, *, sampling: bool = False) -> list[tuple[Interval, ...]]:
        """Return, per row and column, an interval for the bounded truth; None for keys.

        The confidence is per number. Intervals for COUNT and SUM follow the exact law of the noise; for ratios
        they invert a test; for other arithmetic they combine intervals that hold together.

        Args:
            confidence: How often an interval holds.
            sampling: Whether the intervals are for the population that the rows are a random sample of, with both
                errors in them; None for columns without `sampling_error`.
        """
        if confidence == CONFIDENCE and not sampling:
            return list(self._default_intervals)
        find = self._population_intervals if sampling else self._column_intervals
        columns = [find(o.expression, confidence) for o in self.release.question.outputs]
        return [tuple(column[i] for column in columns) for i in self._order]

    @cached_property
    def _default_intervals(self) -> list[tuple[Interval, ...]]:
        columns = [self._column_intervals(o.expression, CONFIDENCE) for o in self.release.question.outputs]
        return [tuple(column[i] for column in columns) for i in self._order]

    def removed_rows(self, confidence: float = CONFIDENCE) -> tuple[float, Interval] | None:
        """Return how many of the declared rows of a table bounding left out of COUNT(*), and an interval. Free.

        None where no rows are declared, or not all of them are asked about. `Database.removed` buys an estimate.
        """
        from jali.execution.bias import estimate_uncounted

        return estimate_uncounted(self.release, confidence)

    @property
    def _removals(self) -> tuple[str, ...]:
        from jali.execution.bias import describe_uncounted

        return describe_uncounted(self.release, CONFIDENCE)

    # Sampling error.

    def sampling_error(self, column: str) -> list[float | None]:
        """Return the standard error of each row's number as an estimate for a population.

        The rows of the table are taken for a random sample of it. Means, proportions, slopes, intercepts and
        correlations have one, estimated from released numbers, so for nothing; None elsewhere.
        `sampling_at_most` says where it is a bound. docs/questions.md, "Sampling error".
        """
        found = self._find_sampling_errors(self._find_expression(column))
        return [None] * len(self) if found is None else [found.each[i] for i in self._order]

    def sampling_at_most(self, column: str) -> bool:
        """Say whether the sampling error of a column is the most it can be, rather than an estimate."""
        found = self._find_sampling_errors(self._find_expression(column))
        return found is not None and found.at_most

    def _find_sampling_errors(self, expression: Expression) -> SamplingErrors | None:
        """The sampling errors of a column, in all groups of all grouping sets."""
        parts = [find_sampling_errors(reading, expression) for reading in self.release.readings]
        found = [part for part in parts if part is not None]
        if not found or len(found) < len(parts):
            return None
        return SamplingErrors(tuple(e for part in found for e in part.each), any(part.at_most for part in found))

    def _population_intervals(self, expression: Expression, confidence: float) -> list[Interval]:
        errors = self._find_sampling_errors(expression)
        if errors is None:
            return [None] * len(self._values)
        values = [evaluate(expression, row) for row in self._values]
        bounds = find_sampling_bounds(self._estimate(expression))
        rows = zip(values, self._column_intervals(expression, confidence), errors.each, strict=True)
        return [widen_interval(value, span, error, bounds, confidence) for value, span, error in rows]

    @property
    def _comparisons(self) -> tuple[str, ...]:
        """Which error dominates, column by column."""
        said = []
        for j, output in enumerate(self.release.question.outputs):
            errors = (
                self._find_sampling_errors(output.expression) if _contains_aggregate(output.expression) else None
            )
            if errors is not None:
                shown = SamplingErrors(tuple(errors.each[i] for i in self._order), errors.at_most)
                said.append(
                    compare_errors(output.name, [row[j] for row in self._default_intervals], shown, CONFIDENCE)
                )
        return tuple(line for line in said if line)

    def _find_expression(self, column: str) -> Expression:
        """The expression of a column, or a refusal that names those there are."""
        if column not in self.columns:
            raise QueryError("answer-column-unknown", column=column, columns=tuple(self.columns))
        return self.release.question.outputs[self.columns.index(column)].expression

    @cached_property
    def _values(self) -> list[dict[Expression, Any]]:
        """The value of every grouping expression and aggregate, level by level and group by group."""
        found: list[dict[Expression, Any]] = []
        for level, reading in zip(self.release.levels, self.release.readings, strict=True):
            columns = {a: reading.values(e) for a, e in self.release.estimates}
            for index, group in enumerate(level.groups):
                row = self._keys(level, group)
                row |= {aggregate: column[index] for aggregate, column in columns.items()}
                found.append(row)
        return found

    def _keys(self, level: ReleasedGroups, group: tuple[Any, ...]) -> dict[Expression, Any]:
        """The keys of a group; those that its grouping set leaves out are NULL, and GROUPING tells which."""
        row: dict[Expression, Any] = {key.expression: None for key in self.release.keys}
        row |= {
            self.release.keys[place].expression: value for place, value in zip(level.places, group, strict=True)
        }
        here = {self.release.keys[place].expression for place in level.places}
        for call in self._groupings:
            bits = ["0" if argument in here else "1" for argument in call.arguments]
            row[call] = int("".join(bits), 2)
        return row

    @cached_property
    def _groupings(self) -> list[Call]:
        question = self.release.question
        roots = [o.expression for o in question.outputs] + [o.expression for o in question.order_by]
        roots += [] if question.having is None else [question.having]
        return [n for root in roots for n in walk(root) if isinstance(n, Call) and n.function == "grouping"]

    @cached_property
    def _order(self) -> list[int]:
        question = self.release.question
        kept = [
            i
            for i, v in enumerate(self._values)
            if question.having is None or evaluate(question.having, v) is True
        ]
        for ordering in reversed(question.order_by):
            found = {i: evaluate(ordering.expression, self._values[i]) for i in kept}
            known = sorted(
                (i for i in kept if found[i] is not None), key=found.__getitem__, reverse=ordering.descending
            )
            empty = [i for i in kept if found[i] is None]
            kept = empty + known if ordering.nulls_first else known + empty
        stop = None if question.limit is None else question.offset + question.limit
        return kept[question.offset : stop]

    def _column_intervals(self, expression: Expression, confidence: float) -> list[Interval]:
        return [
            span
            for reading in self.release.readings
            for span in self._find_intervals(reading, expression, confidence)
        ]

    def _find_intervals(
        self, reading: GroupReader, expression: Expression, confidence: float
    ) -> Sequence[Interval]:
        if not _contains_aggregate(expression):
            return [None] * len(reading)
        if isinstance(expression, Aggregate):
            return reading.intervals(dict(self.release.estimates)[expression], confidence)
        estimate = build_estimate(expression, self.release.linear_estimates)
        if estimate is not None:
            return reading.intervals(estimate, confidence)
        return self._compose_intervals(reading, expression, confidence)

    def _compose_intervals(
        self, reading: GroupReader, expression: Expression, confidence: float
    ) -> Sequence[Interval]:
        """Evaluate on intervals that hold together with the wanted confidence (union bound)."""
        from jali.ir.functions.interval_arithmetic import enclose

        parts = _find_estimable_parts(expression, self.release.linear_estimates)
        each = 1 - (1 - confidence) / max(1, len(parts))
        known = {part: self._find_intervals(reading, part, each) for part in parts}
        return [
            enclose(expression, {part: column[group] for part, column in known.items()})
            for group in range(len(reading))
        ]

    @property
    def _cost_text(self) -> str:
        return f"cost: part of a batch of {self.cost}" if self.batched else f"cost {self.cost}"

    def __repr__(self) -> str:
        rehearsal = "rehearsal on synthetic data: " if self.rehearsed else ""
        return f"Answer({rehearsal}{self.summary()}; {self._cost_text}; receipt {self.receipt})"

    def __str__(self) -> str:
        from jali.display.text import write_answer_table, write_legend

        spans = self.interval()
        table = write_answer_table(self.columns, self.shown_rows, spans)
        said = [
            line for line in (write_legend(*flatten_cells(self.rows, spans), CONFIDENCE), *self.remarks) if line
        ]
        again = ", answered before: the table was not charged again" if self.cached else ""
        return "\n".join([table, "", *said, f"{self._cost_text}{again}, receipt {self.receipt}"])

    def summary(self) -> str:
        """One line: the first value with its error bar, and how many rows there are."""
        if not self.rows:
            return "no rows"
        spans = self.interval()[0]
        cells = zip(self.columns, self.shown_rows[0], spans, strict=True)
        sure = "" if all(span is None for span in spans) else f" at {CONFIDENCE:.0%}"
        shown = ", ".join(f"{name} {show_cell(value, span)}" for name, value, span in cells)
        rest = len(self.rows) - 1
        more = f" and {rest} more row{'s' if rest > 1 else ''}" if rest else ""
        return f"{shown}{sure}{more}"

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_json(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return everything a program needs, as plain JSON values.

        A list is a list, a mapping is a list of pairs of label and value, and their intervals have the same shape.
        """
        return {
            "columns": list(self.columns),
            "rows": [[_write_value(value) for value in row] for row in self.rows],
            "intervals": [[_write_interval(span) for span in row] for row in self.interval(confidence)],
            "confidence": confidence,
            "sampling_errors": [list(row) for row in zip(*map(self.sampling_error, self.columns), strict=True)],
            "sampling_at_most": [self.sampling_at_most(column) for column in self.columns],
            "totals": [list(names) for names in self.totals],
            "group_sizes": None if self.group_sizes is None else asdict(self.group_sizes),
            "notes": list(self.notes),
            "cost": write_event(self.cost),
            "costs": {table: write_event(cost) for table, cost in self.costs},
            "receipt": self.receipt,
            "cached": self.cached,
            "rehearsed": self.rehearsed,
        }

    def to_csv(self) -> str:
        """Return comma-separated values, with `_low` and `_high` beside each noisy column; NULL is empty."""
        from jali.display.data_frames import write_csv

        return write_csv(self._build_frame_columns())

    def to_parquet(self) -> bytes:
        """Return a Parquet file, with `_low` and `_high` beside each noisy column; mappings have a map type."""
        from jali.display.data_frames import write_parquet

        return write_parquet(self._build_frame_columns())

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table, with `_low` and `_high` beside each noisy column; mappings have a map type."""
        from jali.display.data_frames import build_arrow_table

        return build_arrow_table(self._build_frame_columns())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame, with `_low` and `_high` beside each noisy column; cells may be lists or dicts."""
        from jali.display.data_frames import import_package

        return import_package("pandas").DataFrame(self._build_frame_columns())

    def to_polars(self) -> polars.DataFrame:
        """Return a polars frame, with `_low` and `_high` beside each noisy column; mappings are lists of pairs."""
        from jali.display.data_frames import build_polars_frame

        return build_polars_frame(self._build_frame_columns())

    def _build_frame_columns(self) -> dict[str, list[Any]]:
        spans, wide = self.interval(), {}
        for j, output in enumerate(self.release.question.outputs):
            wide[output.name] = [row[j] for row in self.rows]
            if self._has_interval(output.expression):
                for end, suffix in ((0, "_low"), (1, "_high")):
                    wide[self._find_free_name(output.name + suffix)] = [
                        _get_endpoint(row[j], end) for row in spans
                    ]
        return wide

    def _has_interval(self, expression: Expression) -> bool:
        """Whether a column has intervals: chosen words, such as a mode, have none."""
        estimate = self._estimate(expression)
        words = isinstance(estimate, Picked) and not isinstance(estimate.axis, Marks)
        return _contains_aggregate(expression) and not words

    def _estimate(self, expression: Expression) -> Any:
        return dict(self.release.estimates).get(expression) if isinstance(expression, Aggregate) else None

    def _find_free_name(self, name: str) -> str:
        """Return a name that no output has."""
        while name in self.columns:
            name += "_"
        return name

    def _repr_html_(self) -> str:
        from jali.display.html import write_answer_table

        caption = f"{self._cost_text} · receipt {self.receipt}"
        return write_answer_table(self.columns, self.shown_rows, self.interval(), caption, self.remarks)

    def plot(self, column: str | None = None) -> Any:
        """Draw one noisy column with its error bars and return the axes (needs matplotlib).

        Histograms are bars side by side, distribution functions are steps with a band, and groups of two keys
        have a colour for each of the second.
        """
        from jali.display.plots.answer_plots import draw_column

        return draw_column(self._build_plot(column))

    def plot_data(self, column: str | None = None) -> list[Point]:
        """Return what `plot` draws: label, value and interval for each value."""
        return self._build_plot(column).points

    def _build_plot(self, column: str | None) -> ColumnPlot:
        from jali.display.view_models import ColumnPlot

        if column is not None:
            self._find_expression(column)
        outputs = self.release.question.outputs
        drawn = [o.name for o in outputs if self._has_interval(o.expression)]
        if not drawn or (column is not None and column not in drawn):
            raise QueryError(
                "answer-without-numbers",
                column=column or "The answer",
                has_drawable=bool(drawn),
                drawable=tuple(drawn) if drawn else None,
            )
        chosen = self.columns.index(column or drawn[0])
        keys = [j for j, output in enumerate(outputs) if not _contains_aggregate(output.expression)]
        estimate = self._estimate(outputs[chosen].expression)
        return ColumnPlot(
            self.columns[chosen],
            [tuple(row[j] for j in keys) for row in self.shown_rows],
            [row[chosen] for row in self.rows],
            [spans[chosen] for spans in self.interval()],
            cumulative=isinstance(estimate, Cells) and estimate.cumulative,
        )


def _contains_aggregate(expression: Expression) -> bool:
    return any(isinstance(node, Aggregate) for node in walk(expression))


def _find_estimable_parts(expression: Expression, known: dict[Aggregate, RatioEstimate]) -> list[Expression]:
    """Return the largest parts that are estimates in their own right."""
    if isinstance(expression, Literal | Column):
        return []
    if isinstance(expression, Aggregate) or build_estimate(expression, known) is not None:
        return [expression]
    inner = expression.arguments if isinstance(expression, Call) else ()
    return list(dict.fromkeys(part for argument in inner for part in _find_estimable_parts(argument, known)))


def _get_endpoint(span: Interval, end: int) -> Any:
    """Return one end of an interval; of several intervals, the end of each."""
    if isinstance(span, dict):
        return {label: _get_endpoint(inner, end) for label, inner in span.items()}
    if isinstance(span, list):
        return [_get_endpoint(inner, end) for inner in span]
    return None if span is None else to_storable(span[end])


def _write_value(value: Any) -> Any:
    if isinstance(value, dict):
        return [[_write_value(label), _write_value(inner)] for label, inner in value.items()]
    if isinstance(value, list | tuple):
        return [_write_value(inner) for inner in value]
    plain = value is None or isinstance(value, bool | int | float | str)
    return to_storable(value) if plain else value.isoformat()


def _write_interval(span: Interval) -> Any:
    if isinstance(span, dict):
        return [[_write_value(label), _write_interval(inner)] for label, inner in span.items()]
    if isinstance(span, list):
        return [_write_interval(inner) for inner in span]
    return None if span is None else [_write_value(span[0]), _write_value(span[1])]
