"""The ledger in Postgres: who may write what, what is durable, and what is said when it cannot be reached."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from tests.depth import deep
from tests.ledger.support import ANA, TENTH, VISITS, ask, behind_python, clinic, debit, in_child, times
from tests.ledger.test_streams import NAME, ONE, append, begin, counted, counting
from tests.ledger.test_subpopulation_sums import of_part
from tests.servers.postgres import Postgres

import jali
from jali.cli import main
from jali.errors import CatalogError, LedgerError
from jali.ledger import AppendOutcome, Arrival, AttendanceBounds, PostgresLedger, Role, SqliteLedger
from jali.ledger.ledger_schema import ALL_GUARDS
from jali.ledger.stores.postgres.connection import LedgerAddress, read_text, write_text


@pytest.fixture
def ledger(address: str) -> Iterator[PostgresLedger]:
    with PostgresLedger(address) as made:
        yield clinic(made)


@contextmanager
def owner(address: str, postgres: Postgres, url: str | None = None) -> Iterator[psycopg.Connection]:
    """A session of somebody who may do anything, or of the role that owns the ledger."""
    with closing(psycopg.connect(url or postgres.superuser, autocommit=True)) as connection:
        connection.execute(f"SET search_path = {LedgerAddress.of(address).schema}")
        connection.execute("SET jali.write = 'by hand'")
        yield connection


def said(error: BaseException) -> str:
    """Return everything that an error could show: its texts, and those of all errors that it hangs on."""
    assert (error.__context__, error.__cause__) == (None, None)
    return "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))


# The address.


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:sesame@localhost/clinic",
        "postgres://ana:sesame@localhost:5432/clinic?schema=jali",
        "postgresql://:sesame@localhost/clinic",
        "postgresql://ana@localhost/clinic?password=sesame",
        "postgresql://ana@localhost/clinic?sslmode=require&Password=sesame",
        "postgresql://ana@localhost/clinic?sslpassword=sesame",
        "postgresql://ana:sesame\u2100@localhost/clinic",
        "postgresql://[ana:sesame@localhost/clinic",
    ],
)
def test_a_password_in_an_address_is_refused_and_never_repeated(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for open_it in (lambda: jali.connect(url), lambda: PostgresLedger(url)):
        with pytest.raises(CatalogError) as refusal:
            open_it()
        assert refusal.value.remedy
        assert "sesame" not in str(refusal.value) + repr(refusal.value) + str(vars(refusal.value))
        assert (refusal.value.__context__, refusal.value.__cause__) == (None, None)
    for verb in (
        ["ledger", url],
        ["ledger", "move", "clinic.jali", url],
        ["init", url],
        ["verify", url, "--json"],
    ):
        assert main(verb) == 2
    told = capsys.readouterr()
    assert "sesame" not in told.out + told.err


@pytest.mark.parametrize("schema", ["pg_catalog", "1st", 'a"b', "x" * 64, "a-b", "ä"])
def test_a_schema_is_a_plain_word(schema: str) -> None:
    with pytest.raises(CatalogError, match="The schema name must be a word of up to 63 letters"):
        LedgerAddress.of(f"postgresql://localhost/clinic?schema={schema}")


def test_an_address_is_shown_as_it_can_be_written_again() -> None:
    for url in (
        "postgresql://jali@localhost:5433/clinic",
        "postgresql://jali@localhost/clinic?schema=trial",
        "postgresql:///clinic?host=/run/postgresql&port=5433&schema=trial",
        "postgresql://one:5432,two:5432/clinic",
    ):
        assert LedgerAddress.of(url).name == url
    assert LedgerAddress.of("postgres://localhost/clinic").name == "postgresql://localhost/clinic"
    assert LedgerAddress.of("postgresql://localhost/clinic") == LedgerAddress(
        "postgresql://localhost/clinic", "jali"
    )


def test_the_password_comes_from_the_environment_and_is_kept_nowhere(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{postgres.guarded}?schema=guarded"
    monkeypatch.delenv("PGPASSWORD", raising=False)
    with pytest.raises(LedgerError, match="cannot be reached") as refusal:
        PostgresLedger(address)
    assert "PGPASSWORD" in said(refusal.value)
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    with PostgresLedger(address) as ledger:
        ask(clinic(ledger))
        shown = repr(ledger) + ledger.name + repr(ledger.store) + repr(ledger.verify())
        with ledger.store.reading() as connection:
            for table in connection.tables():
                shown += repr(list(connection.scan(f"SELECT * FROM {table}")))
    assert postgres.password not in shown
    assert postgres.password not in postgres.log()


# The database.


def test_a_ledger_is_made_once_and_found_again(address: str) -> None:
    with pytest.raises(CatalogError, match="There is no ledger"):
        PostgresLedger(address, create=False)
    with PostgresLedger(address) as first:
        ask(clinic(first))
    with PostgresLedger(address, create=False) as again:
        assert again.durable
        assert again.spent(VISITS) == TENTH
        assert again.verify().problems == ()


def test_a_schema_that_somebody_else_uses_is_left_alone(address: str, postgres: Postgres) -> None:
    schema = LedgerAddress.of(address).schema
    with owner(address, postgres, postgres.url) as raw:
        raw.execute(f"CREATE SCHEMA {schema}")
        raw.execute("CREATE TABLE meta (name TEXT, value TEXT)")
    with pytest.raises(LedgerError, match="not a Jali ledger"):
        PostgresLedger(address)


def test_a_later_schema_version_is_refused(ledger: PostgresLedger, address: str, postgres: Postgres) -> None:
    with owner(address, postgres) as raw:
        raw.execute("UPDATE meta SET value = '9' WHERE name = 'schema'")
    with pytest.raises(LedgerError, match="schema 9"):
        PostgresLedger(address)


def test_tables_that_everybody_may_read_are_refused(address: str, postgres: Postgres) -> None:
    PostgresLedger(address).close()
    with owner(address, postgres) as raw:
        raw.execute("GRANT SELECT ON entries TO PUBLIC")
    with pytest.raises(LedgerError, match="can be read by everybody") as refusal:
        PostgresLedger(address)
    assert "REVOKE" in str(refusal.value)


def test_a_database_in_another_encoding_is_refused(postgres: Postgres) -> None:
    with closing(psycopg.connect(postgres.url, autocommit=True)) as raw:
        raw.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(LedgerError, match="UTF8"):
        PostgresLedger(postgres.url.replace("/jali", "/latin").replace("//latin", "//jali"))


def test_a_server_that_does_not_wait_for_its_disk_is_refused(address: str, postgres: Postgres) -> None:
    with owner(address, postgres) as raw:
        raw.execute("ALTER SYSTEM SET fsync = off")
        raw.execute("SELECT pg_reload_conf()")
        try:
            with pytest.raises(LedgerError, match="fsync = off"):
                open_often(address)
        finally:
            raw.execute("ALTER SYSTEM RESET fsync")
            raw.execute("SELECT pg_reload_conf()")
    postgres.restart()


def open_often(address: str) -> None:
    """Open a ledger until it is refused: a server is told its settings at once, and looks a moment later."""
    for _ in range(1000):
        PostgresLedger(address).close()


@pytest.mark.parametrize(("said", "is_"), [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")])
def test_every_commit_waits_for_the_disk_whatever_the_role_says(
    ledger: PostgresLedger, address: str, postgres: Postgres, said: str, is_: str
) -> None:
    with owner(address, postgres) as raw:
        raw.execute(f"ALTER ROLE jali SET synchronous_commit = {said}")
        try:
            with PostgresLedger(address) as mine, mine.store.writing() as connection:
                assert connection.execute("SHOW synchronous_commit").fetchone() == (is_,)
        finally:
            raw.execute("ALTER ROLE jali RESET synchronous_commit")


def test_the_tables_of_nobody_else_come_before_the_ledgers(ledger: PostgresLedger) -> None:
    with ledger.store.writing() as connection:
        connection.execute("CREATE TEMP TABLE accounts (name TEXT, budget TEXT, spent TEXT) ON COMMIT DROP")
        assert connection.execute("SELECT count(*) FROM accounts").fetchone() == (3,)


def test_a_role_that_owns_nothing_can_run_it_and_change_nothing_else(
    ledger: PostgresLedger, address: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the rights of docs/postgres.md."""
    page = (Path(__file__).parents[2] / "docs" / "postgres.md").read_text()
    grants = re.findall(r"^GRANT .* TO clerk;$", page, re.MULTILINE)
    assert len(grants) == 2
    schema = LedgerAddress.of(address).schema
    with owner(address, postgres, postgres.url) as raw:
        for grant in grants:
            raw.execute(grant.replace("SCHEMA jali", f"SCHEMA {schema}").replace("clerk", "guarded"))
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    with PostgresLedger(f"{postgres.guarded}?schema={schema}") as clerk:
        lived(clerk)
        assert clerk.access.key("cookies") == ledger.access.key("cookies")
        clerk.declare("visits", "{}")
        clerk.access.revoke("a1")
        assert clerk.verify().problems == ()
    with closing(psycopg.connect(postgres.guarded, autocommit=True)) as raw:
        for statement in ("DROP TABLE entries", "ALTER TABLE entries DISABLE TRIGGER ALL", "DELETE FROM entries"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                raw.execute(statement.replace("entries", f"{schema}.entries"))


# Guards.


def lived(ledger: PostgresLedger) -> None:
    """Give the ledger rows in every guarded table."""
    ledger.release(ask(ledger), "42")
    begin(ledger)
    append(ledger, "ana.1", "ben.1")
    ledger.streams.publish(NAME, 3, counting)
    append(ledger, "cai.1", "ana.2")
    ledger.access.create(id_="a1", name="ana", role=Role.ANALYST, digest="d", expires="2999-01-01T00:00:00+00:00")


REFUSED = (
    *(f"TRUNCATE {table} CASCADE" for table in sorted({guard.table for guard in ALL_GUARDS})),
    *(f"DELETE FROM {guard.table}" for guard in ALL_GUARDS if guard.event == "DELETE"),
    *(f"UPDATE {table} SET body = ''" for table in ("entries", "plans", "answers", "stream_values")),
    *(
        f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1 ON CONFLICT (receipt) DO UPDATE SET body = ''"
        for table in ("plans", "answers")
    ),
    "INSERT INTO entries SELECT seq + 7, kind, body, previous, digest, 2, '' FROM entries ORDER BY seq LIMIT 1",
    "INSERT INTO stream_values SELECT stream, 5, '7', entry FROM stream_values WHERE tick = 3",
    "INSERT INTO stream_values SELECT stream, 2, '7', entry FROM stream_values WHERE tick = 3",
    "UPDATE stream_states SET body = '[]'",
    "UPDATE stream_states SET tick = 2",
    "INSERT INTO stream_states SELECT stream, 0, '[]' FROM stream_states",
    "UPDATE streams SET published = 2",
    "UPDATE streams SET published = 7",
    "UPDATE stream_items SET increments = NULL WHERE owner = 'ana' AND item = '1'",
    "INSERT INTO stream_items SELECT stream, 'eli', '1', 2, increments, mark FROM stream_items"
    " WHERE owner = 'ben'",
    "UPDATE tokens SET role = 'curator'",
    "UPDATE tokens SET digest = 'mine', revoked = 1",
)


def test_what_only_grows_refuses_to_be_changed_whoever_tries(
    ledger: PostgresLedger, address: str, postgres: Postgres
) -> None:
    lived(ledger)
    before = ledger.verify()
    for url, mode in ((postgres.url, "origin"), (postgres.superuser, "origin"), (postgres.superuser, "replica")):
        with owner(address, postgres, url) as raw:
            if mode == "replica":
                raw.execute("SET session_replication_role = replica")
            for statement in REFUSED:
                with pytest.raises((psycopg.errors.RaiseException, psycopg.errors.UniqueViolation)):
                    raw.execute(statement)
    assert ledger.verify() == before
    assert before.problems == ()


def test_an_entry_needs_the_name_of_its_transaction(ledger: PostgresLedger, postgres: Postgres) -> None:
    statement = f"INSERT INTO {LedgerAddress.of(ledger.name).schema}.entries VALUES (4, 'open', '{{}}', '', '')"
    with closing(psycopg.connect(postgres.url)) as raw, pytest.raises(psycopg.errors.UndefinedObject):
        raw.execute(statement)


# Texts.


@pytest.mark.parametrize(
    "text", ["", "\x00", "\uffff", "\uffff0", "\x001\uffff\x00\uffff1", "a\x00b", "\U0010ffff"]
)
def test_every_text_is_kept_as_it_is(ledger: PostgresLedger, text: str) -> None:
    assert read_text(write_text(text)) == text
    assert "\x00" not in write_text(text)
    name = f"x{text}"
    receipt = ledger.reserve(analyst=name, question=text, key=name, plan=text, debits=(debit(),))
    assert ledger.release(receipt, text) == text
    (found,) = ledger.receipts(name)
    assert (found.analyst, found.question) == (name, text)
    recalled = ledger.recall(name, analyst=name, grant=None)
    assert recalled is not None
    assert (recalled.plan, recalled.answer) == (text, text)
    assert ledger.verify().problems == ()


def test_what_people_choose_as_their_names_keeps_nobody_out(ledger: PostgresLedger) -> None:
    """An index of Postgres takes 2,700 bytes: what one item holds must not fail the items of others."""
    begin(ledger)
    long = "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(5000))
    items = [Arrival(f"{long}{i}", f"{i}{long}\x00", ONE) for i in range(3)] + [Arrival("ana", "1", ONE)]
    assert ledger.streams.append(NAME, items, AttendanceBounds(), None) == AppendOutcome(new=4)
    assert ledger.streams.append(NAME, items, AttendanceBounds(), None) == AppendOutcome(known=4)
    less = [Arrival(items[0].owner, "0", ONE), Arrival("eli", "1", "[" + ",".join(["[0,1]"] * 5000) + "]")]
    assert ledger.streams.append(NAME, less, AttendanceBounds(), None) == AppendOutcome(new=2, dropped=1)
    assert len(counted(ledger)) == 5
    ledger.streams.publish(NAME, 1, counting)
    assert ledger.streams.values(NAME) == ("5",)
    assert ledger.streams.item_keys(NAME, 1) == {*(item.item for item in items), "0"}
    assert ledger.verify().problems == ()


def test_a_name_that_postgres_cannot_look_up_is_refused_and_nothing_is_spent(ledger: PostgresLedger) -> None:
    long = "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(5000))
    with pytest.raises(LedgerError, match="The name is too long for the ledger") as refusal:
        ask(ledger, key=long)
    assert long not in said(refusal.value)
    assert ledger.spent(VISITS).epsilon == 0
    assert ledger.verify().problems == ()


def test_the_language_of_the_database_decides_nothing(postgres: Postgres) -> None:
    with closing(psycopg.connect(postgres.url, autocommit=True)) as raw:
        if raw.info.server_version < 150000:
            pytest.skip("Postgres has one language for all of its databases before version 15")
        raw.execute(
            "CREATE DATABASE german ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de'"
            " TEMPLATE template0"
        )
    found = []
    german = f"{postgres.url.rpartition('/')[0]}/german"
    for made in (PostgresLedger(german), SqliteLedger(None)):
        with clinic(made) as ledger:
            for key in ("b", "A", "ä", "a", "B", "Z"):
                ask(ledger, of_part(key))
            begin(ledger, "Ämter")
            named = [ledger.streams.find(name) is not None for name in ("Ämter", "ämter", "ÄMTER")]
            found.append(([line.key for line in ledger.parts(VISITS)], named))
    assert found[0] == found[1]


# Lost and found.


def test_a_connection_that_broke_while_idle_is_replaced_unseen(ledger: PostgresLedger, postgres: Postgres) -> None:
    ask(ledger)
    postgres.restart(crash=True)
    ask(ledger)
    postgres.restart()
    assert ledger.spent(VISITS) == times(2)
    assert ledger.verify().problems == ()


def test_a_server_that_is_away_is_named_and_found_again(
    ledger: PostgresLedger, address: str, postgres: Postgres
) -> None:
    ask(ledger)
    postgres.stop()
    try:
        for action in (lambda: ask(ledger), lambda: ledger.spent(VISITS), lambda: PostgresLedger(address)):
            with pytest.raises(LedgerError, match="cannot be reached") as refusal:
                action()
            text = said(refusal.value)
            assert "Nothing was spent" in text
            assert "psycopg" not in text.replace("stores/postgres", "")
    finally:
        postgres.start()
    assert ask(ledger)
    assert ledger.spent(VISITS) == times(2)


def test_what_postgres_says_is_not_passed_on(ledger: PostgresLedger) -> None:
    token = {"id_": "token one", "name": "ana", "role": Role.ANALYST, "digest": "sesame", "expires": "never"}
    ledger.access.create(**token)  # type: ignore[arg-type]
    with pytest.raises(LedgerError) as refusal:
        ledger.access.create(**token)  # type: ignore[arg-type]
    text = said(refusal.value)
    assert "token one" not in text.partition("LedgerError:")[2]
    assert "duplicate" not in text


def test_a_text_that_is_not_unicode_hangs_on_nothing(ledger: PostgresLedger) -> None:
    with pytest.raises(LedgerError, match="not valid Unicode") as refusal:
        ask(ledger, key="\ud800")
    said(refusal.value)


def test_an_interrupt_in_the_middle_leaves_no_transaction_behind(ledger: PostgresLedger) -> None:
    def interrupted() -> None:
        with ledger.store.writing() as connection:
            connection.execute("UPDATE accounts SET spent = 'nothing'")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    ask(ledger)
    assert ledger.spent(VISITS) == TENTH
    assert ledger.verify().problems == ()


def test_an_error_that_nobody_raised_is_no_commit(ledger: PostgresLedger) -> None:
    def overlooked() -> None:
        with ledger.store.writing() as connection:
            connection.execute("INSERT INTO seen VALUES ('x', 'y')")
            with pytest.raises(psycopg.Error):
                connection.execute("SELECT 1 / 0")

    with pytest.raises(LedgerError):
        overlooked()
    with ledger.store.reading() as connection:
        assert connection.execute("SELECT count(*) FROM seen").fetchone() == (0,)


def test_a_ledger_that_was_made_anew_takes_no_debit_from_those_who_knew_the_old_one(
    address: str, postgres: Postgres
) -> None:
    with PostgresLedger(address) as old:
        ask(clinic(old))
        with owner(address, postgres) as raw:
            raw.execute(f"DROP SCHEMA {LedgerAddress.of(address).schema} CASCADE")
        with pytest.raises(LedgerError, match="is not a Jali ledger, or a table is missing"):
            ask(old)
        with PostgresLedger(address) as new:
            clinic(new)
            for action in (lambda: ask(old), old.accounts):
                with pytest.raises(LedgerError, match="was replaced, or has lost entries"):
                    action()
            assert new.spent(VISITS).epsilon == 0


def test_a_ledger_that_lost_entries_takes_no_debit_from_those_who_saw_them(
    ledger: PostgresLedger, address: str, postgres: Postgres
) -> None:
    """A standby that was promoted before it had everything, or a copy of yesterday: answers would be unpaid."""
    ask(ledger)
    with owner(address, postgres) as raw:
        raw.execute("ALTER TABLE entries DISABLE TRIGGER USER")
        raw.execute("DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)")
        for _ in range(2):
            with pytest.raises(LedgerError, match="lost entries"):
                ask(ledger)
        raw.execute(
            "INSERT INTO entries SELECT seq + 1, kind, body, previous, digest, form FROM entries WHERE seq = 3"
        )
        with pytest.raises(LedgerError, match="lost entries"):
            ask(ledger)


# Together.


def test_waiting_for_others_has_an_end_and_readers_do_not_wait(ledger: PostgresLedger, address: str) -> None:
    with PostgresLedger(address, patience=0.1) as waiter, ledger.store.writing():
        with pytest.raises(LedgerError, match="busy"):
            ask(waiter)
        assert waiter.spent(VISITS).epsilon == 0
        failed: list[BaseException] = []

        def also() -> None:
            with pytest.raises(LedgerError, match="busy"):
                ask(waiter)
            failed.append(AssertionError())

        threads = [threading.Thread(target=also) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(failed) == 3
    assert ask(ledger)


@deep
def test_many_threads_read_and_write_with_few_connections(
    ledger: PostgresLedger, address: str, postgres: Postgres
) -> None:
    def work() -> None:
        for _ in range(3):
            ask(ledger, debit(epsilon="1/100"))
            ledger.spent(VISITS)
            ledger.receipts("ana")

    threads = [threading.Thread(target=work) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with owner(address, postgres) as raw:
        row = raw.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'jali'").fetchone()
        assert row is not None
        assert row[0] <= 24  # the ledger's own, and those of other tests that are being closed
    assert ledger.spent(VISITS) == times(192, debit(epsilon="1/100").event)
    assert ledger.verify().problems == ()


def test_the_child_of_an_unseen_fork_has_connections_of_its_own(ledger: PostgresLedger, address: str) -> None:
    def work() -> None:
        with PostgresLedger(address) as mine:
            ask(mine)

            def asked() -> int:
                ask(mine)
                return 7

            assert behind_python(asked) == 7
            ask(mine)

    assert in_child(work)() == 0
    assert ledger.spent(VISITS) == times(3)
    assert ledger.verify().problems == ()


def test_closed_is_closed(address: str) -> None:
    ledger = PostgresLedger(address)
    ledger.close()
    ledger.close()
    with pytest.raises(LedgerError, match="closed"):
        ledger.accounts()
    with pytest.raises(LedgerError, match="closed"):
        ask(ledger)


def test_a_key_for_cookies_is_the_same_for_all_servers(ledger: PostgresLedger, address: str) -> None:
    with PostgresLedger(address) as other:
        assert other.access.key("cookies") == ledger.access.key("cookies")


def test_the_driver_is_imported_only_when_a_ledger_in_postgres_is_opened() -> None:
    code = "import sys, jali.ledger, jali.ledger.migrate; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_the_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CatalogError, match="pip install"):
        PostgresLedger("postgresql://localhost/clinic")


def test_a_grant_is_charged_as_in_a_file(ledger: PostgresLedger) -> None:
    ask(ledger, debit(), debit(ANA))
    assert ledger.spent(ANA) == TENTH
