"""Where the anchors of a ledger are: beside it, in a second directory, in a table of Postgres, or at a URL."""

from __future__ import annotations

import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.errors import CatalogError, LedgerError
from jali.ledger.anchor_file import AnchorFile
from jali.ledger.anchors import NO_ANCHORS, Anchor, AnchoredHead, Anchors, merge
from jali.ledger.chain import detect_damage
from jali.ledger.ledger_tables import LedgerTables
from jali.ledger.stores.base import LedgerStore
from jali.postgres_address import is_address, read_address

if TYPE_CHECKING:
    import psycopg

# The environment variable that names a second anchor, and the declaration of the ledger that does. No table can be
# called like this.
VARIABLE, DECLARED = "JALI_ANCHOR", "anchor place"
_SECONDS = 10
_TABLE = (
    "CREATE TABLE IF NOT EXISTS {table} (ledger TEXT NOT NULL, epoch BIGINT NOT NULL, seq BIGINT NOT NULL,"
    " line TEXT NOT NULL, written TIMESTAMPTZ NOT NULL DEFAULT now())"
)
_LONGEST_REPLY = 1 << 24


def anchors_of(store: LedgerStore, own: AnchorFile | None) -> Anchors:
    """Return the anchors of a ledger: its own, and those that the environment or the ledger itself names.

    A ledger in Postgres, which has no directory, has one in the state directory of each account that uses it.
    """
    if not store.durable:
        return NO_ANCHORS
    places = [os.environ.get(VARIABLE), _read_declared_place(store)]
    ledger = store.identity()
    others: list[Anchor] = [anchor_at(place, ledger) for place in dict.fromkeys(filter(None, places))]
    if own is None and (home := _state_directory()) is not None:
        others.append(AnchorFile(home / f"{ledger}.anchor"))
    return Anchors(own, others)


def _read_declared_place(store: LedgerStore) -> str | None:
    """Return the place that the curator has named in the ledger."""
    with store.reading() as connection, detect_damage():
        found = LedgerTables(connection).declaration(DECLARED)
    return None if found is None else found.body or None


def _state_directory() -> Path | None:
    """Return the directory for anchors of ledgers in Postgres; None where none can be made."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    try:
        home = Path(base).expanduser() / "jali" / "anchors"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return home


def anchor_at(place: str, ledger: str) -> Anchor:
    """Return the anchor of a ledger at a place.

    Args:
        place: A directory, `postgresql://USER@HOST/NAME` or `https://HOST/PATH`.
        ledger: The name of the ledger, which is random: a place may keep heads of many.
    """
    if is_address(place):
        return AnchorTable(place, ledger)
    if place.startswith(("http://", "https://")):
        return AnchorUrl(place, ledger)
    directory = Path(place).expanduser()
    if not directory.is_dir():
        raise CatalogError("anchor-directory-missing", place=place)
    return AnchorFile(directory.resolve() / f"{ledger}.anchor")


class AnchorTable:
    """Heads in the table `jali_anchors` of a Postgres database; `?schema=` names its schema.

    A role that may only insert and select is enough once the table is there: nobody can take a head back then.
    """

    def __init__(self, address: str, ledger: str) -> None:
        found = read_address(address)
        self._url, self._ledger = found.url, ledger
        self._table = f'"{(found.schema or "public").replace(chr(34), chr(34) * 2)}".jali_anchors'
        self.name = address

    def last(self) -> AnchoredHead | None:
        """Return the last head."""
        rows = self._ask(f"SELECT line FROM {self._table} WHERE ledger = %s ORDER BY epoch DESC, seq DESC LIMIT 1")
        return _read_heads(self.name, [row[0] for row in rows])

    def everything(self) -> AnchoredHead | None:
        """Return the last head with the sums of all accounts."""
        rows = self._ask(f"SELECT line FROM {self._table} WHERE ledger = %s")
        return _read_heads(self.name, [row[0] for row in rows])

    def write(self, anchored: AnchoredHead, *, durable: bool) -> None:  # noqa: ARG002 - every commit is durable
        """Insert a head."""
        with self._connect() as connection:
            connection.execute(
                f"INSERT INTO {self._table} (ledger, epoch, seq, line) VALUES (%s, %s, %s, %s)".encode(),
                (self._ledger, anchored.epoch, anchored.head.seq, anchored.to_text()),
            )

    def renew(self, anchored: AnchoredHead) -> None:
        """Insert a head with all sums: a later epoch counts before an earlier one."""
        self.write(anchored, durable=True)

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        with self._connect() as connection:
            return connection.execute(query.encode(), (self._ledger,)).fetchall()

    @contextmanager
    def _connect(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        from jali.ledger.stores.postgres.connection import check_driver

        check_driver()
        import psycopg

        try:
            with closing(psycopg.connect(self._url, autocommit=True, connect_timeout=_SECONDS)) as connection:
                if connection.execute("SELECT to_regclass(%s)", (self._table,)).fetchone() == (None,):
                    connection.execute(_TABLE.format(table=self._table).encode())
                yield connection
        except psycopg.Error:
            raise _away(self.name) from None


class AnchorUrl:
    """Heads at a service: `POST` with a line keeps it, `GET` with `?ledger=` returns all lines of a ledger.

    Both speak plain text, one line for each head as `Anchored.to_text` writes it. A token in the environment
    variable `JALI_ANCHOR_TOKEN` is sent as a bearer; none is ever stored.
    """

    def __init__(self, url: str, ledger: str) -> None:
        if "@" in urllib.parse.urlsplit(url).netloc:
            raise CatalogError("anchor-url-with-password")
        self.name, self._ledger = url, ledger

    def last(self) -> AnchoredHead | None:
        """Return the last head."""
        return self.everything()

    def everything(self) -> AnchoredHead | None:
        """Return the last head with the sums of all accounts."""
        query = urllib.parse.urlencode({"ledger": self._ledger})
        text = self._send(urllib.request.Request(f"{self.name}?{query}"))
        return _read_heads(self.name, text.splitlines())

    def write(self, anchored: AnchoredHead, *, durable: bool) -> None:  # noqa: ARG002 - the service decides
        """Send a head."""
        query = urllib.parse.urlencode({"ledger": self._ledger})
        data = f"{anchored.to_text()}\n".encode()
        self._send(urllib.request.Request(f"{self.name}?{query}", data=data, method="POST"))

    def renew(self, anchored: AnchoredHead) -> None:
        """Send a head with all sums."""
        self.write(anchored, durable=True)

    def _send(self, request: urllib.request.Request) -> str:
        request.add_header("Content-Type", "text/plain; charset=utf-8")
        if token := os.environ.get("JALI_ANCHOR_TOKEN"):
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as reply:
                found: bytes = reply.read(_LONGEST_REPLY)
                return found.decode()
        except urllib.error.HTTPError as problem:
            if request.method != "POST" and problem.code == 404:
                return ""
            raise _away(self.name) from None
        except (OSError, ValueError):
            raise _away(self.name) from None


def _read_heads(name: str, lines: list[str]) -> AnchoredHead | None:
    found = [AnchoredHead.of(line) for line in lines if line.strip()]
    if any(line is None for line in found):
        raise LedgerError("anchor-damaged-there", anchor=name)
    return merge(line for line in found if line is not None)


def _away(name: str) -> LedgerError:
    return LedgerError("anchor-away", anchor=name)
