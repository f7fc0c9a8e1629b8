"""Anchors: the last head of a ledger's chain, kept outside of the ledger.

The chain shows every change of a ledger but one: whether its end was cut off, as by an older copy in its place or
a journal that was deleted. An anchor is a place where the last head is written before an answer leaves, with what
was spent by then. It is small and append-only; several can be kept, in places that are not restored together.

Statement:
    If the chain contains the head that was anchored last, no entry is missing whose answer has left.
Proof:
    docs/proofs/ledger.md, "The anchor".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from jali.errors import LedgerError
from jali.ledger.chain import ChainHead, canonical, detect_damage, fingerprint
from jali.ledger.ledger_records import read_budget, read_event, write_budget, write_event
from jali.privacy import Budget, Event


@dataclass(frozen=True)
class AnchoredAccount:
    """An account as it was anchored.

    Attributes:
        budget: What may be spent.
        spent: What was spent.
        seq: The number of the head that it was anchored with. Heads may be written out of order, and several are
            merged into one: the latest sum of each account is the one with the largest number.
    """

    budget: Budget
    spent: Event
    seq: int


@dataclass(frozen=True)
class AnchoredHead:
    """A head as it was anchored.

    Attributes:
        epoch: How often the ledger was recovered from an older copy before.
        head: The last entry.
        accounts: The accounts that changed since the head before; of all heads together, all accounts.
    """

    epoch: int
    head: ChainHead
    accounts: Mapping[str, AnchoredAccount] = field(default_factory=dict)

    @property
    def order(self) -> tuple[int, int]:
        """Later heads have a larger one."""
        return self.epoch, self.head.seq

    def to_text(self) -> str:
        """Write it as one line of JSON, with a checksum."""
        text = canonical(
            {
                "epoch": self.epoch,
                "seq": self.head.seq,
                "head": self.head.digest,
                "accounts": {
                    name: {
                        "budget": write_budget(found.budget),
                        "spent": write_event(found.spent),
                        "seq": found.seq,
                    }
                    for name, found in self.accounts.items()
                },
            }
        )
        return f"{fingerprint(text)[:16]} {text}"

    @classmethod
    def of(cls, line: str) -> AnchoredHead | None:
        """Read what `to_text` wrote; None for what it did not write."""
        checksum, _, text = line.strip().partition(" ")
        if fingerprint(text)[:16] != checksum:
            return None
        with detect_damage("damage-anchor"):
            return cls.of_json(json.loads(text))

    @classmethod
    def of_json(cls, body: dict[str, Any]) -> AnchoredHead:
        """Read the JSON of a line."""
        accounts: dict[str, AnchoredAccount] = {
            name: AnchoredAccount(read_budget(found["budget"]), read_event(found["spent"]), int(found["seq"]))
            for name, found in body["accounts"].items()
        }
        return cls(int(body["epoch"]), ChainHead(int(body["seq"]), str(body["head"])), accounts)


def merge(lines: Iterable[AnchoredHead]) -> AnchoredHead | None:
    """Return the latest head of several, with the latest sums of every account that any of them names."""
    known = list(lines)
    if not known:
        return None
    epoch = max(line.epoch for line in known)
    accounts: dict[str, AnchoredAccount] = {}
    # What was anchored before a recovery is in the first head after it.
    for line in (line for line in known if line.epoch == epoch):
        for name, account in line.accounts.items():
            if name not in accounts or account.seq >= accounts[name].seq:
                accounts[name] = account
    return AnchoredHead(epoch, max(known, key=lambda line: line.order).head, accounts)


class Anchor(Protocol):
    """A place where heads are kept."""

    @property
    def name(self) -> str:
        """Where it is, as people write it. No password is in it."""

    def last(self) -> AnchoredHead | None:
        """Return the last head that was written; None if there never was one.

        Raises:
            LedgerError: It cannot be reached or read.
        """

    def everything(self) -> AnchoredHead | None:
        """Return the last head with the sums of all accounts."""

    def write(self, anchored: AnchoredHead, *, durable: bool) -> None:
        """Keep a head: on disk when this returns, if it is to be durable."""

    def renew(self, anchored: AnchoredHead) -> None:
        """Begin again with a head and all sums: what was kept before no longer counts."""


class Anchors:
    """All anchors of one ledger.

    Args:
        own: The one that must be there: a missing one means that the ledger was copied or its anchor was lost.
        others: Those that begin with the first head that they are given.
    """

    def __init__(self, own: Anchor | None, others: Iterable[Anchor] = ()) -> None:
        self.own = own
        self.all: tuple[Anchor, ...] = (*(() if own is None else (own,)), *others)

    def __bool__(self) -> bool:
        return bool(self.all)

    def last(self) -> AnchoredHead | None:
        """Return the latest head of all anchors.

        Raises:
            LedgerError: One of them cannot be read, or the ledger's own is missing.
        """
        found = [anchor.last() for anchor in self.all]
        if self.own is not None and found[0] is None:
            raise _missing(self.own.name)
        return max((head for head in found if head is not None), key=lambda head: head.order, default=None)

    def everything(self) -> AnchoredHead | None:
        """Return the latest head with the latest sums of every account that any anchor knows."""
        return merge(found for anchor in self.all if (found := anchor.everything()) is not None)

    def write(self, anchored: AnchoredHead, *, durable: bool) -> None:
        """Keep a head everywhere."""
        for anchor in self.all:
            anchor.write(anchored, durable=durable)

    def renew(self, anchored: AnchoredHead) -> None:
        """Begin again everywhere."""
        for anchor in self.all:
            anchor.renew(anchored)


NO_ANCHORS = Anchors(None)


def _missing(name: str) -> LedgerError:
    return LedgerError("anchor-missing", anchor=name)
