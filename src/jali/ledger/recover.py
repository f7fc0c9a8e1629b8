"""Recovery: going on from an older copy of a ledger, with everything charged that its anchor knows of.

Statement:
    A recovered account has spent at least what the anchor says was spent when the last answer left. Whatever may
    have been answered without the copy's knowledge is closed: open receipts are exhausted, streams end, tokens are
    revoked. So no budget comes back, no receipt is answered twice, and no noise is drawn twice.
Proof:
    docs/proofs/ledger.md, "Recovery".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import LedgerError
from jali.ledger.anchors import AnchoredHead
from jali.ledger.chain import EntryKind
from jali.ledger.charge import Debit
from jali.ledger.ledger import Ledger
from jali.ledger.ledger_records import MAX_ATTEMPTS, write_budget, write_debits
from jali.ledger.ledger_tables import LedgerAccount, LedgerTables
from jali.ledger.operations import now
from jali.privacy import NOTHING, Event


@dataclass(frozen=True)
class Recovery:
    """What a recovery has changed.

    Attributes:
        lost: How many entries the anchor knew that the copy did not have.
        charged: What was charged to each account for them.
        receipts: How many open receipts can no longer be redeemed.
        streams: How many streams have ended.
        tokens: How many tokens were revoked.
    """

    lost: int
    charged: dict[str, Event]
    receipts: int
    streams: int
    tokens: int


def recover(ledger: Ledger) -> Recovery:
    """Let a ledger go on that lacks entries which were anchored. It was opened unchecked.

    Raises:
        LedgerError: It lacks nothing, it is not sound, or it has no anchor.
    """
    transactions = ledger.transactions
    known = transactions.anchors.everything()
    if known is None:
        raise LedgerError("anchor-unknowing")
    problems = ledger.verify().problems
    if problems:
        raise LedgerError("ledger-damaged-copy", problem=problems[0])
    with transactions.writing(checked=False, anchored=False) as tables:
        if tables.epoch() == known.epoch and tables.digest(known.head.seq) == known.head.digest:
            raise LedgerError("recover-nothing")
        lost = max(0, known.head.seq - tables.head.seq)
        at = now()
        opened = [name for name in known.accounts if tables.account(name) is None]
        charged = _charge(tables, known)
        closed = _close(tables)
        tables.append(
            EntryKind.RESTORE,
            {
                "epoch": known.epoch + 1,
                "seq": known.head.seq,
                "head": known.head.digest,
                "debits": write_debits([Debit(name, event) for name, event in charged.items()]),
                "opened": [
                    {"account": name, "budget": write_budget(known.accounts[name].budget), "at": at}
                    for name in opened
                ],
                "at": at,
            },
        )
        found = transactions.now(tables)
    transactions.anchors.renew(found)
    return Recovery(lost, charged, *closed)


def _charge(tables: LedgerTables, known: AnchoredHead) -> dict[str, Event]:
    """Open the accounts that the copy does not know, and charge to all what it does not know was spent."""
    charged = {}
    for name, anchored in known.accounts.items():
        account = tables.account(name)
        if account is None:
            tables.put_account(name, anchored.budget)
            account = LedgerAccount(anchored.budget, NOTHING)
        missing = _difference(anchored.spent, account.spent)
        if missing != NOTHING:
            sums = tables.sums(name, account.spent, None).after(Debit(name, missing))
            tables.put_sums(name, account.budget, sums, None)
            charged[name] = missing
    return charged


def _difference(anchored: Event, here: Event) -> Event:
    """Return the least event that brings a sum up to another, each number by itself."""
    zero = Fraction(0)
    epsilon = None
    if anchored.epsilon is not None:
        epsilon = zero if here.epsilon is None else max(zero, anchored.epsilon - here.epsilon)
    elif here.epsilon is None:
        epsilon = zero
    return Event(epsilon, max(zero, anchored.rho - here.rho), max(zero, anchored.delta - here.delta))


def _close(tables: LedgerTables) -> tuple[int, int, int]:
    """Close whatever may have been answered since; return how many receipts, streams and tokens that were."""
    receipts = [row for row in tables.all("receipts", "WHERE released IS NULL") if row[-2] < MAX_ATTEMPTS]
    for row in receipts:
        tables.put("receipts", (*row[:-2], MAX_ATTEMPTS, row[-1]))
    streams = [row for row in tables.all("streams") if not row[-1]]
    for row in streams:
        tables.put("streams", (*row[:-1], 1))
    tokens = [row for row in tables.all("tokens") if not row[-1]]
    for row in tokens:
        tables.put("tokens", (*row[:-1], 1))
    return len(receipts), len(streams), len(tokens)
