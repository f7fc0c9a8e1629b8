"""How the rows of a question come about: joins, subqueries, and why each row still has one owner."""

from __future__ import annotations

from jali.planner.explanation.words import listed
from jali.planner.plan import Plan
from jali.planner.write_expression import names_of, summary, written
from jali.privacy import decimal
from jali.query.bounds import Bounds
from jali.query.catalog import Public
from jali.query.nodes import Call, Column, Expression, conjuncts
from jali.query.ownership import OWNER, own, same_owner
from jali.query.relation import Belonging, Capped, Compute, Keep, Match, Pair, PerOwner, Relation, Scan, Stack

Conditions = tuple[Expression, ...]
_KINDS = {
    "inner": "joined with",
    "left": "left-joined with",
    "full": "full-joined with",
}


def steps(plan: Plan) -> tuple[str, ...]:
    """Say step by step what the engine makes of the tables; nothing where it reads the rows of one table."""
    source: Relation = plan.source
    known: Conditions = ()
    while isinstance(source, Keep):
        known += conjuncts(source.condition)
        source = source.source
    return tuple(_steps(source, known))


def condition(plan: Plan) -> str | None:
    """Write the filter of the question itself."""
    source: Relation = plan.source
    found: list[str] = []
    while isinstance(source, Keep):
        found.insert(0, written(source.condition, names_of(source.source)))
        source = source.source
    return " AND ".join(found) or None


def side(relation: Relation) -> str:
    """Name a relation, for the eye."""
    if isinstance(relation, Scan):
        return _scanned(relation)
    if isinstance(relation, Compute):
        return _derived(relation)
    if isinstance(relation, Stack):
        return "the union"
    if isinstance(relation, Pair):
        return listed([side(relation.left), side(relation.right)])
    return side(relation.source)


def _scanned(scan: Scan) -> str:
    alias = scan.prefix.removesuffix(".")
    name = scan.table.name if alias in ("", scan.table.name) else f"{scan.table.name} AS {alias}"
    return f"public {name}" if isinstance(scan.table, Public) else name


def _derived(relation: Compute) -> str:
    """Name a subquery by its alias; what a SELECT lists, by what it selects from."""
    alias = relation.columns[0].field.name.split(".")[0] if relation.columns else "subquery"
    if alias.startswith(("select", "union")):
        return side(relation.source)
    return "the subquery" if alias.startswith("subquery") else f"the subquery {alias}"


def _steps(relation: Relation, known: Conditions) -> list[str]:
    if isinstance(relation, Scan):
        return []
    if isinstance(relation, Keep):
        return [*_steps(relation.source, known + conjuncts(relation.condition)), _kept(relation)]
    if isinstance(relation, Compute | Belonging):
        return _steps(relation.source, known)
    if isinstance(relation, Capped):
        unit, who = own(relation).unit, side(relation.source)
        cap = f"of {who} at most {relation.rows:,} rows of each {unit}, before they are joined or grouped"
        return [*_steps(relation.source, known), cap]
    if isinstance(relation, Pair):
        return [*_steps(relation.left, known), *_steps(relation.right, ()), _paired(relation, known)]
    if isinstance(relation, Match):
        return [*_steps(relation.source, known), *_steps(relation.other, ()), _matched(relation)]
    if isinstance(relation, Stack):
        return [step for part in relation.parts for step in _steps(part, ())] + [_stacked(relation)]
    return [*_steps(relation.source, ()), _per_owner(relation)]


def _kept(relation: Keep) -> str:
    here = written(relation.condition, names_of(relation.source))
    scanned = isinstance(relation.source, Scan)
    return f"rows of {side(relation.source)} where {here}" if scanned else f"of these, those where {here}"


def _paired(pair: Pair, known: Conditions) -> str:
    left, right = own(pair.left), own(pair.right)
    shown = f"{side(pair.left)} {_KINDS[pair.kind]} {side(pair.right)}"
    on = "" if pair.condition is None else f" on {written(pair.condition)}"
    if left.public or right.public:
        return f"{shown}{on}: public rows have no owner: each keeps its own; what multiplies is bounded later"
    equal = equality(pair.left, pair.right, conjuncts(pair.condition) + known)
    means = "makes both rows one person's" + _lonely(pair.kind)
    return f"{shown}{on}, which {means}" if on == f" on {equal}" else f"{shown}{on}: {equal} {means}"


def _lonely(kind: str) -> str:
    return "" if kind == "inner" else "; a row without partner keeps its owner"


def equality(left: Relation, right: Relation, conditions: Conditions) -> str:
    """Write the condition that equates two owners."""
    for found in conditions:
        if isinstance(found, Call) and found.function == "=" and _equates(left, right, found):
            return written(found)
    return "an equality of the owners"


def _equates(left: Relation, right: Relation, found: Call) -> bool:
    one, other = found.arguments
    if not (isinstance(one, Column) and isinstance(other, Column)):
        return False
    pairs = ((one.name, other.name), (other.name, one.name))
    return any(left.field(a) and right.field(b) and same_owner(left, a, right, b) for a, b in pairs)


def _matched(relation: Match) -> str:
    on = "" if relation.condition is None else f", {written(relation.condition, names_of(relation.other))}"
    same = "" if own(relation.other).public else " of the same person"
    shown = f"a row of {side(relation.other)}{same}{on}"
    if relation.flag is None:
        return f"rows of {side(relation.source)} for which there is {shown}"
    return f"rows of {side(relation.source)}, each told whether there is {shown}"


def _stacked(relation: Stack) -> str:
    return f"UNION ALL of {listed([side(part) for part in relation.parts])}: every row keeps its owner"


def _per_owner(relation: PerOwner) -> str:
    owners, names = own(relation.source), names_of(relation.source)
    who = owners.unit if not owners.public else None
    tokens = dict(owners.copies)
    others = [
        written(key.expression, names)
        for key in relation.keys
        if not (isinstance(key.expression, Column) and tokens.get(key.expression.name) == OWNER)
    ]
    keyed = listed([*([] if who is None else [who]), *others]) if who or others else "the whole table"
    made = [_bounded(summary(s, names), s.function, s.field.bounds) for s in relation.summaries]
    return f"one row for each {keyed}" + (f": {', '.join(made)}" if made else "")


def _bounded(shown: str, function: str, bounds: Bounds) -> str:
    if function not in ("count", "sum") or bounds.low is None or bounds.high is None:
        return shown
    return f"{shown} clamped to [{decimal(bounds.low)}, {decimal(bounds.high)}]"
