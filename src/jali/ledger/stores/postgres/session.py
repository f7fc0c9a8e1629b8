"""The statements that begin and end transactions in Postgres, and the settings that they require."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jali.errors import LedgerError
from jali.ledger.chain import ChainHead
from jali.ledger.ledger_schema import check_version, seal_facts
from jali.ledger.stores.postgres import creation
from jali.ledger.stores.postgres.connection import LedgerAddress, PostgresConnection, Row

if TYPE_CHECKING:
    from psycopg import Connection

# Longer than any step takes: a process that hangs in the middle of one must not keep all others waiting.
_LONGEST_STEP = 300
_LEDGER = "SELECT value FROM meta WHERE name = 'ledger'"
_HEADS = (
    "SELECT value, last.seq, last.digest, known.digest FROM meta"
    " LEFT JOIN (SELECT seq, digest FROM entries ORDER BY seq DESC LIMIT 1) AS last ON true"
    " LEFT JOIN entries AS known ON known.seq = {seen} WHERE name = 'ledger'"
)
COMMIT = "SELECT seq, digest FROM entries ORDER BY seq DESC LIMIT 1; COMMIT"
RECORDED = "SELECT 1 FROM entries WHERE seq = %s AND write = %s"
# Of the catalogs themselves: functions such as to_regclass remember what was not there before the lock was taken.
_FACTS = (
    "SELECT current_setting('server_encoding'), current_setting('fsync'),"
    " EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'),"
    " EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
    " WHERE nspname = '{schema}' AND relname = 'meta')"
)
# Granted to everybody is what has the grantee 0.
_MARKS = (
    "SELECT (SELECT value FROM \"{schema}\".meta WHERE name = 'application'),"
    " (SELECT value FROM \"{schema}\".meta WHERE name = 'schema'),"
    " (SELECT value FROM \"{schema}\".meta WHERE name = 'ledger'),"
    " EXISTS (SELECT 1 FROM pg_class, aclexplode(relacl) AS rights"
    " WHERE relnamespace = to_regnamespace('\"{schema}\"') AND rights.grantee = 0)"
)


@dataclass(frozen=True)
class PostgresSession:
    """What transactions on one ledger begin with."""

    address: LedgerAddress
    patience: float

    def reading(self) -> str:
        """Begin to read, at one moment; and ask which ledger this is."""
        return f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self._settings()}; {_LEDGER}"

    def writing(self, write: str, seen: ChainHead) -> str:
        """Begin to write, alone; and ask which ledger this is, for its head, and for an entry seen before."""
        return f"{self.making(write)}; {_HEADS.format(seen=seen.seq)}"

    def making(self, write: str) -> str:
        """Begin to write, alone, where there may be no ledger yet."""
        named = f"SELECT set_config('jali.write', '{write}', true)"
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        return f"{begin}; {self._settings()}; {named}; SELECT pg_advisory_xact_lock({self._key})"

    def ledger_at(self, connection: Connection[Row]) -> str | None:
        """Return the name of the ledger in the schema; None if there is none. Refuse what cannot be relied on."""
        name, schema = self.address.name, self.address.schema
        encoding, fsync, _, there = self._facts(connection)
        if encoding != "UTF8":
            raise LedgerError("ledger-not-utf8", database=name)
        if fsync != "on":
            raise LedgerError("ledger-without-fsync", ledger=name)
        if not there:
            return None
        application, version, ledger, others = run(connection, _MARKS.format(schema=schema))
        if application != "Jali" or ledger is None:
            raise LedgerError("ledger-schema-foreign", ledger=name)
        check_version(version, name)
        if others:
            raise LedgerError("ledger-public-tables", ledger=name, schema=schema)
        return str(ledger)

    def make(self, connection: Connection[Row]) -> None:
        """Make an empty ledger, in the transaction of the caller."""
        self.make_schema(connection)
        run_all(connection, creation.everything(self.address.schema))
        seal_facts(PostgresConnection(connection))

    def make_schema(self, connection: Connection[Row]) -> None:
        """Make the schema if there is none, in the transaction of the caller."""
        # Asked first: to make one takes a right that a role may lack which was given a schema.
        if not self._facts(connection)[2]:
            run(connection, f'CREATE SCHEMA "{self.address.schema}"')

    def _facts(self, connection: Connection[Row]) -> Row:
        found: Row = run(connection, _FACTS.format(schema=self.address.schema))
        return found

    def _settings(self) -> str:
        """Set everything again in each transaction: whoever pools connections may mix up their sessions."""
        path = creation.search_path(self.address.schema)
        return (
            f"SELECT set_config('search_path', '{path}', true),"
            f" set_config('lock_timeout', '{max(1, round(1000 * self.patience))}', true),"
            f" set_config('idle_in_transaction_session_timeout', '{1000 * _LONGEST_STEP}', true),"
            # It would end a commit's wait for standbys, and call that a success.
            " set_config('statement_timeout', '0', true),"
            " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
            " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true)"
        )

    @property
    def _key(self) -> int:
        """The number of the ledger's lock; Postgres keeps those of different databases apart."""
        digest = hashlib.sha256(f"jali ledger {self.address.schema}".encode()).digest()
        return int.from_bytes(digest[:8], signed=True)


def run(connection: Connection[Row], script: str) -> Any:
    """Run statements, all in one message, and return the first row of the last one."""
    cursor = connection.execute(script, prepare=False)
    while cursor.nextset():
        pass
    return cursor.fetchone() if cursor.description else None


def run_all(connection: Connection[Row], statements: Iterable[str]) -> None:
    """Run statements that give nothing back, all in one message."""
    run(connection, "; ".join(statements))


def undo(connection: Connection[Row]) -> None:
    """Roll a transaction back; close the connection where that is not possible."""
    import psycopg
    from psycopg.pq import TransactionStatus

    if connection.closed or connection.info.transaction_status == TransactionStatus.IDLE:
        return
    try:
        if connection.info.transaction_status == TransactionStatus.ACTIVE:
            connection.close()
        else:
            connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()
