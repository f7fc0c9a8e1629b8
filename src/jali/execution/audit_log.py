"""The audit log as people read it: one line for each administrative act, with who did it and how it ended.

Of an act that came through a server the ledger has several entries: who is about to do it, what was changed, how
it ended. An act on the file itself has only those of what was changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from jali.ledger.access import AdminAct

# The entry that says how an act ended: its number, and a word.
OUTCOME = "outcome"
# Which changes belong to which acts.
_CHANGES = {
    "protect": ("declared", "budget opened", "data refreshed"),
    "publish": ("declared",),
    "grant": ("budget opened",),
    "refresh": ("data refreshed", "declared"),
    "make stream": ("stream begun",),
    "make token": ("token created",),
    "revoke token": ("token revoked",),
}


@dataclass
class _Act:
    """An act through a server; `last` is the number of the entry with which it ended."""

    deed: AdminAct
    last: int
    outcome: str = ""

    def includes(self, change: AdminAct) -> bool:
        """Say whether a change belongs to this act, judging by its time, kind and subject."""
        known = change.act in _CHANGES.get(self.deed.act, ())
        return (
            self.deed.seq < change.seq < self.last
            and known
            and bool(_split_words(self.deed) & _split_words(change))
        )


def _split_words(deed: AdminAct) -> set[str]:
    return {word.strip(":,").casefold() for word in deed.about.split(" ")}


def join_entries(deeds: Sequence[AdminAct], most: int) -> tuple[AdminAct, ...]:
    """Return one line for each act, the latest first.

    Args:
        deeds: The entries, the latest first.
        most: How many lines at most.
    """
    acts = [_infer_outcome(act, deeds) for act in _find_acts(deeds)]
    lines = [line for deed in deeds for line in _write_line(deed, acts)]
    return tuple(lines[:most])


def _find_acts(deeds: Sequence[AdminAct]) -> list[_Act]:
    """Find the acts and when each ended: by its outcome, or else when the next one began."""
    found: list[_Act] = []
    ended = dict(_find_outcomes(deeds))
    following = deeds[0].seq + 1 if deeds else 0
    for deed in deeds:
        if not deed.actor or deed.act == OUTCOME:
            continue
        last, outcome = ended.get(deed.seq, (following, ""))
        found.append(_Act(deed, last, outcome))
        following = deed.seq
    return found


def _infer_outcome(act: _Act, deeds: Sequence[AdminAct]) -> _Act:
    """Infer a missing outcome from the changes of an act: early ledgers did not record outcomes."""
    if not act.outcome:
        changed = any(act.includes(deed) for deed in deeds if not deed.actor)
        act.outcome = "done" if changed else "not finished"
    return act


def _find_outcomes(deeds: Iterable[AdminAct]) -> Iterator[tuple[int, tuple[int, str]]]:
    for deed in deeds:
        if deed.actor and deed.act == OUTCOME:
            number, _, word = deed.about.partition(" ")
            yield int(number), (deed.seq, word)


def _write_line(deed: AdminAct, acts: Sequence[_Act]) -> Iterator[AdminAct]:
    if deed.actor:
        if deed.act != OUTCOME:
            act = next(act for act in acts if act.deed is deed)
            yield replace(deed, outcome=act.outcome)
    elif not any(act.includes(deed) for act in acts):
        yield deed
