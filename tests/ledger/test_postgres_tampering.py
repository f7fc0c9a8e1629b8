"""Every way to falsify a ledger is found by `verify` in Postgres too; each is tried on one ledger, and undone."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from tests.ledger.support import ANA, BEN, ask, clinic, debit, read_entries, rechain
from tests.ledger.test_access import WAYS_IN as TOKENS
from tests.ledger.test_streams import FALSIFIED as STREAMS
from tests.ledger.test_streams import NAME, append, begin, counting
from tests.ledger.test_tampering import REWRITINGS, STATEMENTS
from tests.servers.postgres import Postgres

from jali.ledger import PostgresLedger, Role
from jali.ledger.stores.postgres import creation
from jali.ledger.stores.postgres.connection import LedgerAddress, PostgresConnection, make_rows
from jali.ledger.stores.postgres.session import run, run_all
from jali.ledger.verify import inspect

# A column of Postgres has one type, and there is no REPLACE.
ONLY_IN_SQLITE = {"digest type", "bytes"}


@pytest.fixture(scope="module")
def ledger(postgres: Postgres) -> Iterator[PostgresLedger]:
    """A ledger with one entry of every kind but a move."""
    with PostgresLedger(f"{postgres.url}?schema=tampering_{secrets.token_hex(4)}") as made:
        clinic(made).declare("visits", "{}")
        made.refresh("visits")
        first = ask(made, debit(), debit(ANA))
        made.begin(first, analyst="ana")
        made.release(first, "42")
        made.recall("key", analyst="ben", grant=debit(BEN))
        begin(made)
        append(made, "ana.1", "ben.1")
        made.streams.publish(NAME, 3, counting)
        append(made, "cai.1", "ana.2")
        for id_, role in (("a1", Role.ANALYST), ("b2", Role.CURATOR)):
            expires = "2998-01-01T00:00:00+00:00"
            made.access.create(id_=id_, name="ana", role=role, digest=f"digest of {id_}", expires=expires)
        made.access.revoke("a1")
        ask(made, key="other")
        yield made
        assert made.verify().problems == ()


@contextmanager
def falsifier(ledger: PostgresLedger, postgres: Postgres) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A transaction of somebody who has dropped the triggers; it is undone."""
    schema = LedgerAddress.of(ledger.name).schema
    with closing(psycopg.connect(postgres.superuser, autocommit=True, row_factory=make_rows)) as raw:
        run(raw, f"BEGIN; SET LOCAL search_path = {creation.search_path(schema)}; SET LOCAL jali.write = 'x'")
        run_all(raw, creation.without_guards())
        yield raw


def problems(raw: psycopg.Connection[tuple[object, ...]]) -> str:
    return "\n".join(inspect(PostgresConnection(raw), None).problems)


@pytest.mark.parametrize("name", sorted(set(STATEMENTS) - ONLY_IN_SQLITE))
def test_a_changed_row_is_found(name: str, ledger: PostgresLedger, postgres: Postgres) -> None:
    statement, finding = STATEMENTS[name]
    with falsifier(ledger, postgres) as raw:
        assert raw.execute(statement).rowcount > 0
        assert finding in problems(raw)


@pytest.mark.parametrize("name", REWRITINGS)
def test_a_rewritten_chain_is_found_by_its_meaning(name: str, ledger: PostgresLedger, postgres: Postgres) -> None:
    change, finding = REWRITINGS[name]
    with falsifier(ledger, postgres) as raw:
        entries = read_entries(raw)
        change(entries)
        rechain(raw, entries, "%s")
        found = problems(raw)
    assert finding in found
    assert "digest that is not its own" not in found


@pytest.mark.parametrize("statement", [way for way in (*STREAMS, *TOKENS) if "OR REPLACE" not in way])
def test_falsified_streams_and_tokens_are_found_and_nobody_is_named(
    statement: str, ledger: PostgresLedger, postgres: Postgres
) -> None:
    with falsifier(ledger, postgres) as raw:
        assert raw.execute(statement).rowcount > 0
        found = problems(raw)
    assert found
    if "stream" in statement:
        assert not any(owner in found for owner in ("ana", "ben", "cai", "zoe", "eli"))


def test_a_missing_table_is_missing_rows(ledger: PostgresLedger, postgres: Postgres) -> None:
    with falsifier(ledger, postgres) as raw:
        raw.execute("DROP TABLE tokens")
        assert "The table tokens is missing" in problems(raw)
