"""Triples: a question, one of its protected tables, and a neighbour that differs in one unit of that table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fuzz.world import ADJACENCIES, PROTECTED, World, house
from tests.loss.asks import Asked, Desk, Outcome
from tests.loss.compared import ViolationError, compare
from tests.loss.families import Family, families
from tests.loss.judge import Verdict, check
from tests.loss.plans import Plans, remembered
from tests.loss.replaced import watching
from tests.loss.seen import Draw
from tests.loss.versions import versions
from tests.loss.watch import Watch
from tests.loss.worlds import rich_world
from tests.reused import one_thread

from jali.privacy import NOTHING, Event

# A database is given up after so many rounds: its books grow long.
_ROUNDS = 400
# In so many questions a table is looked at that pays nothing.
_NOT_PAYING = 0.4


@dataclass
class Report:
    """What was checked.

    Attributes:
        tally: How many triples, refusals, and so on.
        families: Of how many questions each family is.
        ratios: How much of what was charged the loss takes, by kind.
    """

    tally: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    ratios: dict[str, list[float]] = field(default_factory=lambda: {"epsilon": [], "rho": [], "delta": []})

    def add(self, verdict: Verdict, adjacency: str) -> None:
        """Add a triple."""
        self.tally.update(["triples", adjacency, f"private by {verdict.how}"])
        for kind, found in self.ratios.items():
            share = getattr(verdict, kind)
            if share is not None:
                found.append(share)
        self.tally["triples in which nothing moves"] += not any((verdict.epsilon, verdict.rho, verdict.delta))

    def __str__(self) -> str:
        lines = [", ".join(f"{n} {name}" for name, n in sorted(c.items())) for c in (self.tally, self.families)]
        for kind, found in self.ratios.items():
            cells = Counter(min(int(10 * share), 10) for share in found)
            shown = " ".join(f"{cell / 10}:{cells[cell]}" for cell in range(11))
            lines.append(f"{kind} lost of {kind} charged, at most {max(found, default=0):.9f}: {shown}")
        return "\n".join(lines)


@dataclass
class Checker:
    """Asks on worlds and on their neighbours, with all randomness replaced."""

    watch: Watch
    plans: Plans
    chance: Random
    report: Report = field(default_factory=Report)

    def check(self, desk: Desk, asked: Asked, worlds: Iterable[World], each: int) -> bool:
        """Check so many other versions of every table that is charged; say whether there were answers.

        The world is the first of some in which the question finds any rows, or the last of them.
        """
        self.plans.forget()
        for world in worlds:
            desk.move_in(world)
            first = desk.ask(asked)
            if first.refused or any(draw.finds_rows() for draw in first.draws):
                break
        paying = sorted(first.charged)
        others = sorted({shape.name for shape in PROTECTED} - set(paying))
        # Plans are made anew for one neighbour: they take long, and no data goes into them.
        self.plans.anew = True
        for table in paying:
            self._check_table(desk, asked, first, table, each)
        if others and self.chance.random() < _NOT_PAYING:
            # A table that pays nothing has no part in the answer; nor has any table in a refusal.
            self._check_table(desk, asked, first, self.chance.choice(others), 1)
        self.report.tally["refused" if first.refused else "answered"] += 1
        self.report.families.update(families(asked, first.charged, first.draws))
        return not first.refused

    def _check_table(self, desk: Desk, asked: Asked, first: Outcome, table: str, each: int) -> None:
        adjacency = desk.home.db.tables.find(table).adjacency.value
        found, outcomes = versions(desk.world, table, adjacency, self.chance, each), [first]
        for rows in found.rows[1:]:
            desk.give(table, rows)
            outcomes.append(desk.ask(asked))
            self.plans.anew = False
        for one, other in found.pairs:
            verdict = check_pair(asked, table, outcomes[one], outcomes[other])
            if verdict is None:
                self.report.tally["pairs refused"] += 1
            elif table in first.charged:
                self.report.add(verdict, adjacency)
            else:
                self.report.tally["pairs in tables that pay nothing"] += 1
        desk.give(table, desk.world[table])


def check_pair(asked: Asked, table: str, one: Outcome, other: Outcome) -> Verdict | None:
    """Check two runs that differ in one unit of a table; None where both were refused."""
    if one.refused != other.refused:
        raise ViolationError(f"refusals depend on the data: {one.refused!r} and {other.refused!r}")
    if not _alike(one, other):
        raise ViolationError(f"charges depend on the data: {one.charged} and {other.charged}")
    if one.refused:
        if one.charged or one.draws or other.draws:
            raise ViolationError("a refusal is charged, or reads the data")
        return None
    total = compare(one.draws, other.draws)
    _check_left(one, other)
    return check(total, one.charged.get(table, NOTHING), batch=asked.batch is not None)


def _alike(one: Outcome, other: Outcome) -> bool:
    """Sums of many charges are rounded up at a thousand bits, and so are their differences."""
    names = one.charged | other.charged
    pairs = [(one.charged.get(name, NOTHING), other.charged.get(name, NOTHING)) for name in names]
    numbers = [(x, y) for a, b in pairs for x, y in zip(_numbers(a), _numbers(b), strict=True)]
    return all(
        x == y or (x is not None and y is not None and abs(x - y) * 10**100 < max(x, y)) for x, y in numbers
    )


def _numbers(event: Event) -> tuple[Any, ...]:
    return event.epsilon, event.rho, event.delta


def _check_left(one: Outcome, other: Outcome) -> None:
    """Fail if more leaves than noise: samplers gave the same, so that what leaves of common groups is the same."""
    chosen = any(draw.choice is not None for draw in one.draws)
    if not chosen and one.shown != other.shown:
        raise ViolationError(f"something is shown without noise: {one.shown} and {other.shown}")
    for mine, theirs, a, b in zip(one.left, other.left, one.draws, other.draws, strict=True):
        left = _common(mine, a, b), _common(theirs, b, a)
        if left[0] != left[1]:
            raise ViolationError(f"something leaves without noise: {left[0]} and {left[1]}")


def _common(left: Any, mine: Draw, theirs: Draw) -> Any:
    """Return what left of one plan, of groups that both runs may show."""
    if mine.choice is None:
        return left
    groups, levels = left
    kept = [place for place, name in enumerate(mine.order) if name in set(theirs.order)]
    assert len(groups) == len(mine.order), "other groups leave than were chosen"
    return [json.dumps(groups[i]) for i in kept], [
        [[column[i] for i in kept] for column in level] for level in levels
    ]


@contextmanager
def checker(seed: int) -> Iterator[Checker]:
    """Replace all randomness, and check."""
    with one_thread(), watching() as watch, remembered() as plans:
        yield Checker(watch, plans, Random(seed))


def run(wanted: int, each: int, seed: int = 0) -> Report:
    """Check so many triples of questions of the whole grammar."""
    with checker(seed) as checking:
        family, number = Family(checking.chance), 0
        while checking.report.tally["triples"] < wanted:
            with ExitStack() as opened:
                desks = _desks(opened, checking.watch)
                for _ in range(_ROUNDS):
                    asked = family.next()
                    # Two questions of each database are about one world.
                    worlds = [rich_world(number // 4 + later) for later in (0, 10**6, 10**7)]
                    pure, any_loss = desks[number % len(desks)]
                    number += 1
                    desk = pure if asked.is_pure(pure.home.db) else any_loss
                    try:
                        if checking.check(desk, asked, worlds, each):
                            family.accepted(asked)
                    except AssertionError as problem:
                        raise type(problem)(f"{asked!r}\n  round {number}, seed {seed}: {problem}") from problem
                    if checking.report.tally["triples"] >= wanted:
                        break
        return checking.report


def _desks(opened: ExitStack, watch: Watch) -> list[tuple[Desk, Desk]]:
    """Open two databases for each adjacency: the sum of an account tells epsilons only if all of them are pure."""
    homes = [[opened.enter_context(house(each)) for _ in range(2)] for each in ADJACENCIES]
    return [(Desk(pure, watch), Desk(any_loss, watch)) for pure, any_loss in homes]
