"""Access tokens and administrative acts, each an entry of the chain."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from jali.errors import LedgerError
from jali.ledger.chain import EntryKind
from jali.ledger.ledger_records import read_budget
from jali.ledger.ledger_schema import make_key, read_key
from jali.ledger.operations import now
from jali.ledger.transactions import Transactions


class Role(StrEnum):
    """What the holder of a token may do."""

    CURATOR = "curator"
    ANALYST = "analyst"


@dataclass(frozen=True)
class Token:
    """A token as the ledger knows it: never the secret, only its digest.

    Attributes:
        id: The part of the token that names it.
        name: Whose it is: an analyst's name, or how a curator is called in the trail.
        role: What it is good for.
        digest: The SHA-256 of its secret, in hexadecimal.
        at: When it was made, in UTC.
        expires: From when on it is refused, in UTC.
        revoked: Whether it was revoked.
    """

    id: str
    name: str
    role: Role
    digest: str
    at: str
    expires: str
    revoked: bool = False

    def expired(self, now: datetime | None = None) -> bool:
        """Say whether it has expired."""
        return datetime.fromisoformat(self.expires) <= (datetime.now(UTC) if now is None else now)

    @property
    def state(self) -> str:
        """One word for people."""
        return "revoked" if self.revoked else "expired" if self.expired() else "valid"


@dataclass(frozen=True)
class AdminAct:
    """One line of the trail: an administrative act.

    Attributes:
        seq: The number of its entry.
        at: When, in UTC.
        actor: Who did it through a server; nothing where it was done on the file itself.
        act: What was done, in a word or two.
        about: To what.
        outcome: How it ended: "done", "refused", "failed", or "not finished" where nothing says so.
    """

    seq: int
    at: str
    actor: str
    act: str
    about: str
    outcome: str = "done"


# Entries that are administrative acts.
_ACT_KINDS = (
    EntryKind.DECLARE,
    EntryKind.OPEN,
    EntryKind.REFRESH,
    EntryKind.STREAM,
    EntryKind.TOKEN,
    EntryKind.REVOKE,
    EntryKind.ACT,
    EntryKind.MOVE,
    EntryKind.ARRIVE,
    EntryKind.SEAL,
    EntryKind.RESTORE,
)


class LedgerAccess:
    """The tokens and the audit trail of one ledger.

    Guarantee:
        A token that `revoke` has returned for is revoked for every later `token`, in every process. Tokens and
        acts are in the chain: `verify` shows whether one was changed or taken away.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def create(self, *, id_: str, name: str, role: Role, digest: str, expires: str) -> Token:
        """Keep a new token."""
        made = Token(id_, name, role, digest, now(), expires)
        body = {
            "token": id_,
            "name": name,
            "role": role.value,
            "digest": digest,
            "expires": expires,
            "at": made.at,
        }
        with self._transactions.writing() as tables:
            tables.put("tokens", (tables.seq, id_, name, role.value, digest, expires, made.at, 0))
            tables.append(EntryKind.TOKEN, body)
        return made

    def revoke(self, id_: str) -> Token:
        """Refuse a token from now on. A revoked one stays revoked."""
        with self._transactions.writing() as tables:
            row = tables.get("tokens", id_)
            if row is None:
                raise LedgerError("token-unknown", token=id_)
            found = _read_token(row)
            if not found.revoked:
                tables.put("tokens", (*row[:-1], 1))
                tables.append(EntryKind.REVOKE, {"token": id_, "at": now()})
        return replace(found, revoked=True)

    def token(self, id_: str) -> Token | None:
        """Return the token of an id, whatever its state."""
        with self._transactions.reading() as tables:
            row = tables.get("tokens", id_)
            return None if row is None else _read_token(row)

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first."""
        with self._transactions.reading() as tables:
            return tuple(_read_token(row) for row in tables.all("tokens", "ORDER BY seq"))

    def act(self, actor: str, act: str, about: str) -> int:
        """Record an act before it is done, so that nothing is done unrecorded."""
        with self._transactions.writing() as tables:
            return tables.append(EntryKind.ACT, {"actor": actor, "act": act, "about": about, "at": now()})

    def acts(self, most: int = 1000) -> tuple[AdminAct, ...]:
        """Return administrative acts, the latest first."""
        places = ", ".join("?" * len(_ACT_KINDS))
        with self._transactions.reading() as tables:
            rows = tables.connection.execute(
                f"SELECT seq, kind, body FROM entries WHERE kind IN ({places}) ORDER BY seq DESC LIMIT ?",
                (*map(str, _ACT_KINDS), most),
            )
            return tuple(_read_act(*row) for row in rows)

    def key(self, name: str) -> bytes:
        """Return a secret key of the file, made when it is first asked for; it is in no entry."""
        called = f"key {name}"
        with self._transactions.writing() as tables:
            return read_key(tables.connection, called) or make_key(tables.connection, called)


def _read_token(row: tuple[Any, ...]) -> Token:
    _, id_, name, role, digest, expires, at, revoked = row
    return Token(id_, name, Role(role), digest, at, expires, bool(revoked))


def _read_act(seq: int, kind: str, text: str) -> AdminAct:
    body = json.loads(text)
    act, about = _DESCRIPTIONS[EntryKind(kind)](body)
    return AdminAct(seq, body["at"], body.get("actor", ""), act, about)


def _describe_opening(body: dict[str, Any]) -> tuple[str, str]:
    return "budget opened", f"{body['account']}: {read_budget(body['budget'])}"


_DESCRIPTIONS: dict[EntryKind, Callable[[dict[str, Any]], tuple[str, str]]] = {
    EntryKind.DECLARE: lambda body: ("declared", f"{body['name']}, version {body['version']}"),
    EntryKind.OPEN: _describe_opening,
    EntryKind.REFRESH: lambda body: ("data refreshed", f"{body['name']}, version {body['data_version']}"),
    EntryKind.STREAM: lambda body: ("stream begun", body["stream"]),
    EntryKind.TOKEN: lambda body: ("token created", f"{body['token']} for {body['role']} {body['name']}"),
    EntryKind.REVOKE: lambda body: ("token revoked", body["token"]),
    EntryKind.ACT: lambda body: (body["act"], body["about"]),
    EntryKind.MOVE: lambda body: ("ledger moved", f"to {body['to']}"),
    EntryKind.ARRIVE: lambda body: ("ledger arrived", f"from {body['from']}"),
    EntryKind.SEAL: lambda body: ("ledger upgraded", f"to schema {body['schema']}"),
    EntryKind.RESTORE: lambda body: (
        "ledger recovered",
        f"from an older copy: {body['seq']:,} entries were anchored",
    ),
}
