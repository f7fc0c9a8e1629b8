"""The book of access: tokens made and revoked, and administrative acts, each an entry of the chain."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

from jali.errors import LedgerError
from jali.ledger.access import Deed, Role, Token
from jali.ledger.chain import Kind
from jali.ledger.record import read_budget
from jali.ledger.schema import add_access, has_access
from jali.ledger.steps import now
from jali.ledger.stores.store import Connection, Store
from jali.ledger.tables import Tables

_TOKEN = "SELECT id, name, role, digest, at, expires, revoked FROM tokens"
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
)


class AccessBook:
    """The tokens and the trail of one ledger.

    Guarantee:
        A token that `revoke` has returned for is revoked for every later `token`, in every process. Tokens and
        acts are in the chain: `verify` shows whether one was changed or taken away.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

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
        with self._store.writing() as connection:
            add_access(connection)
            seq = Tables(connection).append(Kind.TOKEN, body)
            connection.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                (seq, id_, name, role.value, digest, expires, made.at),
            )
        return made

    def revoke(self, id_: str) -> Token:
        """Refuse a token from now on. A revoked one stays revoked."""
        with self._store.writing() as connection:
            found = _token(connection, id_)
            if found is None:
                raise LedgerError(f"There is no token {id_}.", remedy="See which there are: jali token list.")
            if not found.revoked:
                Tables(connection).append(Kind.REVOKE, {"token": id_, "at": now()})
                connection.execute("UPDATE tokens SET revoked = 1 WHERE id = ?", (id_,))
            return Token(found.id, found.name, found.role, found.digest, found.at, found.expires, revoked=True)

    def token(self, id_: str) -> Token | None:
        """Return the token of an id, whatever its state."""
        with self._store.reading() as connection:
            return _token(connection, id_)

    def tokens(self) -> tuple[Token, ...]:
        """Return all tokens, oldest first."""
        with self._store.reading() as connection:
            if not has_access(connection):
                return ()
            return tuple(_read(row) for row in connection.execute(f"{_TOKEN} ORDER BY seq"))

    def act(self, actor: str, act: str, about: str) -> int:
        """Record what somebody is about to do: before it is done, so that nothing is done unrecorded."""
        with self._store.writing() as connection:
            add_access(connection)
            return Tables(connection).append(Kind.ACT, {"actor": actor, "act": act, "about": about, "at": now()})

    def trail(self, most: int = 1000) -> tuple[Deed, ...]:
        """Return administrative acts, the latest first."""
        places = ", ".join("?" * len(_DEEDS))
        with self._store.reading() as connection:
            rows = connection.execute(
                f"SELECT seq, kind, body FROM entries WHERE kind IN ({places}) ORDER BY seq DESC LIMIT ?",
                (*map(str, _DEEDS), most),
            )
            return tuple(_deed(*row) for row in rows)

    def key(self, name: str) -> bytes:
        """Return a secret key of the file, made when it is first asked for; it is in no entry."""
        with self._store.writing() as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = ?", (f"key {name}",)).fetchone()
            if row is None:
                row = (secrets.token_hex(32),)
                connection.execute("INSERT INTO meta VALUES (?, ?)", (f"key {name}", *row))
        return bytes.fromhex(row[0])


def _token(connection: Connection, id_: str) -> Token | None:
    if not has_access(connection):
        return None
    row = connection.execute(f"{_TOKEN} WHERE id = ?", (id_,)).fetchone()
    return None if row is None else _read(row)


def _read(row: tuple[Any, ...]) -> Token:
    id_, name, role, digest, at, expires, revoked = row
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
}
