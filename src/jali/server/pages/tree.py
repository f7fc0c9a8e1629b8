"""A plan as a tree: the question, its rows, how people are bounded, groups, releases, and what follows."""

from __future__ import annotations

from dataclasses import dataclass

from jali.planner import PLANS, Plan
from jali.planner.explanation import AggregateNote, Explanation, KeyNote, ReleaseNote, TableNote, explanation
from jali.planner.explanation.facts import release_facts, selection_facts, subject
from jali.planner.explanation.forecasts import forecasts, show_remark

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Node:
    """One branch of a tree.

    Attributes:
        title: What it is.
        remark: The most important about it.
        facts: Labelled sentences.
        branches: What it is made of.
        code: Text for the engine.
    """

    title: str
    remark: str = ""
    facts: Facts = ()
    branches: tuple[Node, ...] = ()
    code: str = ""


def tree_of(plan: str) -> Node:
    """Return the tree of a plan as the ledger keeps it."""
    known: Plan = PLANS.decode(plan)
    return tree(explanation(known))


def tree(note: Explanation) -> Node:
    """Return the tree of an explained plan."""
    branches = (
        _rows(note),
        Node("Contribution bound", note.contribution),
        _groups(note),
        _releases(note),
        _answers(note),
        *([_afterwards(note)] if note.afterwards else []),
        *(Node("Engine query", "exact integers, read only after paying", code=q.sql) for q in note.queries),
    )
    facts = (("loss", f"{note.loss} for the whole answer: {note.split}"), ("neighbours", note.neighbours))
    return Node(f"Question on {subject(note)}", note.loss, facts, branches)


def _rows(note: Explanation) -> Node:
    labelled = [("rows", step) for step in note.steps]
    labelled += [("filter", note.where)] if note.where is not None else []
    labelled += [("clamped", clamp) for clamp in note.clamps]
    labelled += [("part", line) for line in note.part]
    public = tuple(Node(name, "public: nobody's rows, never charged") for name in note.public)
    return Node(
        "Tables and rows", subject(note), tuple(labelled), (*(_table(table) for table in note.tables), *public)
    )


def _table(table: TableNote) -> Node:
    facts = [
        ("unit", table.unit or "each row is a person"),
        *([] if table.via is None else [("reached by", table.via)]),
        ("adjacency", table.adjacency),
        ("rows a person", f"at most {table.max_rows:,}"),
        ("changes", f"{table.changes}: {table.because}"),
        ("charged", table.loss),
    ]
    return Node(table.name, table.loss, tuple(facts))


def _groups(note: Explanation) -> Node:
    keys = tuple(_key(key) for key in note.keys)
    sets = tuple(("set", f"{columns}: {count:,} groups") for columns, count in note.sets)
    if note.selection is not None:
        chosen = Node("Choosing groups", note.selection.loss, tuple(selection_facts(note.selection)))
        return Node("Groups", note.selection.sizes, sets, (*keys, chosen))
    count = f"{note.groups:,}, known before the data is read" if keys and note.groups else "one: all rows"
    return Node("Groups", count, sets, keys)


def _key(key: KeyNote) -> Node:
    shown = ", ".join(key.shown)
    more = f", … ({key.count:,} in all)" if key.count is not None and key.count > len(key.shown) else ""
    return Node(key.expression, f"{shown}{more}", (("meaning", key.meaning),))


def _releases(note: Explanation) -> Node:
    count = len(note.measures)
    noise = "1 noisy number a group" if count == 1 else f"{count} noisy numbers a group"
    return Node("Releases", noise, (), tuple(_release(i, one) for i, one in enumerate(note.measures, 1)))


def _release(place: int, note: ReleaseNote) -> Node:
    return Node(f"[{place}] {note.name}", note.loss, tuple(release_facts(note)))


def _answers(note: Explanation) -> Node:
    each = tuple(_answer(one) for one in note.aggregates)
    return Node("Answers", f"forecast with {note.confidence:.0%} confidence", (), each)


def _answer(note: AggregateNote) -> Node:
    remark = show_remark(note)
    facts = [("made of", note.formula), *(("forecast", line) for line in forecasts(note))]
    return Node(note.name, "; ".join(forecasts(note)), (*facts, *((("note", remark),) if remark else ())))


def _afterwards(note: Explanation) -> Node:
    return Node("Afterwards", "on noisy values, free", tuple(("then", line) for line in note.afterwards))
