"""The book of access: tokens made and revoked, and administrative acts, each an entry of the chain."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jali.errors import LedgerError
from jali.ledger.access import Deed, Role, Token
from jali.ledger.chain import Kind
from jali.ledger.meta import make_key, read_key
from jali.ledger.record import read_budget
from jali.ledger.steps import now
from jali.ledger.transactions import Transactions

# Entries that are administrative acts.
_DEEDS = (
    Kind.DECLARE,
    Kind.OPEN,
    Kind.REFRESH,
    Kind.STREAM,
    Kind.TOKEN,
    Kind.REVOKE,
    Kind.ACT,
    Kind.MOVE,
    Kind.ARRIVE,
    Kind.SEAL,
    Kind.RESTORE,
)


class AccessBook:
    """The tokens and the trail of one ledger.

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
            tables.append(Kind.TOKEN, body)
        return made

    def revoke(self, id_: str) -> Token:
        """Refuse a token from now on. A revoked one stays revoked."""
        with self._transactions.writing() as tables:
            row = tables.get("tokens", id_)
            if row is None:
                raise LedgerError("token-unknown", token=id_)
            found = _read(row)
            if not found.revoked:
                tables.put("tokens", (*row[:-1], 1))
                tables.append(Kind.REVOKE, {"token": id_, "at": now()})
        return replace(found, revoked=True)

    def token(self, id_: str) -> Token | None:
        """Return the token of an id, whatever its state."""
        with self._transactions.reading() as tables:
            row = tables.get("tokens", id_)
            return None if row is None else _read(row)

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first."""
        with self._transactions.reading() as tables:
            return tuple(_read(row) for row in tables.all("tokens", "ORDER BY seq"))

    def act(self, actor: str, act: str, about: str) -> int:
        """Record what somebody is about to do: before it is done, so that nothing is done unrecorded."""
        with self._transactions.writing() as tables:
            return tables.append(Kind.ACT, {"actor": actor, "act": act, "about": about, "at": now()})

    def trail(self, most: int = 1000) -> tuple[Deed, ...]:
        """Return administrative acts, the latest first."""
        places = ", ".join("?" * len(_DEEDS))
        with self._transactions.reading() as tables:
            rows = tables.connection.execute(
                f"SELECT seq, kind, body FROM entries WHERE kind IN ({places}) ORDER BY seq DESC LIMIT ?",
                (*map(str, _DEEDS), most),
            )
            return tuple(_deed(*row) for row in rows)

    def key(self, name: str) -> bytes:
        """Return a secret key of the file, made when it is first asked for; it is in no entry."""
        called = f"key {name}"
        with self._transactions.writing() as tables:
            return read_key(tables.connection, called) or make_key(tables.connection, called)


def _read(row: tuple[Any, ...]) -> Token:
    _, id_, name, role, digest, expires, at, revoked = row
    return Token(id_, name, Role(role), digest, at, expires, bool(revoked))


def _deed(seq: int, kind: str, text: str) -> Deed:
    body = json.loads(text)
    act, about = _SAID[Kind(kind)](body)
    return Deed(seq, body["at"], body.get("actor", ""), act, about)


def _opened(body: dict[str, Any]) -> tuple[str, str]:
    return "budget opened", f"{body['account']}: {read_budget(body['budget'])}"


_SAID: dict[Kind, Callable[[dict[str, Any]], tuple[str, str]]] = {
    Kind.DECLARE: lambda body: ("declared", f"{body['name']}, version {body['version']}"),
    Kind.OPEN: _opened,
    Kind.REFRESH: lambda body: ("data refreshed", f"{body['name']}, version {body['data_version']}"),
    Kind.STREAM: lambda body: ("stream begun", body["stream"]),
    Kind.TOKEN: lambda body: ("token created", f"{body['token']} for {body['role']} {body['name']}"),
    Kind.REVOKE: lambda body: ("token revoked", body["token"]),
    Kind.ACT: lambda body: (body["act"], body["about"]),
    Kind.MOVE: lambda body: ("ledger moved", f"to {body['to']}"),
    Kind.ARRIVE: lambda body: ("ledger arrived", f"from {body['from']}"),
    Kind.SEAL: lambda body: ("ledger upgraded", f"to schema {body['schema']}"),
    Kind.RESTORE: lambda body: ("ledger recovered", f"from an older copy: {body['seq']:,} entries were anchored"),
}
