"""Emit an aggregation in the SQL of a dialect.

The shapes were chosen by measurement (docs/benchmarks.md): keys are joined after grouping, weights come from a
join with the per-person counts and not from a window, and columns are clamped by a CASE whose last branch takes
NULL and NaN: GREATEST(LEAST(NULL, 100), 0) is 100, NaN is above every number, and both functions are slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.catalog.tables import Table
from jali.engines.sql.dialect import Dialect
from jali.engines.sql.expression_emitter import Emitter
from jali.engines.sql.prepared_rows import person_column, rank_column
from jali.engines.sql.relation_emitter import find_columns, present, select
from jali.ir.aggregates import (
    Aggregation,
    Categories,
    CountPeople,
    CountRows,
    CountValues,
    KeySet,
    Marks,
    Measure,
    SumValues,
    Weights,
)
from jali.ir.expressions import Column, Expression
from jali.ir.ownership import own
from jali.ir.relations import Relation, find_plain_table, split_conditions

NamedQuery = tuple[str, str]


def emit(aggregation: Aggregation, dialect: Dialect) -> str:
    """Write the query whose rows are the exact integers of each group.

    Where the groups are known: one row per group, in the order of the declared keys. Along an axis: the place of
    the group, the cell and its weight. Where groups are selected: the keys and the number of people come first.
    """
    return _Query(aggregation, dialect).write()


class _Query:
    def __init__(self, aggregation: Aggregation, dialect: Dialect) -> None:
        self.aggregation = aggregation
        self.dialect = dialect
        self.weights = aggregation.weights
        hashed = aggregation.selecting or any(isinstance(m, CountValues) for m in aggregation.measures)
        self.source = _Source(aggregation.source, dialect, coded=not hashed)
        self.emitter = self.source.emitter
        self.keys = aggregation.keys
        self.names = [f"k{i}" for i in range(len(self.keys))]
        self.measures = list(enumerate(aggregation.measures))

    def write(self) -> str:
        parts = [(f"keys{i}", self._key_values(key)) for i, key in enumerate(self.keys) if key.values is not None]
        parts += [(f"required{i}", self._key_values(key)) for i, key in enumerate(self.aggregation.required)]
        parts += self._parts()
        ctes = ",\n".join(f"{name} AS {self._hint(name)}({body})" for name, body in parts)
        return f"WITH {ctes}\n{self._final()}"

    def _hint(self, name: str) -> str:
        # A join is computed once; and row numbers must not change between two readings.
        return self.dialect.reading_hint(bare=self.source.bare) if name == "contributions" else ""

    def _of(self, *kinds: type) -> list[tuple[int, Measure]]:
        return [(i, measure) for i, measure in self.measures if isinstance(measure, kinds)]

    # The last SELECT.

    def _final(self) -> str:
        if self.aggregation.along is not None:
            return self._cells()
        if self.aggregation.selecting:
            return self._select_groups()
        columns = ", ".join(f"coalesce(m{i}, 0)" for i, _ in self.measures)
        sources = self._result_parts()
        if not self.keys:
            return f"SELECT {columns} FROM {' CROSS JOIN '.join(sources)}"
        joins = " ".join(f"LEFT JOIN {name} ON {self._match(name)}" for name in sources)
        order = ", ".join(f"keys{i}.place" for i in range(len(self.keys)))
        return f"SELECT {columns} FROM {self._all_keys()} {joins} ORDER BY {order}"

    def _result_parts(self) -> list[str]:
        found = ["totals"] if self._of(CountRows, SumValues) else []
        found += [f"people{i}" for i, m in self._of(CountPeople) if not self._counts_chosen(m)]
        return found + [f"values{i}" for i, _ in self._of(CountValues)]

    def _all_keys(self) -> str:
        return " CROSS JOIN ".join(f"keys{i}" for i in range(len(self.keys)))

    def _match(self, name: str) -> str:
        return " AND ".join(self._key_condition(i, name) for i in range(len(self.keys)))

    def _key_condition(self, index: int, name: str) -> str:
        """The condition that the key of a row is a declared one."""
        key = self.keys[index]
        missing = None in (key.values or ())
        return self.dialect.match_keys(f"keys{index}.value", f"{name}.k{index}", key.kind, missing=missing)

    def _cells(self) -> str:
        """Rows of one axis: group, cell, weight; the group by its place, or by its keys where they are unknown."""
        if self.aggregation.selecting:
            # Only declared keys: an infinity or NaN among others is no whole number, and reading it would fail.
            return (
                f"SELECT {''.join(f'totals.{k}, ' for k in self.names)}cell, m0 FROM {self._join_keys('totals')}"
            )
        place = " + ".join(f"keys{i}.place * {self._stride(i)}" for i in range(len(self.keys))) or "0"
        joined = f"{self._all_keys()} JOIN totals ON {self._match('totals')}" if self.keys else "totals"
        return f"SELECT {place}, cell, m0 FROM {joined}"

    def _stride(self, index: int) -> int:
        stride = 1
        for key in self.keys[index + 1 :]:
            stride *= len(key.values or ())
        return stride

    def _select_groups(self) -> str:
        """Rows of the groups that occur: keys, people, measures."""
        columns = [f"chosen.{k}" for k in self.names] + ["chosen.people"]
        for i, measure in self.measures:
            columns.append("chosen.people" if self._counts_chosen(measure) else f"coalesce(m{i}, 0)")
        joins = ""
        for name in self._result_parts():
            pairs = zip(self.names, self.keys, strict=True)
            same = " AND ".join(
                self.dialect.match_keys(f"chosen.{k}", f"{name}.{k}", key.kind, missing=True) for k, key in pairs
            )
            same = same or "TRUE"
            joins += f" LEFT JOIN {name} ON {same}"
        return f"SELECT {', '.join(columns)} FROM chosen{joins}"

    def _counts_chosen(self, measure: Measure) -> bool:
        """Say whether a measure is the number of people that groups are chosen by."""
        return self.aggregation.selecting and isinstance(measure, CountPeople) and measure.present is None

    # The parts before it.

    def _parts(self) -> list[NamedQuery]:
        parts = [("contributions", self._contributions())]
        parts += self._totals_parts()
        for i, measure in self._of(CountPeople):
            if not self._counts_chosen(measure):
                parts += self._people_parts(i, measure)
        for i, _ in self._of(CountValues):
            parts += self._value_parts(i)
        return parts + (self._choice_parts() if self.aggregation.selecting and not self.aggregation.along else [])

    def _contributions(self) -> str:
        """The rows that have an owner and pass the filter, with nothing but what the sums need.

        All further names are names of this query: no column of the source can be mistaken for one of them.
        """
        columns = [f"{self._key(key)} AS k{i}" for i, key in enumerate(self.keys)]
        wanted = [key.expression for key in self.keys]
        if self.aggregation.along is not None:
            axis = self.aggregation.along
            columns.append(f"{self._cell(axis)} AS cell")
            wanted.append(axis.value if isinstance(axis, Marks) else axis.keys.expression)
        for i, measure in self.measures:
            value = self._row_value(measure)
            columns += [] if value is None else [f"{value} AS v{i}"]
            wanted += _expressions(measure)
        required = [self._require_key(i, key) for i, key in enumerate(self.aggregation.required)]
        wanted += [key.expression for key in self.aggregation.required]
        if self.weights is not None and self.weights.by_rank:
            required.append(self.source.first(self.weights.max_rows))
            return self.source.rows(columns, wanted, required, owned=False)
        return self.source.rows(columns, wanted, required, owned=self.weights is not None)

    def _key(self, key: KeySet) -> str:
        """The key of a row. Where keys are unknown, what cannot be shown is NULL: NaN and infinities."""
        written = self.emitter.write_as(key.expression, key.kind)
        if not self.emitter.is_double(key.expression):
            return written
        if key.values is None:
            return self.dialect.round_half_even(written, self.dialect.large, fits=False)
        # Where keys are hashed, doubles have one zero, not two of which the first row would decide.
        return f"({written} + 0.0)" if self._of(CountValues) or self.aggregation.selecting else written

    def _require_key(self, index: int, key: KeySet) -> str:
        """Keep the rows with a declared key of a column that is not grouped by."""
        written = self.emitter.write(key.expression)
        found = f"coalesce({written} IN (SELECT value FROM required{index} WHERE value IS NOT NULL), FALSE)"
        return f"({found} OR {written} IS NULL)" if None in (key.values or ()) else found

    def _totals_parts(self) -> list[NamedQuery]:
        if not self._of(CountRows, SumValues):
            return []
        if self.weights is None or self.weights.by_rank:
            return [("totals", self._totals("contributions", "count(*)", "{}"))]
        weighted = "weighted" if self._by_window(self.weights) else "contributions JOIN weights USING (owner)"
        count = self.dialect.total_within("w", self.weights.resolution)
        return [*self._weight_parts(self.weights), ("totals", self._totals(weighted, count, "w * {}"))]

    def _weight_parts(self, weights: Weights) -> list[NamedQuery]:
        """What each row of an owner weighs: by their number, or by the length of their numbers over the groups."""
        most = weights.resolution * weights.max_rows
        if self._by_window(weights):
            share = self._share(weights, most, "count(*) OVER (PARTITION BY owner)")
            return [("weighted", f"SELECT *, {share} AS w FROM contributions")]
        if weights.norm == "l1":
            share = self._share(weights, most)
            return [("weights", f"SELECT owner, {share} AS w FROM contributions GROUP BY owner")]
        pairs = f"SELECT owner, {', '.join(self.names)}, count(*) AS n FROM contributions"
        dialect = self.dialect
        length = f"sum({dialect.widen('n')} * n) AS squared FROM pairs{self._key_joins('pairs')}"
        root = f"sqrt({dialect.real('squared')})"
        near = f"least({weights.resolution}, floor({dialect.double(Fraction(most))} / {root}))"
        tried = f"SELECT owner, squared, {dialect.cast_integer(near, dialect.large)} AS w FROM lengths"
        # The root of a double may be off by a little: what counts is the comparison of whole numbers.
        fits = f"CASE WHEN w * w * squared <= {most**2} THEN w WHEN (w - 1) * (w - 1) * squared <= {most**2}"
        return [
            ("pairs", pairs + _group(["owner", *self.names])),
            ("lengths", f"SELECT owner, {length} GROUP BY owner"),
            ("weights", f"SELECT owner, {fits} THEN w - 1 ELSE 0 END AS w FROM {dialect.nest_query(tried)}"),
        ]

    def _totals(self, source: str, count: str, total: str) -> str:
        """Sum every measure of rows, group by group."""
        columns, grouped = [*self.names], [*self.names]
        if self.aggregation.along is not None:
            columns, grouped = [*columns, "cell"], [*grouped, "cell"]
            source += " WHERE cell IS NOT NULL"
        for i, measure in self._of(CountRows, SumValues):
            summed = self.dialect.total_within(total.format(f"v{i}"), self._largest(measure))
            found = count if self._row_value(measure) is None else summed
            columns.append(f"{found}{self._recentre(measure, count)} AS m{i}")
        return f"SELECT {', '.join(columns)} FROM {source}{_group(grouped)}"

    def _largest(self, measure: Measure) -> int:
        """How much one row adds to a sum at most, either way."""
        weight = 1 if self.weights is None or self.weights.by_rank else self.weights.resolution
        if not isinstance(measure, SumValues):
            return weight
        own = measure if measure.missing is None else measure.own
        return weight * max(abs(own.least), abs(own.most), 1)

    def _join_keys(self, source: str) -> str:
        """Join rows with the declared keys: what has other values is dropped."""
        joins = "".join(
            f" JOIN keys{i} ON {self._key_condition(i, source)}"
            for i, key in enumerate(self.keys)
            if key.values is not None
        )
        return f"{source}{joins}"

    def _people_parts(self, index: int, measure: Measure) -> list[NamedQuery]:
        there = f" WHERE v{index}" if self._row_value(measure) is not None else ""
        if self.aggregation.one_group:
            # One group at most: a person is there or not. A single declared key still filters.
            times = self.aggregation.resolution(measure)
            people = "count(DISTINCT owner)" if times == 1 else f"count(DISTINCT owner) * {times}"
            shown = ", ".join([*self.names, f"{people} AS m{index}"])
            return [(f"people{index}", f"SELECT {shown} FROM contributions{there}{_group(self.names)}")]
        columns = ", ".join(["owner", *self.names])
        distinct = f"(SELECT DISTINCT {columns} FROM contributions{there}) AS d"
        shown = ", ".join(["owner", *(f"d.{k}" for k in self.names)])
        assert self.weights is not None
        most = self.weights.resolution * self.weights.max_groups
        share = self._share(self.weights, most)
        total = ", ".join([*self.names, f"{self.dialect.total_within('w', self.weights.resolution)} AS m{index}"])
        people = f"SELECT {total} FROM pairs{index} JOIN shares{index} USING (owner){_group(self.names)}"
        return [
            (f"pairs{index}", f"SELECT {shown} FROM {distinct}{self._key_joins('d')}"),
            (f"shares{index}", f"SELECT owner, {share} AS w FROM pairs{index} GROUP BY owner"),
            (f"people{index}", people),
        ]

    def _key_joins(self, name: str) -> str:
        return self._join_keys(name).removeprefix(name)

    def _value_parts(self, index: int) -> list[NamedQuery]:
        """Different values: each owner keeps so many pairs of group and value, by a fixed hash of the pair."""
        keys = "".join(f"{k}, " for k in self.names)
        if self.weights is None:
            counted = f"SELECT {keys}count(DISTINCT v{index}) AS m{index} FROM contributions{_group(self.names)}"
            return [(f"values{index}", counted)]
        columns = [*self.names, f"v{index}"]
        distinct = f"SELECT DISTINCT owner, {', '.join(columns)} FROM contributions WHERE v{index} IS NOT NULL"
        kept = self._keep_pairs(f"({distinct}) AS d{self._key_joins('d')}", columns, self.weights.max_rows)
        counted = f"SELECT {keys}count(DISTINCT v{index}) AS m{index} FROM kept{index}{_group(self.names)}"
        return [(f"kept{index}", kept), (f"values{index}", counted)]

    def _keep_pairs(self, pairs: str, columns: list[str], most: int) -> str:
        """Of each owner's different pairs keep so many, in an order that depends on that owner's pairs alone."""
        shown = ", ".join(f"d.{c} AS {c}" for c in columns)
        digest = " || '|' || ".join(f"coalesce({self.dialect.cast_to_text(f'd.{c}')}, '')" for c in columns)
        # The number of a row depends on other rows: where rows are people, it tells them apart and does no more.
        mine = "''" if self.source.row_level else self.dialect.cast_to_text("owner")
        hashed = self.dialect.digest(f"{mine} || '|' || {digest}")
        order = f"{hashed}, {', '.join(f'd.{c}' for c in columns)}"
        ranked = (
            f"SELECT owner, {shown}, row_number() OVER (PARTITION BY owner ORDER BY {order}) AS place FROM {pairs}"
        )
        return f"SELECT owner, {', '.join(columns)} FROM {self.dialect.nest_query(ranked)} WHERE place <= {most}"

    def _choice_parts(self) -> list[NamedQuery]:
        """The groups that occur, each with the number of people who keep it."""
        if self.weights is None:
            shown = ", ".join([*(f"d.{k} AS {k}" for k in self.names), "count(*) AS people"])
            grouped = _group([f"d.{k}" for k in self.names])
            return [("chosen", f"SELECT {shown} FROM contributions AS d{self._key_joins('d')}{grouped}")]
        if not self.names:
            return [("chosen", "SELECT count(DISTINCT owner) AS people FROM contributions")]
        keys = ", ".join(self.names)
        distinct = f"(SELECT DISTINCT owner, {keys} FROM contributions) AS d{self._key_joins('d')}"
        kept = self._keep_pairs(distinct, self.names, self.weights.max_groups)
        return [
            ("groups", kept),
            ("chosen", f"SELECT {keys}, count(*) AS people FROM groups GROUP BY {keys}"),
        ]

    # One row's share.

    def _row_value(self, measure: Measure) -> str | None:
        """The integer that one row adds; None where every row adds 1."""
        if isinstance(measure, SumValues):
            return self._lattice_point(measure)
        if isinstance(measure, CountValues):
            there, written = present(self.emitter, measure.value), self.emitter.write(measure.value)
            zero = " + 0.0" if self.emitter.is_double(measure.value) else ""
            return f"CASE WHEN {there} THEN {written}{zero} END"
        if measure.present is None:
            return None
        there = present(self.emitter, measure.present)
        return self.dialect.indicator(there) if isinstance(measure, CountRows) else there

    def _lattice_point(self, measure: SumValues) -> str:
        """The lattice point of a row: clamped, centred, rounded; 0 where there is no value."""
        if measure.missing is not None:
            return self._lattice_point(measure.own)
        if self._stays_whole(measure):
            return self._whole_point(measure)
        if isinstance(measure.value, Column):
            return self._real_point(measure)
        # A longer expression is computed once, and clamped by functions of it.
        value, width = self.emitter.real(measure.value), self.dialect.width(measure.least, measure.most)
        clamped = self.dialect.clamp(value, self.dialect.double(measure.low), self.dialect.double(measure.high))
        point = self.dialect.round_half_even(self._on_lattice(clamped, measure), width, fits=True)
        return f"({point}) * {self.dialect.indicator(present(self.emitter, measure.value))}"

    def _real_point(self, measure: SumValues) -> str:
        """CASE, since GREATEST and LEAST take five times as long on values that are not in a dictionary."""
        value = self.emitter.real(measure.value)
        width = self.dialect.width(measure.least, measure.most)
        point = self.dialect.round_half_even_inside(self._on_lattice(value, measure), width)
        ends = [round(float(end - measure.center) * float(measure.steps)) for end in (measure.low, measure.high)]
        above = f"{value} <= {self.dialect.infinite}"
        limits = self.dialect.double(measure.low), self.dialect.double(measure.high)
        return _write_clamp(value, point, limits, ends, above, "0")

    def _whole_point(self, measure: SumValues) -> str:
        low, high, center = int(measure.low), int(measure.high), int(measure.center)
        # The ends are cast before the centre is taken off, so they must fit too.
        width = self.dialect.width(low, high, center, measure.least, measure.most)
        value = self.emitter.write(measure.value)
        point = self.dialect.cast_integer(value, width, fits=False) + (f" - {center}" if center else "")
        return _write_clamp(
            value, point, (str(low), str(high)), [low - center, high - center], f"{value} > {high}", "0"
        )

    def _stays_whole(self, measure: SumValues) -> bool:
        column = isinstance(measure.value, Column) and not self.emitter.is_double(measure.value)
        ends = (measure.low, measure.high, measure.center)
        return (
            column
            and measure.kind is Kind.INTEGER
            and measure.steps == Fraction(1)
            and all(end.denominator == 1 and abs(end) < 1 << 62 for end in ends)
        )

    def _cell(self, axis: Marks | Categories) -> str:
        """The cell of a row on the axis, NULL where it is on none."""
        if isinstance(axis, Categories):
            written = self.emitter.write_key(axis.keys.expression, axis.keys.kind)
            return self.dialect.place(written, axis.keys.values or (), axis.keys.kind)
        value = self._ordinal(axis)
        double = self.dialect.double
        point = self.dialect.round_half_away(self.dialect.divide(f"({value} - {double(axis.low)})", axis.step))
        if not _stays_below(axis):
            point = self.dialect.clamp(point, "0", str(axis.top))
        cell = self.dialect.round_half_even_inside(point, self.dialect.width(axis.top))
        ends = double(axis.low), double(_high(axis))
        return _write_clamp(value, cell, ends, [0, axis.top], f"{value} <= {self.dialect.infinite}", "NULL")

    def _ordinal(self, axis: Marks) -> str:
        """The number of a value: dates in days, times in microseconds since 1970."""
        if axis.kind is Kind.DATE:
            return self.dialect.days(self.emitter.write(axis.value))
        if axis.kind is Kind.TIMESTAMP:
            return self.dialect.microseconds(self.emitter.write(axis.value))
        return self.emitter.real(axis.value)

    def _on_lattice(self, value: str, measure: SumValues) -> str:
        shifted = f"({value} - {self.dialect.double(measure.center)})" if measure.center else value
        return self.dialect.multiply(shifted, measure.steps)

    def _recentre(self, measure: Measure, count: str) -> str:
        """Take the centre, a lattice point, off a sum at once: as often as it has rows, also empty ones."""
        if not isinstance(measure, SumValues) or measure.missing is None:
            return ""
        return f" + {self.dialect.widen(count)} * {measure.missing}"

    def _by_window(self, weights: Weights) -> bool:
        return weights.norm == "l1" and self.dialect.counts_by_window(self.source.table)

    def _share(self, weights: Weights, most: int, count: str = "count(*)") -> str:
        """What each row, or each group, of an owner weighs, by the number that there are."""
        share = f"least({weights.resolution}, {self.dialect.quotient(str(most), count)})"
        return self.dialect.cast_integer(share, self.dialect.large)

    def _key_values(self, key: KeySet) -> str:
        assert key.values is not None
        return self.dialect.key_places(key.values, key.kind)


class _Source:
    """The rows under an aggregation: one table, or a relation of several.

    The codes of a prepared copy stand for the owners where they are `coded`, and are only told apart. A code
    depends on who else is there, so where owners are hashed the unit itself is taken.
    """

    def __init__(self, relation: Relation, dialect: Dialect, *, coded: bool) -> None:
        self.dialect = dialect
        self.coded = coded
        self.relation, self.conditions = split_conditions(relation)
        self.table = find_plain_table(self.relation)
        fields = self.relation if self.table is None else self.table
        self.emitter = Emitter(fields, dialect)

    @property
    def bare(self) -> bool:
        """Whether the rows are those of one table."""
        return self.table is not None

    @property
    def row_level(self) -> bool:
        """Whether each row of the table is a person."""
        return own(self.relation).row_level

    def rows(self, columns: list[str], expressions: list[Expression], required: list[str], *, owned: bool) -> str:
        """Write the SELECT of some columns, with the owner where it is needed."""
        conditions = [*(self.emitter.condition(condition) for condition in self.conditions), *required]
        if self.table is None:
            needed = find_columns([*expressions, *self.conditions])
            source = self.dialect.nest_query(select(self.dialect, self.relation, needed))
            columns = columns + (["owner"] if owned else [])
        else:
            named = find_columns([*expressions, *self.conditions])
            source = self.dialect.scan(self.table, named | {self.table.unit or ""})
            columns = columns + ([f"{self._owner(self.table)} AS owner"] if owned else [])
            # A copy has no rows without an owner.
            if self.table.unit is not None and self.table.copy is None:
                conditions.insert(0, f"{self.emitter.write(Column(self.table.unit))} IS NOT NULL")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(columns) or '1 AS one'} FROM {source}{where}"

    def _owner(self, table: Table) -> str:
        assert table.unit is not None
        if table.copy is not None and self.coded and self.dialect.coded:
            return self.dialect.quote(person_column(table))
        return self.emitter.write(Column(table.unit))

    def first(self, count: int) -> str:
        """Write the condition that a row of a prepared copy is among the first of its person."""
        assert self.table is not None
        assert self.table.copy is not None
        return f"{self.dialect.quote(rank_column(self.table))} <= {count}"


def _expressions(measure: Measure) -> list[Expression]:
    found = getattr(measure, "value", None) or getattr(measure, "present", None)
    return [] if found is None else [found]


def _group(names: list[str]) -> str:
    return f" GROUP BY {', '.join(names)}" if names else ""


def _write_clamp(
    value: str, inside: str, ends: tuple[str, str], points: Sequence[int], above: str, missing: str
) -> str:
    """What a value within the ends gives; below and above them the points of the ends; else what is missing."""
    below = f"WHEN {value} < {ends[0]} THEN {points[0]}"
    within = f"CASE WHEN {value} BETWEEN {ends[0]} AND {ends[1]} THEN {inside}"
    return f"{within} {below} WHEN {above} THEN {points[1]} ELSE {missing} END"


def _high(axis: Marks) -> Fraction:
    return Fraction(float(axis.low + axis.top * axis.step))


def _stays_below(axis: Marks) -> bool:
    """Say whether rounding takes no value within the ends beyond the last mark.

    Differences, quotients and rounding of doubles are monotone, so the value of the upper end tells.
    """
    return float(_high(axis) - axis.low) / float(axis.step) < axis.top + 0.25
