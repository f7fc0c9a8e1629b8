"""Read the options of BigQuery's privacy clause as the terms of a question.

`docs/bigquery.md` has the table: which option becomes which term, and where Jali differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jali.errors import QueryError
from jali.ir.expressions import NamedTable
from jali.ir.ownership import own
from jali.ir.relations import PerOwner, Relation
from jali.planner.plan import Plan
from jali.planner.terms import TermArguments
from jali.privacy.rationals import rational
from jali.sql.bigquery import PrivacyClause


def merge_clause(clause: PrivacyClause, given: Mapping[str, Any]) -> TermArguments:
    """Join the options of the clause with the arguments; what both say must be the same."""
    options = {
        "epsilon": clause.epsilon,
        "delta": clause.delta,
        "max_rows": clause.max_rows,
        "max_groups": clause.max_groups,
        "min_people": clause.min_people,
    }
    merged = dict(given)
    for name, value in options.items():
        if value is None:
            continue
        if merged.get(name) is not None and rational(merged[name], name) != value:
            raise QueryError("privacy-clause-and-argument", position=clause.position, argument=name)
        merged[name] = value
    if merged.get("rho") is not None and merged.get("epsilon") is not None:
        raise QueryError("privacy-clause-and-rho", position=clause.position)
    found: TermArguments = merged  # type: ignore[assignment]
    return found


def check_unit(clause: PrivacyClause, plan: Plan) -> None:
    """Refuse a clause that names another privacy unit than the catalog, or another way to choose groups."""
    if clause.unit is not None:
        _check_named(clause, clause.unit, plan)
    if clause.selection == "PUBLIC_GROUPS" and plan.selection is not None:
        if plan.selection.least_people > 1:
            raise QueryError("public-groups-of-few", position=clause.position)
        raise QueryError("public-groups-undeclared", position=clause.position)


def _check_named(clause: PrivacyClause, unit: str, plan: Plan) -> None:
    names = unit_names(plan)
    written = unit if clause.unit_table is None else f"{clause.unit_table}.{unit}"
    if written.lower() in names:
        return
    if not names:
        raise QueryError("privacy-unit-undeclared", position=clause.position, unit=written, table=plan.table.name)
    declared = tuple(f"{table.name}.{table.owner}" for table in plan.tables)
    raise QueryError("privacy-unit-other", position=clause.position, unit=written, declared=declared)


def unit_names(plan: Plan) -> frozenset[str]:
    """Return what the unit may be called: its declared name, or a column of FROM that is proved to hold it."""
    declared = {(table.name, table.owner) for table in plan.tables if table.owner is not None}
    rows = _rows(plan.source)
    held = {(_before(name), name.rpartition(".")[2]) for name in own(rows).owner_columns()}
    source = plan.question.source
    if isinstance(source, NamedTable) and source.alias is not None:
        held |= {(source.alias, column) for _, column in declared}
    pairs = declared | held
    found = {column for _, column in pairs} | {f"{table}.{column}" for table, column in pairs if table}
    return frozenset(name.lower() for name in found)


def _before(name: str) -> str:
    return name.rpartition(".")[0]


def _rows(relation: Relation) -> Relation:
    """Return the rows of FROM: bounds per group put one relation over them."""
    return relation.source if isinstance(relation, PerOwner) else relation
