"""Random relations: tables, joins, subqueries, WITH, UNION ALL, DISTINCT and per-person summaries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from random import Random

import pyarrow as pa
from tests.fuzz.expressions import DATE, NUMBER, OTHER, TEXT, TIME, TRUTH, Pen, Seen
from tests.fuzz.world import SHAPES, Shape

PERSONAL = ("visits", "people", "items")
PUBLIC = ("wards", "codes")
_OWNERS = {"visits": "uid", "people": "pid"}


@dataclass(frozen=True)
class Source:
    """What stands after FROM, and the columns in sight.

    Attributes:
        level: "person", "row" or "public".
        names: The names of the tables in it.
    """

    sql: str
    seen: tuple[Seen, ...]
    level: str
    names: tuple[str, ...] = ()

    def owners(self) -> list[str]:
        """Return the columns that name the person."""
        return [column.sql for column in self.seen if column.owner]


def _kind(type_: pa.DataType) -> str:
    kinds = {pa.string(): TEXT, pa.bool_(): TRUTH, pa.date32(): DATE, pa.timestamp("us"): TIME}
    return OTHER if pa.types.is_list(type_) else kinds.get(type_, NUMBER)


def _columns(shape: Shape, alias: str) -> tuple[Seen, ...]:
    owner = _OWNERS.get(shape.name)
    return tuple(
        Seen(
            f"{alias}.{c.name}",
            _kind(c.type),
            bounded=(shape.public or c.name in shape.declared) and _kind(c.type) == NUMBER,
            keyed=(shape.public or c.name in shape.declared) and c.type != pa.float64(),
            owner=c.name == owner,
        )
        for c in shape.columns
    )


class Relations:
    """Writes relations."""

    def __init__(self, chance: Random) -> None:
        self.pen = Pen(chance)
        self.common: list[str] = []
        self._numbers = count(1)

    def _name(self) -> str:
        return f"r{next(self._numbers)}"

    def source(self, depth: int) -> Source:
        """Write what stands after FROM."""
        if depth <= 0:
            return self.table(self.pen.pick((*PERSONAL, *PERSONAL, "readings")))
        writers = [self._plain, self._joined, self._joined, self._with_public, self._derived, self._per_person]
        writers += [self._union, self._distinct, self._common, self._keyed]
        return self.pen.pick(writers)(depth)

    def table(self, name: str) -> Source:
        """Write one table under an alias."""
        alias, shape = self._name(), SHAPES[name]
        level = "public" if shape.public else "row" if name == "readings" else "person"
        return Source(f"{name} AS {alias}", _columns(shape, alias), level, (name,))

    def _plain(self, _: int) -> Source:
        return self.source(0)

    def _joined(self, depth: int) -> Source:
        """Two protected relations, mostly on their owners."""
        left, right = self._personal(depth - 1), self._personal(depth - 1)
        condition = self._equality(left, right)
        if self.pen.chance(25):
            condition += f" AND {self.pen.write(TRUTH, left.seen + right.seen, 0)}"
        kind = self.pen.pick(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"))
        return self._paired(kind, left, right, condition)

    def _paired(self, kind: str, left: Source, right: Source, condition: str) -> Source:
        seen = left.seen if kind in ("SEMI JOIN", "ANTI JOIN") else left.seen + right.seen
        owners = {"LEFT JOIN": left.owners(), "RIGHT JOIN": right.owners(), "FULL JOIN": []}.get(kind)
        if owners is not None:
            seen = tuple(replace(c, owner=c.sql in owners) for c in seen)
        return Source(
            f"{left.sql} {kind} {self._nested(right)} ON {condition}", seen, "person", left.names + right.names
        )

    @staticmethod
    def _nested(source: Source) -> str:
        return f"({source.sql})" if " JOIN " in source.sql and not source.sql.startswith("(") else source.sql

    def _equality(self, left: Source, right: Source) -> str:
        """Mostly right; wrong in all the ways that people write."""
        mine, theirs = left.owners(), right.owners()
        if mine and theirs and self.pen.chance(92):
            return f"{self.pen.pick(mine)} = {self.pen.pick(theirs)}"
        if mine and theirs and self.pen.chance(50):
            return f"{mine[0]} {self.pen.pick(('<>', '<', '= 1 +', 'IS NOT DISTINCT FROM'))} {theirs[0]}"
        return self.pen.write(TRUTH, left.seen + right.seen, 0)

    def _personal(self, depth: int) -> Source:
        """A relation that names its person, in most cases."""
        found = self.source(depth) if self.pen.chance(40) else self.table(self.pen.pick(("visits", "people")))
        if found.owners() or self.pen.chance(5):
            return found
        return self.table(self.pen.pick(("visits", "people")))

    def _keyed(self, _: int) -> Source:
        """A table and the one that its owner is reached through, on the unique key."""
        visits, items = self.table("visits"), self.table("items")
        condition = f"{items.seen[0].sql} = {visits.seen[1].sql}"
        left, right = (visits, items) if self.pen.chance(50) else (items, visits)
        return self._paired(self.pen.pick(("JOIN", "LEFT JOIN", "FULL JOIN", "SEMI JOIN")), left, right, condition)

    def _with_public(self, depth: int) -> Source:
        left, right = self.source(depth - 1), self.table(self.pen.pick(PUBLIC))
        texts = [c.sql for c in left.seen if c.kind == TEXT]
        if not texts or self.pen.chance(15):
            condition = self.pen.write(TRUTH, left.seen + right.seen, 0)
        else:
            condition = f"{self.pen.pick(texts)} = {right.seen[0].sql}"
        kind = self.pen.pick(
            ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "ANTI JOIN", "SEMI JOIN", "CROSS JOIN")
        )
        if kind == "CROSS JOIN":
            return replace(left, sql=f"{left.sql} CROSS JOIN {right.sql}", seen=left.seen + right.seen)
        seen = left.seen if kind in ("SEMI JOIN", "ANTI JOIN") else left.seen + right.seen
        if kind == "RIGHT JOIN" and self.pen.chance(50):
            return replace(left, sql=f"{right.sql} {kind} {self._nested(left)} ON {condition}", seen=seen)
        return replace(left, sql=f"{left.sql} {kind} {right.sql} ON {condition}", seen=seen)

    # Subqueries.

    def _derived(self, depth: int) -> Source:
        inner = self.source(depth - 1)
        sql, seen = self._projection(inner)
        return self._named(f"SELECT {sql} FROM {inner.sql}{self.where(inner, depth - 1)}", seen, inner)

    def _named(self, query: str, seen: tuple[Seen, ...], inner: Source) -> Source:
        alias = self._name()
        named = tuple(replace(column, sql=f"{alias}.{column.sql}") for column in seen)
        return Source(f"({query}) AS {alias}", named, inner.level, (alias,))

    def _projection(self, inner: Source, *, owned: bool = True) -> tuple[str, tuple[Seen, ...]]:
        """Some columns and some computed ones, each under a new name."""
        shown, seen = [], []
        kept = [c for c in inner.seen if c.owner and owned][:1]
        kept += [self.pen.pick(inner.seen) for _ in range(3)]
        for place, column in enumerate(dict.fromkeys(c for c in kept if c.kind != OTHER)):
            shown.append(f"{column.sql} AS c{place}")
            seen.append(replace(column, sql=f"c{place}"))
        if self.pen.chance(60):
            kind = self.pen.pick((NUMBER, TEXT, TRUTH, DATE))
            shown.append(f"{self.pen.write(kind, inner.seen, 1)} AS made")
            seen.append(Seen("made", kind))
        return ", ".join(shown), tuple(seen)

    def _per_person(self, depth: int) -> Source:
        inner = self._personal(depth - 1)
        owners = inner.owners() or ["uid"]
        keys = [self.pen.pick(owners)]
        seen = [Seen("owner", NUMBER, owner=True)]
        shown = [f"{keys[0]} AS owner"]
        if self.pen.chance(40):
            key = self.pen.pick([c for c in inner.seen if c.kind != OTHER])
            keys.append(key.sql)
            shown.append(f"{key.sql} AS part")
            seen.append(replace(key, sql="part", owner=False))
        for place in range(self.pen.pick((1, 2))):
            written, kind, bounded = self._summary(inner)
            shown.append(f"{written} AS s{place}")
            seen.append(Seen(f"s{place}", kind, bounded=bounded))
        having = f" HAVING {self.pen.pick(('COUNT(*) > 1', 'MIN(1) = 1', 'COUNT(*) BETWEEN 1 AND 9'))}"
        query = f"SELECT {', '.join(shown)} FROM {inner.sql}{self.where(inner, 0)} GROUP BY {', '.join(keys)}"
        return self._named(query + (having if self.pen.chance(20) else ""), tuple(seen), inner)

    def _summary(self, inner: Source) -> tuple[str, str, bool]:
        shape = self.pen.pick(
            ("COUNT(*)", "COUNT({})", "COUNT(DISTINCT {})", "SUM({})", "AVG({})", "MIN({})", "MAX({})")
        )
        value = self.pen.bounded(inner.seen, 1)
        if shape in ("MIN({})", "MAX({})", "COUNT(DISTINCT {})", "COUNT({})") and self.pen.chance(50):
            kind = self.pen.pick((NUMBER, TEXT, DATE))
            made = kind if shape.startswith("M") else NUMBER
            return shape.format(self.pen.write(kind, inner.seen, 1)), made, shape.startswith("COUNT")
        text = shape.format(value)
        if self.pen.chance(20):
            text += f" FILTER (WHERE {self.pen.write(TRUTH, inner.seen, 0)})"
        return text, NUMBER, True

    def _distinct(self, depth: int) -> Source:
        inner = self.source(depth - 1)
        sql, seen = self._projection(inner, owned=self.pen.chance(90))
        return self._named(f"SELECT DISTINCT {sql} FROM {inner.sql}", seen, inner)

    def _union(self, depth: int) -> Source:
        """Parts that match by kind: the person, a text and a number."""
        parts, keyed = [], self.pen.chance(90)
        for _ in range(self.pen.pick((2, 2, 3))):
            inner = self._personal(depth - 1)
            owner = self.pen.pick(inner.owners() or ["uid"])
            text = self._of_kind(inner, TEXT)
            columns = f"{owner} AS u, {text.sql} AS t, {self.pen.bounded(inner.seen, 0)} AS x"
            parts.append(f"SELECT {columns} FROM {inner.sql}{self.where(inner, 0)}")
            keyed = keyed and text.keyed
        seen = (Seen("u", NUMBER, owner=True), Seen("t", TEXT, keyed=keyed), Seen("x", NUMBER, bounded=True))
        words = " UNION ALL " if self.pen.chance(85) else " UNION "
        return self._named(words.join(parts), seen, Source("", (), "person"))

    def _of_kind(self, inner: Source, kind: str) -> Seen:
        found = [c for c in inner.seen if c.kind == kind]
        return self.pen.pick(found) if found else Seen(self.pen.write(kind, inner.seen, 0), kind)

    def _common(self, depth: int) -> Source:
        """WITH, used once or joined with itself."""
        inner = self._derived(depth) if self.pen.chance(60) else self._per_person(depth)
        name, query = self._name(), inner.sql.rsplit(" AS ", 1)[0]
        self.common.append(f"{name} AS {query}")
        plain = tuple(replace(c, sql=c.sql.split(".", 1)[1]) for c in inner.seen)
        one = replace(inner, sql=name, seen=tuple(replace(c, sql=f"{name}.{c.sql}") for c in plain), names=(name,))
        if self.pen.chance(70):
            return one
        alias = self._name()
        other = replace(
            one, sql=f"{name} AS {alias}", seen=tuple(replace(c, sql=f"{alias}.{c.sql}") for c in plain)
        )
        return self._paired(self.pen.pick(("JOIN", "LEFT JOIN")), one, other, self._equality(one, other))

    # Conditions with subqueries.

    def where(self, source: Source, depth: int) -> str:
        """Write WHERE, or nothing."""
        if self.pen.chance(50):
            return ""
        found = [self._found(source, depth) if self.pen.chance(35) else self.pen.write(TRUTH, source.seen, 1)]
        if self.pen.chance(20):
            found.append(self.pen.write(TRUTH, source.seen, 0))
        return f" WHERE {' AND '.join(found)}"

    def _found(self, source: Source, depth: int) -> str:
        """IN and EXISTS, over people's tables or public ones."""
        owners = source.owners()
        if not owners or self.pen.chance(30):
            return self._in_public(source)
        other = self._personal(depth - 1)
        theirs, inner = self.pen.pick(other.owners() or ["uid"]), self.where(other, 0)
        word = self.pen.pick(("", "NOT "))
        if self.pen.chance(50):
            return f"{self.pen.pick(owners)} {word}IN (SELECT {theirs} FROM {other.sql}{inner})"
        tie = f"{theirs} = {self.pen.pick(owners)}"
        if self.pen.chance(10):
            tie = self.pen.write(TRUTH, source.seen + other.seen, 0)
        joined = f"{inner} AND {tie}" if inner else f" WHERE {tie}"
        return f"{word}EXISTS (SELECT 1 FROM {other.sql}{joined})"

    def _in_public(self, source: Source) -> str:
        texts = [c.sql for c in source.seen if c.kind == TEXT] or ["'A'"]
        word = self.pen.pick(("", "NOT "))
        return f"{self.pen.pick(texts)} {word}IN (SELECT {self.pen.pick(('w FROM wards', 'code FROM codes'))})"
