"""The replay: what the entries alone say, with every rule checked again. It reads no sum that was kept.

It also checks that each entry names exactly the rows that follow from it, with the right digests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from jali.errors import JaliError
from jali.ledger.access import Role
from jali.ledger.chain import FORM, GENESIS, OLD_FORM, ChainEntry, EntryKind, canonical
from jali.ledger.charge import Debit, grants_of, is_chargeable
from jali.ledger.ledger_records import (
    MAX_ATTEMPTS,
    Declaration,
    read_budget,
    read_debits,
    write_budget,
    write_event,
)
from jali.ledger.row_digests import ROWS, digest_row
from jali.ledger.subpopulation_sums import AccountSums, DebitSubpopulation, SubpopulationSum, add_events, largest
from jali.privacy import NOTHING, Budget, Event, Filter

_FIELDS: dict[str, dict[str, type]] = {
    EntryKind.DECLARE: {"name": str, "body": str, "version": int, "at": str},
    EntryKind.OPEN: {"account": str, "budget": dict, "at": str},
    EntryKind.REFRESH: {"name": str, "data_version": int, "at": str},
    EntryKind.RESERVE: {
        "receipt": str, "analyst": str, "question": str, "key": str, "plan": str, "debits": list, "at": str,
    },
    EntryKind.ATTEMPT: {"receipt": str, "attempt": int, "at": str},
    EntryKind.RELEASE: {"receipt": str, "answer": str},
    EntryKind.SEE: {"receipt": str, "analyst": str, "debits": list, "at": str},
    EntryKind.STREAM: {"stream": str, "receipt": str, "at": str},
    EntryKind.TICK: {"stream": str, "tick": int, "value": str},
    EntryKind.TOKEN: {"token": str, "name": str, "role": str, "digest": str, "expires": str, "at": str},
    EntryKind.REVOKE: {"token": str, "at": str},
    EntryKind.ACT: {"actor": str, "act": str, "about": str, "at": str},
    EntryKind.MOVE: {"to": str, "move": str, "at": str},
    EntryKind.ARRIVE: {"from": str, "move": str, "at": str},
    EntryKind.SEAL: {"schema": str, "at": str},
    EntryKind.RESTORE: {"epoch": int, "seq": int, "head": str, "debits": list, "opened": list, "at": str},
}  # fmt: skip


@dataclass(frozen=True)
class _Scheme:
    """The sum of a scheme; under the empty name, of what concerns everybody."""

    seq: int
    together: int
    spent: Event


@dataclass
class _Account:
    seq: int
    budget: Budget
    spent: Event = NOTHING
    schemes: dict[str, _Scheme] = field(default_factory=dict)
    parts: dict[str, dict[str, SubpopulationSum]] = field(default_factory=dict)

    def sums(self, part: DebitSubpopulation | None) -> AccountSums:
        """Return the sums as a debit of this part sees them."""
        if part is None and not self.schemes:
            return AccountSums(common=self.spent)
        spent = {name: scheme.spent for name, scheme in self.schemes.items()}
        common = spent.pop("", self.spent)
        if part is None:
            return AccountSums(common, add_events(spent.values()))
        own, parts = spent.pop(part.scheme, NOTHING), self.parts.get(part.scheme, {})
        rivals = [found.apart for key, found in parts.items() if key != part.key and part.together == 2]
        return AccountSums(
            common, add_events(spent.values()), own, parts.get(part.key, SubpopulationSum()), largest(rivals)
        )


@dataclass(frozen=True)
class _Receipt:
    seq: int
    body: dict[str, Any]
    attempts: int = 1
    released: int | None = None
    answer: str | None = None


@dataclass
class _Stream:
    seq: int
    receipt: str
    values: list[tuple[str, int]] = field(default_factory=list)
    ended: bool = False


@dataclass
class _Token:
    seq: int
    body: dict[str, Any]
    revoked: bool = False


@dataclass
class LedgerReplay:
    """The state of the ledger after the entries that were fed to `step`, and what was wrong with them."""

    problems: list[str] = field(default_factory=list)
    heads: set[str] = field(default_factory=lambda: {GENESIS})
    head: str = GENESIS
    entries: int = 0
    _declarations: dict[str, tuple[int, Declaration]] = field(default_factory=dict)
    _accounts: dict[str, _Account] = field(default_factory=dict)
    _receipts: dict[str, _Receipt] = field(default_factory=dict)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _schemes: int = 0
    _streams: dict[str, _Stream] = field(default_factory=dict)
    _tokens: dict[str, _Token] = field(default_factory=dict)
    _leaving: str | None = None
    _touched: dict[tuple[Any, ...], None] = field(default_factory=dict)
    _written: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def step(self, entry: ChainEntry) -> None:
        """Take the next entry: check its link, then its meaning."""
        self.entries += 1
        try:
            self._check_link(entry)
            self._take(entry)
        except (JaliError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            self._find(entry.seq, "cannot be read")
        self.head = entry.digest
        self.heads.add(entry.digest)

    @property
    def account_sums(self) -> dict[str, Event]:
        """The sum of every account."""
        return {name: account.spent for name, account in self._accounts.items()}

    @property
    def receipts(self) -> int:
        """How many questions were reserved."""
        return len(self._receipts)

    @property
    def open(self) -> int:
        """How many of them are not released."""
        return sum(receipt.released is None for receipt in self._receipts.values())

    def plans(self) -> dict[str, str]:
        """Return the digest of the plan of every receipt."""
        return {name: receipt.body["plan"] for name, receipt in self._receipts.items()}

    def answers(self) -> dict[str, str]:
        """Return the digest of the answer of every released receipt."""
        return {name: found.answer for name, found in self._receipts.items() if found.answer is not None}

    def ticks(self) -> dict[tuple[int, int], tuple[str, int]]:
        """Return the digest of what was published, and its entry, by the number of the stream and the tick."""
        return {
            (stream.seq, tick): value
            for stream in self._streams.values()
            for tick, value in enumerate(stream.values, 1)
        }

    @property
    def has_moved(self) -> bool:
        """Whether the ledger has moved away."""
        return self._leaving is not None

    def rows(self) -> dict[str, set[tuple[Any, ...]]]:
        """Return the rows that the tables beside the entries must have, with the entry that wrote each last."""
        found: dict[str, set[tuple[Any, ...]]] = {table: set() for table in ROWS}
        for table, values in self._all_values():
            key = (table, *ROWS[table].key_of(values))
            found[table].add((*values, self._written.get(key, 0)))
        return found

    def _all_values(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        keys: dict[str, Iterable[tuple[Any, ...]]] = {
            "declarations": ((name,) for name in self._declarations),
            "accounts": ((name,) for name in self._accounts),
            "receipts": ((name,) for name in self._receipts),
            "seen": self._seen,
            "schemes": ((account, name) for account, paid in self._accounts.items() for name in paid.schemes),
            "parts": (
                (account, scheme, key)
                for account, paid in self._accounts.items()
                for scheme, parts in paid.parts.items()
                for key in parts
            ),
            "streams": ((name,) for name in self._streams),
            "tokens": ((name,) for name in self._tokens),
        }
        for table, known in keys.items():
            for key in known:
                yield table, self._values(table, *key)

    def _values(self, table: str, *key: str) -> tuple[Any, ...]:
        """Return the values that a row must have now."""
        if table == "declarations":
            seq, found = self._declarations[key[0]]
            return (seq, found.name, found.body, found.version, found.data_version)
        if table == "receipts":
            return _receipt_values(self._receipts[key[0]])
        if table == "seen":
            return key
        if table == "streams":
            stream = self._streams[key[0]]
            return (stream.seq, key[0], stream.receipt, len(stream.values), int(stream.ended))
        if table == "tokens":
            token = self._tokens[key[0]]
            names = ("token", "name", "role", "digest", "expires", "at")
            return (token.seq, *(token.body[name] for name in names), int(token.revoked))
        return self._account_values(table, *key)

    def _account_values(self, table: str, name: str, *key: str) -> tuple[Any, ...]:
        account = self._accounts[name]
        if table == "accounts":
            return (account.seq, name, canonical(write_budget(account.budget)), _text(account.spent))
        if table == "schemes":
            (scheme,) = key
            paid = account.schemes[scheme]
            below = len(account.parts.get(scheme, {})) if scheme else len(account.schemes) - 1
            return (paid.seq, name, scheme, paid.together, _text(paid.spent), below)
        scheme, part = key
        found = account.parts[scheme][part]
        return (name, scheme, part, _text(found.inside), _text(found.apart))

    def _touch(self, table: str, *key: str) -> None:
        """Note that an entry writes a row."""
        self._touched[table, *key] = None

    def _check_mentions(self, entry: ChainEntry, mentions: list[Any]) -> None:
        """Compare the rows that an entry names with those that follow from it."""
        keys = (
            [tuple(mention[:-1]) for mention in mentions] if entry.kind == EntryKind.SEAL else list(self._touched)
        )
        due = sorted([*key, digest_row(key[0], self._values(*key))] for key in keys)
        if sorted(mentions) != due:
            self._find(entry.seq, "names other rows than follow from it")
        for key in keys:
            self._written[key] = entry.seq

    def _check_link(self, entry: ChainEntry) -> None:
        if entry.seq != self.entries:
            self._find(entry.seq, f"is where entry {self.entries} should be")
        if entry.previous != self.head:
            self._find(entry.seq, "does not follow the entry before it")
        if not entry.is_linked:
            self._find(entry.seq, "has a digest that is not its own")

    def _take(self, entry: ChainEntry) -> None:
        body = json.loads(entry.body)
        fields = {name: type(value) for name, value in body.items()}
        known = _FIELDS.get(entry.kind, {}) | ({} if entry.form == OLD_FORM else {"rows": list})
        if fields != known or canonical(body) != entry.body or entry.form not in (OLD_FORM, FORM):
            self._find(entry.seq, "has a form that Jali never writes")
            return
        if self._leaving is not None and entry.kind != EntryKind.ARRIVE:
            self._find(entry.seq, "was written after the ledger had moved")
        takers: dict[str, Callable[[int, dict[str, Any]], None]] = {
            EntryKind.DECLARE: self._declare,
            EntryKind.OPEN: self._open,
            EntryKind.REFRESH: self._refresh,
            EntryKind.RESERVE: self._reserve,
            EntryKind.ATTEMPT: self._attempt,
            EntryKind.RELEASE: self._release,
            EntryKind.SEE: self._see,
            EntryKind.STREAM: self._stream,
            EntryKind.TICK: self._tick,
            EntryKind.TOKEN: self._token,
            EntryKind.REVOKE: self._revoke,
            EntryKind.ACT: self._act,
            EntryKind.MOVE: self._move,
            EntryKind.ARRIVE: self._arrive,
            EntryKind.SEAL: self._seal,
            EntryKind.RESTORE: self._restore,
        }
        self._touched = {}
        takers[entry.kind](entry.seq, body)
        if entry.form == FORM:
            self._check_mentions(entry, body["rows"])

    def _declare(self, seq: int, body: dict[str, Any]) -> None:
        place, old = self._declarations.get(body["name"], (seq, Declaration(body["name"], "", 0, 1)))
        if body["version"] != old.version + 1:
            self._find(seq, f"skips a version of {body['name']}")
        self._declarations[body["name"]] = place, replace(old, body=body["body"], version=body["version"])
        self._touch("declarations", body["name"])

    def _refresh(self, seq: int, body: dict[str, Any]) -> None:
        place, old = self._declarations[body["name"]]
        if body["data_version"] != old.data_version + 1:
            self._find(seq, f"skips a data version of {body['name']}")
        self._declarations[body["name"]] = place, replace(old, data_version=body["data_version"])
        self._touch("declarations", body["name"])

    def _open(self, seq: int, body: dict[str, Any]) -> None:
        if body["account"] in self._accounts:
            self._find(seq, f"opens {body['account']} a second time")
        else:
            self._accounts[body["account"]] = _Account(seq, read_budget(body["budget"]))
            self._touch("accounts", body["account"])

    def _reserve(self, seq: int, body: dict[str, Any]) -> None:
        if body["receipt"] in self._receipts:
            self._find(seq, f"reserves {body['receipt']} a second time")
            return
        debits = read_debits(body["debits"])
        if not debits:
            self._find(seq, "reserves without a debit")
        self._receipts[body["receipt"]] = _Receipt(seq, body)
        self._touch("receipts", body["receipt"])
        self._spend(seq, debits)

    def _attempt(self, seq: int, body: dict[str, Any]) -> None:
        receipt = self._find_receipt(seq, body)
        if receipt is None:
            return
        if receipt.released is not None:
            self._find(seq, f"tries {body['receipt']} after its release")
        if body["attempt"] != receipt.attempts + 1 or body["attempt"] > MAX_ATTEMPTS:
            self._find(seq, f"is attempt {body['attempt']} of {body['receipt']} after {receipt.attempts}")
        self._receipts[body["receipt"]] = replace(receipt, attempts=body["attempt"])
        self._touch("receipts", body["receipt"])

    def _release(self, seq: int, body: dict[str, Any]) -> None:
        receipt = self._find_receipt(seq, body)
        if receipt is None:
            return
        if receipt.released is not None:
            self._find(seq, f"releases {body['receipt']} a second time")
            return
        self._receipts[body["receipt"]] = replace(receipt, released=seq, answer=body["answer"])
        self._touch("receipts", body["receipt"])

    def _see(self, seq: int, body: dict[str, Any]) -> None:
        receipt, analyst, debits = self._find_receipt(seq, body), body["analyst"], read_debits(body["debits"])
        if receipt is None:
            return
        if receipt.released is None:
            self._find(seq, f"shows {body['receipt']} before its release")
        if analyst == receipt.body["analyst"] or (body["receipt"], analyst) in self._seen:
            self._find(seq, f"charges {analyst} again for {body['receipt']}")
        if not all(debit.account.startswith(grants_of(analyst)) for debit in debits):
            self._find(seq, f"charges others for what {analyst} sees")
        self._seen.add((body["receipt"], analyst))
        self._touch("seen", body["receipt"], analyst)
        self._spend(seq, debits)

    def _stream(self, seq: int, body: dict[str, Any]) -> None:
        receipt = self._find_receipt(seq, body)
        if receipt is None or receipt.released is None:
            self._find(seq, f"begins {body['stream']} before its loss was charged")
            return
        if body["stream"].lower() in {name.lower() for name in self._streams}:
            self._find(seq, f"begins {body['stream']} a second time")
        elif body["receipt"] in {stream.receipt for stream in self._streams.values()}:
            self._find(seq, f"begins {body['stream']} with what another stream has paid")
        else:
            self._streams[body["stream"]] = _Stream(seq, body["receipt"])
            self._touch("streams", body["stream"])

    def _tick(self, seq: int, body: dict[str, Any]) -> None:
        stream = self._streams.get(body["stream"])
        if stream is None:
            self._find(seq, f"publishes {body['stream']}, which was never begun")
        elif body["tick"] != len(stream.values) + 1:
            self._find(seq, f"publishes tick {body['tick']} of {body['stream']} after {len(stream.values)}")
        elif stream.ended:
            self._find(seq, f"publishes {body['stream']} after it was ended")
        else:
            stream.values.append((body["value"], seq))
            self._touch("streams", body["stream"])

    def _token(self, seq: int, body: dict[str, Any]) -> None:
        if body["token"] in self._tokens:
            self._find(seq, f"makes the token {body['token']} a second time")
        else:
            Role(body["role"])
            self._tokens[body["token"]] = _Token(seq, body)
            self._touch("tokens", body["token"])

    def _revoke(self, seq: int, body: dict[str, Any]) -> None:
        found = self._tokens.get(body["token"])
        if found is None or found.revoked:
            self._find(seq, f"revokes {body['token']}, which was never made or is revoked already")
        else:
            found.revoked = True
            self._touch("tokens", body["token"])

    def _act(self, seq: int, body: dict[str, Any]) -> None:
        """Nothing follows from what somebody set out to do; the entries after it say what was done."""

    def _move(self, seq: int, body: dict[str, Any]) -> None:  # noqa: ARG002 - as all takers
        self._leaving = body["move"]

    def _arrive(self, seq: int, body: dict[str, Any]) -> None:
        if body["move"] != self._leaving:
            self._find(seq, "arrives from a move that was not made")
        self._leaving = None

    def _seal(self, seq: int, body: dict[str, Any]) -> None:
        """Nothing follows from it: it names rows as they are."""

    def _restore(self, seq: int, body: dict[str, Any]) -> None:
        """Charge what an older copy did not know of, and close all that may have been answered since."""
        for opened in body["opened"]:
            self._open(seq, opened)
        self._spend(seq, read_debits(body["debits"]), checked=False)
        for name, receipt in self._receipts.items():
            if receipt.released is None and receipt.attempts < MAX_ATTEMPTS:
                self._receipts[name] = replace(receipt, attempts=MAX_ATTEMPTS)
                self._touch("receipts", name)
        for name, stream in self._streams.items():
            if not stream.ended:
                stream.ended = True
                self._touch("streams", name)
        for name, token in self._tokens.items():
            if not token.revoked:
                token.revoked = True
                self._touch("tokens", name)

    def _find_receipt(self, seq: int, body: dict[str, Any]) -> _Receipt | None:
        receipt = self._receipts.get(body["receipt"])
        if receipt is None:
            self._find(seq, f"speaks of {body['receipt']}, which was never reserved")
        return receipt

    def _spend(self, seq: int, debits: tuple[Debit, ...], *, checked: bool = True) -> None:
        for debit in debits:
            account = self._accounts.get(debit.account)
            if account is None:
                self._find(seq, f"charges {debit.account}, which was never opened")
                continue
            if not is_chargeable(debit) or not self._fits_scheme(account, debit.part):
                self._find(seq, f"charges {debit.account} what cannot be charged")
                continue
            after = account.sums(debit.part).after(debit)
            if checked and not Filter(account.budget).admits(NOTHING, after.overall):
                self._find(seq, f"charges {debit.account} more than its budget admits")
            self._keep(account, debit, after)

    @staticmethod
    def _fits_scheme(account: _Account, part: DebitSubpopulation | None) -> bool:
        if part is None:
            return True
        known = account.schemes.get(part.scheme)
        return bool(part.scheme) and (known is None or known.together == part.together)

    def _keep(self, account: _Account, debit: Debit, after: AccountSums) -> None:
        part = debit.part
        account.spent = after.overall
        self._touch("accounts", debit.account)
        if part is not None or account.schemes:
            self._keep_scheme(account, debit.account, "", 0, after.common)
        if part is not None:
            self._keep_scheme(account, debit.account, part.scheme, part.together, after.scheme)
            account.parts.setdefault(part.scheme, {})[part.key] = after.part
            self._touch("parts", debit.account, part.scheme, part.key)

    def _keep_scheme(self, account: _Account, of: str, name: str, together: int, spent: Event) -> None:
        if name not in account.schemes:
            self._schemes += 1
            account.schemes[name] = _Scheme(self._schemes, together, spent)
        account.schemes[name] = replace(account.schemes[name], spent=spent)
        self._touch("schemes", of, name)

    def _find(self, seq: int, what: str) -> None:
        self.problems.append(f"Entry {seq} {what}.")


def _text(event: Event) -> str:
    return canonical(write_event(event))


def _receipt_values(found: _Receipt) -> tuple[Any, ...]:
    texts = (found.body[name] for name in ("receipt", "analyst", "question", "key"))
    return (
        found.seq,
        *texts,
        canonical(found.body["debits"]),
        found.body["at"],
        found.attempts,
        found.released,
    )
