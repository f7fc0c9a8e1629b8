"""A ledger in Postgres: its tables and guards, made from the words that it shares with SQLite."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

from jali.ledger.ledger_schema import ALL_GUARDS, ALL_TABLES, INDEXES, VERSION, TableGuard

# Who owns an item, and its key, are texts of any length: they are looked up by digest. It is the same for ever, as
# the encoding of the database is, which is checked.
_NAME_KEY = (
    "CREATE FUNCTION name_key(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE"
    " AS $$SELECT sha256(convert_to($1, 'UTF8'))$$"
)
# Each entry has the name of the transaction that wrote it, by which a commit is found whose outcome was lost.
_WRITE = "ALTER TABLE entries ADD COLUMN write TEXT NOT NULL DEFAULT current_setting('jali.write')"
_BY_KEY = {
    "PRIMARY KEY (stream, owner, item)": "(stream, name_key(owner), name_key(item))",
    "PRIMARY KEY (stream, owner)": "(stream, name_key(owner))",
}
_TRIGGER = "RETURNS trigger LANGUAGE plpgsql"
_TABLE = re.compile(r"CREATE TABLE (\w+)")
_FROM_SQLITE = (
    (re.compile(r"\bINTEGER\b"), "BIGINT"),
    # Byte by byte, whatever the language of the database: as in SQLite, and for ever.
    (re.compile(r"\bTEXT\b"), 'TEXT COLLATE "C"'),
    (re.compile(r" WITHOUT ROWID$"), ""),
    # What an item adds is a text of any length too.
    (re.compile(r"\(stream, tick, increments\)"), "(stream, tick)"),
)


def everything(schema: str) -> Iterator[str]:
    """Yield the statements that make an empty ledger in a schema that is there and on the search path."""
    yield from tables()
    yield from guards(schema)
    yield from marks()


def tables() -> Iterator[str]:
    """Yield the statements that make the tables, in a schema that is there and on the search path."""
    yield _NAME_KEY
    for statement in ALL_TABLES:
        yield from _table(statement)
    yield _translate(_WRITE)


def guards(schema: str) -> Iterator[str]:
    """Yield the statements that make the guards."""
    path = f"SET search_path = {search_path(schema)}"
    yield f"CREATE FUNCTION refuse() {_TRIGGER} AS $$BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END$$"
    for guard in _guards():
        called = f"refuse('{guard.reason}')"
        if guard.when:
            called = f"{guard.trigger_name}()"
            refused = f"IF {_condition(guard)} THEN RAISE EXCEPTION '{guard.reason}'; END IF"
            yield f"CREATE FUNCTION {called} {_TRIGGER} {path} AS $$BEGIN {refused}; RETURN NEW; END$$"
        each = "STATEMENT" if guard.event == "TRUNCATE" else "ROW"
        yield (
            f"CREATE TRIGGER {guard.trigger_name} BEFORE {guard.event} ON {guard.table}"
            f" FOR EACH {each} EXECUTE FUNCTION {called}"
        )
        # Also in sessions that replay changes of elsewhere, where triggers do not fire otherwise.
        yield f"ALTER TABLE {guard.table} ENABLE ALWAYS TRIGGER {guard.trigger_name}"


def without_guards() -> Iterator[str]:
    """Yield the statements that drop the guards."""
    for guard in _guards():
        yield f"DROP TRIGGER {guard.trigger_name} ON {guard.table}"
        if guard.when:
            yield f"DROP FUNCTION {guard.trigger_name}()"
    yield "DROP FUNCTION refuse()"


def reshape() -> Iterator[str]:
    """Yield the statements that give the tables of an earlier schema their present form. They keep their owners.

    What an earlier version of Jali inserts fails from now on: new columns must be given.
    """
    for table, columns in _ADDED.items():
        for column, (kind, first) in columns.items():
            yield _translate(f"ALTER TABLE {table} ADD COLUMN {column} {kind} NOT NULL DEFAULT {first}")
            yield f"ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT"
    for statement in INDEXES:
        yield f"DROP INDEX IF EXISTS {statement.split()[2]}"
        yield _translate(statement)


_ENTRY, _MARK = {"entry": ("INTEGER", "0")}, {"mark": ("TEXT", "''")}
_ADDED = {
    "entries": {"form": ("INTEGER", "1")},
    "declarations": _ENTRY,
    "accounts": _ENTRY,
    "receipts": _ENTRY,
    "seen": _ENTRY,
    "schemes": {"parts": ("INTEGER", "0")} | _ENTRY,
    "parts": _ENTRY,
    "streams": {"ended": ("INTEGER", "0")} | _ENTRY,
    "stream_values": _ENTRY,
    "stream_states": _MARK,
    "stream_items": _MARK,
    "stream_people": _MARK,
    "tokens": _ENTRY,
}


def marks() -> Iterator[str]:
    """Yield the statements that say what this is. The name is random: each new ledger is another one."""
    yield f"INSERT INTO meta VALUES ('application', 'Jali'), ('schema', '{VERSION}')"
    yield f"INSERT INTO meta VALUES ('ledger', '{secrets.token_hex(16)}')"


def search_path(schema: str) -> str:
    """Return where tables are looked for: nobody's temporary tables come before the ledger's."""
    return f'"{schema}", pg_temp'


def _guards() -> Iterator[TableGuard]:
    """Yield all guards; also against emptying a table at once, which Postgres tells from deleting its rows."""
    yield from ALL_GUARDS
    for table in sorted({guard.table for guard in ALL_GUARDS}):
        yield TableGuard("refuse_truncate", "TRUNCATE", table, f"{table} only grow")


def _condition(guard: TableGuard) -> str:
    return guard.when.replace(" IS NOT (", " IS DISTINCT FROM (")


def _table(statement: str) -> Iterator[str]:
    """Yield a table, and its key where that is one of digests."""
    key = next((key for key in _BY_KEY if key in statement), None)
    named = _TABLE.match(statement)
    if key is None or named is None:
        yield _translate(statement)
    else:
        yield _translate(statement.replace(f", {key}", ""))
        yield f"CREATE UNIQUE INDEX {named[1]}_key ON {named[1]} {_BY_KEY[key]}"


def _translate(statement: str) -> str:
    for pattern, words in _FROM_SQLITE:
        statement = pattern.sub(words, statement)
    return statement
