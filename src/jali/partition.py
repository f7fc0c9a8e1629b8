"""A partition of a table: disjoint parts, whose questions together cost as much as those of the dearest part."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from jali.errors import QueryError
from jali.planner.membership import PartOf
from jali.query.builder import TableQuestion
from jali.query.nodes import Value

if TYPE_CHECKING:
    from jali.database import Remaining
    from jali.session import Session


class Partition:
    """The parts of a table by an expression whose keys are declared: `s.table("visits").partition("ward")`.

    Every person belongs to one part at most: of those where the person has rows, the one with the least hash. The
    rows that a person has in other parts do not count, in no question on a part.

    Guarantee:
        Whatever is asked of the parts, in any order, costs the table the most that was asked of one part; where
        its units are replaced, the most of one part or of two, as `explain` says.
    Proof:
        docs/proofs/parallel.md, "Across questions".

    Example:
        `parts = s.table("visits").partition("ward")`
        `{ward: parts[ward].agg(n=jali.count()).ask(epsilon=0.1) for ward in parts}`
    """

    def __init__(self, session: Session, table: str, by: str, keys: tuple[Value, ...]) -> None:
        self._session = session
        self.table = table
        self.by = by
        self.keys = keys

    def __repr__(self) -> str:
        return f"Partition({self.table} by {self.by}: {len(self.keys):,} parts)"

    def __iter__(self) -> Iterator[Value]:
        return iter(self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, key: object) -> bool:
        return key in self.keys

    def __getitem__(self, key: Value) -> TableQuestion:
        """Begin a question on one part."""
        part = self._part(key)
        return TableQuestion(
            self.table, partial(self._session.ask, part=part), partial(self._session.explain, part=part)
        )

    def remaining(self, key: Value) -> Remaining:
        """Return the largest loss that a further question on one part would be granted."""
        return self._session.remaining(self.table, part=self._part(key))

    def _part(self, key: Value) -> PartOf:
        if key not in self.keys:
            known = (*map(repr, self.keys[:5]), *(["..."] if len(self.keys) > 5 else []))
            raise QueryError("part-unknown", table=self.table, by=self.by, part=key, parts=known)
        return PartOf(self.by, key, self.table)
